//! Optimisers whose state is sharded over the ranks (ZeRO).

use std::fmt;

use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::optim::Optimizer;
use torch_library_kernels::prelude::*;

use crate::clip;
use crate::group::ProcessGroup;
use crate::label::labelled;
use crate::ops::_c10d_functional::{self as functional, wait_tensor};

/// The kind of gradients that the parameters of a [`ZeroRedundancyOptimizer`] have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradients {
    /// Each rank's own: the step averages them, and sends each rank only its part.
    Local,
    /// Averages, which are already the same on all ranks, as after [`finish`](crate::DistributedDataParallel::finish).
    Averaged,
}

/// A sharded optimiser: each of `n` ranks keeps an `n`-th of the state, and updates an `n`-th of the parameters.
///
/// All parameters form one vector, which is divided into equal shards: this is valid for element-wise optimisers such
/// as [`Sgd`](torch_library_kernels::optim::Sgd) and [`AdamW`](torch_library_kernels::optim::AdamW). A step scatters
/// gradients by `reduce_scatter_tensor`, and gathers parameters by `all_gather_into_tensor`. A parameter without a
/// gradient counts as one with zeros.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_distributed::{Gradients, ZeroRedundancyOptimizer, threads};
/// use torch_library_kernels::optim::{Optimizer, Sgd};
/// use torch_library_kernels::prelude::*;
///
/// let ranks = threads::run(2, |group| {
///     let x = Tensor::from([1.0, 1.0, 1.0]);
///     x.set_requires_grad(true)?;
///     let sgd = |shard| Sgd::new(shard, 1.0);
///     let mut optimizer = ZeroRedundancyOptimizer::new([x.clone()], group, Gradients::Local, sgd)?;
///     x.set_grad(Some(Tensor::from([1.0, 2.0, group.rank() as f64])))?;
///     optimizer.step()?;
///     x.detach()?.to_vec::<f64>()
/// });
/// for x in ranks {
///     assert_eq!(x?, [0.0, -1.0, 0.5]);
/// }
/// # Ok::<(), Error>(())
/// ```
///
/// PyTorch: `torch.distributed.optim.ZeroRedundancyOptimizer`, which distributes whole parameters.
pub struct ZeroRedundancyOptimizer<O> {
    group: ProcessGroup,
    parameters: Vec<Tensor>,
    gradients: Gradients,
    /// This rank's part of the vector of all parameters, which `inner` optimises.
    shard: Tensor,
    inner: O,
    /// The number of elements of all parameters.
    elements: i64,
    max_norm: Option<f64>,
}

impl<O> fmt::Debug for ZeroRedundancyOptimizer<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZeroRedundancyOptimizer")
            .field("group", &self.group)
            .field("gradients", &self.gradients)
            .field("elements", &self.elements)
            .field("max_norm", &self.max_norm)
            .finish_non_exhaustive()
    }
}

impl<O: Optimizer> ZeroRedundancyOptimizer<O> {
    /// Shards parameters of one type; `optimizer` makes the optimiser of this rank's shard.
    ///
    /// # Errors
    /// No parameters, or parameters of different types; errors of `optimizer`.
    pub fn new(
        parameters: impl Into<Vec<Tensor>>,
        group: &ProcessGroup,
        gradients: Gradients,
        optimizer: impl FnOnce(Vec<Tensor>) -> Result<O>,
    ) -> Result<ZeroRedundancyOptimizer<O>> {
        let parameters = parameters.into();
        let Some(first) = parameters.first() else { bail!(Argument, "no parameters to optimise") };
        if let Some(other) = parameters.iter().find(|other| other.dtype() != first.dtype()) {
            bail!(DType, "parameters of {} and of {}: a shard is of one type", first.dtype(), other.dtype());
        }
        let elements = parameters.iter().map(Tensor::numel).sum();
        let shard = no_grad(|| part(&flat(&parameters, group)?, group))?;
        shard.set_requires_grad(true)?;
        let inner = optimizer(vec![shard.clone()])?;
        let group = group.clone();
        Ok(ZeroRedundancyOptimizer { group, parameters, gradients, shard, inner, elements, max_norm: None })
    }

    /// Clips the averaged gradients to this norm in each step.
    #[must_use]
    pub fn clip_grad_norm(self, max_norm: f64) -> Self {
        ZeroRedundancyOptimizer { max_norm: Some(max_norm), ..self }
    }

    /// This rank's part of the averaged gradients.
    fn gradient(&self) -> Result<Tensor> {
        let grads: Vec<Tensor> = self
            .parameters
            .iter()
            .map(|parameter| parameter.grad().map_or_else(|| aten::zeros_like(parameter), Ok))
            .collect::<Result<_>>()?;
        let (all, ranks) = (flat(&grads, &self.group)?, self.group.size() as i64);
        let shard = match self.gradients {
            Gradients::Averaged => part(&all, &self.group)?,
            Gradients::Local => {
                wait_tensor(&functional::reduce_scatter_tensor(&all, "avg", ranks, self.group.name())?)?
            }
        };
        if let Some(max_norm) = self.max_norm {
            let squares = Tensor::from([clip::square(&shard)?]);
            let squares = wait_tensor(&functional::all_reduce(&squares, "sum", self.group.name())?)?;
            let norm = squares.to_vec::<f64>()?[0].sqrt();
            clip::scale(std::slice::from_ref(&shard), norm, max_norm)?;
        }
        Ok(shard)
    }

