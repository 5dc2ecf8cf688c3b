//! The results of the operators: all types, strides, several groups, in place and not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use torch_library::prelude::*;
use torch_library_distributed::{
    _c10d_functional as functional, Options, ProcessGroup, Work, c10d, process_group, threads,
};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

/// Runs ranks, all of which must succeed.
fn ranks(count: usize, body: impl Fn(&ProcessGroup) -> Result<()> + Sync) {
    for (rank, result) in threads::run(count, body).into_iter().enumerate() {
        if let Err(error) = result {
            panic!("rank {rank}: {error}");
        }
    }
}

/// Small numbers, so that sums of each type are exact.
fn numbers(values: &[f64], dtype: DType) -> Result<Tensor> {
    aten::_to_copy::with(&Tensor::from(values.to_vec())).dtype(Some(dtype)).call()
}

fn values(tensor: &Tensor) -> Result<Vec<f64>> {
    let real = if tensor.dtype().is_complex() { aten::real(tensor)? } else { tensor.clone() };
    aten::_to_copy::with(&real).dtype(Some(DType::Float64)).call()?.to_vec()
}

fn sum(x: &Tensor) -> Result<Tensor> {
    functional::wait_tensor(&functional::all_reduce(x, "sum", "world")?)
}

#[test]
fn sums_of_every_type_are_exact() {
    ranks(3, |group| {
        for dtype in DType::all().filter(|dtype| !dtype.is_float8()) {
            let x = numbers(&[1.0, group.rank() as f64], dtype)?;
            let expected = if dtype == DType::Bool { [1.0, 1.0] } else { [3.0, 3.0] };
            let total = sum(&x)?;
            assert_eq!((total.dtype(), values(&total)?), (dtype, expected.to_vec()), "{dtype}");
        }
        Ok(())
    });
}

#[test]
fn every_type_can_be_sent_and_gathered() {
    ranks(2, |group| {
        // The scales of eight bits have no zero to send.
        for dtype in DType::all().filter(|dtype| *dtype != DType::Float8E8M0Fnu) {
            let x = numbers(&[group.rank() as f64], dtype)?;
            let all = functional::wait_tensor(&functional::all_gather_into_tensor(&x, 2, "world")?)?;
            assert_eq!(values(&all)?, [0.0, 1.0], "{dtype}");
            let last = functional::wait_tensor(&functional::broadcast(&x, 1, "world")?)?;
            assert_eq!(values(&last)?, [1.0], "{dtype}");
        }
        Ok(())
    });
}

#[test]
fn each_reduction_does_what_its_name_says() {
    ranks(3, |group| {
        let rank = group.rank() as f64;
        let cases = [
            ("sum", 9.0),
            ("avg", 3.0),
            ("product", 24.0),
            ("min", 2.0),
            ("max", 4.0),
            ("band", 0.0),
            ("bor", 7.0),
            ("bxor", 5.0),
        ];
        for (op, expected) in cases {
            let dtype = if op.starts_with('b') { DType::Int32 } else { DType::Float32 };
            let x = numbers(&[rank + 2.0], dtype)?;
            let reduced = functional::wait_tensor(&functional::all_reduce(&x, op, "world")?)?;
            assert_eq!(values(&reduced)?, [expected], "{op}");
        }
        let integers = numbers(&[1.0], DType::Int64)?;
        let refused = functional::all_reduce(&integers, "avg", "world").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DType);
        assert!(functional::all_reduce(&integers, "mean", "world").is_err());
        Ok(())
    });
}

