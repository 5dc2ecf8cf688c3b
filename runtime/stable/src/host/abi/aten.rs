//! Functions that are operators of `aten`: each calls the dispatcher, as in PyTorch.
#![expect(unsafe_code, reason = "reads arrays and texts of C")]

use std::ffi::c_char;

use torch_library::{DType, Error, ErrorKind, Result, Stack, Tensor, Value, ensure};

use super::create::ints;
use super::{Handle, Out, functions, others, put_tensor, tensor};
use crate::host::words::c_text;
use crate::host::{leases, numbers};

functions! {
    fn aoti_torch_aten_amax(
        this: Handle<'_>,
        dim: *const i64,
        dim_len: i64,
        keepdim: i32,
        ret0: Out<'_, *mut Tensor>,
    ) {
        // SAFETY: the library promises an array of this length.
        let dims = unsafe { ints(dim, dim_len) }?.to_vec();
        put_tensor(ret0, call("aten::amax", vec![of(this)?, dims.into(), (keepdim != 0).into()])?)
    }

    fn aoti_torch_aten_fill__Scalar(this: Handle<'_>, value: f64) {
        let mut this = tensor(this)?.clone();
        call("aten::fill_.Scalar", vec![Value::TensorMut(&mut this), value.into()]).map(drop)
    }

    fn aoti_torch_aten_full(
        size: *const i64,
        size_len: i64,
        fill_value: f64,
        dtype: Option<&i32>,
        layout: Option<&i32>,
        device: Option<&i32>,
        device_index: i32,
        pin_memory: Option<&i32>,
        ret0: Out<'_, *mut Tensor>,
    ) {
        // SAFETY: the library promises an array of this length.
        let sizes = unsafe { ints(size, size_len) }?;
        let options = options(dtype, layout, device, device_index, pin_memory)?;
        put_tensor(ret0, made_by("aten::full", [sizes.to_vec().into(), fill_value.into()], options)?)
    }

    fn aoti_torch_aten_narrow(
        this: Handle<'_>,
        dim: i64,
        start: i64,
        length: i64,
        ret0: Out<'_, *mut Tensor>,
    ) {
        put_tensor(ret0, call("aten::narrow", vec![of(this)?, dim.into(), start.into(), length.into()])?)
    }

    fn aoti_torch_aten_new_empty(
        this: Handle<'_>,
        size: *const i64,
        size_len: i64,
        dtype: Option<&i32>,
        layout: Option<&i32>,
        device: Option<&i32>,
        device_index: i32,
        pin_memory: Option<&i32>,
        ret0: Out<'_, *mut Tensor>,
    ) {
        // SAFETY: the library promises an array of this length.
        let sizes = unsafe { ints(size, size_len) }?;
        let options = options(dtype, layout, device, device_index, pin_memory)?;
        put_tensor(ret0, made_by("aten::new_empty", [of(this)?, sizes.to_vec().into()], options)?)
    }

    fn aoti_torch_aten_new_zeros(
        this: Handle<'_>,
        size: *const i64,
        size_len: i64,
        dtype: Option<&i32>,
        layout: Option<&i32>,
        device: Option<&i32>,
        device_index: i32,
        pin_memory: Option<&i32>,
        ret0: Out<'_, *mut Tensor>,
    ) {
        // SAFETY: the library promises an array of this length.
        let sizes = unsafe { ints(size, size_len) }?;
        let options = options(dtype, layout, device, device_index, pin_memory)?;
        put_tensor(ret0, made_by("aten::new_zeros", [of(this)?, sizes.to_vec().into()], options)?)
    }

    fn aoti_torch_aten_pad(
        this: Handle<'_>,
        pad: *const i64,
        pad_len: i64,
        mode: *const c_char,
        value: Option<&f64>,
        ret0: Out<'_, *mut Tensor>,
    ) {
        // SAFETY: the library promises an array of this length, and a text that ends in a zero.
        let (pad, mode) = unsafe { (ints(pad, pad_len)?.to_vec(), c_text(mode, "the mode")?.into_owned()) };
        let value = value.copied().map_or(Value::None, Value::Float);
        put_tensor(ret0, call("aten::pad", vec![of(this)?, pad.into(), mode.into(), value])?)
    }

    fn aoti_torch_aten_subtract_Tensor(
        this: Handle<'_>,
        other: Handle<'_>,
        alpha: f64,
        ret0: Out<'_, *mut Tensor>,
    ) {
        put_tensor(ret0, call("aten::subtract.Tensor", vec![of(this)?, of(other)?, number(alpha)])?)
    }

    fn aoti_torch_zero_(this: Handle<'_>) {
        let mut this = tensor(this)?.clone();
        call("aten::zero_", vec![Value::TensorMut(&mut this)]).map(drop)
    }

    fn aoti_torch_copy_(this: Handle<'_>, src: Handle<'_>, non_blocking: i32) {
        copy(this, src, non_blocking != 0)
    }

    fn aoti_torch_tensor_copy_(src: Handle<'_>, dst: Handle<'_>) {
        copy(dst, src, false)
    }

    /// Through the dispatcher, as in PyTorch: the view has a gradient, and may be one of a wrapper.
    fn aoti_torch_as_strided(
        this: Handle<'_>,
        sizes_ptr: *const i64,
        strides_ptr: *const i64,
        ret: Out<'_, *mut Tensor>,
    ) {
        let ndim = tensor(this)?.dim() as i64;
        // SAFETY: the library promises as many numbers as the tensor has dimensions.
        let (sizes, strides) = unsafe { (ints(sizes_ptr, ndim)?, ints(strides_ptr, ndim)?) };
        let arguments = vec![of(this)?, sizes.to_vec().into(), strides.to_vec().into(), Value::None];
        put_tensor(ret, call("aten::as_strided", arguments)?)
    }

    fn aoti_torch_clone(this: Handle<'_>, ret: Out<'_, *mut Tensor>) {
        put_tensor(ret, call("aten::clone", vec![of(this)?, Value::None])?)
    }

    fn aoti_torch_clone_preserve_strides(this: Handle<'_>, ret: Out<'_, *mut Tensor>) {
        let this = tensor(this)?;
        let mut copied = Tensor::empty_strided(this.sizes(), this.strides(), this.dtype(), this.device())?;
        call("aten::copy_", vec![Value::TensorMut(&mut copied), Value::TensorRef(this), false.into()])?;
        put_tensor(ret, copied)
    }

    fn aoti_torch_check_inf_and_nan(tensor_name: *const c_char, this: Handle<'_>) {
        let this = tensor(this)?;
        let is_finite = leases::suspended(|| match this.dtype() {
            DType::Float32 => Ok(this.to_vec::<f32>()?.iter().all(|value| value.is_finite())),
            DType::Float64 => Ok(this.to_vec::<f64>()?.iter().all(|value| value.is_finite())),
            dtype => Err(Error::new(ErrorKind::DType, format!("floats are looked at, not {dtype}"))),
        })?;
        // SAFETY: the library promises a text that ends in a zero.
        let name = unsafe { c_text(tensor_name, "the name") }?;
        ensure!(is_finite, Argument, "{name} has elements that are infinite or no numbers");
        Ok(())
    }
}

