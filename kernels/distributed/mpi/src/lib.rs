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
//! MPI carries messages; collectives are made of them, in [`torch_library_distributed::algorithms`]: MPI's own ones
//! move data only while they are asked, do not say which rank is silent, and know no halves. One that is late is
//! left to MPI with its memory, which then is not used again: MPI may write to it at any time.

pub use session::Session;

mod requests;
mod session;
mod transport;
