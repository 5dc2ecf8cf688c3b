//! What does a layer add to a call: when it is present and has nothing to do, and when it acts?
//!
//! `cargo bench -p torch-library-examples --bench layers` prints nanoseconds per call of an operator that returns its first
//! argument, and what each layer adds to it; then what a graph of a million nodes takes.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use torch_library::autocast::Autocast;
use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library::vmap::{Level, Randomness};
use torch_library::{DeviceType, DispatchKeySet, derivatives};
use torch_library_kernels::prelude::*;
use torch_library_kernels::{aten, autocast};

torch_library! {
    /// Operators that do nothing, so that only layers are measured.
    pub mod layers {
        /// No layer has a kernel for it: all use their defaults.
        plain(Tensor self) -> Tensor;
        /// It has a derivative, an autocast rule and a batching rule.
        layered(Tensor self) -> Tensor;
        /// Like `layered`, but the result is a new tensor.
        new(Tensor self) -> Tensor;
        /// Its schema says that it writes.
        write_(Tensor(a!) self) -> Tensor(a!);
    }
}

#[torch_impl(layers, CPU)]
mod cpu {
    use super::*;

    fn plain(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    fn layered(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    fn new(this: &Tensor) -> Result<Tensor> {
        this.strided_view(this.sizes(), this.strides(), this.storage_offset())
    }

    fn write_(this: &mut Tensor) -> Result<&mut Tensor> {
        Ok(this)
    }
}

derivatives! {
    in layers;
    layered(Tensor self) -> Tensor {
        self => grad.clone(),
    }
    new(Tensor self) -> Tensor {
        self => grad.clone(),
    }
    write_(Tensor(a!) self) -> Tensor(a!) {
        self => grad.clone(),
    }
}

#[torch_impl(layers::layered, AutocastCPU)]
fn cast(this: &Tensor) -> Result<Tensor> {
    let _no_autocast = autocast::below(DeviceType::Cpu);
    layers::layered(&autocast::cached_cast(DType::BFloat16, this, DeviceType::Cpu)?)
}

#[torch_impl(layers, FuncTorchBatched)]
fn new(this: &Tensor) -> Result<Tensor> {
    let level = Level::current()?;
    let (value, dim) = level.unwrap(this);
    level.wrap(layers::new(&value)?, dim.unwrap_or(0))
}

/// The minimum time per call over many batches of calls.
fn nanoseconds(mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    const CALLS: u32 = 2000;
    let mut best = f64::INFINITY;
    for _ in 0..300 {
        let begin = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        best = best.min(begin.elapsed().as_nanos() as f64 / f64::from(CALLS));
    }
    Ok(best)
}

fn main() -> Result<()> {
    let x = Tensor::from([1.0]);
    let bare = x.with_key_set(DispatchKeySet::from_key(DispatchKey::CPU));
    let leaf = x.copy()?;
    leaf.set_requires_grad(true)?;
    let mut written = x.copy()?;
    let of = |operator: fn(&Tensor) -> Result<Tensor>, x: &Tensor| {
        nanoseconds(|| operator(black_box(x)).map(|y| drop(black_box(y))))
    };
    println!("| a call of an operator that does nothing | ns | more than the first |\n|---|---:|---:|");
    let first = of(layers::plain, &bare)?;
    let show = |what: &str, time: f64| println!("| {what} | {time:.1} | {:.1} |", time - first);
    show("no layer at all", first);
    show("all layers, none of which knows the operator", of(layers::plain, &x)?);
    show("a derivative, and no gradient asked for", of(layers::layered, &x)?);
    show("a derivative, inside of `no_grad`", no_grad(|| of(layers::layered, &leaf))?);
    show("autocast on, nothing to cast", Autocast::on(DeviceType::Cpu).run(|| of(layers::layered, &x))?);
    show("a counted write", nanoseconds(|| layers::write_(black_box(&mut written)).map(drop))?);
    println!(
        "\n| a call that makes a tensor, and what a layer makes beside it | ns | more than the first |\n|---|---:|---:|"
    );
    let first = of(layers::new, &x)?;
    let show = |what: &str, time: f64| println!("| {what} | {time:.1} | {:.1} |", time - first);
    show("the tensor alone", first);
    let graph = layers::new(&leaf)?; // keeps the leaf's gradient accumulator alive, as a network's graph does
    show("recorded: a node of the graph", of(layers::new, &leaf)?);
    drop(graph);
    let guard = Level::enter(1, Randomness::Error)?;
    let batched = guard.level().wrap(x.copy()?, 0)?;
    show("batched: a batching rule, and a tensor that stands for each example", of(layers::new, &batched)?);
    drop(guard);
    chain(1_000_000)
}

/// A graph of many nodes in a chain.
fn chain(nodes: u32) -> Result<()> {
    let leaf = Tensor::from([1.0]);
    leaf.set_requires_grad(true)?;
    let (before, begin) = (resident()?, Instant::now());
    let mut x = leaf;
    for _ in 0..nodes {
        x = aten::neg(&x)?;
    }
    let (built, memory) = (begin.elapsed(), resident()? - before);
    let begin = Instant::now();
    x.backward()?;
    let walked = begin.elapsed();
    let begin = Instant::now();
    drop(x);
    let per_node = |time: std::time::Duration| time.as_nanos() / u128::from(nodes);
    println!("\n| a graph of {nodes} nodes, per node | |\n|---|---:|");
    println!("| memory, bytes | {} |", memory / u64::from(nodes));
    println!("| forward, ns | {} |", per_node(built));
    println!("| backward, ns | {} |", per_node(walked));
    println!("| dropped, ns | {} |", per_node(begin.elapsed()));
    Ok(())
}

/// The resident memory of this process, in bytes.
fn resident() -> Result<u64> {
    let status =
        fs::read_to_string("/proc/self/statm").map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?;
    let pages = status.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    Ok(pages * 4096)
}
