//! Optimisers, which update parameters by their gradients, and limits for these gradients.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_kernels::optim::{Optimizer, Sgd};
//! use torch_library_kernels::prelude::*;
//!
//! let x = Tensor::from([3.0, -2.0]);
//! x.set_requires_grad(true)?;
//! let mut optimizer = Sgd::new([x.clone()], 0.1)?.momentum(0.5)?;
//! for _ in 0..50 {
//!     optimizer.zero_grad()?;
//!     x.mul(&x)?.sum()?.backward()?;
//!     optimizer.step()?;
//! }
//! assert!(x.to_vec::<f64>()?.iter().all(|x| x.abs() < 1e-3));
//! # Ok::<(), Error>(())
//! ```
//!
//! An optimiser keeps its state in tensors ([`Optimizer::state`]), so a checkpoint (`torch_library_nn::checkpoint`,
//! with the feature `safetensors`) can hold it like any other tensors. Its step is an operator, so layers see it:
//! [`_fused_sgd_`](fn@aten::_fused_sgd_), [`_fused_adamw_`](fn@aten::_fused_adamw_). Between `backward` and a step,
//! [`clip_grad_norm_`] and [`clip_grad_value_`] limit the gradients.

use std::fmt;

use torch_library::guard::no_grad;
use torch_library::prelude::*;

use crate::aten;

mod clip_grad;

pub use clip_grad::{clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm};

/// The interface of all optimisers.
///
/// PyTorch: `torch.optim.Optimizer`.
pub trait Optimizer {
    /// The parameters that are optimised.
    fn parameters(&self) -> &[Tensor];

    /// Updates every parameter that has a gradient.
    ///
    /// # Errors
    /// A negative learning rate; settings that contradict each other; parameters that another operator computed, which
    /// an update would not reach; gradients that do not fit their parameters, types that are not real floating point.
    fn step(&mut self) -> Result<()>;

    /// The learning rate.
    fn lr(&self) -> f64;

    /// Sets the learning rate of the following steps.
    ///
    /// PyTorch: `optimizer.param_groups[0]["lr"] = lr`, as schedulers do.
    fn set_lr(&mut self, lr: f64);

    /// The state that is kept from step to step, by name. These are handles: writing to the tensors changes the state.
    fn state(&self) -> Vec<(String, Tensor)>;

    /// Drops the gradients of all parameters.
    ///
    /// # Errors
    /// None in this implementation.
    fn zero_grad(&self) -> Result<()> {
        self.parameters().iter().try_for_each(|parameter| parameter.set_grad(None))
    }
}

/// Stochastic gradient descent.
///
/// PyTorch: `torch.optim.SGD`.
#[derive(Debug)]
pub struct Sgd {
    parameters: Vec<Tensor>,
    lr: f64,
    momentum: f64,
    weight_decay: f64,
    nesterov: bool,
    momenta: Vec<Tensor>,
}

impl Sgd {
    /// Plain gradient descent with learning rate `lr`.
    ///
    /// # Errors
    /// A negative learning rate.
    pub fn new(parameters: impl Into<Vec<Tensor>>, lr: f64) -> Result<Sgd> {
        check_not_negative("SGD", "lr", lr)?;
        let parameters = parameters.into();
        Ok(Sgd { parameters, lr, momentum: 0.0, weight_decay: 0.0, nesterov: false, momenta: Vec::new() })
    }

    /// Sets the momentum: the factor of the previous step's direction.
    ///
    /// # Errors
    /// A negative number; no memory for the momentum buffers.
    pub fn momentum(self, momentum: f64) -> Result<Sgd> {
        check_not_negative("SGD", "momentum", momentum)?;
        Ok(Sgd { momentum, momenta: zeros_like(&self.parameters)?, ..self })
    }

