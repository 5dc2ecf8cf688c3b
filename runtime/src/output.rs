//! Where a kernel's result goes: to a new tensor, to the caller's `out`, or back to `self`.

use crate::device::Device;
use crate::dtype::{DType, can_cast};
use crate::ensure;
use crate::error::Result;
use crate::layout::MemoryFormat;
use crate::tensor::Tensor;

/// Where a kernel's result goes, and the operator name for its errors.
///
/// A kernel that takes one before the operator's arguments serves the operator and the variants that `#[variants(out,
/// in_place)]` declares for it in `torch_library!`. `#[torch_impl]` registers it for each, and passes the output that
/// the call needs. The kernel returns the tensor that it wrote; if that is not the caller's tensor, the variant copies
/// it there.
///
/// ```
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod counting {
///         #[variants(out, in_place)]
///         next(Tensor self) -> Tensor;
///     }
/// }
///
/// #[torch_impl(counting, CPU)]
/// fn next(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
///     let values = this.to_vec::<f64>().map_err(|error| error.context(output.operator()))?;
///     let mut out = output.contiguous(this.sizes(), DType::Float64, this.device(), &[])?;
///     out.fill_from(values.into_iter().map(|value| value + 1.0))?;
///     Ok(out)
/// }
///
/// fn main() -> Result<()> {
///     let (mut x, mut out) = (Tensor::from([1.0, 2.0]), Tensor::zeros(&[2], DType::Float64, Device::CPU)?);
///     assert_eq!(counting::next(&x)?.to_vec::<f64>()?, [2.0, 3.0]);
///     counting::next_out(&x, &mut out)?;
///     assert_eq!(out.to_vec::<f64>()?, [2.0, 3.0]);
///     counting::next_(&mut x)?;
///     assert_eq!(x.to_vec::<f64>()?, [2.0, 3.0]);
///     Ok(())
/// }
/// ```
///
/// PyTorch: `set_output` of structured kernels.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    operator: &'static str,
    target: Target<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Target<'a> {
    New,
    Out(&'a Tensor),
    InPlace(&'a Tensor),
}

/// A new tensor, for the operator with this name.
impl From<&'static str> for Output<'_> {
    #[inline]
    fn from(operator: &'static str) -> Self {
        Output::new(operator)
    }
}

impl<'a> Output<'a> {
    /// A new tensor, for the operator with this name.
    #[inline]
    pub const fn new(operator: &'static str) -> Self {
        Output { operator, target: Target::New }
    }

    /// The caller's `out`, which takes the result's sizes.
    #[inline]
    pub const fn out(operator: &'static str, out: &'a Tensor) -> Self {
        Output { operator, target: Target::Out(out) }
    }

    /// The tensor that is written in place, which keeps its sizes.
    #[inline]
    pub const fn in_place(operator: &'static str, this: &'a Tensor) -> Self {
        Output { operator, target: Target::InPlace(this) }
    }

    /// The name of the called operator, such as `aten::add.out`.
    #[inline]
    pub const fn operator(self) -> &'static str {
        self.operator
    }

    /// The caller's tensor, `out` or `self`.
    #[inline]
    pub const fn tensor(self) -> Option<&'a Tensor> {
        match self.target {
            Target::New => None,
            Target::Out(tensor) | Target::InPlace(tensor) => Some(tensor),
        }
    }

    /// The caller's `out`, if there is one.
    #[inline]
    pub const fn given(self) -> Option<&'a Tensor> {
        match self.target {
            Target::Out(tensor) => Some(tensor),
            Target::New | Target::InPlace(_) => None,
        }
    }

    /// Whether `self` is written to.
    #[inline]
    pub const fn is_in_place(self) -> bool {
        matches!(self.target, Target::InPlace(_))
    }

    /// Checks that an `out` has exactly this type, for an operator that does not cast its result.
    ///
    /// # Errors
    /// The tensor has another type.
    pub fn exactly(self, dtype: DType) -> Result<()> {
        match self.given() {
            Some(out) if out.dtype() != dtype => self.refuse(out, dtype),
            _ => Ok(()),
        }
    }

    /// The caller's tensor, prepared for a result with these sizes and a type that can be cast to the tensor's. The
    /// strides are used only for an `out` that is resized.
    ///
    /// # Errors
    /// The tensor's type cannot hold such a result; it is on another device; it has other sizes and must keep them; it
    /// overlaps itself in memory.
    pub fn prepare(
        self,
        sizes: &[i64],
        strides: Option<&[i64]>,
        dtype: DType,
        device: Device,
    ) -> Result<Option<&'a Tensor>> {
        let Some(tensor) = self.tensor() else { return Ok(None) };
        if !can_cast(dtype, tensor.dtype()) {
            self.refuse(tensor, dtype)?;
        }
        self.prepare_unchecked(tensor, sizes, strides, device)
            .map_err(|error| error.context(self.operator))?;
        Ok(Some(tensor))
    }

    #[cold]
    fn refuse(self, tensor: &Tensor, dtype: DType) -> Result<()> {
        crate::bail!(
            DType,
            "{}: a result of {dtype} cannot be written to a tensor of {}",
            self.operator,
            tensor.dtype()
        )
    }

    fn prepare_unchecked(
        self,
        tensor: &Tensor,
        sizes: &[i64],
        strides: Option<&[i64]>,
        device: Device,
    ) -> Result<()> {
        ensure!(
            tensor.device() == device,
            Device,
            "a result on {device} cannot be written to a tensor on {}",
            tensor.device()
        );
        if tensor.sizes() != sizes {
            ensure!(
                !self.is_in_place(),
                Shape,
                "a result of sizes {sizes:?} cannot be written to a tensor of sizes {:?}",
                tensor.sizes()
            );
            tensor.clone().resize_output(sizes, strides)?;
        }
        tensor.check_no_internal_overlap()
    }

    /// Contiguous memory for the result: the caller's tensor if it is contiguous and not an input of the kernel,
    /// otherwise new memory.
    ///
    /// # Errors
    /// The caller's tensor cannot be resized; there is not enough memory.
    pub fn contiguous(
        self,
        sizes: &[i64],
        dtype: DType,
        device: Device,
        inputs: &[&Tensor],
    ) -> Result<Tensor> {
        match self.contiguous_given(sizes, dtype, device, inputs)? {
            Some(out) => Ok(out),
            None => Tensor::empty(sizes, dtype, device),
        }
    }

    /// The caller's tensor if it is contiguous, has this dtype, and is not an input of the kernel: for a kernel that
    /// otherwise takes new memory from elsewhere than [`contiguous`](Self::contiguous) does.
    ///
    /// # Errors
    /// The caller's tensor cannot be resized.
    pub fn contiguous_given(
        self,
        sizes: &[i64],
        dtype: DType,
        device: Device,
        inputs: &[&Tensor],
    ) -> Result<Option<Tensor>> {
        let fits = |out: &Tensor| {
            let is_row_major = out.sizes() != sizes || out.is_contiguous(MemoryFormat::Contiguous);
            let is_read = inputs.iter().any(|input| input.shares_storage_with(out));
            out.dtype() == dtype && out.device() == device && is_row_major && !is_read
        };
        match self.tensor() {
            Some(out) if fits(out) => self.prepare(sizes, None, dtype, device).map(|_| Some(out.clone())),
            _ => Ok(None),
        }
    }
}
