//! Data-parallel training gives the same as training in one process with the whole batch.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use torch_library::DeviceType;
use torch_library::autocast::Autocast;
use torch_library::element::bf16;
use torch_library::observe::Observer;
use torch_library::prelude::*;
use torch_library_distributed::{
    DataParallelOptions, DistributedDataParallel, Gradients, Options, ProcessGroup, ZeroRedundancyOptimizer,
    clip_grad_norm_, shard, threads,
};
use torch_library_kernels::loader::Batches;
use torch_library_kernels::optim::{AdamW, Optimizer, Sgd};
use torch_library_kernels::prelude::*;
use torch_library_kernels::{aten, init};

const STEPS: usize = 12;
const NAMES: [&str; 4] = ["hidden.weight", "hidden.bias", "out.weight", "out.bias"];

/// A perceptron, which is the same for the same seed.
fn network(seed: u64) -> Result<Vec<Tensor>> {
    let generator = Generator::with_seed(seed);
    Ok(vec![
        init::kaiming_uniform(&[8, 3], &generator)?,
        init::zeros(&[8])?,
        init::kaiming_uniform(&[1, 8], &generator)?,
        init::zeros(&[1])?,
    ])
}

fn named(parameters: &[Tensor]) -> Vec<(String, Tensor)> {
    NAMES.iter().map(|name| (*name).to_owned()).zip(parameters.iter().cloned()).collect()
}

fn loss(parameters: &[Tensor], x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let [w1, b1, w2, b2] = parameters else { bail!(Argument, "four parameters") };
    let hidden = aten::linear::with(x, w1).bias(Some(b1)).call()?.tanh()?;
    aten::mse_loss(&aten::linear::with(&hidden, w2).bias(Some(b2)).call()?, y)
}

/// Batches of 7 of 20 examples, so that parts are of different sizes and the last batch is smaller.
fn batches(epoch: u64) -> Result<Batches<2>> {
    let generator = Generator::with_seed(7);
    let x = init::normal(&[20, 3], 0.0, 1.0, &generator)?.detach()?;
    let y = x.mul(&x)?.sum_dim(&[1], true)?;
    Batches::new([&x, &y], 7)?.shuffled(&Generator::with_seed(epoch))
}

fn all_batches() -> Result<Vec<[Tensor; 2]>> {
    let epochs: Vec<_> = (0..STEPS as u64).map(batches).collect::<Result<_>>()?;
    epochs.into_iter().flatten().take(STEPS).collect()
}

fn flat(parameters: &[Tensor]) -> Result<Vec<f32>> {
    parameters.iter().map(|x| x.detach()?.to_vec::<f32>()).collect::<Result<Vec<_>>>().map(|all| all.concat())
}

/// Trains in one process, with the whole of each batch.
fn alone(max_norm: f64) -> Result<Vec<f32>> {
    let parameters = network(0)?;
    let mut optimizer = AdamW::new(parameters.clone(), 0.05)?;
    for [x, y] in all_batches()? {
        optimizer.zero_grad()?;
        loss(&parameters, &x, &y)?.backward()?;
        clip_grad_norm_(&parameters, max_norm)?;
        optimizer.step()?;
    }
    flat(&parameters)
}

/// Trains on a rank with its part; initial parameters differ between ranks.
fn parallel(group: &ProcessGroup, options: DataParallelOptions, max_norm: f64) -> Result<Vec<f32>> {
    let parameters = network(group.rank() as u64)?;
    let parallel = DistributedDataParallel::new(named(&parameters), group, options)?;
    let mut optimizer = AdamW::new(parameters.clone(), 0.05)?;
    for [x, y] in all_batches()? {
        optimizer.zero_grad()?;
        let part = shard([&x, &y], group)?;
        if part.weight > 0.0 {
            loss(&parameters, &part.tensors[0], &part.tensors[1])?.mul(part.weight)?.backward()?;
        }
        parallel.finish()?;
        clip_grad_norm_(&parameters, max_norm)?;
        optimizer.step()?;
    }
    assert_eq!(parallel.statistics().steps, STEPS as u64);
    flat(&parameters)
}

