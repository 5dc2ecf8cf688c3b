//! Training: batches, steps, and checkpoints from which it can be continued later.

use std::path::Path;

use torch_library::autocast::Autocast;
use torch_library::{DType, Device, Generator, Result, Tensor, bail, ensure};
use torch_library_aten::aten;
use torch_library_aten::prelude::*;
use torch_library_nn::checkpoint::{self, Checkpoint};
use torch_library_nn::loader::Batches;
use torch_library_nn::optim::{AdamW, Optimizer};

use crate::data::Digits;
use crate::network::{self, Network};
use crate::progress::Progress;
use crate::settings::{self, Settings};

const BATCH: usize = 32;
const LEARNING_RATE: f64 = 2e-3;
/// One in this many digits is for testing.
const TEST_SHARE: i64 = 5;

/// The digits for training and those for testing; `rows` are the line numbers of the latter, counted from 1.
pub(crate) struct Split {
    pub(crate) train: Digits,
    pub(crate) test: Digits,
    pub(crate) rows: Vec<i64>,
}

impl Split {
    /// # Errors
    /// There are too few digits for a test set.
    pub(crate) fn new(images: &Tensor, labels: &Tensor) -> Result<Split> {
        let count = labels.numel();
        ensure!(
            count >= TEST_SHARE,
            Argument,
            "{count} digits are too few: of every {TEST_SHARE} one is for testing\n  help: `--epochs 0` trains nothing"
        );
        let (rows, others): (Vec<i64>, Vec<i64>) = (1..=count).partition(|row| row % TEST_SHARE == 0);
        let part = |rows: &[i64]| {
            let index = Tensor::from(rows.iter().map(|row| row - 1).collect::<Vec<_>>());
            let (images, labels) =
                (aten::index_select(images, 0, &index)?, aten::index_select(labels, 0, &index)?);
            Ok::<_, torch_library::Error>(Digits { images, labels })
        };
        Ok(Split { train: part(&others)?, test: part(&rows)?, rows })
    }
}

/// A network in training.
pub(crate) struct Training {
    pub(crate) network: Network,
    optimizer: AdamW,
    seed: i64,
    precision: Option<DType>,
    /// The device of the parameters and of the batches.
    pub(crate) device: Device,
    /// The settings, which a checkpoint records.
    settings: Settings,
    steps_per_epoch: usize,
    /// The loss of each step, and so also the number of steps.
    pub(crate) losses: Vec<f64>,
}

impl Training {
    /// # Errors
    /// None of its own.
    pub(crate) fn new(
        digits: &Digits,
        seed: i64,
        precision: Option<DType>,
        device: Device,
    ) -> Result<Training> {
        let network = Network::new(&Generator::with_seed(seed as u64))?.on(device)?;
        let optimizer = AdamW::new(network.parameters.clone(), LEARNING_RATE)?;
        let steps = Batches::new([&digits.images, &digits.labels], BATCH)?.len();
        let settings =
            settings::of(digits, &network, optimizer.to_string(), [BATCH, steps], precision, seed)?;
        let losses = Vec::new();
        Ok(Training { network, optimizer, seed, precision, device, settings, steps_per_epoch: steps, losses })
    }

    /// Continues from a checkpoint; unless a seed is given, it is the checkpoint's.
    ///
    /// # Errors
    /// The file is not a checkpoint of this program, or it has other data or settings.
    pub(crate) fn resume(
        path: &Path,
        digits: &Digits,
        seed: Option<i64>,
        precision: Option<DType>,
        device: Device,
    ) -> Result<Training> {
        let checkpoint = Checkpoint::open(path)?;
        let own = |name: &str| match checkpoint.tensors().get(name) {
            Some(tensor) => Ok(tensor),
            None => {
                bail!(Io, "{} is no checkpoint of this program: it has no tensor {name:?}", path.display())
            }
        };
        let seed = seed.map_or_else(|| own("seed")?.item()?.to(), Ok)?;
        let mut training = Training::new(digits, seed, precision, device)?;
        settings::check(&checkpoint, &training.settings)?;
        training.losses = own("losses")?.to_vec()?;
        checkpoint.load(&training.state())?;
        Ok(training)
    }

    /// # Errors
    /// The path cannot be written.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        checkpoint::save_with(path, &self.state(), &self.settings)
    }

    /// Everything that another run needs to continue as if there had been no interruption.
    fn state(&self) -> Vec<(String, Tensor)> {
        let own = [
            ("seed".to_owned(), Tensor::from(self.seed)),
            ("losses".to_owned(), Tensor::from(self.losses.clone())),
        ];
        self.network.named().chain(self.optimizer.state()).chain(own).collect()
    }

    /// Finishes the current epoch, unless it is told to stop.
    ///
    /// The order of the digits depends only on the seed and the epoch.
    ///
    /// # Errors
    /// Errors of operators.
    pub(crate) fn epoch(&mut self, digits: &Digits, is_stopped: impl Fn() -> bool) -> Result<()> {
        let batches = Batches::new([&digits.images, &digits.labels], BATCH)?;
        let (epoch, done) = (self.epochs(), self.losses.len() % self.steps_per_epoch);
        let progress = Progress::training(&format!("epoch {}", epoch + 1), batches.len(), done);
        let order = Generator::with_seed((self.seed as u64).wrapping_add(1 + epoch as u64));
        for batch in batches.shuffled(&order)?.skip(done) {
            if is_stopped() {
                break;
            }
            let loss = self.step(batch?)?;
            self.losses.push(loss);
            progress.advance(loss);
        }
        Ok(())
    }

    fn step(&mut self, [images, labels]: [Tensor; 2]) -> Result<f64> {
        self.optimizer.zero_grad()?;
        let [images, labels] = [images.to(self.device)?, labels.to(self.device)?];
        let forward = || network::loss(&self.network.parameters, &images, &labels);
        let loss = match self.precision {
            Some(dtype) => Autocast::on(self.device.kind).dtype(dtype).run(forward),
            None => forward(),
        }?;
        loss.backward()?;
        self.optimizer.step()?;
        loss.item()?.to()
    }

    /// The number of complete epochs.
    pub(crate) fn epochs(&self) -> usize {
        self.losses.len() / self.steps_per_epoch
    }

    /// The progress in words.
    pub(crate) fn progress(&self) -> String {
        let (epochs, steps) = (self.epochs(), self.losses.len() % self.steps_per_epoch);
        format!("{epochs} epochs and {steps} of {} steps", self.steps_per_epoch)
    }

    /// The mean loss of the last epoch.
    pub(crate) fn recent_loss(&self) -> f64 {
        let steps = self.steps_per_epoch.min(self.losses.len());
        self.losses[self.losses.len() - steps..].iter().sum::<f64>() / steps as f64
    }
}
