//! Operators that span processes: PyTorch's collectives for [`torch_library`], and data-parallel training with them.
//!
//! A [`ProcessGroup`] runs collectives over a backend, a [`Transport`]. The backend of this crate, [`threads`], runs
//! all ranks as threads of one process; the MPI backend is a crate of its own, which needs an installed MPI. Operators
//! find a group by its name:
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_distributed::{_c10d_functional as functional, threads};
//!
//! let ranks = threads::run(4, |group| {
//!     let x = Tensor::from([group.rank() as f64]);
//!     let all = functional::all_gather_into_tensor(&x, 4, "world")?; // begins
//!     functional::wait_tensor(&all)?.to_vec::<f64>() // ends
//! });
//! for all in ranks {
//!     assert_eq!(all?, [0.0, 1.0, 2.0, 3.0]);
//! }
//! # Ok::<(), Error>(())
//! ```
//!
//! Before a collective moves data, the ranks compare their calls. If a rank is missing, has ended, or makes another
//! call, all ranks get an error within twice [`Options::timeout`], which names the rank, the operator, and the purpose
//! of the collective. The [guide] has more.

pub use clip::clip_grad_norm_;
pub use data_parallel::{DataParallelOptions, DistributedDataParallel, Statistics};
pub use group::registry::process_group;
pub use group::{Options, ProcessGroup};
pub use label::labelled;
#[doc(inline)]
pub use ops::{_c10d_functional, _c10d_functional_autograd, c10d};
pub use reduce_op::ReduceOp;
pub use sharding::{Shard, shard};
pub use transport::{Call, Failure, Received, Tag, Transport};
pub use work::Work;
pub use zero::{Gradients, ZeroRedundancyOptimizer};

mod reduce_op;
mod reduction;

mod header;
mod transport;

mod faults;
mod wire;

pub mod algorithms;

mod agreement;
mod small;

mod bytes;
mod lent;

mod buffers;
mod work;
mod worker;

mod label;

mod group;

pub mod threads;

mod ops;

mod collectives;
mod pending;
mod shapes;

mod batching;
mod derivatives;
mod functional;
mod in_place;
mod refusals;

#[doc = include_str!("../docs/guide.md")]
pub mod guide {}

mod buckets;
mod clip;
mod data_parallel;
mod sharding;
mod zero;