#[test]
fn strides_do_not_matter() {
    ranks(2, |group| {
        let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        let mut transposed = x.transpose(0, 1)?;
        assert_eq!(sum(&transposed)?.to_vec::<f64>()?, [2.0, 8.0, 4.0, 10.0, 6.0, 12.0]);
        functional::all_reduce_(&mut transposed, "sum", "world")?;
        assert_eq!(x.to_vec::<f64>()?, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        let mut column = [x.select_int(1, 1)?]; // a view, with an offset
        let (_, ticket) = c10d::broadcast_(&mut column, "world", group.size() as i64 - 1, 0)?;
        Work::take(ticket)?.wait()?;
        let conjugate = aten::conj(&Tensor::from([Complex64::new(1.0, 2.0)]))?;
        assert_eq!(sum(&conjugate)?.to_vec::<Complex64>()?, [Complex64::new(2.0, -4.0)]);
        Ok(())
    });
}

/// More data than fits one message, and lengths that the number of ranks does not divide.
#[test]
fn large_tensors_travel_in_parts() {
    for count in 1..=4 {
        ranks(count, |group| {
            let (ranks, rank) = (group.size() as i64, group.rank() as i64);
            for length in [ranks, 100_003 * ranks, 300_000] {
                let x = aten::arange(length.into())?.add(rank)?;
                let total = (ranks * (ranks - 1)) / 2;
                let expected: Vec<i64> = (0..length).map(|at| at * ranks + total).collect();
                assert!(sum(&x)?.to_vec::<i64>()? == expected, "sum of {length}");
                let mut place = [x.add(0)?];
                c10d::broadcast_::with(&mut place, "world", ranks - 1, 0).async_op(false).call()?;
                assert!(
                    place[0].equal(&aten::arange(length.into())?.add(ranks - 1)?)?,
                    "broadcast of {length}"
                );
                let all = functional::wait_tensor(&functional::all_gather_into_tensor(&x, ranks, "world")?)?;
                let last = aten::narrow(&all, 0, (ranks - 1) * length, length)?;
                assert!(last.equal(&place[0])?, "all_gather of {length}");
                if length % ranks == 0 {
                    let part = functional::reduce_scatter_tensor(&x, "sum", ranks, "world")?;
                    let own = length / ranks * rank;
                    let part = functional::wait_tensor(&part)?.to_vec::<i64>()?;
                    assert!(part == expected[own as usize..][..part.len()], "reduce_scatter of {length}");
                }
            }
            Ok(())
        });
    }
}

/// Rank 0 has many rows for the others, and they have none for it.
#[test]
fn large_parts_of_different_lengths_are_exchanged() {
    ranks(3, |group| {
        let rank = group.rank();
        let (to, from) =
            ([[1, 90_000, 200_000], [0, 2, 0], [0, 0, 3]], [[1, 0, 0], [90_000, 2, 0], [200_000, 0, 3]]);
        let x = Tensor::full(&[to[rank].iter().sum::<i64>()], rank as i64, DType::Int64, Device::CPU)?;
        let y = functional::all_to_all_single(&x, &from[rank], &to[rank], "world")?;
        let y = functional::wait_tensor(&y)?.to_vec::<i64>()?;
        let expected: Vec<i64> =
            (0..3).flat_map(|source| vec![source as i64; from[rank][source] as usize]).collect();
        assert!(y == expected, "rank {rank}");
        Ok(())
    });
}

/// A result cannot be read before it is complete: reading it before the collective is done is an error.
#[test]
fn a_tensor_in_place_is_lent_until_the_collective_is_done() {
    let (looked, waits) = std::sync::mpsc::channel();
    let (looked, waits) = (std::sync::Mutex::new(looked), std::sync::Mutex::new(waits));
    ranks(2, |group| {
        let mut x = [Tensor::from([1.0, 2.0])];
        if group.rank() == 1 {
            waits.lock().unwrap().recv().unwrap();
        }
        let (_, ticket) = c10d::allreduce_(&mut x, "world", "sum", None)?;
        if group.rank() == 0 {
            assert_eq!(x[0].to_vec::<f64>().unwrap_err().kind(), ErrorKind::Busy);
            looked.lock().unwrap().send(()).unwrap();
        }
        Work::take(ticket)?.wait()?;
        assert_eq!(x[0].to_vec::<f64>()?, [2.0, 4.0]);
        Ok(())
    });
}

#[test]
fn tensors_without_elements_are_sent_as_well() {
    ranks(2, |_| {
        let none = Tensor::zeros(&[0, 3], DType::Float32, Device::CPU)?;
        assert_eq!(sum(&none)?.sizes(), [0, 3]);
        let all = functional::wait_tensor(&functional::all_gather_into_tensor(&none, 2, "world")?)?;
        assert_eq!(all.sizes(), [0, 3]);
        Ok(())
    });
}

#[test]
fn results_are_not_there_before_they_are_waited_for() {
    ranks(2, |_| {
        let x = Tensor::from([1.0]);
        let begun = functional::all_reduce(&x, "sum", "world")?;
        assert_eq!(begun.to_vec::<f64>()?, [0.0]);
        assert_eq!(functional::wait_tensor(&begun)?.to_vec::<f64>()?, [2.0]);
        assert_eq!(begun.to_vec::<f64>()?, [2.0]);
        Ok(())
    });
}

#[test]
fn rows_go_where_the_splits_say() {
    ranks(2, |group| {
        // Rank 0 sends one row to itself and two to rank 1; rank 1 sends three rows to rank 0 and none to itself.
        let rank = group.rank();
        let x = numbers(&[[10.0, 11.0, 12.0], [20.0, 21.0, 22.0]][rank], DType::Float32)?;
        let (to, from) = [([1, 2], [1, 3]), ([3, 0], [2, 0])][rank];
        let y = functional::wait_tensor(&functional::all_to_all_single(&x, &from, &to, "world")?)?;
        let expected = [vec![10.0, 20.0, 21.0, 22.0], vec![11.0, 12.0]][rank].clone();
        assert_eq!(values(&y)?, expected);
        Ok(())
    });
}

/// The product of the sizes of a row overflows.
#[test]
fn no_rows_are_exchanged_however_long_they_are() {
    ranks(2, |_| {
        let sizes = [0, 1 << 32, 1 << 31];
        let x = numbers(&[], DType::Float32)?.strided_view(&sizes, &[0; 3], 0)?;
        let y = functional::wait_tensor(&functional::all_to_all_single(&x, &[], &[], "world")?)?;
        assert_eq!(y.sizes(), sizes);
        Ok(())
    });
}

#[test]
fn scattered_and_gathered_again_is_a_sum() {
    ranks(4, |group| {
        let x = aten::arange(8.into())?;
        let own = functional::wait_tensor(&functional::reduce_scatter_tensor(&x, "sum", 4, "world")?)?;
        let rank = group.rank() as i64;
        assert_eq!(own.to_vec::<i64>()?, [8 * rank, 8 * rank + 4]);
        let all = functional::wait_tensor(&functional::all_gather_into_tensor(&own, 4, "world")?)?;
        assert_eq!(all.to_vec::<i64>()?, sum(&x)?.to_vec::<i64>()?);
        let five = Tensor::zeros(&[5], DType::Float32, Device::CPU)?;
        let error = functional::reduce_scatter_tensor(&five, "sum", 4, "world").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape);
        Ok(())
    });
}