    /// Sets the weight decay.
    ///
    /// # Errors
    /// A negative number.
    pub fn weight_decay(self, weight_decay: f64) -> Result<Sgd> {
        check_not_negative("SGD", "weight_decay", weight_decay)?;
        Ok(Sgd { weight_decay, ..self })
    }

    /// Sets whether to use Nesterov momentum, which needs a momentum: without one, [`step`](Optimizer::step) fails.
    #[must_use]
    pub fn nesterov(self, nesterov: bool) -> Sgd {
        Sgd { nesterov, ..self }
    }
}

/// Formats the settings, which have to be the same when training resumes.
impl fmt::Display for Sgd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sgd { lr, momentum, weight_decay, nesterov, .. } = self;
        write!(f, "SGD(lr={lr}, momentum={momentum}, weight_decay={weight_decay}, nesterov={nesterov})")
    }
}

impl Optimizer for Sgd {
    fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }

    fn lr(&self) -> f64 {
        self.lr
    }

    fn set_lr(&mut self, lr: f64) {
        self.lr = lr;
    }

    fn step(&mut self) -> Result<()> {
        let Sgd { lr, momentum, weight_decay, nesterov, .. } = *self;
        check_not_negative("SGD", "lr", lr)?; // `set_lr` takes any number
        ensure!(!nesterov || momentum > 0.0, Argument, "SGD: Nesterov momentum needs a momentum, which is 0");
        check_leaves("SGD", &self.parameters)?;
        let ([mut parameters, mut momenta], mut grads) = with_gradients([&self.parameters, &self.momenta]);
        if grads.is_empty() {
            return Ok(());
        }
        // Momentum buffers start as zeros, so the first step is not a special case.
        no_grad(|| {
            aten::_fused_sgd_::with(
                &mut parameters,
                &mut grads,
                &mut momenta,
                weight_decay,
                momentum,
                lr,
                0.0,
                nesterov,
                false,
                false,
            )
            .call()
        })
    }

    fn state(&self) -> Vec<(String, Tensor)> {
        named("momentum", &self.momenta).collect()
    }
}

/// Adam with decoupled weight decay.
///
/// PyTorch: `torch.optim.AdamW`.
#[derive(Debug)]
pub struct AdamW {
    parameters: Vec<Tensor>,
    lr: f64,
    betas: (f64, f64),
    eps: f64,
    weight_decay: f64,
    means: Vec<Tensor>,
    squares: Vec<Tensor>,
    steps: Vec<Tensor>,
}

impl AdamW {
    /// AdamW with PyTorch's default settings and learning rate `lr`.
    ///
    /// # Errors
    /// A negative learning rate; no memory for the averages.
    pub fn new(parameters: impl Into<Vec<Tensor>>, lr: f64) -> Result<AdamW> {
        check_not_negative("AdamW", "lr", lr)?;
        let parameters = parameters.into();
        let (means, squares) = (zeros_like(&parameters)?, zeros_like(&parameters)?);
        let steps = parameters.iter().map(|_| 0f32.into()).collect();
        Ok(AdamW {
            parameters,
            lr,
            betas: (0.9, 0.999),
            eps: 1e-8,
            weight_decay: 0.01,
            means,
            squares,
            steps,
        })
    }

    /// Sets the decay rates of the averages of gradients and of their squares.
    ///
    /// # Errors
    /// A rate below 0, or 1 and more.
    pub fn betas(self, mean: f64, square: f64) -> Result<AdamW> {
        for beta in [mean, square] {
            ensure!(
                (0.0..1.0).contains(&beta),
                Argument,
                "AdamW: betas are ({mean}, {square}), must be from 0 to less than 1"
            );
        }
        Ok(AdamW { betas: (mean, square), ..self })
    }

    /// Sets the number that is added to the square root in the divisor.
    ///
    /// # Errors
    /// A negative number.
    pub fn eps(self, eps: f64) -> Result<AdamW> {
        check_not_negative("AdamW", "eps", eps)?;
        Ok(AdamW { eps, ..self })
    }

