//! MPI as a backend of [`torch_library_distributed`]: ranks are processes that `mpirun` starts.
//!
//! ```no_run
//! use torch_library::prelude::*;
//! use torch_library_distributed::{_c10d_functional as functional, Options};
//! use torch_library_mpi::Session;
//!
//! let session = Session::start(Options::default())?; // under `mpirun -n 4 program`
//! let x = Tensor::from([session.world().rank() as f64]);
//! let sum = functional::wait_tensor(&functional::all_reduce(&x, "sum", "world")?)?;
//! println!("{sum}");
//! session.finish()?;
//! # Ok::<(), Error>(())
//! ```
//!
//! MPI carries messages, of which [`torch_library_distributed::algorithms`] makes collectives: MPI's own collectives
//! only make progress while they are polled, do not tell which rank is silent, and do not support 16-bit floats. A
//! request that is late is left to MPI together with its memory, which is not used again, since MPI may write to it at
//! any time.
#[cfg(feature = "mpi")]
pub use session::Session;

#[cfg(feature = "mpi")]
mod requests;
#[cfg(feature = "mpi")]
mod session;
#[cfg(feature = "mpi")]
mod transport;
