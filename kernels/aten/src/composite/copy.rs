//! Copies with their own storage, and conversions that copy only where needed.

use torch_library::backend::resolve;
use torch_library::prelude::*;

use crate::aten;
use crate::below_autograd::below_autograd;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn clone(this: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
        let mut copy = aten::empty_like::with(this).memory_format(memory_format).call()?;
        below_autograd(|| aten::copy_(&mut copy, this).map(drop))?;
        Ok(copy)
    }

    fn _to_copy(
        this: &Tensor,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        non_blocking: bool,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let mut copy = aten::empty_like::call(this, dtype, layout, device, pin_memory, memory_format)?;
        below_autograd(|| aten::copy_::call(&mut copy, this, non_blocking).map(drop))?;
        Ok(copy)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn contiguous(this: &Tensor, memory_format: MemoryFormat) -> Result<Tensor> {
        let is_preserved = memory_format == MemoryFormat::Preserve;
        if this.is_contiguous(if is_preserved { MemoryFormat::Contiguous } else { memory_format }) {
            return Ok(this.clone());
        }
        ensure!(
            !is_preserved,
            Argument,
            "{}: a tensor of strides {:?} is not contiguous, and preserve_format would keep them; give another \
             memory format",
            aten::contiguous::NAME,
            this.strides()
        );
        aten::clone::with(this).memory_format(memory_format).call()
    }

    fn _lazy_clone(this: &Tensor) -> Result<Tensor> {
        aten::clone(this)
    }

    fn is_contiguous(this: &Tensor) -> Result<bool> {
        Ok(this.is_contiguous(MemoryFormat::Contiguous))
    }

    fn is_contiguous_memory_format(this: &Tensor, memory_format: MemoryFormat) -> Result<bool> {
        Ok(this.is_contiguous(memory_format))
    }

    fn to_dtype(
        this: &Tensor,
        dtype: DType,
        non_blocking: bool,
        copy: bool,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let options = Options { dtype, device: this.device(), layout: None, pin_memory: None };
        options.of(this, non_blocking, copy, memory_format)
    }

    fn to_device(
        this: &Tensor,
        device: Device,
        dtype: DType,
        non_blocking: bool,
        copy: bool,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let options = Options { dtype, device, layout: None, pin_memory: None };
        options.of(this, non_blocking, copy, memory_format)
    }

    fn to_other(
        this: &Tensor,
        other: &Tensor,
        non_blocking: bool,
        copy: bool,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        aten::to_device::call(this, other.device(), other.dtype(), non_blocking, copy, memory_format)
    }

    fn to_dtype_layout(
        this: &Tensor,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        non_blocking: bool,
        copy: bool,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let (dtype, device) = (dtype.unwrap_or(this.dtype()), device.unwrap_or(this.device()));
        Options { dtype, device, layout, pin_memory }.of(this, non_blocking, copy, memory_format)
    }

    fn type_as(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::to_other(this, other)
    }

    fn chalf(this: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
        aten::to_dtype::call(this, DType::Complex32, false, false, memory_format)
    }
}

/// The properties that a tensor is converted to.
struct Options {
    dtype: DType,
    device: Device,
    layout: Option<Layout>,
    pin_memory: Option<bool>,
}

impl Options {
    /// The tensor with these properties: the given one if it has them, else a copy.
    fn of(
        self,
        this: &Tensor,
        non_blocking: bool,
        copy: bool,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let has_format = |format| match format {
            MemoryFormat::Preserve => true,
            format => this.suggest_memory_format() == format,
        };
        let device = resolve(self.device)?; // `None` is the current device of its kind
        let is_right = this.dtype() == self.dtype && this.device() == device;
        if is_right && memory_format.is_none_or(has_format) && !copy {
            return Ok(this.clone());
        }
        aten::_to_copy::with(this)
            .dtype(self.dtype)
            .layout(self.layout)
            .device(device)
            .pin_memory(self.pin_memory)
            .non_blocking(non_blocking)
            .memory_format(memory_format)
            .call()
    }
}

macro_rules! casts {
    ($($name:ident $dtype:ident;)+) => {
        #[torch_impl(aten, CompositeImplicitAutograd)]
        mod casts {
            use super::*;

            $(
                fn $name(this: &Tensor, _non_blocking: bool) -> Result<Tensor> {
                    aten::to_dtype(this, DType::$dtype)
                }
            )+
        }
    };
}

casts! {
    _cast_Byte UInt8;
    _cast_Char Int8;
    _cast_Double Float64;
    _cast_Float Float32;
    _cast_Half Float16;
    _cast_Int Int32;
    _cast_Long Int64;
    _cast_Short Int16;
}
