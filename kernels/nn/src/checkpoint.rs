//! Checkpoints: named tensors in files of the format safetensors, which PyTorch and others read too.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_kernels::checkpoint;
//!
//! let path = std::env::temp_dir().join(format!("weights-{}.safetensors", std::process::id()));
//! let (weight, bias) = (Tensor::from([[1f32, 2.0], [3.0, 4.0]]), Tensor::from([5f32, 6.0]));
//! checkpoint::save(&path, &[("weight", &weight), ("bias", &bias)])?;
//!
//! let (other, zeros) = (Tensor::from([[0f32; 2]; 2]), Tensor::from([0f32; 2]));
//! checkpoint::load(&path, &[("weight", &other), ("bias", &zeros)])?;
//! assert_eq!(other.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), Error>(())
//! ```
//!
//! A file has a checksum of all its bytes in its metadata (gzip's CRC-32, computed with zeros for its own eight
//! digits); reading a file that a disk or a network has changed is an error. Files without a checksum, from other
//! programs or earlier versions, are only checked for their format.
//!
//! Besides tensors, a file can hold settings, which a program reads or compares when it resumes ([`save_with`],
//! [`Checkpoint`]).

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use torch_library::guard::no_grad;
use torch_library::prelude::*;

use crate::aten;
use crate::data::safetensors;

mod checksum;
mod file;

/// The most names that an error lists.
const LISTED: usize = 8;

/// Writes named tensors to a file, atomically: the file gets its name once it is complete and on the disk. Here and in
/// the functions below, names and tensors are owned or borrowed: `("weight", &weight)`, or what [`Optimizer::state`]
/// returns.
///
/// [`Optimizer::state`]: crate::optim::Optimizer::state
///
/// # Errors
/// A path that cannot be written to, two tensors of one name, types that the format does not have, memory that the host
/// cannot access.
///
/// PyTorch: `safetensors.torch.save_file`.
pub fn save(path: impl AsRef<Path>, tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)]) -> Result<()> {
    save_with(path, tensors, &[])
}

/// Writes tensors and named settings, with which [`Checkpoint::expect_settings`] can later tell whether a program
/// resumes with the settings that it began with.
///
/// # Errors
/// The errors of [`save`]; two settings of one name, or one with the name of an entry that every file has.
///
/// PyTorch: `safetensors.torch.save_file(metadata=…)`.
pub fn save_with(
    path: impl AsRef<Path>,
    tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)],
    settings: &[(&str, String)],
) -> Result<()> {
    let tensors = distinct(tensors)?;
    let mut metadata: Vec<(&str, &str)> = checksum::ENTRIES.to_vec();
    for (name, setting) in settings {
        let is_new = metadata.iter().all(|(earlier, _)| earlier != name);
        ensure!(is_new, Argument, "two settings of a checkpoint have the name {name:?}");
        metadata.push((name, setting));
    }
    let mut bytes = no_grad(|| safetensors::to_bytes_with(&tensors, &metadata))?;
    checksum::seal(&mut bytes);
    file::replace(path.as_ref(), |file| file.write_all(&bytes))
}

/// Reads a file into existing tensors, which have to be exactly those that it holds.
///
/// Nothing is written unless all names, sizes and types fit; nothing is converted. [`load_partial`] takes names that
/// only one side has; [`read`] returns new tensors, whatever the file has.
///
/// # Errors
/// A file that cannot be read, is damaged or is not of this format; a tensor that it does not have, or has with other
/// sizes or another type; or a tensor in the file that was not asked for.
///
/// PyTorch: `safetensors.torch.load_model`.
pub fn load(path: impl AsRef<Path>, tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)]) -> Result<()> {
    Checkpoint::open(path)?.load(tensors)
}

/// Like [`load`](fn@load), but leaves out the names that only one side has, and returns them: for a model that begins
/// with the weights of another one.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_kernels::checkpoint;
///
/// let path = std::env::temp_dir().join(format!("pretrained-{}.safetensors", std::process::id()));
/// checkpoint::save(&path, &[("body", Tensor::from([1.0])), ("old head", Tensor::from([2.0]))])?;
///
/// let (body, head) = (Tensor::from([0.0]), Tensor::from([0.0]));
/// let keys = checkpoint::load_partial(&path, &[("body", &body), ("new head", &head)])?;
/// assert_eq!(body.to_vec::<f64>()?, [1.0]);
/// assert_eq!((keys.missing_keys, keys.unexpected_keys), (vec!["new head".to_owned()], vec!["old head".to_owned()]));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// A file that cannot be read, is damaged or is not of this format; a tensor that it has with other sizes or another
/// type. Nothing is written then.
///
/// PyTorch: `load_state_dict(strict=False)`, `safetensors.torch.load_model(strict=False)`.
pub fn load_partial(
    path: impl AsRef<Path>,
    tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)],
) -> Result<IncompatibleKeys> {
    Checkpoint::open(path)?.load_partial(tensors)
}

