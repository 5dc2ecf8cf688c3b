//! Copies of tensors between a device and the host: bytes, for any dtype and strides.

use std::ops::Range;

use super::{Allocation, Backend, of};
use crate::device::{Device, DeviceType};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::tensor::geometry::Geometry;
use crate::tensor::{Storage, Tensor};
use crate::{bail, ensure};

/// A copy of a device tensor in host memory: a CPU tensor with the same sizes and strides, without the rest of the
/// storage. Autograd does not record it; a tensor on the CPU is copied, too.
///
/// # Errors
/// The tensor is a wrapper, its device has no backend, or the backend fails.
pub fn host_copy(tensor: &Tensor) -> Result<Tensor> {
    ensure!(!tensor.is_wrapper(), NotSupported, "a wrapper tensor has no bytes to copy");
    // Together, since another handle may move the tensor meanwhile.
    let (storage, geometry) = tensor.0.place.place();
    let range = bytes_of(geometry, tensor.dtype())?;
    let host = Storage::zeroed(range.len(), Device::CPU)?;
    match storage.data_ptr() {
        Some(_) => host.bytes_mut()?.copy_from_slice(&storage.bytes()?[range]),
        None => backend_of(tensor)?.download(&storage, range.start, &mut host.bytes_mut()?)?,
    }
    let keys = DispatchKeySet::of_inference_tensor(DispatchKey::CPU);
    Tensor::from_storage(host, geometry.sizes(), geometry.strides(), 0, tensor.dtype(), keys)
}

/// Copies the elements of a CPU tensor to a device tensor with the same sizes, strides and dtype: the one from which
/// [`host_copy`] was made, or a new one. The gaps between elements are written too.
///
/// # Errors
/// Sizes, strides or dtype differ; the device has no backend, or the backend fails.
pub fn from_host(host: &Tensor, tensor: &Tensor) -> Result<()> {
    let (storage, geometry) = tensor.0.place.place();
    let is_like = host.sizes() == geometry.sizes()
        && host.strides() == geometry.strides()
        && host.dtype() == tensor.dtype();
    ensure!(
        is_like,
        Argument,
        "bytes can be copied only between tensors of the same sizes, strides and dtype"
    );
    let (from, to) = (range_of(host)?, bytes_of(geometry, tensor.dtype())?);
    backend_of(tensor)?.upload(&storage, to.start, &host.storage().bytes()?[from])
}

/// A copy of a CPU tensor on a device, in new memory with the same sizes and strides. Autograd does not record it.
///
/// # Errors
/// The device does not exist, or its backend fails.
///
/// ```
/// use torch_library::{Tensor, backend};
///
/// let error = backend::on_device(&Tensor::from([1.0]), "cuda".parse()?).unwrap_err();
/// assert!(error.to_string().starts_with("no backend of this program serves cuda"));
/// # Ok::<(), torch_library::Error>(())
/// ```
pub fn on_device(host: &Tensor, device: Device) -> Result<Tensor> {
    let geometry = host.geometry();
    let tensor = Tensor::empty_strided(geometry.sizes(), geometry.strides(), host.dtype(), device)?;
    match tensor.storage().data_ptr() {
        Some(_) => {
            let (from, to) = (range_of(host)?, range_of(&tensor)?);
            tensor.storage().bytes_mut()?[to].copy_from_slice(&host.storage().bytes()?[from]);
        }
        None => from_host(host, &tensor)?,
    }
    Ok(tensor)
}

/// The byte range of the storage that the elements are in.
pub(crate) fn range_of(tensor: &Tensor) -> Result<Range<usize>> {
    bytes_of(tensor.geometry(), tensor.dtype())
}

fn bytes_of(geometry: &Geometry, dtype: DType) -> Result<Range<usize>> {
    let size = dtype.size();
    if geometry.numel() == 0 {
        return Ok(0..0);
    }
    let (start, end) = (usize::try_from(geometry.offset()), usize::try_from(geometry.end()?));
    let (Ok(start), Ok(end)) = (start, end) else {
        bail!(Shape, "the elements of a tensor lie outside of its storage")
    };
    Ok(start * size..end * size)
}

/// The backend of a tensor's device.
fn backend_of(tensor: &Tensor) -> Result<&'static dyn Backend> {
    let (device, storage) = (tensor.device(), tensor.storage());
    if let Some(why) = storage.why_unreachable() {
        bail!(Device, "{why}");
    }
    of(device.kind)?.map_or_else(|| Err(no_backend(device)), Ok)
}

#[cold]
pub(in crate::tensor) fn no_backend(device: Device) -> Error {
    Error::new(
        ErrorKind::Device,
        format!(
            "no backend of this program serves {device}\n  \
             help: link the crate that has it, `use that_crate as _;`, or write one: `torch_library::backend::Backend`"
        ),
    )
}

/// Allocates memory on a device that has a backend.
pub(in crate::tensor) fn allocate(nbytes: usize, dtype: DType, device: Device) -> Result<Storage> {
    debug_assert!(!matches!(device.kind, DeviceType::Cpu | DeviceType::Meta));
    let Some(backend) = of(device.kind)? else { return Err(no_backend(device)) };
    let device = super::resolve(device)?;
    let storage = backend.allocate(&Allocation::new(nbytes, device.index.unwrap_or(0), dtype))?;
    ensure!(
        storage.device() == device && storage.nbytes() >= nbytes,
        Internal,
        "{} was asked for {nbytes} bytes on {device} and gave {} on {}",
        backend.name(),
        storage.nbytes(),
        storage.device()
    );
    // The host may access the memory, and a backend need not have allocated it itself.
    storage
        .check_alignment(dtype.align())
        .map_err(|error| error.context(format_args!("memory of {} for {dtype}", backend.name())))?;
    Ok(storage)
}
