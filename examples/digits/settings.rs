//! The settings of a checkpoint: training must be continued with the same ones.

use torch_library::{DType, Result};
use torch_library_nn::checkpoint::{Checkpoint, fingerprint};

use crate::data::Digits;
use crate::network::Network;

/// Settings by name, as shown to users.
pub(crate) type Settings = Vec<(&'static str, String)>;

/// The settings of a training run; `steps` is the number of batches in an epoch.
///
/// # Errors
/// None of its own.
pub(crate) fn of(
    digits: &Digits,
    network: &Network,
    optimizer: String,
    [batch, steps]: [usize; 2],
    precision: Option<DType>,
    seed: i64,
) -> Result<Settings> {
    let parameters: Vec<_> = network.named().map(|(name, x)| format!("{name} {:?}", x.sizes())).collect();
    let print = fingerprint(&[&digits.images, &digits.labels])?;
    let precision = precision.map_or_else(|| "float32".to_owned(), |dtype| format!("autocast to {dtype}"));
    Ok(vec![
        ("data", format!("{} digits to learn from, {print}", digits.labels.numel())),
        ("network", parameters.join(", ")),
        ("optimizer", optimizer),
        ("batch", format!("{batch} digits, so an epoch has {steps} steps")),
        ("order", "shuffled in each epoch, by the seed and the number of the epoch".to_owned()),
        ("precision", precision),
        ("seed", seed.to_string()),
    ])
}

/// Compares the settings of a checkpoint with those of this run.
///
/// # Errors
/// Lists all settings that differ, and what to do.
pub(crate) fn check(checkpoint: &Checkpoint, here: &Settings) -> Result<()> {
    checkpoint.expect_settings(here).map_err(|error| {
        let kind = error.kind();
        let help = "`--resume` goes on with the `--data`, `--autocast` and `--seed` of the first run (the seed may be \
                    left out); without `--resume` a new training begins";
        torch_library::Error::new(kind, format!("{error}\n  help: {help}")).with_source(error)
    })
}
