//! Progress bars that appear only on a terminal, and only for work that takes long.

use std::io::Read;
use std::sync::Once;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that appears earlier would only flicker.
const PATIENCE: Duration = Duration::from_secs(1);

/// The progress of some work; dropping it clears the bar.
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    shown: Once,
}

impl Progress {
    /// Starts reading this number of bytes.
    pub(crate) fn reading(name: &str, len: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(len), ProgressDrawTarget::hidden());
        bar.set_message(format!("reading {name}"));
        Progress::patient(bar, "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left")
    }

    /// Starts a computation of unknown length.
    pub(crate) fn computing() -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Progress::patient(bar, "{spinner} {msg}, {elapsed} so far")
    }

    /// Continues an epoch of `steps` steps, of which `done` are done.
    pub(crate) fn training(name: &str, steps: usize, done: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        bar.set_prefix(name.to_owned());
        bar.set_position(done as u64);
        Progress::patient(bar, "{prefix} {wide_bar} {pos} of {len}, {msg}, {eta} left")
    }

    /// Advances by one step, and shows its loss.
    pub(crate) fn advance(&self, loss: f64) {
        self.say(format!("loss {loss:.4}"));
        self.bar.inc(1);
    }

    fn patient(bar: ProgressBar, template: &str) -> Progress {
        let bar =
            bar.with_style(ProgressStyle::with_template(template).expect("the templates here are right"));
        Progress { bar, begun: Instant::now(), shown: Once::new() }
    }

    /// Wraps a reader so that its bytes are counted.
    pub(crate) fn watch<R: Read>(&self, source: R) -> impl Read + use<R> {
        self.bar.wrap_read(source)
    }

    /// Shows what is being done.
    pub(crate) fn say(&self, what: String) {
        self.bar.set_message(what);
        self.go_on();
    }

    /// Shows the bar if enough time has passed.
    pub(crate) fn go_on(&self) {
        if self.begun.elapsed() > PATIENCE {
            // From here on a thread animates the bar; most bars never get one.
            self.shown.call_once(|| {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
                self.bar.enable_steady_tick(PATIENCE / 10);
            });
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
