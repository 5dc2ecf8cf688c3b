//! Progress bars that show themselves only where something takes long, on a terminal.

use std::io::Read;
use std::sync::Once;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Before this a bar would only flicker.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far something has come; dropping it clears the bar.
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    shown: Once,
}

impl Progress {
    /// Nothing read yet of this many bytes.
    pub(crate) fn reading(name: &str, len: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(len), ProgressDrawTarget::hidden());
        bar.set_message(format!("reading {name}"));
        Progress::patient(bar, "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left")
    }

    /// Nothing computed yet; nobody knows how long it will take.
    pub(crate) fn computing() -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Progress::patient(bar, "{spinner} {msg}, {elapsed} so far")
    }

    /// So many steps of an epoch are done.
    pub(crate) fn training(name: &str, steps: usize, done: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        bar.set_prefix(name.to_owned());
        bar.set_position(done as u64);
        Progress::patient(bar, "{prefix} {wide_bar} {pos} of {len}, {msg}, {eta} left")
    }

    /// One more step, with its loss.
    pub(crate) fn advance(&self, loss: f64) {
        self.say(format!("loss {loss:.4}"));
        self.bar.inc(1);
    }

    fn patient(bar: ProgressBar, template: &str) -> Progress {
        let bar =
            bar.with_style(ProgressStyle::with_template(template).expect("the templates here are right"));
        Progress { bar, begun: Instant::now(), shown: Once::new() }
    }

    /// The source, whose bytes are counted on their way.
    pub(crate) fn watch<R: Read>(&self, source: R) -> impl Read + use<R> {
        self.bar.wrap_read(source)
    }

    /// Says what is being done.
    pub(crate) fn say(&self, what: String) {
        self.bar.set_message(what);
        self.go_on();
    }

    /// Shows the bar where it has been long enough.
    pub(crate) fn go_on(&self) {
        if self.begun.elapsed() > PATIENCE {
            // A thread keeps the bar moving from here on; most bars never have one.
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
