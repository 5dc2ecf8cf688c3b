//! Runs a program whose element-wise calls are fused by the wgpu backend.

use std::io::Write;
use std::time::{Duration, Instant};

use torch_library::prelude::*;
use torch_library::tracer::{self, Graph};
use torch_library::{backend, guard};
use torch_library_kernels::prelude::*;
use torch_library_wgpu::Fused;

use crate::arguments::Arguments;
use crate::call::Call;
use crate::layers;

/// The program's outputs, and the fused program.
pub(crate) fn run(call: &Call<'_>, arguments: &Arguments, inputs: &[Tensor]) -> Result<(Vec<Tensor>, Fused)> {
    let mut found = None;
    let slot = std::cell::RefCell::new(&mut found);
    let outputs = layers::under(&arguments.layers, arguments.device, call, inputs, &|inputs| {
        let fused = torch_library_wgpu::fuse(recorded(call, inputs)?);
        let outputs = fused.run(inputs)?;
        **slot.borrow_mut() = Some(fused);
        Ok(outputs)
    })?;
    match found {
        Some(fused) => Ok((outputs, fused)),
        None => bail!(Internal, "the layers ran nothing"),
    }
}

/// The program as a graph without in-place writes, except those of its inputs' and buffers' new values, which come
/// last. It is recorded during a run; after that its inputs and buffers are as before, so that the fused program is the
/// first to change them.
fn recorded(call: &Call<'_>, inputs: &[Tensor]) -> Result<Graph> {
    let tensors: Vec<Tensor> = inputs.iter().cloned().chain(call.buffers()).collect();
    let before =
        tensors.iter().map(|tensor| Ok((tensor.version(), tensor.copy()?))).collect::<Result<Vec<_>>>()?;
    let (_, mut graph) =
        tracer::trace(inputs, |inputs| call.functionalized(inputs, |inputs| call.run(inputs)))?;
    graph.eliminate_dead_code();
    guard::no_grad(|| {
        for (mut tensor, (version, before)) in tensors.into_iter().zip(&before) {
            if tensor.version() != *version {
                tensor.copy_(before)?;
            }
        }
        Ok(graph)
    })
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
        layers::under(&arguments.layers, arguments.device, call, inputs, &|inputs| {
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
