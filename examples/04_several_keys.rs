//! One operator, several keys: the host, tensors without data, and a backend with memory of its own.

use torch_library::prelude::*;
use torch_library::{Storage, StorageImpl, register_backend_name};

torch_library! {
    /// Arithmetic for shopkeepers.
    pub mod counting {
        /// Doubles every element.
        double(Tensor self) -> Tensor;
    }
}

#[torch_impl(counting::double, CPU)]
fn double_on_cpu(this: &Tensor) -> Result<Tensor> {
    Tensor::from_vec(this.to_vec::<f64>()?.iter().map(|value| 2.0 * value).collect(), this.sizes())
}

#[torch_impl(counting::double, Meta)]
fn double_on_meta(this: &Tensor) -> Result<Tensor> {
    this.empty_like(this.dtype(), MemoryFormat::Preserve)
}

/// Memory that the host cannot read: beads on wires.
struct Abacus(Vec<u32>);

impl StorageImpl for Abacus {
    fn nbytes(&self) -> usize {
        self.0.len() * size_of::<f64>() // the size of the elements in bytes
    }

    fn device(&self) -> Device {
        DeviceType::PrivateUse1.into()
    }
}

/// A tensor on the abacus.
fn on_abacus(beads: Vec<u32>) -> Result<Tensor> {
    let sizes = [beads.len() as i64];
    let keys = DispatchKeySet::of_tensor(DispatchKey::PrivateUse1);
    Tensor::from_storage(Storage::new(Abacus(beads)), &sizes, &[1], 0, DType::Float64, keys)
}

#[torch_impl(counting::double, PrivateUse1)]
fn double_on_abacus(this: &Tensor) -> Result<Tensor> {
    let Some(abacus) = this.storage().downcast::<Abacus>() else {
        bail!(Device, "double: this tensor is on {}, but not on an abacus", this.device());
    };
    on_abacus(abacus.0.iter().map(|beads| 2 * beads).collect())
}

fn main() -> Result<()> {
    register_backend_name(DispatchKey::PrivateUse1, "abacus")?;

    println!("{}", counting::double(&Tensor::from([1.0, 2.0]))?);
    println!("{}", counting::double(&Tensor::empty(&[1000, 1000], DType::Float32, Device::META)?)?);

    let doubled = counting::double(&on_abacus(vec![3, 4])?)?;
    println!("{doubled}, keys {}", doubled.key_set());
    println!("{:?}", doubled.storage().downcast_ref().map(|Abacus(beads)| beads));
    Ok(())
}

// Prints:
// tensor([2., 4.], dtype=torch.float64)
// tensor(..., device='meta', size=(1000, 1000))
// tensor(..., device='abacus', size=(2,), dtype=torch.float64), keys DispatchKeySet(abacus, ADInplaceOrView, Autogradabacus, Autocastabacus)
// Some([6, 8])
