//! Training on several ranks, each with a part of the batch.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use torch_library::autograd::HookHandle;
use torch_library::prelude::*;

use crate::group::ProcessGroup;

mod reducer;

use reducer::Reducer;

/// The options of [`DistributedDataParallel`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DataParallelOptions {
    /// The size of a bucket: the bytes of gradients that are sent together.
    pub bucket_bytes: usize,
    /// The type in which gradients are sent: `bfloat16` takes half the time of `float32`. Sums of 16-bit floats are
    /// rounded once. By default they are sent in their own type, or, if the backward pass and
    /// [`finish`](DistributedDataParallel::finish) run within an [autocast](torch_library::autocast) region, in its
    /// precision, except for `float64`.
    ///
    /// PyTorch: `bf16_compress_hook`.
    pub communication_dtype: Option<DType>,
}

impl Default for DataParallelOptions {
    /// Buckets of 25 MiB, as in PyTorch, and the gradients' own types or autocast's.
    fn default() -> DataParallelOptions {
        DataParallelOptions { bucket_bytes: 25 << 20, communication_dtype: None }
    }
}

impl DataParallelOptions {
    /// The size of a bucket: the bytes of gradients that are sent together.
    #[must_use]
    pub fn bucket_bytes(self, bucket_bytes: usize) -> Self {
        DataParallelOptions { bucket_bytes, ..self }
    }

    /// Sets the type in which gradients are sent.
    #[must_use]
    pub fn communication_dtype(self, dtype: DType) -> Self {
        DataParallelOptions { communication_dtype: Some(dtype), ..self }
    }
}

/// The time that the communication of gradients took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// The number of calls of [`finish`](DistributedDataParallel::finish).
    pub steps: u64,
    /// The time that the group was busy with gradients, including waiting for other ranks.
    pub communication: Duration,
    /// The part of it that `finish` waited for; the rest overlapped with the backward pass.
    pub waited: Duration,
}

/// Averages the gradients of parameters over the ranks of a group, during the backward pass.
///
/// A gradient that is complete goes into a bucket, and a full bucket is sent at once.
/// [`finish`](DistributedDataParallel::finish) sends the remaining buckets and waits for all; then every rank has the
/// same gradients, and the same step of an optimiser leads to the same parameters. Buckets are filled in the order in
/// which gradients arrived in the first pass. Results are the same in each run with the same number of ranks.
///
/// A rank without a gradient for a parameter counts as one with zeros, so ranks may take different paths through a
/// network. If no rank has a gradient for a parameter, it gets a gradient of zeros.
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
    /// Copies rank 0's parameters to all ranks, and registers hooks for their gradients.
    ///
    /// # Errors
    /// Parameters that do not require a gradient or are not leaves; ranks with different parameters.
    pub fn new(
        parameters: impl IntoIterator<Item = (String, Tensor)>,
        group: &ProcessGroup,
        options: DataParallelOptions,
    ) -> Result<DistributedDataParallel> {
        let reducer = Reducer::new(parameters.into_iter().collect(), group, options)?;
        let parameters = reducer.parameters().to_vec();
        let reducer = Arc::new(Mutex::new(reducer));
        // Made first, so that the hooks of earlier parameters are removed if a later one fails.
        let mut parallel = DistributedDataParallel { reducer, hooks: Vec::new() };
        for (index, parameter) in parameters.iter().enumerate() {
            let reducer = Arc::downgrade(&parallel.reducer); // weak, since the reducer holds the parameters
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

    /// Waits until all parameters have the average of all ranks' gradients. To be called between `backward` and the
    /// step, on all ranks, also on one that had nothing to compute.
    ///
    /// # Errors
    /// A failure on any rank, with its number and the names of parameters.
    pub fn finish(&self) -> Result<()> {
        self.reducer().finish()
    }

    /// Runs backward passes whose gradients are accumulated on this rank, until a pass outside of this sends the sums.
    ///
    /// PyTorch: `DistributedDataParallel.no_sync`.
    pub fn no_sync<T>(&self, body: impl FnOnce() -> T) -> T {
        /// Restores the previous setting, also if the function panics.
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

    /// The time that the communication of gradients has taken so far.
    pub fn statistics(&self) -> Statistics {
        self.reducer().statistics
    }

    /// The names of the parameters in each bucket, in the order in which buckets are sent.
    pub fn buckets(&self) -> Vec<Vec<String>> {
        self.reducer().buckets()
    }
}

impl fmt::Debug for DistributedDataParallel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.hooks.len(); // each has one; the reducer may be locked
        f.debug_struct("DistributedDataParallel").field("parameters", &parameters).finish_non_exhaustive()
    }
}

impl Drop for DistributedDataParallel {
    fn drop(&mut self) {
        self.hooks.iter().for_each(HookHandle::remove);
    }
}
