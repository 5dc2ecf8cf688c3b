//! The default generator of each device.

use std::sync::{Mutex, PoisonError};

use super::current::resolve;
use super::table::of;
use crate::bail;
use crate::device::Device;
use crate::error::Result;
use crate::generator::Generator;

type Generators = Vec<(Device, Generator)>;
static GENERATORS: Mutex<(Option<u64>, Generators)> = Mutex::new((None, Vec::new()));

/// The generator from which random operators on a device draw if they are given none. That of the CPU belongs to the
/// operators.
///
/// # Errors
/// The device does not exist.
///
/// PyTorch: `torch.cuda.default_generators`.
pub fn default_generator(device: Device) -> Result<Generator> {
    let device = resolve(device)?;
    let Some(backend) = of(device.kind)? else {
        bail!(Device, "{device} has no backend with a generator of its own")
    };
    let mut generators = GENERATORS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, generator)) = generators.1.iter().find(|(other, _)| *other == device) {
        return Ok(generator.clone());
    }
    let generator = backend.new_generator(device.index.unwrap_or(0));
    if let Some(seed) = generators.0 {
        generator.manual_seed(seed);
    }
    generators.1.push((device, generator.clone()));
    Ok(generator)
}

/// Seeds the default generators of all devices, also of those that have not been used yet.
///
/// PyTorch: `torch.cuda.manual_seed_all`.
pub fn manual_seed_all(seed: u64) {
    let mut generators = GENERATORS.lock().unwrap_or_else(PoisonError::into_inner);
    generators.0 = Some(seed);
    generators.1.iter().for_each(|(_, generator)| generator.manual_seed(seed));
}
