//! The beginning and the end of MPI in a process.

use std::time::Duration;

use mpi::Threading;
use mpi::environment::Universe;
use torch_library::prelude::*;
use torch_library_distributed::{Options, ProcessGroup, Transport, c10d, threads::WORLD};

use crate::transport::Communicator;

/// The time that a process that gives up waits before it exits, so that others can print their errors before `mpirun`
/// ends them, too.
const GRACE: Duration = Duration::from_secs(1);

/// MPI in this process, and the group of all processes, whose name is `world`.
///
/// Dropping it without [`finish`](Session::finish) is for failures: MPI is not finalised then, since it would wait for
/// ranks that may be gone.
pub struct Session {
    universe: Option<Universe>,
    world: Option<ProcessGroup>,
}

impl Session {
    /// Starts MPI, for several threads, and joins the other processes.
    ///
    /// # Errors
    /// MPI was started before, or does not work with several threads.
    pub fn start(options: Options) -> Result<Session> {
        Session::start_over(options, |transport| transport)
    }

    /// As [`start`](Session::start), with a transport of the caller's between the group and MPI, which may count
    /// messages or inject faults.
    ///
    /// # Errors
    /// As [`start`](Session::start).
    pub fn start_over(
        options: Options,
        wrap: impl FnOnce(Box<dyn Transport>) -> Box<dyn Transport>,
    ) -> Result<Session> {
        let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Multiple) else {
            bail!(Conflict, "MPI was started before: a process has one `Session`");
        };
        // From here on, an error does not finalise MPI.
        let mut session = Session { universe: Some(universe), world: None };
        ensure!(
            threading == Threading::Multiple,
            NotSupported,
            "this MPI supports threads as {threading:?}, but groups call it from several threads at the same time\n  \
             help: Open MPI and MPICH of Debian are built for that"
        );
        let world = ProcessGroup::new(WORLD, wrap(Box::new(Communicator::world()?)), options)?;
        world.register()?;
        session.world = Some(world);
        Ok(session)
    }

    /// The group of all processes.
    ///
    /// # Panics
    /// Never, since the group exists until the session ends.
    pub fn world(&self) -> &ProcessGroup {
        self.world.as_ref().expect("a session that was started has one")
    }

    /// Waits for all processes, and finalises MPI. Other groups and handles of groups have to be dropped before.
    ///
    /// # Errors
    /// A process that does not finish.
    pub fn finish(mut self) -> Result<()> {
        let nothing = Tensor::zeros(&[0], DType::UInt8, Device::CPU)?;
        c10d::barrier::with(&nothing, WORLD, &[]).async_op(false).call()?;
        if let Some(world) = self.world.take() {
            world.unregister();
        }
        drop(self.universe.take()); // finalises MPI
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(world) = self.world.take() {
            world.unregister();
        }
        if let Some(universe) = self.universe.take() {
            std::mem::forget(universe);
            std::thread::sleep(GRACE);
        }
    }
}
