//! Ranks that are missing, end, hang, or make another call: an error on every other rank, in time, that names the rank.

use std::sync::mpsc::channel;
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use torch_library::prelude::*;
use torch_library_distributed::{
    _c10d_functional as functional, Call, Failure, Options, ProcessGroup, Received, Tag, Transport, Work,
    algorithms, c10d, labelled, threads,
};

const LIMIT: Duration = Duration::from_millis(300);

/// The errors of all ranks but one, which does something else; each must come in time and contain all these words.
fn others_hear_of(
    odd: usize,
    words: &[&str],
    usual: impl Fn(&ProcessGroup) -> Result<()> + Sync,
    unusual: impl Fn(&ProcessGroup) -> Result<()> + Sync,
) {
    let begun = Instant::now();
    let results = threads::run_with(4, Options::default().timeout(LIMIT), |group| {
        if group.rank() == odd { unusual(group) } else { usual(group) }
    });
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?} for a limit of {LIMIT:?}", begun.elapsed());
    for (rank, result) in results.into_iter().enumerate().filter(|(rank, _)| *rank != odd) {
        let message = result.expect_err("the collective cannot succeed").to_string();
        for word in words {
            assert!(message.contains(word), "rank {rank} does not hear {word:?}:\n{message}");
        }
    }
}

/// A sum that is labelled as being for the parameter `weight`.
fn sum(x: Tensor) -> Result<()> {
    labelled("parameter `weight`", || {
        functional::wait_tensor(&functional::all_reduce(&x, "sum", "world")?).map(drop)
    })
}

fn ones() -> Tensor {
    Tensor::from([1f32, 1.0])
}

#[test]
fn of_a_rank_that_ends() {
    for odd in [0, 2] {
        let name = format!("rank {odd}");
        let words = [&name, "_c10d_functional::all_reduce", "parameter `weight`"];
        others_hear_of(odd, &words[..2], |_| sum(ones()), |_| Ok(()));
    }
}

#[test]
fn of_a_rank_that_panics() {
    others_hear_of(1, &["rank 1"], |_| sum(ones()), |_| panic!("out of memory, say"));
}

#[test]
fn of_a_rank_that_hangs() {
    for odd in [0, 3] {
        let rank = format!("rank {odd} did not call _c10d_functional::all_reduce");
        let (heard, waits) = channel();
        let (heard, waits) = (Mutex::new(heard), Mutex::new(waits));
        let usual = |_: &ProcessGroup| {
            let result = sum(ones());
            heard.lock().unwrap().send(()).unwrap();
            result
        };
        let hangs = |_: &ProcessGroup| {
            (0..3).for_each(|_| waits.lock().unwrap().recv().unwrap()); // until all others have given up
            Ok(())
        };
        others_hear_of(odd, &[&rank, "parameter `weight`"], usual, hangs);
    }
}

#[test]
fn of_a_rank_with_another_shape() {
    let words =
        ["rank 2 called", "float32 [3]", "float32 [2]", "_c10d_functional::all_reduce", "parameter `weight`"];
    others_hear_of(2, &words, |_| sum(ones()), |_| sum(Tensor::from([1f32, 1.0, 1.0])));
}

#[test]
fn of_a_rank_with_another_type() {
    let words = ["rank 0 called", "float64 [2]", "float32 [2]", "parameter `weight`"];
    others_hear_of(0, &words, |_| sum(ones()), |_| sum(Tensor::from([1.0, 1.0])));
}

#[test]
fn of_a_rank_with_another_order() {
    let words = ["rank 1 called _c10d_functional::broadcast", "_c10d_functional::all_reduce"];
    let unusual = |_: &ProcessGroup| {
        functional::wait_tensor(&functional::broadcast(&ones(), 0, "world")?)?;
        sum(ones())
    };
    others_hear_of(1, &words, |_| sum(ones()), unusual);
}

#[test]
fn of_a_rank_with_another_reduction_or_root() {
    let max = |_: &ProcessGroup| {
        functional::wait_tensor(&functional::all_reduce(&ones(), "max", "world")?).map(drop)
    };
    others_hear_of(1, &["rank 1 called", "max", "sum"], |_| sum(ones()), max);
    let from = |root| functional::wait_tensor(&functional::broadcast(&ones(), root, "world")?).map(drop);
    others_hear_of(3, &["rank 3 called", "from rank 1", "from rank 0"], |_| from(0), |_| from(1));
}

#[test]
fn of_splits_that_do_not_meet() {
    let exchange = |from: [i64; 4], to: [i64; 4]| {
        let x = Tensor::from([1f32, 2.0, 3.0, 4.0]);
        functional::wait_tensor(&functional::all_to_all_single(&x, &from, &to, "world")?).map(drop)
    };
    let words = ["rank 2 sends 2 rows to rank 0, which expects 1"];
    others_hear_of(2, &words, |_| exchange([1; 4], [1; 4]), |_| exchange([1; 4], [2, 0, 1, 1]));
}

/// A transport of a rank that fails in the middle of a collective.
struct Faulty {
    inner: Box<dyn Transport>,
    /// The number of parts of collectives that it still sends correctly.
    good: usize,
    happens: fn() -> Result<()>,
}

impl Transport for Faulty {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn send(&mut self, to: usize, tag: Tag, message: Vec<u8>) -> Result<()> {
        match tag {
            Tag::Data if self.good == 0 => (self.happens)(),
            Tag::Data => {
                self.good -= 1;
                self.inner.send(to, tag, message)
            }
            Tag::Fault if (self.happens)().is_ok() => Ok(()), // silent to the end
            _ => self.inner.send(to, tag, message),
        }
    }

