//! Runs a program whose element-wise calls are fused by the wgpu backend.

use std::io::Write;
use std::time::{Duration, Instant};

use torch_library::functionalize::functionalize;
use torch_library::prelude::*;
use torch_library::{backend, tracer};
use torch_library_wgpu::Fused;

use crate::arguments::Arguments;
use crate::call::Call;
use crate::layers;

/// The program's outputs, and the fused program. The program first runs once to be recorded: without in-place writes,
/// or unchanged where a loop, a branch or a write to a buffer does not allow that.
pub(crate) fn run(call: &Call<'_>, arguments: &Arguments, inputs: &[Tensor]) -> Result<(Vec<Tensor>, Fused)> {
    let mut found = None;
    let slot = std::cell::RefCell::new(&mut found);
    let outputs = layers::under(&arguments.layers, arguments.device, inputs, &|inputs| {
        let (_, mut graph) =
            tracer::trace(inputs, |inputs| functionalize(inputs, |inputs| call.run(inputs)))?;
        graph.eliminate_dead_code();
        let fused = torch_library_wgpu::fuse(graph);
        let outputs = fused.run(inputs)?;
        **slot.borrow_mut() = Some(fused);
        Ok(outputs)
    })?;
    match found {
        Some(fused) => Ok((outputs, fused)),
        None => bail!(Internal, "the layers ran nothing"),
    }
}

/// Prints the time of a run without and with fusion, as means of this many runs.
pub(crate) fn times(
    call: &Call<'_>,
    fused: &Fused,
    arguments: &Arguments,
    runs: u32,
    inputs: &[Tensor],
    output: &mut dyn Write,
) -> Result<()> {
    let time = |run: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>| {
        let spent = std::cell::Cell::new(Duration::ZERO);
        layers::under(&arguments.layers, arguments.device, inputs, &|inputs| {
            let start = Instant::now();
            for _ in 0..runs {
                run(inputs)?;
            }
            backend::synchronize(arguments.device)?;
            spent.set(start.elapsed());
            Ok(Vec::new())
        })?;
        Ok::<_, Error>(spent.get().as_secs_f64() * 1e6 / f64::from(runs.max(1)))
    };
    // Alternately and twice, so that neither benefits from a warmer device.
    let turns = [time(&|inputs| call.run(inputs))?, time(&|inputs| fused.run(inputs))?];
    let again = [time(&|inputs| call.run(inputs))?, time(&|inputs| fused.run(inputs))?];
    let [single, joined] = [0, 1].map(|at| turns[at].min(again[at]));
    Ok(writeln!(output, "{single:.1} µs for a run of single calls, {joined:.1} µs fused")?)
}
