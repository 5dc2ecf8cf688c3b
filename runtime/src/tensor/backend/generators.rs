//! The default generator of each device.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::current::resolve;
use super::table::of;
use crate::bail;
use crate::device::Device;
use crate::error::Result;
use crate::generator::Generator;

/// The default generators that exist, and the seed of those that do not yet, if one was set.
///
/// The lock is held only to look at them: making a generator is a backend's code, and seeding one waits for whoever is
/// drawing from it, who may ask for a generator in turn.
struct Generators {
    seed: Option<u64>,
    of_devices: Vec<(Device, Generator)>,
}

static GENERATORS: Mutex<Generators> = Mutex::new(Generators { seed: None, of_devices: Vec::new() });

fn generators() -> MutexGuard<'static, Generators> {
    GENERATORS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Generators {
    fn of(&self, device: Device) -> Option<Generator> {
        self.of_devices.iter().find(|(other, _)| *other == device).map(|(_, generator)| generator.clone())
    }
}

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
    if let Some(generator) = generators().of(device) {
        return Ok(generator);
    }
    let made = backend.new_generator(device.index.unwrap_or(0));
    let mut seeded = None;
    loop {
        let mut generators = generators();
        if let Some(generator) = generators.of(device) {
            return Ok(generator); // another thread was faster
        }
        if generators.seed == seeded {
            generators.of_devices.push((device, made.clone()));
            return Ok(made);
        }
        seeded = generators.seed;
        drop(generators);
        if let Some(seed) = seeded {
            made.manual_seed(seed);
        }
    }
}

/// Seeds the default generators of all devices, also of those that have not been used yet.
///
/// PyTorch: `torch.cuda.manual_seed_all`.
pub fn manual_seed_all(seed: u64) {
    let mut generators = generators();
    generators.seed = Some(seed);
    let existing = generators.of_devices.clone();
    drop(generators);
    existing.iter().for_each(|(_, generator)| generator.manual_seed(seed));
}