    /// Gathers a vector of which each rank has a part.
    fn gather(&self, shard: &Tensor) -> Result<Tensor> {
        let ranks = self.group.size() as i64;
        let all = wait_tensor(&functional::all_gather_into_tensor(shard, ranks, self.group.name())?)?;
        aten::narrow(&all, 0, 0, self.elements)
    }

    /// The state of all shards, by name, on every rank; state that is not a vector of the shard's length, such as the
    /// number of steps, is the same on all ranks. Any number of ranks can read a [checkpoint](torch_library_kernels)
    /// with it.
    ///
    /// # Errors
    /// Other ranks that do not call it.
    ///
    /// PyTorch: `ZeroRedundancyOptimizer.consolidate_state_dict`.
    pub fn consolidated_state(&self) -> Result<Vec<(String, Tensor)>> {
        let whole = |(name, tensor): (String, Tensor)| match tensor.sizes() == self.shard.sizes() {
            true => labelled(&format!("state `{name}`"), || self.gather(&tensor)).map(|all| (name, all)),
            false => Ok((name, tensor)),
        };
        no_grad(|| self.inner.state().into_iter().map(whole).collect())
    }

    /// Loads this rank's part of such a state, which may be from another number of ranks.
    ///
    /// # Errors
    /// A state that is incomplete, or of other parameters.
    pub fn load_consolidated_state(&mut self, state: &[(String, Tensor)]) -> Result<()> {
        for (name, mut own) in self.inner.state() {
            let Some((_, all)) = state.iter().find(|(other, _)| *other == name) else {
                bail!(Argument, "the state has no {name:?}");
            };
            let source = match own.sizes() == self.shard.sizes() {
                true => {
                    let fits = all.sizes() == [self.elements];
                    ensure!(fits, Shape, "{name} has sizes {:?}, expected [{}]", all.sizes(), self.elements);
                    part(&flat(std::slice::from_ref(all), &self.group)?, &self.group)?
                }
                false => all.clone(),
            };
            no_grad(|| aten::copy_(&mut own, &source).map(drop))?;
        }
        Ok(())
    }

    /// Reads the parameters again, after the program has written to them.
    ///
    /// # Errors
    /// Those of the operators that it calls.
    pub fn reload_parameters(&mut self) -> Result<()> {
        no_grad(|| {
            let own = part(&flat(&self.parameters, &self.group)?, &self.group)?;
            aten::copy_(&mut self.shard.clone(), &own).map(drop)
        })
    }
}

impl<O: Optimizer> Optimizer for ZeroRedundancyOptimizer<O> {
    fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }

    fn lr(&self) -> f64 {
        self.inner.lr()
    }

    fn set_lr(&mut self, lr: f64) {
        self.inner.set_lr(lr);
    }

    fn step(&mut self) -> Result<()> {
        let grad = labelled("the gradients of a sharded optimiser", || no_grad(|| self.gradient()))?;
        self.shard.set_grad(Some(grad))?;
        self.inner.step()?;
        self.shard.set_grad(None)?;
        no_grad(|| {
            let all =
                labelled("the parameters of a sharded optimiser", || self.gather(&self.shard.detach()?))?;
            let mut start = 0;
            for parameter in &self.parameters {
                let own = aten::narrow(&all, 0, start, parameter.numel())?.reshape(parameter.sizes())?;
                aten::copy_(&mut parameter.clone(), &own)?;
                start += parameter.numel();
            }
            Ok(())
        })
    }

    /// The state of this rank's shard.
    fn state(&self) -> Vec<(String, Tensor)> {
        self.inner.state()
    }
}

/// Tensors as one vector, padded with zeros so that it divides into equal parts.
fn flat(tensors: &[Tensor], group: &ProcessGroup) -> Result<Tensor> {
    let rows: Vec<Tensor> = tensors.iter().map(|tensor| tensor.reshape(&[-1])).collect::<Result<_>>()?;
    let all = aten::cat(&rows)?;
    let ranks = group.size() as i64;
    match all.numel() % ranks {
        0 => Ok(all),
        rest => {
            let zeros = Tensor::zeros(&[ranks - rest], all.dtype(), all.device())?;
            aten::cat(&[all, zeros])
        }
    }
}

/// This rank's part of such a vector, as a copy.
fn part(all: &Tensor, group: &ProcessGroup) -> Result<Tensor> {
    let length = all.numel() / group.size() as i64;
    aten::clone(&aten::narrow(all, 0, group.rank() as i64 * length, length)?)
}
