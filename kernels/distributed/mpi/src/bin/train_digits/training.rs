//! The training steps, on one of the processes.

use std::fmt::Write as _;

use torch_library::DeviceType;
use torch_library::autocast::Autocast;
use torch_library::prelude::*;
use torch_library_distributed::{
    _c10d_functional as functional, DataParallelOptions, DistributedDataParallel, Gradients, ProcessGroup,
    ZeroRedundancyOptimizer, c10d, clip_grad_norm_, shard,
};
use torch_library_kernels::checkpoint;
use torch_library_kernels::loader::Batches;
use torch_library_kernels::optim::{AdamW, Optimizer};
use torch_library_kernels::prelude::*;

use crate::Asked;
use crate::data::{Digits, MAX_INK};
use crate::network::{self, Network};

const BATCH: usize = 32;
const LEARNING_RATE: f64 = 2e-3;

/// The optimiser: complete on each process, or sharded over the processes.
enum Optimiser {
    Whole(AdamW),
    Sharded(ZeroRedundancyOptimizer<AdamW>),
}

struct Training<'a> {
    world: &'a ProcessGroup,
    network: Network,
    parallel: DistributedDataParallel,
    optimizer: Optimiser,
    clip: f64,
    autocast: bool,
    losses: Vec<f64>,
    /// The sum of the losses of batches that had no step yet.
    sums: f64,
}

pub(crate) fn run(world: &ProcessGroup, asked: &Asked) -> Result<()> {
    let digits = Digits::built_in()?;
    let images = digits.images.div(f64::from(MAX_INK))?;
    let mut training = Training::new(world, asked)?;
    if let Some(path) = &asked.resume {
        training.load(path)?;
    }
    for epoch in 0..asked.epochs {
        let order = Generator::with_seed(1 + epoch);
        let batches = Batches::new([&images, &digits.labels], BATCH)?.shuffled(&order)?;
        let last = batches.len();
        for (number, batch) in batches.enumerate() {
            let is_step = (number + 1) % asked.accumulate.max(1) == 0 || number + 1 == last;
            training.batch(batch?, is_step, asked.accumulate.max(1))?;
        }
        if let Some(path) = &asked.checkpoint {
            training.save(path)?;
        }
        let found = training.network.classify(&images)?;
        let labels: Vec<i64> = digits.labels.to_vec()?;
        let right = found.iter().zip(&labels).filter(|(found, label)| found == label).count();
        if world.rank() == 0 {
            let share = 100.0 * right as f64 / labels.len() as f64;
            let loss = training.losses.last().copied().unwrap_or_default();
            println!("epoch {:>2}  loss {loss:.4}  {share:.1} % of {} digits", epoch + 1, labels.len());
        }
    }
    training.report(asked)
}

impl Training<'_> {
    fn new<'a>(world: &'a ProcessGroup, asked: &Asked) -> Result<Training<'a>> {
        // All processes begin with the same numbers; `DistributedDataParallel` would ensure that, too.
        let network = Network::new(&Generator::with_seed(0))?;
        let mut options = DataParallelOptions::default().bucket_bytes(16 << 10);
        if asked.bf16 {
            options = options.communication_dtype(DType::BFloat16);
        }
        let parallel = DistributedDataParallel::new(network.named(), world, options)?;
        let parameters = network.parameters.clone();
        let optimizer = match asked.zero {
            false => Optimiser::Whole(AdamW::new(parameters, LEARNING_RATE)?),
            true => {
                let adam = |shard: Vec<Tensor>| AdamW::new(shard, LEARNING_RATE);
                let sharded = ZeroRedundancyOptimizer::new(parameters, world, Gradients::Averaged, adam)?;
                Optimiser::Sharded(sharded.clip_grad_norm(asked.clip))
            }
        };
        let Asked { clip, autocast, .. } = *asked;
        Ok(Training { world, network, parallel, optimizer, clip, autocast, losses: Vec::new(), sums: 0.0 })
    }

    /// Computes this process's part of a batch, and takes a step after the last one of several.
    fn batch(&mut self, [images, labels]: [Tensor; 2], is_step: bool, batches: usize) -> Result<()> {
        let part = shard([&images, &labels], self.world)?;
        let backward = || -> Result<f64> {
            if part.weight == 0.0 {
                return Ok(0.0); // a batch of fewer digits than processes
            }
            let loss = network::loss(&self.network.parameters, &part.tensors[0], &part.tensors[1])?;
            let loss = loss.mul(part.weight / batches as f64)?;
            loss.backward()?;
            loss.detach()?.item()?.to()
        };
        // Gradients that are sent within the region are sent in its precision: those sent as they arrive, and those
        // that `finish` sends.
        self.sums += Autocast::on(DeviceType::Cpu).enabled(self.autocast).run(|| {
            let sum = if is_step { backward() } else { self.parallel.no_sync(backward) }?;
            if is_step {
                self.parallel.finish()?;
            }
            Ok::<_, Error>(sum)
        })?;
        if is_step {
            self.step()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        match &mut self.optimizer {
            Optimiser::Sharded(optimizer) => {
                optimizer.step()?;
                optimizer.zero_grad()?;
            }
            Optimiser::Whole(optimizer) => {
                clip_grad_norm_(&self.network.parameters, self.clip)?;
                optimizer.step()?;
                optimizer.zero_grad()?;
            }
        }
        let mean = functional::all_reduce(&Tensor::from([self.sums]), "avg", self.world.name())?;
        self.losses.push(functional::wait_tensor(&mean)?.to_vec::<f64>()?[0]);
        self.sums = 0.0;
        Ok(())
    }

    /// The whole state by name, which does not depend on the number of processes, for the same kind of optimiser.
    fn state(&self) -> Result<Vec<(String, Tensor)>> {
        let optimizer = match &self.optimizer {
            Optimiser::Whole(optimizer) => optimizer.state(),
            Optimiser::Sharded(optimizer) => optimizer.consolidated_state()?,
        };
        Ok(self.network.named().chain(optimizer).collect())
    }

    /// One process writes; the others wait until it has.
    fn save(&self, path: &std::path::Path) -> Result<()> {
        let state = self.state()?;
        let written = if self.world.rank() == 0 { checkpoint::save(path, &state) } else { Ok(()) };
        self.barrier()?;
        written
    }

    /// All processes read.
    fn load(&mut self, path: &std::path::Path) -> Result<()> {
        let state = self.state()?;
        checkpoint::load(path, &state)?;
        if let Optimiser::Sharded(optimizer) = &mut self.optimizer {
            optimizer.load_consolidated_state(&state)?;
            optimizer.reload_parameters()?;
        }
        self.barrier()
    }

    fn barrier(&self) -> Result<()> {
        let nothing = Tensor::zeros(&[0], DType::UInt8, Device::CPU)?;
        c10d::barrier::with(&nothing, self.world.name(), &[]).async_op(false).call().map(drop)
    }

    fn report(&self, asked: &Asked) -> Result<()> {
        if self.world.rank() != 0 {
            return Ok(());
        }
        let statistics = self.parallel.statistics();
        let busy = statistics.communication.as_secs_f64();
        let hidden = 100.0 * (1.0 - statistics.waited.as_secs_f64() / busy.max(1e-9)).max(0.0);
        println!(
            "{} steps on {} processes; gradients travelled {busy:.2} s, {hidden:.0} % of it beside the backward pass",
            statistics.steps,
            self.world.size()
        );
        if let Some(path) = &asked.losses {
            let mut text = String::new();
            for loss in &self.losses {
                let _ = writeln!(text, "{loss}");
            }
            std::fs::write(path, text)?;
        }
        Ok(())
    }
}
