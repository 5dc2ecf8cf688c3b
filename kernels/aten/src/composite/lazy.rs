//! Lazy conjugates and negatives, and complex numbers as pairs of real ones: views of the same storage.

use torch_library::Storage;
use torch_library::prelude::*;

use crate::aten;

mod zeros;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn _conj(this: &Tensor) -> Result<Tensor> {
        ensure!(
            this.dtype().is_complex(),
            DType,
            "{}: {} has no imaginary part to negate",
            aten::_conj::NAME,
            this.dtype()
        );
        Ok(turned(this, DispatchKey::Conjugate))
    }

    fn _neg_view(this: &Tensor) -> Result<Tensor> {
        Ok(turned(this, DispatchKey::Negative))
    }

    fn _conj_physical(this: &Tensor) -> Result<Tensor> {
        let pairs = match this.dtype().is_complex() {
            true => aten::view_as_real(&aten::clone(this)?)?,
            false => return aten::clone(this),
        };
        let mut imaginary = aten::select_int(&pairs, -1, 1)?;
        aten::neg_(&mut imaginary)?;
        aten::view_as_complex(&pairs)
    }

    fn view_as_real(this: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::view_as_real::NAME;
        let keys = this.key_set();
        ensure!(
            this.dtype().is_complex(),
            DType,
            "{OPERATOR}: {} is real already, expected a complex type",
            this.dtype()
        );
        ensure!(
            !keys.has(DispatchKey::Conjugate),
            NotSupported,
            "{OPERATOR}: the imaginary parts of a lazy conjugate are not in memory, `resolve_conj` makes a copy that has them"
        );
        let geometry = this.geometry();
        let sizes = [geometry.sizes(), &[2]].concat();
        let strides: Vec<i64> =
            geometry.strides().iter().map(|stride| stride.saturating_mul(2)).chain([1]).collect();
        let (storage, offset, dtype) =
            (this.storage().clone(), geometry.offset().saturating_mul(2), this.dtype().to_real());
        Tensor::from_storage(storage, &sizes, &strides, offset, dtype, keys)
    }

    fn view_as_complex(this: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::view_as_complex::NAME;
        ensure!(
            this.dtype().is_floating_point() && this.dtype() != DType::BFloat16,
            DType,
            "{OPERATOR}: {} is not supported, expected float16, float32 or float64",
            this.dtype()
        );
        let geometry = this.geometry();
        let (Some((2, sizes)), Some((1, strides))) = (last(geometry.sizes()), last(geometry.strides()))
        else {
            bail!(
                Shape,
                "{OPERATOR}: sizes {:?} with strides {:?} do not end in pairs, expected a last dimension of size 2 \
                 and stride 1",
                geometry.sizes(),
                geometry.strides()
            )
        };
        let is_even = strides.iter().chain([&geometry.offset()]).all(|step| step % 2 == 0);
        ensure!(
            is_even,
            Shape,
            "{OPERATOR}: strides {strides:?} and offset {} split pairs, expected even numbers",
            geometry.offset()
        );
        let strides: Vec<i64> = strides.iter().map(|stride| stride / 2).collect();
        let (storage, offset) = (this.storage().clone(), geometry.offset() / 2);
        let Some(dtype) = this.dtype().to_complex().filter(|_| this.dtype().is_floating_point()) else {
            bail!(DType, "{OPERATOR}: no complex type has parts of {}", this.dtype())
        };
        Tensor::from_storage(storage, sizes, &strides, offset, dtype, this.key_set())
    }

    fn _efficientzerotensor(
        size: &[i64],
        dtype: Option<DType>,
        _layout: Option<Layout>,
        device: Option<Device>,
        _pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let (dtype, device) = (dtype.unwrap_or(DType::DEFAULT), device.unwrap_or(Device::CPU));
        let shape = Tensor::empty(size, dtype, Device::META)?;
        // The memory of no elements can be read like any other.
        let storage = match shape.numel() {
            0 => Tensor::empty(&[0], dtype, device)?.storage().clone(),
            _ => Storage::without_data(shape.storage().nbytes(), device),
        };
        let keys = DispatchKeySet::of_tensor(device.kind.dispatch_key()).add(DispatchKey::ZeroTensor);
        Tensor::from_storage(storage, shape.sizes(), shape.strides(), 0, dtype, keys)
    }
}

/// The last element of a list, and the elements before it.
fn last(list: &[i64]) -> Option<(i64, &[i64])> {
    list.split_last().map(|(last, rest)| (*last, rest))
}

/// A view with a dispatch key toggled.
fn turned(this: &Tensor, bit: DispatchKey) -> Tensor {
    let keys = this.key_set();
    this.with_key_set(if keys.has(bit) { keys.remove(bit) } else { keys.add(bit) })
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn conj(this: &Tensor) -> Result<Tensor> {
        if this.dtype().is_complex() { aten::_conj(this) } else { Ok(this.clone()) }
    }

    fn conj_physical(this: &Tensor) -> Result<Tensor> {
        if this.dtype().is_complex() { aten::_conj_physical(this) } else { Ok(this.clone()) }
    }

    fn is_conj(this: &Tensor) -> Result<bool> {
        Ok(this.key_set().has(DispatchKey::Conjugate))
    }

    fn is_neg(this: &Tensor) -> Result<bool> {
        Ok(this.key_set().has(DispatchKey::Negative))
    }

    fn _is_zerotensor(this: &Tensor) -> Result<bool> {
        Ok(this.key_set().has(DispatchKey::ZeroTensor))
    }

    fn resolve_conj(this: &Tensor) -> Result<Tensor> {
        if aten::is_conj(this)? { aten::clone(this) } else { Ok(this.clone()) }
    }

    fn resolve_neg(this: &Tensor) -> Result<Tensor> {
        if aten::is_neg(this)? { aten::clone(this) } else { Ok(this.clone()) }
    }

    fn real(this: &Tensor) -> Result<Tensor> {
        match this.dtype().is_complex() {
            true if aten::is_conj(this)? => aten::real(&aten::_conj(this)?),
            true => aten::select_int(&aten::view_as_real(this)?, -1, 0),
            false => Ok(this.clone()),
        }
    }

    fn imag(this: &Tensor) -> Result<Tensor> {
        ensure!(
            this.dtype().is_complex(),
            DType,
            "{}: {} has no imaginary part",
            aten::imag::NAME,
            this.dtype()
        );
        match aten::is_conj(this)? {
            true => aten::_neg_view(&aten::imag(&aten::_conj(this)?)?),
            false => aten::select_int(&aten::view_as_real(this)?, -1, 1),
        }
    }
}

/// These operators query the keys of a tensor, so fallbacks must not resolve the lazy tensors first.
#[torch_impl(aten::is_conj, Conjugate, Negative, ZeroTensor, fallthrough)]
fn is_conj_looks_at_the_key();

#[torch_impl(aten::is_neg, Conjugate, Negative, ZeroTensor, fallthrough)]
fn is_neg_looks_at_the_key();

#[torch_impl(aten::_is_zerotensor, Conjugate, Negative, ZeroTensor, fallthrough)]
fn is_zerotensor_looks_at_the_key();
