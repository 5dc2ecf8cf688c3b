//! Measures the overhead of a node of a program: `cargo bench -p torch-library-export --bench overhead`.
//!
//! The operator returns its argument, so nearly all of its time is overhead. It is called by a program with fifty
//! nodes, and equally often by a loop of boxed calls, which a program needs in any case. Prints the minimum of many
//! rounds, in nanoseconds per call.

use std::hint::black_box;
use std::time::Instant;

use torch_library::prelude::*;
use torch_library_export::Program;

torch_library! {
    /// The operator of the archive.
    pub mod fixtures {
        /// Returns its argument.
        twice(Tensor x) -> Tensor;
    }
}

#[torch_impl(fixtures, CompositeImplicitAutograd)]
fn twice(x: &Tensor) -> Result<Tensor> {
    Ok(x.clone())
}

const ROUNDS: usize = 20_000;

/// The time of one of `calls` calls, in the fastest round.
fn fastest(calls: usize, mut round: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        round()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least * 1e9 / calls as f64)
}

fn main() -> Result<()> {
    let program = Program::load(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/archives/chain.pt2"))?;
    let nodes: usize = program.operators().values().sum();
    let (x, operator) = (Tensor::from([0f32]), fixtures::twice::handle());
    let inputs = [x.clone()];
    let whole = fastest(nodes, || program.run(black_box(&inputs)).map(drop))?;
    let boxed = fastest(nodes, || {
        for _ in 0..nodes {
            let mut stack = Stack::from_iter([Value::TensorRef(black_box(&x))]);
            operator.call_boxed(&mut stack)?;
            black_box(stack.pop());
        }
        Ok(())
    })?;
    println!("a node of a program     {whole:6.1} ns");
    println!("the same boxed call     {boxed:6.1} ns");
    println!("what the program adds   {:6.1} ns", whole - boxed);
    Ok(())
}
