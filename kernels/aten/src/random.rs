//! The default generator, from which random operators draw if they are given none.

use std::sync::OnceLock;

use torch_library::Generator;

/// The default generator of the CPU.
///
/// ```
/// use torch_library_kernels::{aten, random};
///
/// random::manual_seed(7);
/// let first = aten::randn(&[3])?;
/// random::default_generator().manual_seed(7);
/// assert!(aten::equal(&aten::randn(&[3])?, &first)?);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `torch.default_generator`.
pub fn default_generator() -> &'static Generator {
    static GENERATOR: OnceLock<Generator> = OnceLock::new();
    GENERATOR.get_or_init(Generator::default)
}

/// Seeds [`default_generator`], and the default generators of all devices.
///
/// PyTorch: `torch.manual_seed`.
pub fn manual_seed(seed: u64) {
    default_generator().manual_seed(seed);
    torch_library::backend::manual_seed_all(seed);
}