/// The tensors of a file.
///
/// # Errors
/// A file that cannot be read, is damaged or is not of this format, types that tensors here do not have.
///
/// PyTorch: `safetensors.torch.load_file`.
pub fn read(path: impl AsRef<Path>) -> Result<BTreeMap<String, Tensor>> {
    Ok(Checkpoint::open(path)?.tensors)
}

/// A short text that depends on the elements, sizes and types of tensors: a setting that stands for data.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_kernels::checkpoint::fingerprint;
///
/// assert_eq!(fingerprint(&[&Tensor::from([1i64, 2])])?, fingerprint(&[&Tensor::from([1i64, 2])])?);
/// assert_ne!(fingerprint(&[&Tensor::from([1i64, 2])])?, fingerprint(&[&Tensor::from([2i64, 1])])?);
/// # Ok::<(), Error>(())
/// ```
///
/// It detects data that differ by accident, not data that were forged to have the same fingerprint.
///
/// # Errors
/// Memory that the host cannot access, types that the format does not have.
pub fn fingerprint(tensors: &[&Tensor]) -> Result<String> {
    let named = tensors.iter().enumerate().map(|(index, tensor)| (index.to_string(), (*tensor).clone()));
    let bytes = no_grad(|| safetensors::to_bytes(&named.collect()))?;
    Ok(format!("crc32:{:08x}", crc32fast::hash(&bytes)))
}

/// The contents of a checkpoint file.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_kernels::checkpoint::{self, Checkpoint};
///
/// let path = std::env::temp_dir().join(format!("settings-{}.safetensors", std::process::id()));
/// checkpoint::save_with(&path, &[("x", Tensor::from([1.0]))], &[("batch", "32".to_owned())])?;
///
/// let checkpoint = Checkpoint::open(&path)?;
/// assert_eq!(checkpoint.tensors()["x"].to_vec::<f64>()?, [1.0]);
/// checkpoint.expect_settings(&[("batch", "32".to_owned())])?;
/// let error = checkpoint.expect_settings(&[("batch", "64".to_owned())]).unwrap_err().to_string();
/// assert!(error.ends_with("was written with other settings:\n  batch: there \"32\", here \"64\""), "{error}");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    tensors: BTreeMap<String, Tensor>,
    settings: BTreeMap<String, String>,
}

impl Checkpoint {
    /// Reads a file.
    ///
    /// # Errors
    /// The errors of [`read`].
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint> {
        let path = path.as_ref();
        let (file, len) = file::open(path)?;
        Checkpoint::parse(path, file, len).map_err(|error| error.context(path.display()))
    }

    fn parse(path: &Path, file: impl std::io::Read, len: u64) -> Result<Checkpoint> {
        let bytes = safetensors::header::read(file, len)?;
        checksum::check(&bytes)?;
        let mut settings = safetensors::header::metadata(&bytes)?;
        checksum::check_metadata(&bytes, |name| settings.contains_key(name))?;
        checksum::ENTRIES.iter().for_each(|(name, _)| drop(settings.remove(*name)));
        Ok(Checkpoint { path: path.to_owned(), tensors: safetensors::from_bytes(&bytes)?, settings })
    }

    /// The tensors by name.
    pub fn tensors(&self) -> &BTreeMap<String, Tensor> {
        &self.tensors
    }

    /// The settings by name; for a file from another program, the entries of its metadata.
    pub fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// Compares the settings with those of this program.
    ///
    /// # Errors
    /// Settings that differ or that only one side has; the error lists all of them, with both values.
    pub fn expect_settings(&self, here: &[(&str, String)]) -> Result<()> {
        let here: BTreeMap<&str, &str> =
            here.iter().map(|(name, setting)| (*name, setting.as_str())).collect();
        let unknown = self.settings.keys().map(String::as_str).filter(|name| !here.contains_key(name));
        let mut differences = String::new();
        for name in here.keys().copied().chain(unknown) {
            let (there, here) = (self.settings.get(name).map(String::as_str), here.get(name).copied());
            if there != here {
                let text = |setting: Option<&str>| {
                    setting.map_or_else(|| "nothing".to_owned(), |setting| format!("{setting:?}"))
                };
                let _ = write!(differences, "\n  {name}: there {}, here {}", text(there), text(here));
            }
        }
        let path = self.path.display();
        ensure!(differences.is_empty(), Argument, "{path} was written with other settings:{differences}");
        Ok(())
    }