#[test]
fn several_tensors_travel_together() {
    ranks(2, |_| {
        let mut list = [Tensor::from([1.0]), Tensor::from([[2.0], [3.0]])];
        let sums = functional::all_reduce_coalesced(&list, "sum", "world")?;
        assert_eq!(functional::wait_tensors(&sums)?[1].to_vec::<f64>()?, [4.0, 6.0]);
        functional::all_reduce_coalesced_(&mut list, "max", "world")?;
        assert_eq!(list[1].to_vec::<f64>()?, [2.0, 3.0]);
        Ok(())
    });
}

#[test]
fn in_place_collectives_write_to_what_they_are_given() {
    ranks(2, |group| {
        let (rank, other) = (group.rank() as f64, 1.0 - group.rank() as f64);
        let own = [Tensor::from([rank])];
        let mut two = [Tensor::from([9.0]), Tensor::from([9.0])];
        c10d::allgather_::with(&mut two, &own, "world").async_op(false).call()?;
        assert_eq!([values(&two[0])?, values(&two[1])?], [[0.0], [1.0]]);
        let mut part = [Tensor::from([0.0])];
        c10d::reduce_scatter_::with(&mut part, &two, "world", "sum").async_op(false).call()?;
        assert_eq!(values(&part[0])?, [2.0 * rank]);
        let outgoing = [Tensor::from([10.0 * rank]), Tensor::from([10.0 * rank + 1.0])];
        c10d::alltoall_::with(&mut two, &outgoing, "world").async_op(false).call()?;
        assert_eq!([values(&two[0])?, values(&two[1])?], [[rank], [10.0 + rank]]);
        let mut both = Tensor::from([0.0, 0.0]);
        c10d::_allgather_base_::with(&mut both, &own[0], "world").async_op(false).call()?;
        assert_eq!(values(&both)?, [0.0, 1.0]);
        let mut half = Tensor::from([0.0]);
        c10d::_reduce_scatter_base_::with(&mut half, &both, "world", "max").async_op(false).call()?;
        assert_eq!(values(&half)?, [rank]);
        c10d::barrier::with(&own[0], "world", &[]).async_op(false).call()?;
        // Both wait before either sends: waiting for a message does not block other messages.
        let mut message = [Tensor::from([0.0])];
        let expected = Work::take(c10d::recv_(&mut message, "world", other as i64, 3)?)?;
        let sent = Work::take(c10d::send(&own, "world", other as i64, 3)?)?;
        expected.wait()?;
        sent.wait()?;
        assert_eq!(values(&message[0])?, [other]);
        Ok(())
    });
}

