//! Assertions and constraints of exported programs, and what they print.

use std::io::Write;

use torch_library::prelude::*;

use crate::aten;
use crate::composite::storage::is_true;

#[torch_impl(aten, CompositeExplicitAutograd)]
fn _assert_tensor_metadata(
    a: &Tensor,
    size: Option<&[i64]>,
    stride: Option<&[i64]>,
    dtype: Option<DType>,
    device: Option<Device>,
    layout: Option<Layout>,
) -> Result<()> {
    const OPERATOR: &str = aten::_assert_tensor_metadata::NAME;
    if let Some(size) = size {
        ensure!(a.sizes() == size, Shape, "{OPERATOR}: sizes {:?}, expected {size:?}", a.sizes());
    }
    if let Some(stride) = stride {
        ensure!(a.strides() == stride, Shape, "{OPERATOR}: strides {:?}, expected {stride:?}", a.strides());
    }
    if let Some(dtype) = dtype {
        ensure!(a.dtype() == dtype, DType, "{OPERATOR}: {}, expected {dtype}", a.dtype());
    }
    if let Some(device) = device {
        ensure!(a.device() == device, Device, "{OPERATOR}: a tensor on {}, expected {device}", a.device());
    }
    if let Some(layout) = layout {
        ensure!(layout == Layout::Strided, Argument, "{OPERATOR}: a strided tensor, expected {layout:?}");
    }
    Ok(())
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod checks {
    use super::*;

    fn _assert_async(this: &Tensor) -> Result<()> {
        nonzero(aten::_assert_async::NAME, this, "the only element is zero")
    }

    fn _assert_async_msg(this: &Tensor, assert_msg: &str) -> Result<()> {
        nonzero(aten::_assert_async_msg::NAME, this, assert_msg)
    }

    fn _functional_assert_async_msg(this: &Tensor, assert_msg: &str, dep_token: &Tensor) -> Result<Tensor> {
        nonzero(aten::_functional_assert_async_msg::NAME, this, assert_msg)?;
        aten::clone(dep_token)
    }

    fn _assert_scalar(this: Scalar, assert_msg: &str) -> Result<()> {
        ensure!(is_true(this)?, Argument, "{}: {assert_msg}", aten::_assert_scalar::NAME);
        Ok(())
    }

    fn sym_constrain_range(size: Scalar, min: Option<i64>, max: Option<i64>) -> Result<()> {
        check_range(aten::sym_constrain_range::NAME, size, min, max)
    }

    fn sym_constrain_range_for_size(size: Scalar, min: Option<i64>, max: Option<i64>) -> Result<()> {
        check_size(aten::sym_constrain_range_for_size::NAME, size, min, max)
    }

    fn _functional_sym_constrain_range(
        size: Scalar,
        min: Option<i64>,
        max: Option<i64>,
        dep_token: &Tensor,
    ) -> Result<Tensor> {
        check_range(aten::_functional_sym_constrain_range::NAME, size, min, max)?;
        aten::clone(dep_token)
    }

    fn _functional_sym_constrain_range_for_size(
        size: Scalar,
        min: Option<i64>,
        max: Option<i64>,
        dep_token: &Tensor,
    ) -> Result<Tensor> {
        check_size(aten::_functional_sym_constrain_range_for_size::NAME, size, min, max)?;
        aten::clone(dep_token)
    }

    fn _functional_assert_scalar(this: Scalar, assert_msg: &str, dep_token: &Tensor) -> Result<Tensor> {
        aten::_assert_scalar(this, assert_msg)?;
        aten::clone(dep_token)
    }

    fn _make_dep_token(
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        aten::empty_memory_format::call(&[], dtype, layout, device, pin_memory, memory_format)
    }
}

/// Without data there is nothing to check.
#[torch_impl(aten, Meta)]
mod unchecked {
    use super::*;

    fn _assert_async(_this: &Tensor) -> Result<()> {
        Ok(())
    }

    fn _assert_async_msg(_this: &Tensor, _assert_msg: &str) -> Result<()> {
        Ok(())
    }

    fn _functional_assert_async_msg(_this: &Tensor, _assert_msg: &str, dep_token: &Tensor) -> Result<Tensor> {
        aten::clone(dep_token)
    }
}

fn nonzero(operator: &str, tensor: &Tensor, message: &str) -> Result<()> {
    let is_nonzero = aten::is_nonzero(tensor).map_err(|error| error.context(operator))?;
    ensure!(is_nonzero, Argument, "{operator}: {message}");
    Ok(())
}

#[torch_impl(aten, CompositeExplicitAutograd)]
fn _print(s: &str) -> Result<()> {
    let written = writeln!(std::io::stdout(), "{s}");
    written.map_err(|error| Error::new(ErrorKind::Io, format!("{}: {error}", aten::_print::NAME)))
}

fn check_range(operator: &str, size: Scalar, min: Option<i64>, max: Option<i64>) -> Result<()> {
    let size: i64 = size.to().map_err(|error: Error| error.context(operator))?;
    let (least, largest) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
    ensure!(least <= largest, Argument, "{operator}: max is {largest}, expected {least} or more");
    ensure!(
        (least..=largest).contains(&size),
        Argument,
        "{operator}: {size} is out of range, expected a number between {least} and {largest}"
    );
    Ok(())
}

fn check_size(operator: &str, size: Scalar, min: Option<i64>, max: Option<i64>) -> Result<()> {
    ensure!(
        max.is_none_or(|max| max > 2),
        Argument,
        "{operator}: max is {}, expected more than 2, since programs treat 0 and 1 as constants",
        max.unwrap_or_default()
    );
    check_range(operator, size, Some(min.unwrap_or(0)), max)
}