    /// Writes the tensors into others, as [`load`](fn@load) does.
    ///
    /// # Errors
    /// The errors of [`load`](fn@load).
    pub fn load(&self, tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)]) -> Result<()> {
        let (path, wanted) = (self.path.display(), distinct(tensors)?);
        let IncompatibleKeys { missing_keys, unexpected_keys } = self.compare(&wanted);
        if let Some(name) = missing_keys.first() {
            bail!(Argument, "{path} has no tensor {name:?}, it has {}", list(self.tensors.keys()));
        }
        let pairs = self.pairs(&wanted)?;
        ensure!(
            unexpected_keys.is_empty(),
            Argument,
            "{path} has tensors that were not requested: {}\n  help: `checkpoint::load_partial` leaves them out",
            list(unexpected_keys.iter())
        );
        write(pairs)
    }

    /// Writes those tensors into others that both sides have, as [`load_partial`](fn@load_partial) does.
    ///
    /// # Errors
    /// The errors of [`load_partial`](fn@load_partial).
    pub fn load_partial(
        &self,
        tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)],
    ) -> Result<IncompatibleKeys> {
        let wanted = distinct(tensors)?;
        write(self.pairs(&wanted)?)?;
        Ok(self.compare(&wanted))
    }

    /// The names that only one side has.
    fn compare(&self, wanted: &BTreeMap<String, Tensor>) -> IncompatibleKeys {
        let missing = wanted.keys().filter(|name| !self.tensors.contains_key(*name));
        let unexpected = self.tensors.keys().filter(|name| !wanted.contains_key(*name));
        IncompatibleKeys {
            missing_keys: missing.cloned().collect(),
            unexpected_keys: unexpected.cloned().collect(),
        }
    }

    /// The tensors that both sides have, those to write to and those of the file.
    ///
    /// # Errors
    /// Sizes or types differ.
    fn pairs(&self, wanted: &BTreeMap<String, Tensor>) -> Result<Vec<(Tensor, &Tensor)>> {
        let path = self.path.display();
        let mut pairs = Vec::with_capacity(wanted.len());
        for (name, tensor) in wanted {
            let Some(found) = self.tensors.get(name) else { continue };
            ensure!(
                (found.sizes(), found.dtype()) == (tensor.sizes(), tensor.dtype()),
                Shape,
                "{path}: {name:?} is {} of sizes {:?}, expected {} of sizes {:?}",
                found.dtype(),
                found.sizes(),
                tensor.dtype(),
                tensor.sizes()
            );
            pairs.push((tensor.clone(), found));
        }
        Ok(pairs)
    }
}

/// Names that only one side has, where a checkpoint is loaded in part.
///
/// PyTorch: what `load_state_dict` returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "the names say what was not loaded"]
pub struct IncompatibleKeys {
    /// The names of tensors that the file does not have, which keep their elements.
    pub missing_keys: Vec<String>,
    /// The names of tensors in the file that were not requested.
    pub unexpected_keys: Vec<String>,
}

/// Copies the elements of the second tensors to the first ones.
fn write(mut pairs: Vec<(Tensor, &Tensor)>) -> Result<()> {
    no_grad(|| pairs.iter_mut().try_for_each(|(tensor, found)| aten::copy_(tensor, found).map(drop)))
}

/// Tensors by name.
fn distinct(tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)]) -> Result<BTreeMap<String, Tensor>> {
    let mut named = BTreeMap::new();
    for (name, tensor) in tensors {
        let name = name.as_ref();
        let earlier = named.insert(name.to_owned(), tensor.borrow().clone());
        ensure!(earlier.is_none(), Argument, "two tensors of a checkpoint have the name {name:?}");
    }
    Ok(named)
}

/// The first few of some names, since a model may have thousands.
fn list<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    match names.len().saturating_sub(LISTED) {
        0 if names.is_empty() => "none".to_owned(),
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..LISTED].join(", ")),
    }
}
