//! Loaders: how an archive becomes a program.

use std::path::Path;

use torch_library::Device;
use torch_library::prelude::*;

use crate::archive::Archive;
use crate::memory::Memory;
use crate::program::{Builder, Program};
use crate::refused;
use crate::weights::{Places, Weights};

/// Options for reading an archive.
///
/// ```
/// use torch_library::Device;
/// use torch_library_export::Loader;
/// use torch_library_kernels as _;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/models/digits.pt2");
/// let program = Loader::new().device(Device::CPU).load(path)?;
/// assert!(program.problems().is_empty());
/// # Ok::<(), torch_library::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a loader loads when it is told to"]
pub struct Loader {
    device: Device,
    program: Option<String>,
    folds_batch_norm: bool,
}

impl Default for Loader {
    fn default() -> Self {
        Loader { device: Device::CPU, program: None, folds_batch_norm: false }
    }
}

impl Loader {
    /// A loader for the CPU.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts weights on a device, and replaces every device that the program names by it, except `meta`: the device of
    /// the export does not matter. Autocast regions for the device of the export apply on this one; those for another
    /// device, where the exported program had no tensors, do not apply.
    pub fn device(self, device: Device) -> Self {
        Loader { device, ..self }
    }

    /// Chooses one program of an archive with several, by its name. Without this it is `model`, the name that
    /// `torch.export.save` gives, or the only program.
    ///
    /// PyTorch: the argument `exported_programs` of `torch.export.pt2_archive._package.package_pt2`, which names them.
    pub fn program(self, name: impl Into<String>) -> Self {
        Loader { program: Some(name.into()), ..self }
    }

    /// Folds batch normalisation in inference into the convolution before it, where both have constant weights and
    /// nothing else uses the convolution's result. The program has fewer calls, and results may differ in the last
    /// bits. Of weights that many convolutions share, or that are expanded, only some are folded: the new weights are
    /// not larger than all weights of the archive.
    ///
    /// The new weights are copies: what is written to the model's own by way of [`Program::weights`] has no effect on
    /// them. Layers and kernels for batch norm do not see the calls that are gone.
    ///
    /// ```
    /// # fn main() -> torch_library::Result<()> {
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/models/digits.pt2");
    /// # use torch_library_export::Loader;
    /// # use torch_library_kernels as _;
    /// let program = Loader::new().fold_batch_norm().load(path)?;
    /// # assert!(program.problems().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// PyTorch: `torch.nn.utils.fusion.fuse_conv_bn_eval`; `torch.jit.freeze`.
    pub fn fold_batch_norm(self) -> Self {
        Loader { folds_batch_norm: true, ..self }
    }

    /// Reads an archive into memory, without copying the weights again.
    ///
    /// # Errors
    /// The file cannot be read, or is not an archive of PyTorch 2.10 to 2.15; the graph is inconsistent; weights are
    /// missing. A missing operator is not an error yet, see [`Program::problems`].
    pub fn load(self, path: impl AsRef<Path>) -> Result<Program> {
        let path = path.as_ref();
        Memory::read(path).and_then(|memory| self.of(memory)).map_err(|error| error.context(path.display()))
    }

    /// Maps an archive into memory: weights are read from the file when they are first used, and several processes
    /// share them. Writes of a program to its buffers stay in memory.
    ///
    /// # Errors
    /// The errors of [`load`](Self::load).
    ///
    /// # Safety
    /// - As long as the program or one of its tensors lives, the file is not written to or truncated.
    #[expect(unsafe_code, reason = "the caller answers for the file")]
    pub unsafe fn map(self, path: impl AsRef<Path>) -> Result<Program> {
        let path = path.as_ref();
        // SAFETY: the caller promises that the file does not change as long as any storage over it lives.
        let memory = unsafe { Memory::map(path) };
        memory.and_then(|memory| self.of(memory)).map_err(|error| error.context(path.display()))
    }

    /// Reads an archive from bytes, which are copied.
    ///
    /// # Errors
    /// The errors of [`load`](Self::load).
    pub fn from_bytes(self, bytes: &[u8]) -> Result<Program> {
        self.of(Memory::copied(bytes)?)
    }

    pub(crate) fn of(self, memory: Memory) -> Result<Program> {
        let archive = Archive::new(memory.bytes()).map_err(refused)?;
        let model = archive.model(self.program.as_deref()).map_err(refused)?;
        let (exported, schema_version) = archive.program(&model).map_err(refused)?;
        let places = Places::new(&archive, &model)?;
        let builder = Builder::new(exported, schema_version, self.device, self.folds_batch_norm);
        builder.build(Weights::new(memory, places)?)
    }
}

impl Program {
    /// Reads an archive; [`Loader`] has options.
    ///
    /// # Errors
    /// The errors of [`Loader::load`].
    ///
    /// PyTorch: `torch.export.load`.
    pub fn load(path: impl AsRef<Path>) -> Result<Program> {
        Loader::new().load(path)
    }

    /// Reads an archive from bytes, which are copied.
    ///
    /// # Errors
    /// The errors of [`Loader::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Program> {
        Loader::new().from_bytes(bytes)
    }
}