others! {}

fn of<'h>(handle: Handle<'h>) -> Result<Value<'h>> {
    tensor(handle).map(Value::TensorRef)
}

/// A number that the ABI passes as a float: it becomes an integer if it is one, so that tensors of integers keep their
/// type.
fn number(value: f64) -> Value<'static> {
    let is_whole = value.fract() == 0.0 && value.abs() < 2f64.powi(53);
    if is_whole { Value::Int(value as i64) } else { Value::Float(value) }
}

fn copy(dst: Handle<'_>, src: Handle<'_>, non_blocking: bool) -> Result<()> {
    let mut dst = tensor(dst)?.clone();
    call("aten::copy_", vec![Value::TensorMut(&mut dst), of(src)?, non_blocking.into()]).map(drop)
}

/// The options of a factory function.
fn options(
    dtype: Option<&i32>,
    layout: Option<&i32>,
    device: Option<&i32>,
    device_index: i32,
    pin_memory: Option<&i32>,
) -> Result<[Value<'static>; 4]> {
    let dtype = dtype.map(|number| numbers::dtype(*number)).transpose()?;
    let layout = layout.map(|number| numbers::layout(*number)).transpose()?;
    let device = device.map(|kind| numbers::device(*kind, device_index)).transpose()?;
    Ok([
        dtype.map_or(Value::None, Value::DType),
        layout.map_or(Value::None, Value::Layout),
        device.map_or(Value::None, Value::Device),
        pin_memory.map_or(Value::None, |yes| Value::Bool(*yes != 0)),
    ])
}

/// Calls a factory function, with its first arguments and its options.
fn made_by(name: &str, first: [Value<'_>; 2], options: [Value<'static>; 4]) -> Result<Tensor> {
    call(name, first.into_iter().chain(options).collect())
}

/// Calls an operator that returns a tensor, with all its arguments.
fn call(name: &str, arguments: Vec<Value<'_>>) -> Result<Tensor> {
    let operator = super::dispatch::find(name)?;
    let mut stack: Stack<'_> = arguments.into_iter().collect();
    leases::suspended(|| {
        operator.call_boxed(&mut stack)?;
        stack.pop_as()
    })
}
