//! What is known of an operator's derivative before any call: what its formulas name.

use std::fmt;

/// Arguments of an operator, or results, by position.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Positions(u64);

impl Positions {
    /// Those whose bits are set.
    #[doc(hidden)]
    pub const fn of_bits(bits: u64) -> Self {
        Positions(bits)
    }

    /// A bit for each.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether it is one of them.
    pub const fn contains(self, index: usize) -> bool {
        index < 64 && self.0 >> index & 1 == 1
    }

    /// Those of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Positions(self.0 | other.0)
    }

    /// The positions, rising.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |index| self.contains(*index))
    }
}

impl fmt::Debug for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A row of [`derivatives!`](crate::derivatives), as its kernel's record has it: what a call has to keep for which
/// gradients.
///
/// The node of a recorded call keeps just that. Who differentiates calls by other means, such as the graph of another
/// library, reads it from [`KernelInfo::derivative`](crate::KernelInfo::derivative).
///
/// ```
/// use torch_library::{Dispatcher, derivatives, prelude::*};
///
/// torch_library! {
///     pub mod scales {
///         /// A product.
///         scale(Tensor self, Tensor factor) -> Tensor;
///     }
/// }
///
/// derivatives! {
///     in scales;
///     scale(Tensor self, Tensor factor) -> Tensor {
///         self => scales::scale(grad, factor),
///         factor => non_differentiable,
///     }
/// }
///
/// let info = Dispatcher::global().operator("scales::scale")?;
/// let derivative = info.kernels.iter().find_map(|kernel| kernel.derivative).unwrap();
/// let formula = &derivative.formulas()[0];
/// assert!(formula.of().contains(0) && formula.values().contains(1));
/// assert!(!formula.values().contains(0), "a write to `self` in between does not matter");
/// # Ok::<(), Error>(())
/// ```
///
/// PyTorch: the entry in `derivatives.yaml`, which its code generator reads and the running library does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derivative {
    condition: Positions,
    differentiable: Positions,
    formulas: &'static [Formula],
}

impl Derivative {
    #[doc(hidden)]
    pub const fn new(condition: Positions, differentiable: Positions, formulas: &'static [Formula]) -> Self {
        Derivative { condition, differentiable, formulas }
    }

    /// The arguments that `#[differentiable_if(…)]` names.
    pub fn condition(&self) -> Positions {
        self.condition
    }

    /// The results that have gradients: the outputs of the node, in this order.
    pub fn differentiable(&self) -> Positions {
        self.differentiable
    }

    /// The formulas; none of an operator that has no gradient. The edges of a node are in the order of the arguments,
    /// whatever the order of formulas is.
    pub fn formulas(&self) -> &'static [Formula] {
        self.formulas
    }
}

/// One formula of a [`Derivative`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    of: Positions,
    values: Positions,
    metadata: Positions,
    results: Positions,
}

impl Formula {
    #[doc(hidden)]
    pub const fn new(of: Positions, values: Positions, metadata: Positions, results: Positions) -> Self {
        Formula { of, values, metadata, results }
    }

    /// The arguments whose gradients it gives.
    pub fn of(&self) -> Positions {
        self.of
    }

    /// The arguments that it names: tensors with their elements, and whatever is no tensor.
    pub fn values(&self) -> Positions {
        self.values
    }

    /// The arguments of which it asks sizes, type and device alone.
    pub fn metadata(&self) -> Positions {
        self.metadata
    }

    /// The results that it names.
    pub fn results(&self) -> Positions {
        self.results
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_bits() {
        let some = Positions::of_bits(0b101).union(Positions::of_bits(1 << 63));
        assert_eq!(some.iter().collect::<Vec<_>>(), [0, 2, 63]);
        assert!(some.contains(63) && !some.contains(1) && !some.contains(64));
        assert_eq!(format!("{some:?}"), "{0, 2, 63}");
    }
}
