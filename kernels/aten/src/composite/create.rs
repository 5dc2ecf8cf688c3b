//! Creation of tensors: selects the backend that allocates them, and fills them.

use torch_library::Element;
use torch_library::geometry::{preserved_strides, strides_for};
use torch_library::prelude::*;

use super::is_plain;
use crate::aten;
use crate::below_autograd::below_autograd;
use crate::loops::{numbered, of_numbers};

pub(crate) mod complex;
mod file;
pub(crate) mod sequence;
pub(crate) mod series;
pub(crate) mod triangle;

/// The properties of a new tensor, besides its sizes.
///
/// PyTorch: `at::TensorOptions`.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub dtype: Option<DType>,
    pub layout: Option<Layout>,
    pub device: Option<Device>,
    pub pin_memory: Option<bool>,
    /// Whether the tensor is on the CPU, where it need not be filled with zeros before it is written.
    pub is_of_cpu: bool,
}

impl Options {
    pub(crate) fn empty(self, sizes: &[i64]) -> Result<Tensor> {
        aten::empty_memory_format::call(sizes, self.dtype, self.layout, self.device, self.pin_memory, None)
    }

    /// A new tensor that is filled before any layer sees it.
    pub(crate) fn filled(
        self,
        sizes: &[i64],
        fill: impl FnOnce(&mut Tensor) -> Result<()>,
    ) -> Result<Tensor> {
        let mut out = self.empty(sizes)?;
        below_autograd(|| fill(&mut out))?;
        Ok(out)
    }

    /// A vector of `count` numbers of a sequence.
    pub(crate) fn series<N: Element>(
        self,
        operator: &str,
        count: i64,
        number: impl Fn(i64) -> N + Sync,
    ) -> Result<Tensor> {
        let numbers = |dtype, device| {
            of_numbers(&[count], dtype, device, &number).map_err(|error| error.context(operator))
        };
        if self.is_of_cpu {
            return numbers(self.dtype.unwrap_or(DType::DEFAULT), self.device.unwrap_or(Device::CPU));
        }
        let mut out = self.empty(&[count])?;
        match is_plain(&out)? {
            true => numbered(&out, number)?,
            false => {
                let numbers = numbers(out.dtype(), Device::CPU)?;
                below_autograd(|| aten::copy_(&mut out, &numbers).map(drop))?;
            }
        }
        Ok(out)
    }
}

/// Defines kernels that create a tensor, in a module: their last parameters, the same for all, are [`Options`].
macro_rules! creating {
    ($key:ident, $module:ident; $($name:ident($($argument:ident: $ty:ty),*), $options:ident => $body:expr;)+) => {
        #[torch_impl(aten, $key)]
        mod $module {
            use super::*;

            $(
                fn $name(
                    $($argument: $ty,)*
                    dtype: Option<DType>,
                    layout: Option<Layout>,
                    device: Option<Device>,
                    pin_memory: Option<bool>,
                ) -> Result<Tensor> {
                    let $options = Options { dtype, layout, device, pin_memory, is_of_cpu: false };
                    $body
                }
            )+
        }
    };
}

pub(crate) use creating;

/// Operators without a tensor argument: the device determines the backend.
#[torch_impl(aten, BackendSelect)]
mod select {
    use super::*;

    fn empty_memory_format(
        size: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let keys = keys_of(device);
        aten::empty_memory_format::redispatch(keys, size, dtype, layout, device, pin_memory, memory_format)
    }

    fn empty_strided(
        size: &[i64],
        stride: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        aten::empty_strided::redispatch(keys_of(device), size, stride, dtype, layout, device, pin_memory)
    }

    fn full(
        size: &[i64],
        fill_value: Scalar,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let dtype = dtype.or(Some(dtype_of(fill_value)));
        aten::full::redispatch(keys_of(device), size, fill_value, dtype, layout, device, pin_memory)
    }
}

/// Calls an operator's kernel for the device of the options.
macro_rules! for_device {
    ($name:ident($($argument:ident),*), $options:ident) => {{
        let Options { dtype, layout, device, pin_memory, .. } = $options;
        aten::$name::redispatch(keys_of(device), $($argument,)* dtype, layout, device, pin_memory)
    }};
}

creating! { BackendSelect, select_sequences;
    arange(end: Scalar), options => for_device!(arange(end), options);
    arange_start(start: Scalar, end: Scalar), options => for_device!(arange_start(start, end), options);
    arange_start_step(start: Scalar, end: Scalar, step: Scalar), options =>
        for_device!(arange_start_step(start, end, step), options);
    linspace(start: Scalar, end: Scalar, steps: i64), options => for_device!(linspace(start, end, steps), options);
    tril_indices(row: i64, col: i64, offset: i64), options => for_device!(tril_indices(row, col, offset), options);
    triu_indices(row: i64, col: i64, offset: i64), options => for_device!(triu_indices(row, col, offset), options);
}