fn all<T: Send>(ranks: usize, body: impl Fn(&ProcessGroup) -> Result<T> + Sync) -> Vec<T> {
    threads::run(ranks, body)
        .into_iter()
        .map(|result| result.unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Sums of `float32` in another order differ by roundings: after 12 steps of AdamW by less than 2e-5 of numbers
/// around 1. Ranks have the same bits, and so has another run.
#[test]
fn several_ranks_learn_what_one_learns() -> Result<()> {
    for max_norm in [f64::INFINITY, 0.5] {
        let alone = alone(max_norm)?;
        for ranks in [1, 2, 4, 8] {
            let small = DataParallelOptions::default().bucket_bytes(40); // several buckets
            let found = all(ranks, |group| parallel(group, small.clone(), max_norm));
            assert!(distance(&alone, &found[0]) < 2e-5, "{ranks} ranks: {}", distance(&alone, &found[0]));
            assert!(found.iter().all(|other| *other == found[0]), "{ranks} ranks are not the same");
            let again = all(ranks, |group| parallel(group, small.clone(), max_norm));
            assert_eq!(again[0], found[0], "{ranks} ranks, another time");
        }
    }
    Ok(())
}

/// If no sum is rounded, ranks have the same bits as one process: numbers with few bits, and numbers of ranks and
/// examples that are powers of two.
#[test]
fn where_sums_are_exact_ranks_have_the_bits_of_one() -> Result<()> {
    let train = |group: Option<&ProcessGroup>| -> Result<Vec<f32>> {
        let w1 = Tensor::from([[1f32, -2.0, 3.0], [2.0, 1.0, -1.0]]);
        let w2 = Tensor::from([[2f32, -1.0]]);
        [&w1, &w2].into_iter().try_for_each(|weight| weight.set_requires_grad(true))?;
        let named = [("w1".to_owned(), w1.clone()), ("w2".to_owned(), w2.clone())];
        let parallel = group.map(|group| DistributedDataParallel::new(named, group, Default::default()));
        let parallel = parallel.transpose()?;
        let mut optimizer = Sgd::new([w1.clone(), w2.clone()], 0.125)?;
        let values = (0..24).map(|at| f32::from(i8::try_from(at * 7 % 5).unwrap() - 2)).collect();
        let x = Tensor::from_vec(values, &[8, 3])?;
        for step in 0..2i64 {
            let y = Tensor::full(&[8, 1], step - 1, DType::Float32, Device::CPU)?;
            let [x, y] = match group {
                Some(group) => shard([&x, &y], group)?.tensors,
                None => [x.clone(), y],
            };
            optimizer.zero_grad()?;
            let hidden = aten::linear(&x, &w1)?.relu()?;
            aten::mse_loss(&aten::linear(&hidden, &w2)?, &y)?.backward()?;
            parallel.iter().try_for_each(DistributedDataParallel::finish)?;
            optimizer.step()?;
        }
        flat(&[w1, w2])
    };
    let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let alone = train(None)?;
    assert!(alone.iter().all(|x| x.is_finite()) && alone[0] != 1.0, "{alone:?}");
    for ranks in [2, 4, 8] {
        for found in all(ranks, |group| train(Some(group))) {
            assert_eq!(bits(&found), bits(&alone), "{ranks} ranks: {found:?}, alone {alone:?}");
        }
    }
    Ok(())
}

/// Gradients with 8 bits of precision: a relative error of 2^-9 each.
#[test]
fn gradients_travel_as_halves() -> Result<()> {
    let options = DataParallelOptions::default().communication_dtype(DType::BFloat16);
    let found = all(4, |group| parallel(group, options.clone(), f64::INFINITY));
    let far = distance(&alone(f64::INFINITY)?, &found[0]);
    assert!(far > 0.0 && far < 0.05, "{far}");
    assert!(found.iter().all(|other| *other == found[0]));
    Ok(())
}

/// Within an autocast region, gradients are sent in its precision, unless a type was chosen.
#[test]
fn gradients_travel_in_the_precision_of_autocast() -> Result<()> {
    let are_halves = |options: DataParallelOptions| {
        let found = all(4, |group| {
            let parameters = network(0)?;
            let parallel = DistributedDataParallel::new(named(&parameters), group, options.clone())?;
            let [x, y] = all_batches()?.swap_remove(0);
            let part = shard([&x, &y], group)?;
            Autocast::on(DeviceType::Cpu).run(|| {
                loss(&parameters, &part.tensors[0], &part.tensors[1])?.mul(part.weight)?.backward()?;
                parallel.finish()
            })?;
            let grads: Vec<f32> = flat(&parameters.iter().filter_map(Tensor::grad).collect::<Vec<_>>())?;
            assert_eq!(grads.len(), parameters.iter().map(Tensor::numel).sum::<i64>() as usize);
            Ok(grads.iter().all(|grad| bf16::from_f32(*grad).to_f32() == *grad))
        });
        assert!(found.iter().all(|rank| *rank == found[0]), "{found:?}");
        found[0]
    };
    assert!(are_halves(DataParallelOptions::default()));
    assert!(!are_halves(DataParallelOptions::default().communication_dtype(DType::Float32)));
    Ok(())
}

#[test]
fn buckets_follow_the_order_of_the_gradients() {
    let buckets = all(2, |group| {
        let parameters = network(0)?;
        let options = DataParallelOptions::default().bucket_bytes(1);
        // In reverse order: the gradient that arrives first is not of the parameter that is listed last.
        let listed: Vec<_> = named(&parameters).into_iter().rev().collect();
        let parallel = DistributedDataParallel::new(listed, group, options)?;
        let before = parallel.buckets();
        let [x, y] = all_batches()?.swap_remove(0);
        loss(&parameters, &x, &y)?.backward()?;
        parallel.finish()?;
        Ok((before.concat(), parallel.buckets().concat()))
    });
    for (before, after) in buckets {
        assert_eq!(before, NAMES);
        let place = |name: &str| after.iter().position(|other| other == name);
        assert!(place("out.weight") < place("hidden.weight"), "{after:?}");
    }
}

/// That each arrival looked at all before took minutes for so many.
#[test]
fn gradients_of_many_parameters_arrive() {
    const COUNT: usize = 3000;
    let sums = all(2, |group| {
        let parameters: Vec<Tensor> = (0..COUNT).map(|_| Tensor::from([1.0f32])).collect();
        parameters.iter().try_for_each(|parameter| parameter.set_requires_grad(true))?;
        let named = parameters.iter().enumerate().map(|(at, parameter)| (at.to_string(), parameter.clone()));
        let parallel = DistributedDataParallel::new(named, group, Default::default())?;
        for _ in 0..2 {
            parameters.iter().for_each(|parameter| parameter.set_grad(None).unwrap());
            aten::cat(&parameters)?.mul(group.rank() as f64)?.sum()?.backward()?;
            parallel.finish()?;
        }
        let grads: Vec<Tensor> = parameters.iter().filter_map(Tensor::grad).collect();
        flat(&grads)
    });
    assert_eq!(sums, [vec![0.5; COUNT], vec![0.5; COUNT]]);
}

#[test]
fn gradients_are_added_up_before_they_travel() {
    let found = all(2, |group| {
        let parameters = network(0)?;
        let parallel = DistributedDataParallel::new(named(&parameters), group, Default::default())?;
        let batches = all_batches()?;
        let backward = |at: usize| loss(&parameters, &batches[at][0], &batches[at][1])?.backward();
        parallel.no_sync(|| backward(group.rank()))?;
        backward(2 + group.rank())?;
        parallel.finish()?;
        let grads: Vec<Tensor> = parameters.iter().filter_map(Tensor::grad).collect();
        // The gradient that one process computes from all four examples.
        let own = network(0)?;
        for [x, y] in &batches[..4] {
            loss(&own, x, y)?.div(2.0)?.backward()?;
        }
        let expected: Vec<Tensor> = own.iter().filter_map(Tensor::grad).collect();
        Ok((flat(&grads)?, flat(&expected)?))
    });
    for (grads, expected) in found {
        assert!(distance(&grads, &expected) < 1e-5);
    }
}

#[test]
fn a_second_pass_without_no_sync_is_refused() {
    all(2, |group| {
        let parameters = network(0)?;
        let parallel = DistributedDataParallel::new(named(&parameters), group, Default::default())?;
        let [x, y] = all_batches()?.swap_remove(0);
        loss(&parameters, &x, &y)?.backward()?;
        let error = loss(&parameters, &x, &y)?.backward().unwrap_err().to_string();
        assert!(error.contains("before `finish`") && error.contains("no_sync"), "{error}");
        parallel.finish()
    });
}

#[test]
fn a_rank_with_another_network_is_named() {
    let options = Options::default();
    let results = threads::run_with(3, options, |group| {
        let mut parameters = network(0)?;
        if group.rank() == 2 {
            parameters[2] = init::zeros(&[2, 8])?;
        }
        DistributedDataParallel::new(named(&parameters), group, Default::default()).map(drop)
    });
    for result in results {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("rank 2 called") && error.contains("parameter `out.weight`"), "{error}");
    }
}

/// ZeRO-1 with each rank's own gradients, or with averaged ones; with and without clipping.
#[test]
fn sharded_optimisers_step_as_whole_ones_do() -> Result<()> {
    for max_norm in [f64::INFINITY, 0.5] {
        let alone = alone(max_norm)?;
        for gradients in [Gradients::Local, Gradients::Averaged] {
            let found = all(4, |group| zero(group, gradients, max_norm));
            assert!(distance(&alone, &found[0]) < 2e-5, "{gradients:?}: {}", distance(&alone, &found[0]));
            assert!(found.iter().all(|other| *other == found[0]));
        }
    }
    Ok(())
}

fn zero(group: &ProcessGroup, gradients: Gradients, max_norm: f64) -> Result<Vec<f32>> {
    let parameters = network(0)?;
    let averaging = match gradients {
        Gradients::Local => None,
        Gradients::Averaged => {
            Some(DistributedDataParallel::new(named(&parameters), group, Default::default())?)
        }
    };
    let adam = |shard: Vec<Tensor>| AdamW::new(shard, 0.05);
    let optimizer = ZeroRedundancyOptimizer::new(parameters.clone(), group, gradients, adam)?;
    let mut optimizer = optimizer.clip_grad_norm(max_norm);
    let elements: i64 = parameters.iter().map(Tensor::numel).sum();
    let own: i64 = optimizer.state().iter().map(|(_, state)| state.numel()).sum();
    let share = elements.unsigned_abs().div_ceil(group.size() as u64) as i64;
    assert_eq!(own, 2 * share + 1); // two averages of a share, and the number of steps
    for [x, y] in all_batches()? {
        optimizer.zero_grad()?;
        let part = shard([&x, &y], group)?;
        if part.weight > 0.0 {
            loss(&parameters, &part.tensors[0], &part.tensors[1])?.mul(part.weight)?.backward()?;
        }
        averaging.iter().try_for_each(DistributedDataParallel::finish)?;
        optimizer.step()?;
    }
    flat(&parameters)
}

#[test]
fn a_sharded_state_is_read_by_another_number_of_ranks() {
    let step = |optimizer: &mut dyn Optimizer, x: &Tensor| -> Result<Vec<f64>> {
        x.set_grad(Some(Tensor::from([1.0, 2.0, 3.0, 4.0, 5.0])))?;
        optimizer.step()?;
        x.detach()?.to_vec::<f64>()
    };
    let begin = |group: &ProcessGroup| {
        let x = Tensor::from([0.0; 5]);
        x.set_requires_grad(true)?;
        let sgd = |shard: Vec<Tensor>| Sgd::new(shard, 0.1)?.momentum(0.9);
        let optimizer = ZeroRedundancyOptimizer::new([x.clone()], group, Gradients::Local, sgd)?;
        Ok::<_, Error>((x, optimizer))
    };
    let written = all(3, |group| {
        let (x, mut optimizer) = begin(group)?;
        step(&mut optimizer, &x)?;
        let state = optimizer.consolidated_state()?;
        let parameters = x.detach()?.copy()?;
        Ok((parameters, state, step(&mut optimizer, &x)?))
    });
    let (parameters, state, expected) = &written[0];
    all(2, |group| {
        let (x, mut optimizer) = begin(group)?;
        aten::copy_(&mut x.detach()?, parameters)?;
        optimizer.reload_parameters()?;
        optimizer.load_consolidated_state(state)?;
        assert_eq!(step(&mut optimizer, &x)?, *expected);
        Ok(())
    });
}

#[test]
fn an_observer_may_ask_while_gradients_are_averaged() {
    let (ran, ends) = std::sync::mpsc::channel();
    let train = |group: &ProcessGroup| {
        let weight = Tensor::from([1.0, 1.0]);
        weight.set_requires_grad(true)?;
        let named = [("weight".to_owned(), weight.clone())];
        let parallel = Arc::new(DistributedDataParallel::new(named, group, Default::default())?);
        let (asked, answers) = (parallel.clone(), Arc::new(Mutex::new(Vec::new())));
        let heard = answers.clone();
        // Gradients are joined while they are averaged, and at no other time here.
        let observer = Observer::new(move |event| {
            if event.name() == "aten::cat" {
                let refusal = asked.finish().err().map(|error| error.kind());
                heard.lock().unwrap().push((asked.statistics().steps, asked.buckets().len(), refusal));
            }
        });
        let observer = observer.on_this_thread();
        weight.mul(&Tensor::from([2.0, 4.0]))?.sum()?.backward()?;
        parallel.finish()?;
        drop(observer);
        let answers = answers.lock().unwrap().clone();
        Ok((answers, parallel.statistics().steps, weight.grad().unwrap().to_vec::<f64>()?))
    };
    std::thread::spawn(move || ran.send(threads::run(1, train)));
    let ran = ends.recv_timeout(Duration::from_secs(60)).expect("the observer waits for the averaging");
    for result in ran {
        let (answers, steps, gradient): (Vec<_>, u64, Vec<f64>) = result.unwrap();
        assert_eq!(answers, [(0, 1, Some(ErrorKind::Busy))]);
        assert_eq!((steps, gradient), (1, vec![2.0, 4.0]));
    }
}
