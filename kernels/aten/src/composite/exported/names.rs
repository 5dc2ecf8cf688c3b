//! Further names of operators: those of older programs, of conversions to one dtype, and questions about this library.

use std::io::Write;

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn _convolution(
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        transposed: bool,
        output_padding: &[i64],
        groups: i64,
        _benchmark: bool,
        _deterministic: bool,
        _cudnn_enabled: bool,
        _allow_tf32: bool,
    ) -> Result<Tensor> {
        aten::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
            .map_err(|error| error.context(aten::_convolution::NAME))
    }

    fn _convolution_deprecated(
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        transposed: bool,
        output_padding: &[i64],
        groups: i64,
        _benchmark: bool,
        _deterministic: bool,
        _cudnn_enabled: bool,
    ) -> Result<Tensor> {
        aten::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
            .map_err(|error| error.context(aten::_convolution_deprecated::NAME))
    }

    fn _nnpack_available() -> Result<bool> {
        Ok(false)
    }

    fn is_vulkan_available() -> Result<bool> {
        Ok(false)
    }
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn is_same_size(this: &Tensor, other: &Tensor) -> Result<bool> {
        Ok(this.sizes() == other.sizes())
    }

    fn _print(s: &str) -> Result<()> {
        let written = writeln!(std::io::stdout(), "{s}");
        written.map_err(|error| Error::new(ErrorKind::Io, format!("{}: {error}", aten::_print::NAME)))
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