fn keys_of(device: Option<Device>) -> DispatchKeySet {
    DispatchKeySet::from_key(device.unwrap_or(Device::CPU).kind.dispatch_key())
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn empty_like(
        this: &Tensor,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let (dtype, device) = (dtype.or(Some(this.dtype())), device.or(Some(this.device())));
        let geometry = this.geometry();
        let sizes = geometry.sizes();
        let strides = match memory_format.unwrap_or(MemoryFormat::Preserve) {
            MemoryFormat::Preserve => preserved_strides(sizes, geometry.strides()),
            format => strides_for(sizes, format).map_err(|error| error.context(aten::empty_like::NAME))?,
        };
        aten::empty_strided::call(sizes, &strides, dtype, layout, device, pin_memory)
    }

    fn zeros(
        size: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let mut zeros = aten::empty_memory_format::call(size, dtype, layout, device, pin_memory, None)?;
        if !is_plain(&zeros)? {
            below_autograd(|| aten::zero_(&mut zeros).map(drop))?; // memory may not be zero to begin with
        }
        Ok(zeros)
    }

    fn ones(
        size: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let dtype = dtype.or(Some(DType::DEFAULT));
        aten::full::call(size, Scalar::Int(1), dtype, layout, device, pin_memory)
    }

    fn full(
        size: &[i64],
        fill_value: Scalar,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let dtype = dtype.or(Some(dtype_of(fill_value)));
        let mut full = aten::empty_memory_format::call(size, dtype, layout, device, pin_memory, None)?;
        below_autograd(|| aten::fill__Scalar(&mut full, fill_value).map(drop))?;
        Ok(full)
    }

    fn zeros_like(
        this: &Tensor,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let mut zeros = aten::empty_like::call(this, dtype, layout, device, pin_memory, memory_format)?;
        if !is_plain(&zeros)? {
            below_autograd(|| aten::zero_(&mut zeros).map(drop))?; // memory may not be zero to begin with
        }
        Ok(zeros)
    }

    fn ones_like(
        this: &Tensor,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        aten::full_like::call(this, Scalar::Int(1), dtype, layout, device, pin_memory, memory_format)
    }

    fn full_like(
        this: &Tensor,
        fill_value: Scalar,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let mut full = aten::empty_like::call(this, dtype, layout, device, pin_memory, memory_format)?;
        below_autograd(|| aten::fill__Scalar(&mut full, fill_value).map(drop))?;
        Ok(full)
    }

    fn fill__Tensor(this: &mut Tensor, value: &Tensor) -> Result<&mut Tensor> {
        ensure!(
            value.dim() == 0,
            Shape,
            "{}: the value has sizes {:?}, expected a tensor without dimensions",
            aten::fill__Tensor::NAME,
            value.sizes()
        );
        // On meta, nothing is written, and the value may have no data.
        if this.device() == Device::META {
            return aten::fill__Scalar(this, 0.into());
        }
        // Converted as a tensor, which wraps and overflows where a number is refused.
        let value = aten::to_dtype(value, this.dtype())?.item()?;
        aten::fill__Scalar(this, value)
    }

    fn fill_Scalar(this: &Tensor, value: Scalar) -> Result<Tensor> {
        aten::full_like(this, value)
    }

    fn fill_Tensor(this: &Tensor, value: &Tensor) -> Result<Tensor> {
        let mut filled = aten::empty_like(this)?;
        below_autograd(|| aten::fill__Tensor(&mut filled, value).map(drop))?;
        Ok(filled)
    }

    fn zero(this: &Tensor) -> Result<Tensor> {
        aten::zeros_like(this)
    }

    fn zero_(this: &mut Tensor) -> Result<&mut Tensor> {
        aten::fill__Scalar(this, Scalar::Int(0))
    }
}

/// Defines kernels that create a tensor as another operator does, with the dtype and device of a tensor unless they are
/// given.
macro_rules! new_tensors {
    ($($name:ident = $operator:ident($($argument:ident: $ty:ty),+) $($more:expr)?;)+) => {
        #[torch_impl(aten, CompositeExplicitAutograd)]
        mod new_tensors {
            use super::*;

            $(
                fn $name(
                    this: &Tensor,
                    $($argument: $ty,)+
                    dtype: Option<DType>,
                    layout: Option<Layout>,
                    device: Option<Device>,
                    pin_memory: Option<bool>,
                ) -> Result<Tensor> {
                    let (dtype, device) = (dtype.or(Some(this.dtype())), device.or(Some(this.device())));
                    aten::$operator::call($($argument,)+ dtype, layout, device, pin_memory $(, $more)?)
                }
            )+
        }
    };
}

new_tensors! {
    new_empty = empty_memory_format(size: &[i64]) None;
    new_empty_strided = empty_strided(size: &[i64], stride: &[i64]);
    new_zeros = zeros(size: &[i64]);
    new_ones = ones(size: &[i64]);
    new_full = full(size: &[i64], fill_value: Scalar);
}

/// The dtype of a tensor that is filled with a scalar, if none is given.
fn dtype_of(number: Scalar) -> DType {
    match number {
        Scalar::Int(_) => DType::Int64,
        Scalar::Float(_) => DType::DEFAULT,
        Scalar::Bool(_) => DType::Bool,
        Scalar::Complex(_) => DType::Complex64,
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn _dim_arange(like: &Tensor, dim: i64) -> Result<Tensor> {
    let size = like.size(dim).map_err(|error| error.context(aten::_dim_arange::NAME))?;
    aten::arange::with(size.into()).dtype(DType::Int64).device(like.device()).call()
}
