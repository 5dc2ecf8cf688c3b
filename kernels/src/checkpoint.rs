//! Named tensors in files of the format safetensors, which PyTorch and others read too.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_kernels::checkpoint;
//!
//! let path = std::env::temp_dir().join(format!("weights-{}.safetensors", std::process::id()));
//! let weight = Tensor::from([[1f32, 2.0], [3.0, 4.0]]);
//! checkpoint::save(&path, &[("weight".to_owned(), weight)])?;
//!
//! let other = Tensor::from([[0f32; 2]; 2]);
//! checkpoint::load(&path, &[("weight".to_owned(), other.clone())])?;
//! assert_eq!(other.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), Error>(())
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use torch_library::guard::no_grad;
use torch_library::prelude::*;

use crate::aten;
use crate::data::safetensors;

/// Writes tensors to a file: all or nothing, as the file gets its name when it is complete.
///
/// # Errors
/// A place that cannot be written to, two tensors of one name, types that the format does not know, memory that the
/// host does not reach.
///
/// PyTorch: `safetensors.torch.save_file`.
pub fn save(path: impl AsRef<Path>, tensors: &[(String, Tensor)]) -> Result<()> {
    let path = path.as_ref();
    let mut named = BTreeMap::new();
    for (name, tensor) in tensors {
        let earlier = named.insert(name.clone(), tensor.clone());
        ensure!(earlier.is_none(), Argument, "two tensors of a checkpoint have the name {name:?}");
    }
    let bytes = no_grad(|| safetensors::to_bytes(&named))?;
    let mut partial = OsString::from(path);
    partial.push(".partial");
    fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path)).map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot write {}: {error}", path.display())).with_source(error)
    })
}

/// Reads a file into tensors that are there already; what the file has beside them is left alone.
///
/// Nothing is written unless everything fits.
///
/// # Errors
/// A file that cannot be read or is no such file, a tensor that it does not have, or has in other sizes or another type.
///
/// PyTorch: `safetensors.torch.load_model`.
pub fn load(path: impl AsRef<Path>, tensors: &[(String, Tensor)]) -> Result<()> {
    let path = path.as_ref();
    let found = read(path)?;
    let mut pairs = Vec::with_capacity(tensors.len());
    for (name, tensor) in tensors {
        let Some(found) = found.get(name) else {
            let names: Vec<_> = found.keys().map(String::as_str).collect();
            bail!(Argument, "{} has no tensor {name:?}, it has {}", path.display(), names.join(", "));
        };
        ensure!(
            (found.sizes(), found.dtype()) == (tensor.sizes(), tensor.dtype()),
            Shape,
            "{}: {name:?} is {} of sizes {:?}, {} of sizes {:?} is wanted",
            path.display(),
            found.dtype(),
            found.sizes(),
            tensor.dtype(),
            tensor.sizes()
        );
        pairs.push((tensor.clone(), found));
    }
    no_grad(|| pairs.iter_mut().try_for_each(|(tensor, found)| aten::copy_(tensor, found).map(drop)))
}

/// The tensors of a file.
///
/// # Errors
/// A file that cannot be read or is no such file, types that tensors here do not have.
///
/// PyTorch: `safetensors.torch.load_file`.
pub fn read(path: impl AsRef<Path>) -> Result<BTreeMap<String, Tensor>> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot read {}: {error}", path.display())).with_source(error)
    })?;
    safetensors::from_bytes(&bytes).map_err(|error| error.context(path.display()))
}