    /// Sets the weight decay.
    ///
    /// # Errors
    /// A negative number.
    pub fn weight_decay(self, weight_decay: f64) -> Result<AdamW> {
        check_not_negative("AdamW", "weight_decay", weight_decay)?;
        Ok(AdamW { weight_decay, ..self })
    }
}

/// Formats the settings, which have to be the same when training resumes.
impl fmt::Display for AdamW {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AdamW { lr, betas, eps, weight_decay, .. } = self;
        write!(f, "AdamW(lr={lr}, betas={betas:?}, eps={eps:?}, weight_decay={weight_decay})")
    }
}

impl Optimizer for AdamW {
    fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }

    fn lr(&self) -> f64 {
        self.lr
    }

    fn set_lr(&mut self, lr: f64) {
        self.lr = lr;
    }

    fn step(&mut self) -> Result<()> {
        let AdamW { lr, betas, eps, weight_decay, .. } = *self;
        check_not_negative("AdamW", "lr", lr)?; // `set_lr` takes any number
        check_leaves("AdamW", &self.parameters)?;
        let lists = [&self.parameters, &self.means, &self.squares, &self.steps];
        let ([mut parameters, mut means, mut squares, mut steps], mut grads) = with_gradients(lists);
        if grads.is_empty() {
            return Ok(());
        }
        no_grad(|| {
            steps.iter_mut().try_for_each(|step| aten::add__Scalar(step, 1.0.into()).map(drop))?;
            aten::_fused_adamw_::with(
                &mut parameters,
                &mut grads,
                &mut means,
                &mut squares,
                &mut [],
                &steps,
                lr,
                betas.0,
                betas.1,
                weight_decay,
                eps,
                false,
                false,
            )
            .call()
        })
    }

    fn state(&self) -> Vec<(String, Tensor)> {
        let (means, squares) = (named("exp_avg", &self.means), named("exp_avg_sq", &self.squares));
        means.chain(squares).chain(named("step", &self.steps)).collect()
    }
}

fn check_not_negative(optimizer: &str, setting: &str, value: f64) -> Result<()> {
    // NaN is refused, too.
    ensure!(value >= 0.0, Argument, "{optimizer}: {setting} is {value}, must not be negative");
    Ok(())
}

/// A result of an operator has no gradient of its own, so a step would silently leave it alone.
fn check_leaves(optimizer: &str, parameters: &[Tensor]) -> Result<()> {
    for (index, parameter) in parameters.iter().enumerate() {
        if let Some(node) = parameter.grad_fn()? {
            bail!(
                Argument,
                "{optimizer}: parameter {index} was computed by {}\n  help: optimise the tensors that it is computed \
                 from, or `detach` it and set `requires_grad`",
                node.name()
            )
        }
    }
    Ok(())
}

fn zeros_like(parameters: &[Tensor]) -> Result<Vec<Tensor>> {
    no_grad(|| parameters.iter().map(aten::zeros_like).collect())
}

/// The entries of all lists that belong to parameters (the first list) with a gradient, and these gradients. An empty
/// list stays empty.
fn with_gradients<const N: usize>(lists: [&Vec<Tensor>; N]) -> ([Vec<Tensor>; N], Vec<Tensor>) {
    let (having, grads): (Vec<_>, Vec<_>) =
        lists[0].iter().enumerate().filter_map(|(index, parameter)| Some((index, parameter.grad()?))).unzip();
    let chosen = |list: &Vec<Tensor>| having.iter().filter_map(|index| list.get(*index).cloned()).collect();
    (lists.map(chosen), grads)
}

fn named(name: &str, tensors: &[Tensor]) -> impl Iterator<Item = (String, Tensor)> {
    let tensors = tensors.iter().enumerate();
    tensors.map(move |(index, tensor)| (format!("{name}.{index}"), tensor.clone()))
}
