//! A progress bar for reading, which shows itself only when reading takes long.

use std::io::Read;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Before this a bar would only flicker.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far reading has come. Nothing is drawn unless stderr is a terminal; dropping it clears the bar.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Nothing read yet of this many bytes.
    pub(crate) fn new(name: &str, len: u64) -> Progress {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left");
        let bar = ProgressBar::with_draw_target(Some(len), ProgressDrawTarget::hidden());
        Progress(
            bar.with_style(style.expect("the template is fixed")).with_message(format!("reading {name}")),
        )
    }

    /// The source, whose bytes are counted on their way.
    pub(crate) fn watch<R: Read>(&self, source: R) -> impl Read + use<R> {
        self.0.wrap_read(source)
    }

    /// Shows the bar once reading has taken long enough.
    pub(crate) fn show(&self) {
        if self.0.is_hidden() && self.0.elapsed() >= PATIENCE {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
