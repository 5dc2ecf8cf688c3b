//! Checks every collective over MPI: `mpirun -n 4 check_collectives`. Exits with an error where one is wrong.

use torch_library::prelude::*;
use torch_library_distributed::{_c10d_functional as functional, Options, ProcessGroup, Work, c10d};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_mpi::Session;

fn main() -> Result<()> {
    let session = Session::start(Options::default())?;
    check(session.world())?;
    if session.world().rank() == 0 {
        println!("all collectives are right on {} ranks", session.world().size());
    }
    session.finish()
}

fn check(world: &ProcessGroup) -> Result<()> {
    for dtype in DType::all().filter(|dtype| !dtype.is_float8()) {
        reductions(world, dtype)?;
        movements(world, dtype)?;
    }
    strides(world)?;
    messages(world)?;
    large(world)?;
    groups(world)
}

fn numbers(values: Vec<f64>, dtype: DType) -> Result<Tensor> {
    aten::_to_copy::with(&Tensor::from(values)).dtype(dtype).call()
}

fn expect(what: &str, found: &Tensor, expected: &[f64]) -> Result<()> {
    let real = if found.dtype().is_complex() { aten::real(found)? } else { found.clone() };
    let found: Vec<f64> = aten::_to_copy::with(&real).dtype(DType::Float64).call()?.to_vec()?;
    ensure!(found == expected, Kernel, "{what}: {found:?}, expected {expected:?}");
    Ok(())
}

fn reductions(world: &ProcessGroup, dtype: DType) -> Result<()> {
    let (ranks, rank) = (world.size() as f64, world.rank() as f64);
    let is_integral = !dtype.is_floating_point() && !dtype.is_complex();
    let total = ranks * (ranks - 1.0) / 2.0;
    let cases: &[(&str, bool, f64)] = &[
        ("sum", true, total),
        ("avg", !is_integral, total / ranks),
        ("product", true, 0.0),
        ("min", !dtype.is_complex(), 0.0),
        ("max", !dtype.is_complex(), ranks - 1.0),
        ("band", is_integral, 0.0),
        ("bor", is_integral, (0..world.size()).fold(0, |bits, rank| bits | rank) as f64),
    ];
    for (op, is_supported, expected) in cases.iter().filter(|(_, is_supported, _)| *is_supported) {
        debug_assert!(is_supported);
        let x = numbers(vec![rank], dtype)?;
        let expected = if dtype == DType::Bool { f64::from(*expected > 0.0) } else { *expected };
        let found = functional::wait_tensor(&functional::all_reduce(&x, op, "world")?)?;
        expect(&format!("{op} of {dtype}"), &found, &[expected])?;
    }
    Ok(())
}

fn movements(world: &ProcessGroup, dtype: DType) -> Result<()> {
    let (ranks, rank) = (world.size(), world.rank());
    let x = numbers(vec![rank as f64; ranks], dtype)?;
    let one = |value: f64| if dtype == DType::Bool { f64::from(value > 0.0) } else { value };
    let from = |rank: usize| one(rank as f64);
    let last = functional::wait_tensor(&functional::broadcast(&x, ranks as i64 - 1, "world")?)?;
    expect(&format!("broadcast of {dtype}"), &last, &vec![from(ranks - 1); ranks])?;
    let all = functional::wait_tensor(&functional::all_gather_into_tensor(&x, ranks as i64, "world")?)?;
    let expected: Vec<f64> = (0..ranks).flat_map(|rank| vec![from(rank); ranks]).collect();
    expect(&format!("all_gather of {dtype}"), &all, &expected)?;
    let exchanged = functional::wait_tensor(&functional::all_to_all_single(&x, &[], &[], "world")?)?;
    let expected: Vec<f64> = (0..ranks).map(from).collect();
    expect(&format!("all_to_all of {dtype}"), &exchanged, &expected)?;
    let part = functional::reduce_scatter_tensor(&x, "sum", ranks as i64, "world")?;
    let expected = one((0..ranks).sum::<usize>() as f64);
    expect(&format!("reduce_scatter of {dtype}"), &functional::wait_tensor(&part)?, &[expected])
}

fn strides(world: &ProcessGroup) -> Result<()> {
    let ranks = world.size() as f64;
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    functional::all_reduce_(&mut x.transpose(0, 1)?, "sum", "world")?;
    let expected: Vec<f64> = (1..=6).map(|number| f64::from(number) * ranks).collect();
    expect("a transposed tensor", &x.reshape(&[-1])?, &expected)
}

fn messages(world: &ProcessGroup) -> Result<()> {
    let (ranks, rank) = (world.size() as i64, world.rank() as i64);
    if ranks == 1 {
        return Ok(());
    }
    let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    let mut place = [Tensor::zeros(&[100_000], DType::Float64, Device::CPU)?];
    let expected = Work::take(c10d::recv_(&mut place, "world", before, 5)?)?;
    let message = [Tensor::full(&[100_000], rank as f64, DType::Float64, Device::CPU)?];
    let sent = Work::take(c10d::send(&message, "world", next, 5)?)?;
    expected.wait()?;
    sent.wait()?;
    expect("a message", &aten::narrow(&place[0], 0, 99_999, 1)?, &[before as f64])
}

/// Several at a time, each larger than MPI's eager limit.
fn large(world: &ProcessGroup) -> Result<()> {
    let mut works = Vec::new();
    for number in 0..4 {
        let mut x = [Tensor::full(&[300_000], f64::from(number), DType::Float32, Device::CPU)?];
        let (_, ticket) = c10d::allreduce_(&mut x, "world", "sum", None)?;
        works.push((x, Work::take(ticket)?));
    }
    for (number, (x, work)) in works.into_iter().enumerate() {
        work.wait()?;
        expect("a large sum", &aten::narrow(&x[0], 0, 299_999, 1)?, &[(number * world.size()) as f64])?;
    }
    Ok(())
}

fn groups(world: &ProcessGroup) -> Result<()> {
    let (ranks, rank) = (world.size(), world.rank());
    let even: Vec<usize> = (0..ranks).step_by(2).collect();
    let rest: Vec<usize> = (0..ranks).rev().collect();
    let x = Tensor::from([rank as f64]);
    if let Some(group) = world.new_group("even", &even)? {
        let all = functional::all_gather_into_tensor(&x, even.len() as i64, "even")?;
        let expected: Vec<f64> = even.iter().map(|rank| *rank as f64).collect();
        expect("a group", &functional::wait_tensor(&all)?, &expected)?;
        group.unregister();
    }
    if let Some(group) = world.new_group("reversed", &rest)? {
        let all = functional::all_gather_into_tensor(&x, ranks as i64, "reversed")?;
        let expected: Vec<f64> = rest.iter().map(|rank| *rank as f64).collect();
        expect("a group in another order", &functional::wait_tensor(&all)?, &expected)?;
        group.unregister();
    }
    Ok(())
}
