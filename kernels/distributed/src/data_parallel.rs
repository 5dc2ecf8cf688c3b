//! Training on several ranks, each with a part of the batch.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
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
///     let mut optimizer = Sgd::new([weight.clone()], 0.5)?;
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
    shared: Arc<Shared>,
    hooks: Vec<HookHandle>,
}

/// What the hooks use. Observers and kernels of the program run while the reducer is locked, so what they may ask for
/// is outside.
struct Shared {
    reducer: Mutex<Reducer>,
    /// The thread that has the reducer.
    owner: Mutex<Option<ThreadId>>,
    /// Whether gradients are sent as they arrive.
    is_synchronizing: AtomicBool,
    said: Mutex<Said>,
}

/// What the reducer said last about itself.
#[derive(Clone, Default)]
struct Said {
    statistics: Statistics,
    buckets: Vec<Vec<String>>,
}

impl Shared {
    fn new(reducer: Reducer) -> Shared {
        let said = Said { statistics: reducer.statistics, buckets: reducer.buckets() };
        Shared {
            reducer: Mutex::new(reducer),
            owner: Mutex::default(),
            is_synchronizing: AtomicBool::new(true),
            said: Mutex::new(said),
        }
    }

    /// Runs a function with the reducer, after other threads that have it.
    ///
    /// # Errors
    /// The errors of the function; this thread has the reducer already.
    fn with(&self, run: impl FnOnce(&mut Reducer) -> Result<()>) -> Result<()> {
        /// Notes that no thread has the reducer, also if the function panics.
        struct Owned<'a>(&'a Shared);
        impl Drop for Owned<'_> {
            fn drop(&mut self) {
                *self.0.owner.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
        }
        let this = thread::current().id();
        ensure!(
            *self.owner.lock().unwrap_or_else(PoisonError::into_inner) != Some(this),
            Busy,
            "gradients are being averaged on this thread: an observer, a hook or a kernel that runs meanwhile can \
             neither finish that nor add a gradient"
        );
        let mut reducer = self.reducer.lock().unwrap_or_else(PoisonError::into_inner);
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = Some(this);
        let _owned = Owned(self);
        run(&mut reducer)
    }

    fn arrive(&self, index: usize) -> Result<()> {
        match self.is_synchronizing.load(Ordering::Relaxed) {
            true => self.with(|reducer| reducer.arrive(index)),
            false => Ok(()),
        }
    }

    fn finish(&self) -> Result<()> {
        self.with(|reducer| {
            let finished = reducer.finish();
            let said = Said { statistics: reducer.statistics, buckets: reducer.buckets() };
            *self.said.lock().unwrap_or_else(PoisonError::into_inner) = said;
            finished
        })
    }

    fn said(&self) -> Said {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
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
        let shared = Arc::new(Shared::new(reducer));
        // Made first, so that the hooks of earlier parameters are removed if a later one fails.
        let mut parallel = DistributedDataParallel { shared, hooks: Vec::new() };
        for (index, parameter) in parameters.iter().enumerate() {
            let shared = Arc::downgrade(&parallel.shared); // weak, since the reducer holds the parameters
            let hook = move |_: &Tensor| shared.upgrade().map_or(Ok(()), |shared| shared.arrive(index));
            parallel.hooks.push(parameter.register_post_accumulate_grad_hook(hook)?);
        }
        Ok(parallel)
    }

    /// Waits until all parameters have the average of all ranks' gradients. To be called between `backward` and the
    /// step, on all ranks, also on one that had nothing to compute.
    ///
    /// # Errors
    /// A failure on any rank, with its number and the names of parameters; a call by code that runs within another one,
    /// such as an observer ([`Busy`](ErrorKind::Busy)).
    pub fn finish(&self) -> Result<()> {
        self.shared.finish()
    }

    /// Runs backward passes whose gradients are accumulated on this rank, until a pass outside of this sends the sums.
    ///
    /// PyTorch: `DistributedDataParallel.no_sync`.
    pub fn no_sync<T>(&self, body: impl FnOnce() -> T) -> T {
        /// Restores the previous setting, also if the function panics.
        struct Before<'a>(&'a DistributedDataParallel, bool);
        impl Drop for Before<'_> {
            fn drop(&mut self) {
                self.0.shared.is_synchronizing.store(self.1, Ordering::Relaxed);
            }
        }
        let was = self.shared.is_synchronizing.swap(false, Ordering::Relaxed);
        let _before = Before(self, was);
        body()
    }

    /// The time that the communication of gradients has taken so far.
    pub fn statistics(&self) -> Statistics {
        self.shared.said().statistics
    }

    /// The names of the parameters in each bucket, in the order in which buckets are sent.
    pub fn buckets(&self) -> Vec<Vec<String>> {
        self.shared.said().buckets
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
