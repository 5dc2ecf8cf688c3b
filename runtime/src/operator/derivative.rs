//! Static information about an operator's derivative: what its formulas name.

use std::fmt;

/// A set of argument or result indices.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Positions(u64);

impl Positions {
    /// The set with these bits.
    #[doc(hidden)]
    pub const fn of_bits(bits: u64) -> Self {
        Positions(bits)
    }

    /// The set as bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether the set contains an index.
    pub const fn contains(self, index: usize) -> bool {
        index < 64 && self.0 >> index & 1 == 1
    }

    /// The union of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Positions(self.0 | other.0)
    }

    /// The indices, in rising order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |index| self.contains(*index))
    }
}

impl fmt::Debug for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// The information in the record of a row of [`derivatives!`](crate::derivatives): what a call has to save for which
/// gradients.
///
/// The node of a recorded call saves exactly that. Code that differentiates calls by other means, such as the graph of
/// another library, reads it from [`KernelInfo::derivative`](crate::KernelInfo::derivative).
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

    /// The arguments in the condition of `#[differentiable_if(…)]`.
    pub fn condition(&self) -> Positions {
        self.condition
    }

    /// The results that have gradients: the outputs of the node, in this order.
    pub fn differentiable(&self) -> Positions {
        self.differentiable
    }

    /// The formulas; empty for an operator that has no gradient. The edges of a node are in the order of the arguments,
    /// whatever the order of the formulas.
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

    /// The arguments whose gradients it computes.
    pub fn of(&self) -> Positions {
        self.of
    }

    /// The arguments that it names: tensors whose elements it uses, and arguments that are not tensors.
    pub fn values(&self) -> Positions {
        self.values
    }

    /// The arguments of which it uses only the metadata: sizes, type and device.
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