#[test]
fn a_message_that_is_waited_for_comes_after_its_group_has_lost_its_handles() {
    let is_leaving = AtomicBool::new(false);
    ranks(2, |group| {
        let pair = group.new_group("pair", &[0, 1])?.expect("both ranks are in it");
        if group.rank() == 1 {
            while !is_leaving.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            c10d::send(&[Tensor::from([7.0])], "pair", 0, 3)?;
            pair.unregister();
            return Ok(());
        }
        let mut message = [Tensor::from([0.0])];
        let expected = Work::take(c10d::recv_(&mut message, "pair", 1, 3)?)?;
        pair.unregister();
        is_leaving.store(true, Ordering::Release);
        drop(pair);
        expected.wait()?;
        assert_eq!(values(&message[0])?, [7.0]);
        Ok(())
    });
}

#[test]
fn a_timeout_may_be_longer_than_the_clock_counts() {
    let options = Options::default().timeout(Duration::MAX);
    let ranks = threads::run_with(2, options, |group| {
        let x = Tensor::full(&[100_000], 1, DType::Float32, Device::CPU)?; // a long one travels in parts
        assert_eq!(values(&sum(&x)?)?[0], 2.0);
        let (mut message, other) = ([Tensor::from([0.0])], 1 - group.rank() as i64);
        let expected = Work::take(c10d::recv_(&mut message, "world", other, 0)?)?;
        c10d::send(&[Tensor::from([other as f64])], "world", other, 0)?;
        expected.wait()
    });
    ranks.into_iter().collect::<Result<()>>().unwrap();
}

#[test]
fn groups_of_some_ranks_work_beside_each_other() {
    ranks(4, |group| {
        let even = group.new_group("even", &[0, 2])?;
        let odd = group.new_group("odd", &[3, 1])?; // in this order
        assert_eq!((even.is_some(), odd.is_some()), (group.rank() % 2 == 0, group.rank() % 2 == 1));
        let own = even.or(odd).expect("each rank is in one");
        let x = Tensor::from([group.rank() as f64]);
        let all = functional::wait_tensor(&functional::all_gather_into_tensor(&x, 2, own.name())?)?;
        let expected = if own.name() == "even" { [0.0, 2.0] } else { [3.0, 1.0] };
        assert_eq!(values(&all)?, expected);
        assert_eq!(values(&sum(&x)?)?, [6.0]);
        assert!(process_group("neither").unwrap_err().to_string().contains("\"world\""));
        own.unregister();
        assert!(process_group(own.name()).is_err());
        Ok(())
    });
}

#[test]
fn a_ticket_is_good_for_one_call() {
    ranks(2, |_| {
        let mut x = [Tensor::from([1.0])];
        let (_, ticket) = c10d::allreduce_(&mut x, "world", "sum", None)?;
        Work::take(ticket)?.wait()?;
        assert!(Work::take(ticket).is_err());
        Ok(())
    });
}

#[test]
fn more_bytes_than_memory_are_an_error() {
    ranks(2, |group| {
        let huge = Tensor::from([1f32]).expand(&[1 << 60])?; // one element, and many bytes once it is packed
        let sent = c10d::send(std::slice::from_ref(&huge), "world", 1 - group.rank() as i64, 0);
        assert_eq!(sent.unwrap_err().kind(), ErrorKind::OutOfMemory);
        Ok(())
    });
}
