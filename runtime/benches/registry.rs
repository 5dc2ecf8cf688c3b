//! Measures the cost of registration at run time and of finding an operator by name.
//!
//! `cargo bench --bench registry` prints the best time per operator of several rounds, and the memory of the operators.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use torch_library::prelude::*;
use torch_library::{Dispatcher, Library, LibraryKind, RuntimeKernel};

const ROUNDS: usize = 7;

fn main() -> Result<()> {
    for operators in [100, 1_000, 10_000] {
        registration(operators)?;
    }
    lookup()?;
    reloading()
}

/// Nanoseconds per step in the best round.
fn best(steps: usize, mut round: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        best = best.min(round()?);
    }
    Ok(best / steps as f64)
}

fn nanoseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e9
}

fn names(operators: usize) -> Vec<(String, String)> {
    let name = |index| (format!("op_{index}(Tensor self, Tensor other) -> Tensor"), format!("op_{index}"));
    (0..operators).map(name).collect()
}

fn identity(_: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    stack.drop_last(1);
    Ok(())
}

/// Times defining, implementing and removing operators in a registry that starts empty.
fn registration(operators: usize) -> Result<()> {
    let names = names(operators);
    let before = resident_bytes();
    let mut kept = Vec::new();
    let define = best(operators, || {
        let mut library = Library::open(Dispatcher::leak_empty(), LibraryKind::Fragment, "bench", None)?;
        let start = Instant::now();
        for (schema, _) in &names {
            library.define(schema)?;
        }
        let time = nanoseconds(start);
        kept.push(library);
        Ok(time)
    })?;
    let mut libraries = kept.iter_mut();
    let implement = best(operators, || {
        let library = libraries.next().expect("one for each round");
        let start = Instant::now();
        for (_, name) in &names {
            library.implement(name, DispatchKey::CPU, RuntimeKernel::boxed(identity))?;
        }
        Ok(nanoseconds(start))
    })?;
    let bytes = (resident_bytes().saturating_sub(before)) as f64 / (ROUNDS * operators) as f64;
    let mut libraries = kept.into_iter();
    let remove = best(operators, || {
        let library = libraries.next();
        let start = Instant::now();
        drop(library);
        Ok(nanoseconds(start))
    })?;
    println!(
        "{operators:>6} operators: define {define:.0} ns, implement {implement:.0} ns, remove {remove:.0} ns, {:.2} KiB each",
        bytes / 1024.0
    );
    Ok(())
}

/// Times finding an operator among many, on one thread and on two.
fn lookup() -> Result<()> {
    const LOOPS: usize = 2_000_000;
    let dispatcher = Dispatcher::leak_empty();
    let mut library = Library::open(dispatcher, LibraryKind::Fragment, "bench", None)?;
    for (schema, _) in names(3_000) {
        library.define(&schema)?;
    }
    let find = |name: &str| {
        let start = Instant::now();
        for _ in 0..LOOPS {
            let _ = black_box(dispatcher.find(black_box(name)));
        }
        nanoseconds(start)
    };
    let one = best(LOOPS, || Ok(find("bench::op_1234")))?;
    let two = best(LOOPS, || {
        Ok(std::thread::scope(|scope| {
            let other = scope.spawn(|| find("bench::op_1234"));
            find("bench::op_1234").max(other.join().unwrap_or(f64::MAX))
        }))
    })?;
    println!("  find by name: {one:.1} ns on one thread, {two:.1} ns on each of two");
    Ok(())
}

/// Times loading and unloading one library over and over, calling its operator each time.
fn reloading() -> Result<()> {
    const CYCLES: usize = 100_000;
    let cycle = || -> Result<()> {
        let mut library = Library::new("bench")?;
        let handle = library.define("op(int x) -> int")?;
        library.implement(
            "op",
            DispatchKey::CompositeExplicitAutograd,
            RuntimeKernel::boxed(|_, _, _| Ok(())),
        )?;
        handle.call_boxed(&mut Stack::from_iter([Value::Int(1)]))
    };
    cycle()?;
    let (before, start) = (resident_bytes(), Instant::now());
    (0..CYCLES).try_for_each(|_| cycle())?;
    let time = nanoseconds(start) / CYCLES as f64;
    let kib = resident_bytes().saturating_sub(before) / 1024;
    println!(
        "  {CYCLES} cycles of loading, calling and unloading: {time:.0} ns each, {kib} KiB more in the end"
    );
    Ok(())
}

/// The resident memory of the process in bytes; 0 where the system does not report it.
fn resident_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<usize> = status.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}
