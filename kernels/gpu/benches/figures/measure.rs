//! Measuring calls: the median over turns, which all sides take alternately.

use std::time::{Duration, Instant};

/// The duration of a turn, and the number of turns of each side.
const TURN: Duration = Duration::from_millis(150);
const TURNS: usize = 5;

/// Calls as often as asked, and waits until they are done.
pub(crate) type Run<E> = Box<dyn FnMut(u32) -> Result<(), E>>;

/// The milliseconds that a call takes, for each side.
///
/// # Errors
/// The error of a call.
pub(crate) fn milliseconds<E>(sides: &mut [&mut Run<E>]) -> Result<Vec<f64>, E> {
    let counts = sides.iter_mut().map(|run| count(run)).collect::<Result<Vec<_>, E>>()?;
    let mut samples = vec![Vec::new(); sides.len()];
    for _ in 0..TURNS {
        for ((run, count), samples) in sides.iter_mut().zip(&counts).zip(&mut samples) {
            let start = Instant::now();
            run(*count)?;
            samples.push(start.elapsed().as_secs_f64() * 1e3 / f64::from(*count));
        }
    }
    let medians = samples.into_iter().map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    });
    Ok(medians.collect())
}

/// The number of calls of a turn, found after some calls for warming up.
fn count<E>(run: &mut Run<E>) -> Result<u32, E> {
    run(3)?;
    let start = Instant::now();
    run(1)?;
    let one = start.elapsed().max(Duration::from_micros(1));
    let some = (TURN.as_secs_f64() / 8.0 / one.as_secs_f64()).ceil().clamp(1.0, 2000.0) as u32;
    let start = Instant::now();
    run(some)?;
    let each = start.elapsed().as_secs_f64() / f64::from(some);
    Ok((TURN.as_secs_f64() / each).ceil().clamp(1.0, 10_000.0) as u32)
}