    fn receive(&mut self, from: usize, tag: Tag, deadline: Instant) -> Result<Received> {
        self.inner.receive(from, tag, deadline)
    }

    fn split(&mut self, members: &[usize]) -> Result<Box<dyn Transport>> {
        self.inner.split(members)
    }

    fn collective(
        &mut self,
        call: &Call,
        input: &[u8],
        output: &mut [u8],
        deadline: Instant,
    ) -> Result<(), Failure> {
        algorithms::run(self, call, input, output, deadline)
    }
}

/// The errors of all ranks but one, which fails in the middle of a sum of a million numbers.
fn heard_in_the_middle(odd: usize, happens: fn() -> Result<()>) -> Vec<String> {
    let wrap = |inner: Box<dyn Transport>| -> Box<dyn Transport> {
        if inner.rank() == odd { Box::new(Faulty { inner, good: 10, happens }) } else { inner }
    };
    let body = |_: &ProcessGroup| sum(Tensor::zeros(&[1 << 20], DType::Float32, Device::CPU)?);
    let results = threads::run_over(4, Options::default().timeout(LIMIT), wrap, body);
    let others = results.into_iter().enumerate().filter(|(rank, _)| *rank != odd);
    others.map(|(_, result)| result.expect_err("the sum cannot succeed").to_string()).collect()
}

#[test]
fn of_a_rank_that_falls_silent_while_data_moves() {
    for odd in [0, 2] {
        for message in heard_in_the_middle(odd, || Ok(())) {
            let name = format!("rank {odd} began _c10d_functional::all_reduce (collective 0)");
            for word in [&name, "and then sent nothing more", "parameter `weight`"] {
                assert!(message.contains(word), "no {word:?} in\n{message}");
            }
        }
    }
}

#[test]
fn of_a_rank_that_dies_while_data_moves() {
    for message in heard_in_the_middle(3, || panic!("out of memory, say")) {
        let expected = "rank 3 began _c10d_functional::all_reduce";
        assert!(message.contains(expected) && message.contains("parameter `weight`"), "{message}");
    }
}

#[test]
fn of_a_rank_that_cannot_go_on_while_data_moves() {
    let begun = Instant::now();
    for message in heard_in_the_middle(1, || Err(Error::new(ErrorKind::Io, "no memory"))) {
        let expected = "failed on rank 1: ";
        assert!(message.contains(expected) && message.contains("no memory"), "{message}");
        assert!(message.contains("parameter `weight`"), "{message}");
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn afterwards_the_group_says_what_went_wrong() {
    let results = threads::run_with(2, Options::default().timeout(LIMIT), |group| {
        let sizes = [2 + group.rank() as i64];
        let first = sum(Tensor::zeros(&sizes, DType::Float32, Device::CPU)?).unwrap_err().to_string();
        let second = sum(ones()).unwrap_err().to_string();
        Ok((first, second))
    });
    for result in results {
        let (first, second) = result.unwrap();
        assert!(first.contains("rank 1 called"), "{first}");
        assert!(second.contains("cannot be used") && second.contains("rank 1 called"), "{second}");
    }
}

#[test]
fn of_messages_that_never_come_or_are_others() {
    let results = threads::run_with(2, Options::default().timeout(LIMIT), |group| {
        let meet = Barrier::new(1);
        meet.wait();
        let mut place = [Tensor::from([0f32, 0.0])];
        if group.rank() == 0 {
            Work::take(c10d::send(&[Tensor::from([1f32])], "world", 1, 7)?)?.wait()?;
            return c10d::barrier::with(&place[0], "world", &[])
                .async_op(false)
                .timeout(5000)
                .call()
                .map(|_| vec![]);
        }
        let other = Work::take(c10d::recv_(&mut place, "world", 0, 7)?)?.wait().unwrap_err().to_string();
        let never = Work::take(c10d::recv_(&mut place, "world", 0, 8)?)?.wait().unwrap_err().to_string();
        // Failed messages do not affect the group.
        c10d::barrier::with(&place[0], "world", &[]).async_op(false).timeout(5000).call()?;
        Ok(vec![other, never])
    });
    let messages = results.into_iter().nth(1).unwrap().unwrap();
    assert!(messages[0].contains("rank 0 sent float32 [1] to c10d::recv_"), "{}", messages[0]);
    assert!(messages[1].contains("rank 0 sent nothing to c10d::recv_"), "{}", messages[1]);
}

#[test]
fn arguments_that_no_group_can_follow_are_refused_at_once() {
    let results = threads::run(2, |group| {
        let mut x = [ones()];
        assert!(functional::all_reduce(&x[0], "sum", "nobody").is_err());
        assert!(functional::broadcast(&x[0], 2, "world").is_err());
        assert!(functional::all_gather_into_tensor(&x[0], 3, "world").is_err());
        assert!(functional::all_to_all_single(&x[0], &[-1, 3], &[1, 1], "world").is_err());
        assert!(c10d::send(&x, "world", group.rank() as i64, 0).is_err());
        assert!(c10d::recv_(&mut x, "world", 1 - group.rank() as i64, -1).is_err());
        assert!(c10d::allreduce_(&mut [], "world", "sum", None).is_err());
        assert!(c10d::allreduce_(&mut [ones(), Tensor::from([1.0])], "world", "sum", None).is_err());
        assert!(group.new_group("twice", &[0, 0]).is_err());
        Ok(())
    });
    results.into_iter().collect::<Result<()>>().unwrap();
}
