//! Training on several ranks, each with a part of the batch.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use torch_library::autograd::HookHandle;
use torch_library::prelude::*;

use crate::group::ProcessGroup;

mod reducer;

use reducer::Reducer;

/// How gradients travel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DataParallelOptions {
    /// How many bytes of gradients travel together.
    pub bucket_bytes: usize,
    /// In which type they travel: `bfloat16` takes half the time of `float32`. Sums of halves are rounded once. If none
    /// is said, they travel in their own; where the backward pass and [`finish`](DistributedDataParallel::finish) run
    /// within a region of [autocast](torch_library::autocast), in its precision, `float64` excepted.
    ///
    /// PyTorch: `bf16_compress_hook`.
    pub communication_dtype: Option<DType>,
}

impl Default for DataParallelOptions {
    /// PyTorch's 25 MiB, and the gradients' own types or autocast's.
    fn default() -> DataParallelOptions {
        DataParallelOptions { bucket_bytes: 25 << 20, communication_dtype: None }
    }
}

impl DataParallelOptions {
    /// How many bytes of gradients travel together.
    #[must_use]
    pub fn bucket_bytes(self, bucket_bytes: usize) -> Self {
        DataParallelOptions { bucket_bytes, ..self }
    }

    /// In which type gradients travel.
    #[must_use]
    pub fn communication_dtype(self, dtype: DType) -> Self {
        DataParallelOptions { communication_dtype: Some(dtype), ..self }
    }
}

/// How long gradients travelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// How often [`finish`](DistributedDataParallel::finish) was called.
    pub steps: u64,
    /// How long the group was busy with gradients, waiting for other ranks included.
    pub communication: Duration,
    /// How much of it `finish` waited for; the rest went beside the backward pass.
    pub waited: Duration,
}

/// Averages the gradients of parameters over the ranks of a group, while the backward pass goes on.
///
/// A gradient that is complete goes into a bucket, and a bucket that is full sets out at once.
/// [`finish`](DistributedDataParallel::finish) sends what is left and waits for all; then every rank has the same
/// gradients, and the same step of an optimiser leaves the same parameters. Buckets are filled in the order in
/// which gradients came in the first pass. Results are the same on each run with so many ranks.
///
/// A rank without a gradient for a parameter counts as one with zeros, so ranks may take different ways through a
/// network. That is also so where no rank has one: the parameter then has a gradient of zeros.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_distributed::{DistributedDataParallel, threads};
/// use torch_library_kernels::optim::{Optimizer, Sgd};
/// use torch_library_kernels::prelude::*;
///
/// let ranks = threads::run(2, |group| {
///     let weight = Tensor::from([1.0, 1.0]);
///     weight.set_requires_grad(true)?;
///     let named = [("weight".to_owned(), weight.clone())];
///     let parallel = DistributedDataParallel::new(named, group, Default::default())?;
///     let mut optimizer = Sgd::new([weight.clone()], 0.5);
///     let example = Tensor::from([[2.0, 4.0], [6.0, 0.0]]).select_int(0, group.rank() as i64)?;
///     weight.mul(&example)?.sum()?.backward()?;
///     parallel.finish()?; // the gradient is [4, 2] now, the mean of both
///     optimizer.step()?;
///     weight.detach()?.to_vec::<f64>()
/// });
/// for weight in ranks {
///     assert_eq!(weight?, [-1.0, 0.0]);
/// }
/// # Ok::<(), Error>(())
/// ```
///
/// PyTorch: `torch.nn.parallel.DistributedDataParallel`.
pub struct DistributedDataParallel {
    reducer: Arc<Mutex<Reducer>>,
    hooks: Vec<HookHandle>,
}

impl DistributedDataParallel {
    /// Makes the parameters of all ranks those of rank 0, and watches their gradients.
    ///
    /// # Errors
    /// Parameters that require no gradient or are no leaves; ranks with other parameters.
    pub fn new(
        parameters: impl IntoIterator<Item = (String, Tensor)>,
        group: &ProcessGroup,
        options: DataParallelOptions,
    ) -> Result<DistributedDataParallel> {
        let reducer = Reducer::new(parameters.into_iter().collect(), group, options)?;
        let parameters = reducer.parameters().to_vec();
        let reducer = Arc::new(Mutex::new(reducer));
        // Made first, so that hooks of the first parameters are removed where a later one has none.
        let mut parallel = DistributedDataParallel { reducer, hooks: Vec::new() };
        for (index, parameter) in parameters.iter().enumerate() {
            let reducer = Arc::downgrade(&parallel.reducer); // the parameters are in there
            let hook = move |_: &Tensor| match reducer.upgrade() {
                Some(reducer) => reducer.lock().unwrap_or_else(PoisonError::into_inner).arrive(index),
                None => Ok(()),
            };
            parallel.hooks.push(parameter.register_post_accumulate_grad_hook(hook)?);
        }
        Ok(parallel)
    }

    fn reducer(&self) -> MutexGuard<'_, Reducer> {
        self.reducer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all parameters have the average of all ranks' gradients. Belongs between `backward` and the
    /// step, on all ranks, also on one that had nothing to compute.
    ///
    /// # Errors
    /// What went wrong on any rank, with its number and the names of parameters.
    pub fn finish(&self) -> Result<()> {
        self.reducer().finish()
    }

    /// Runs backward passes whose gradients stay here and are added up, until one outside of this sends the sums.
    ///
    /// PyTorch: `DistributedDataParallel.no_sync`.
    pub fn no_sync<T>(&self, body: impl FnOnce() -> T) -> T {
        /// Goes back to what was, also where the function panics.
        struct Before<'a>(&'a DistributedDataParallel, bool);
        impl Drop for Before<'_> {
            fn drop(&mut self) {
                self.0.reducer().is_synchronizing = self.1;
            }
        }
        let was = std::mem::replace(&mut self.reducer().is_synchronizing, false);
        let _before = Before(self, was);
        body()
    }

    /// How long gradients travelled until now.
    pub fn statistics(&self) -> Statistics {
        self.reducer().statistics
    }

    /// The names of the parameters whose gradients travel together, in the order in which they set out.
    pub fn buckets(&self) -> Vec<Vec<String>> {
        self.reducer().buckets()
    }
}

impl Drop for DistributedDataParallel {
    fn drop(&mut self) {
        self.hooks.iter().for_each(HookHandle::remove);
    }
}
