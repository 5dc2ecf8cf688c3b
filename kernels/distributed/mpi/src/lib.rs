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
//! Numbers that MPI can add are reduced by MPI's own collectives; halves, complex numbers and `bool` by messages, in the order
//! of the ranks. Every request is watched with a deadline. One that is late is left to MPI with its memory, which then is not
//! used again: MPI may write to it at any time.

pub use session::Session;

mod requests;
mod session;
mod transport;
