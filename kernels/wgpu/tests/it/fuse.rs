//! Fused chains of calls, compared with the CPU's numbers and with single calls, and what is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use torch_library::prelude::*;
use torch_library::tracer::trace;
use torch_library::{backend, fake, functionalize, observe};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;
use torch_library_wgpu::{Fused, fuse};

use crate::{close, device, falls, special, tensor};

type Function<'f> = &'f dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>;

fn there(device: Device, inputs: &[Tensor]) -> Vec<Tensor> {
    // A number on the host stays there.
    let moved =
        |input: &Tensor| if input.dim() == 0 { Ok(input.clone()) } else { backend::on_device(input, device) };
    inputs.iter().map(|input| moved(input).unwrap()).collect()
}

/// The number of operators that a function calls.
fn calls<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    let observer = observe::Observer::new(move |_| {
        seen.fetch_add(1, Ordering::Relaxed);
    })
    .of_scopes(&[observe::Scope::Function])
    .on_this_thread();
    let result = f();
    drop(observer);
    (result, count.load(Ordering::Relaxed))
}

/// Compares a fused function with single calls on the device and on the CPU.
#[track_caller]
fn fused(device: Device, inputs: &[Tensor], f: Function<'_>) -> Fused {
    let inputs = there(device, inputs);
    let before = falls();
    let (single, graph) = trace(&inputs, f).unwrap();
    let fused = fuse(graph);
    same(&fused, &inputs, f, &single);
    assert_eq!(before, falls(), "fell back to the CPU");
    assert_eq!(fused.refusals(), [], "{fused}");
    fused
}

#[track_caller]
fn same(fused: &Fused, inputs: &[Tensor], f: Function<'_>, single: &[Tensor]) {
    let found = fused.run(inputs).unwrap();
    let host: Vec<_> = inputs.iter().map(|input| input.to(Device::CPU).unwrap()).collect();
    let expected = f(&host).unwrap();
    assert_eq!((found.len(), found.len()), (expected.len(), single.len()));
    for ((found, expected), single) in found.iter().zip(&expected).zip(single) {
        assert_eq!((found.device(), found.requires_grad()), (single.device(), false));
        close(found, expected);
        close(found, single);
    }
}

/// As [`fused`], for a function all of whose calls are fused into one.
#[track_caller]
fn one(device: Device, inputs: &[Tensor], f: Function<'_>) {
    let fused = fused(device, inputs, f);
    let all: Vec<usize> = (0..fused.graph().nodes().len()).collect();
    assert_eq!(fused.groups().collect::<Vec<_>>(), [all.as_slice()], "{fused}");
    let (_, calls) = calls(|| fused.run(&there(device, inputs)).unwrap());
    assert_eq!(calls, 0, "{fused}");
}

#[test]
fn chains_of_floats() {
    let Some(device) = device() else { return };
    let (x, w, b) = (tensor(&[5, 7], 0.0), tensor(&[5, 7], 1.0), tensor(&[7], 2.0));
    one(device, &[x.clone(), w, b], &|x| Ok(vec![x[0].mul(&x[1])?.add(&x[2])?.gelu()?]));
    one(device, std::slice::from_ref(&x), &|x| {
        let scaled = aten::add_Scalar::call(&aten::mul_Scalar(&x[0], 0.5.into())?, 2.into(), 3.into())?;
        let less = aten::rsub_Scalar::call(&scaled, 1.5.into(), 2.into())?;
        Ok(vec![aten::div_Scalar(&aten::sub_Scalar::call(&less, 1.into(), 1.into())?, 4.into())?])
    });
    one(device, &[x], &|x| Ok(vec![aten::pow_Tensor_Scalar(&aten::sigmoid(&x[0])?, 3.into())?.log()?]));
}

#[test]
fn what_is_no_number_or_infinite() {
    let Some(device) = device() else { return };
    let turned = special().t().unwrap().reshape(&[3, 4]).unwrap();
    for f in [aten::exp, aten::relu, aten::abs, aten::neg, aten::sqrt, aten::tanh, aten::sigmoid, aten::floor]
    {
        one(device, &[special(), turned.clone()], &|x| Ok(vec![aten::add_Tensor(&f(&x[0])?, &f(&x[1])?)?]));
    }
    one(device, &[special(), turned.clone()], &|x| {
        let above = aten::logical_and(&x[0].gt(&x[1])?, &aten::ne_Tensor(&x[0], &x[0])?.logical_not()?)?;
        Ok(vec![
            aten::where_self(&above, &aten::maximum(&x[0], &x[1])?, &aten::minimum(&x[0], &x[1])?)?,
            above,
        ])
    });
    one(device, &[special(), turned], &|x| {
        let limited = aten::clamp::call(&x[0], Some((-1).into()), Some(2.5.into()))?;
        Ok(vec![aten::leaky_relu::call(&limited, 0.1.into())?.mul(&x[1])?])
    });
}

#[test]
fn sizes_that_are_broadcast_strides_and_none() {
    let Some(device) = device() else { return };
    let f: Function<'_> = &|x| Ok(vec![x[0].exp()?.mul(&x[1])?.add(&x[2].neg()?)?]);
    one(device, &[tensor(&[5, 7], 0.0), tensor(&[7], 1.0), tensor(&[5, 1], 2.0)], f);
    one(device, &[tensor(&[5, 1, 3], 0.0), tensor(&[4, 1], 1.0), tensor(&[1], 2.0)], f);
    one(device, &[tensor(&[0, 3], 0.0), tensor(&[3], 1.0), tensor(&[1, 1], 2.0)], f);
    one(device, &[tensor(&[], 0.0), tensor(&[3], 1.0), tensor(&[], 2.0)], &|x| {
        Ok(vec![x[1].mul(&x[0])?.add(&x[2])?])
    });
    let strided: Function<'_> = &|x| {
        let (x, y) = (x[0].t()?, aten::slice_Tensor::call(&x[1], 1, Some(1), Some(11), 2)?);
        let y = aten::expand(&aten::select_int(&y, 0, 2)?, &[7, 5])?;
        Ok(vec![x.mul(&y)?.relu()?, x.sub(&y)?])
    };
    let fused = fused(device, &[tensor(&[5, 7], 0.0), tensor(&[3, 12], 1.0)], strided);
    assert_eq!(fused.groups().map(<[_]>::len).collect::<Vec<_>>(), [2], "{fused}");
    // A tensor without dimensions on the device, not a number on the host.
    let zero = aten::sum(&tensor(&[3], 3.0).to(device).unwrap()).unwrap();
    let (single, graph) =
        trace(std::slice::from_ref(&zero), |x| Ok(vec![x[0].mul(&x[0])?.add(&x[0])?])).unwrap();
    same(&fuse(graph), &[zero], &|x| Ok(vec![x[0].mul(&x[0])?.add(&x[0])?]), &single);
}

#[test]
fn types_are_promoted_as_in_single_calls() {
    let Some(device) = device() else { return };
    let wide = Tensor::from_vec(vec![1i64 << 40, -(1 << 33), 3, -1, 0, i64::MAX], &[2, 3]).unwrap();
    let whole = Tensor::from_vec(vec![7i32, -3, 0], &[3]).unwrap();
    let inputs = [wide, whole, tensor(&[2, 3], 0.0)];
    one(device, &inputs, &|x| Ok(vec![x[0].mul(&x[1])?.add(&x[1])?.neg()?]));
    one(device, &inputs, &|x| Ok(vec![x[0].add(&x[1])?.mul(&x[2])?]));
    one(device, &inputs, &|x| {
        let is_odd = aten::eq_Scalar(&aten::bitwise_and_Tensor(&x[0], &x[1])?, 1.into())?;
        let chosen = aten::where_self(&is_odd, &x[0], &x[0].neg()?)?;
        Ok(vec![is_odd, x[2].mul(&x[1])?.mul(&chosen)?, chosen])
    });
    one(device, &inputs, &|x| {
        let mask = aten::mul_Tensor(&aten::gt_Scalar(&x[1], 0.into())?, &x[0])?;
        Ok(vec![aten::mul_Scalar(&mask, 0.5.into())?, mask])
    });
    let number = Tensor::from(2i64);
    one(device, &[number.clone(), inputs[1].clone()], &|x| Ok(vec![x[1].mul(&x[0])?.add(&x[0])?]));
    one(device, &[number, inputs[2].clone()], &|x| Ok(vec![x[1].mul(&x[0])?.add(&x[0])?]));
}

#[test]
fn several_results_of_several_sizes() {
    let Some(device) = device() else { return };
    one(device, &[tensor(&[9], 0.0), tensor(&[4, 9], 1.0)], &|x| {
        let small = x[0].exp()?.neg()?;
        let is_large = x[1].gt(&small)?;
        Ok(vec![small.clone(), x[1].mul(&small)?, is_large.clone(), is_large.logical_not()?])
    });
    // One tensor has other strides than the rest.
    let (x, y) = (tensor(&[4, 6], 0.0), tensor(&[6, 4], 1.0));
    let found = fused(device, &[x, y], &|x| {
        let turned = x[1].t()?;
        let a = turned.mul(&turned)?;
        Ok(vec![a.clone(), x[0].add(&a)?.relu()?])
    });
    assert_eq!(found.groups().count(), 1, "{found}");
}

#[test]
fn what_is_not_elementwise_stands_between() {
    let Some(device) = device() else { return };
    let found = fused(device, &[tensor(&[6, 6], 0.0), tensor(&[6, 6], 1.0)], &|x| {
        let a = x[0].mul(&x[1])?.tanh()?;
        let product = a.mm(&x[1])?;
        Ok(vec![product.add(&a)?.sigmoid()?.mul(&x[0])?])
    });
    assert_eq!(found.groups().collect::<Vec<_>>(), [&[0, 1][..], &[3, 4, 5]]);
    let text = found.to_string();
    assert!(text.starts_with("5 of 6 calls fused in 2 groups\n  aten::mul.Tensor aten::tanh\n"), "{text}");
}

#[test]
fn more_calls_and_inputs_than_a_shader_has_room_for() {
    let Some(device) = device() else { return };
    one(device, &[tensor(&[5], 0.0)], &|x| {
        let mut y = x[0].clone();
        for step in 0..150 {
            y = if step % 2 == 0 { aten::mul_Scalar(&y, 0.99.into())? } else { y.add(&x[0])? };
        }
        Ok(vec![y])
    });
    let many: Vec<Tensor> = (0..300).map(|at| tensor(&[3], at as f32)).collect();
    one(device, &many, &|x| Ok(vec![x[1..].iter().try_fold(x[0].clone(), |sum, next| sum.add(next))?]));
}

#[test]
fn a_program_runs_with_other_sizes_and_types() {
    let Some(device) = device() else { return };
    let f: Function<'_> = &|x| Ok(vec![x[0].mul(&x[1])?.neg()?]);
    let found = fused(device, &[tensor(&[4, 3], 0.0), tensor(&[3], 1.0)], f);
    let whole = Tensor::from_vec(vec![1i64 << 40, 2, 3], &[3]).unwrap();
    let others = [
        [tensor(&[2, 3], 5.0), tensor(&[1], 1.0)],
        [tensor(&[3], 5.0), tensor(&[2, 2, 1], 1.0)],
        [whole.clone(), whole.clone()],
        [whole, tensor(&[3], 1.0)],
    ];
    for inputs in others {
        let inputs = there(device, &inputs);
        same(&found, &inputs, f, &f(&inputs).unwrap());
    }
    assert_eq!(found.refusals(), []);
    for round in 0..100 {
        let inputs = there(device, &[tensor(&[round + 1, 3], 5.0), tensor(&[3], 1.0)]);
        same(&found, &inputs, f, &f(&inputs).unwrap());
    }
}

#[test]
fn gradients_are_those_of_single_calls() {
    let Some(device) = device() else { return };
    let f: Function<'_> = &|x| Ok(vec![x[0].mul(&x[1])?.tanh()?.mul(&x[0])?]);
    let inputs = [tensor(&[4, 3], 0.0), tensor(&[3], 1.0)];
    let found = fused(device, &inputs, f);
    let gradients = |device: Device, run: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>| {
        let inputs: Vec<_> = inputs.iter().map(|x| x.to(device).unwrap()).collect();
        inputs.iter().for_each(|input| input.set_requires_grad(true).unwrap());
        let result = run(&inputs).unwrap().remove(0);
        assert!(result.requires_grad());
        result.sum().unwrap().backward().unwrap();
        inputs.iter().map(|input| input.grad().unwrap()).collect::<Vec<_>>()
    };
    let there = gradients(device, &|inputs| found.run(inputs));
    let here = gradients(Device::CPU, &|inputs| f(inputs));
    there.iter().zip(&here).for_each(|(there, here)| close(there, here));
    assert_eq!(found.refusals(), [("an input requires grad".to_owned(), 1)]);
}

#[test]
fn layers_see_single_calls() {
    let Some(device) = device() else { return };
    let f: Function<'_> = &|x| Ok(vec![x[0].mul(&x[0])?.exp()?]);
    let x = tensor(&[4, 3], 0.0);
    let found = fused(device, std::slice::from_ref(&x), f);
    let x = x.to(device).unwrap();
    let rows = vmap([&x], |[row]| Ok(found.run(&[row])?.remove(0))).unwrap();
    close(&rows, &f(&[x.to(Device::CPU).unwrap()]).unwrap()[0]);
    let (_, again) = trace(&[x], |inputs| found.run(inputs)).unwrap();
    assert_eq!(again.nodes().len(), 2);
    let mode = fake::FakeMode::new();
    let sizes = found.run(&[fake::to_fake(&rows).unwrap()]).unwrap();
    drop(mode);
    assert_eq!((sizes[0].sizes(), sizes[0].device()), (&[4, 3][..], device));
    assert_eq!(found.refusals(), [("a layer beside autograd sees the calls".to_owned(), 3)]);
    fn is_shared<T: Send + Sync>(_: &T) {}
    is_shared(&found);
}

#[test]
fn writes_in_place_are_fused_when_functionalized() {
    let Some(device) = device() else { return };
    let f: Function<'_> = &|x| {
        let mut y = x[0].mul(&x[1])?;
        aten::add__Tensor(&mut y, &x[1])?;
        aten::relu_(&mut y)?;
        Ok(vec![y])
    };
    let found = fused(device, &[tensor(&[4, 3], 0.0), tensor(&[3], 1.0)], f);
    assert_eq!(found.groups().count(), 0, "{found}");
    let pure: Function<'_> = &|x| functionalize::functionalize(x, |x| f(x));
    let found = fused(device, &[tensor(&[4, 3], 0.0), tensor(&[3], 1.0)], pure);
    assert_eq!(found.groups().map(<[_]>::len).collect::<Vec<_>>(), [3], "{found}");
}

#[test]
fn what_does_not_fit_is_refused_as_in_single_calls() {
    let Some(device) = device() else { return };
    let f: Function<'_> = &|x| Ok(vec![x[0].mul(&x[1])?.exp()?]);
    let found = fused(device, &[tensor(&[4, 3], 0.0), tensor(&[3], 1.0)], f);
    assert_eq!(found.run(&[]).unwrap_err().to_string(), "0 inputs were given to a graph that takes 2");
    let inputs = there(device, &[tensor(&[4, 3], 0.0), tensor(&[5], 1.0)]);
    let error = found.run(&inputs).unwrap_err().to_string();
    assert!(error.contains("aten::mul.Tensor(self=%0, other=%1)"), "{error}");
    assert!(found.run(&[inputs[0].clone(), Tensor::undefined()]).is_err());
    assert!(found.run(&[inputs[0].clone(), tensor(&[3], 1.0)]).is_err(), "on the CPU, with dimensions");
    assert_eq!(found.refusals().iter().map(|(_, times)| times).sum::<u64>(), 3, "{found}");
    // Types without kernels, another device, numbers that the type cannot hold: correct, as single calls.
    let wide =
        there(device, &[aten::to_dtype(&tensor(&[3], 0.0), DType::Float64).unwrap(), tensor(&[3], 1.0)]);
    let host = [tensor(&[2], 0.0), tensor(&[2], 1.0)];
    for inputs in [&wide[..], &host] {
        let (found, expected) = (found.run(inputs).unwrap(), f(inputs).unwrap());
        assert_eq!(found[0].device(), expected[0].device());
        assert_eq!(found[0].to_string(), expected[0].to_string());
    }
    let whole = there(device, &[Tensor::from_vec(vec![1i32, 2], &[2]).unwrap()]);
    let large: Function<'_> = &|x| Ok(vec![x[0].mul(&x[1])?.neg()?]);
    let (_, graph) = trace(&[whole[0].clone(), Tensor::from(2i64)], large).unwrap();
    let (found, inputs) = (fuse(graph), [whole[0].clone(), Tensor::from(1i64 << 40)]);
    let expected = large(&inputs).unwrap();
    close(&found.run(&inputs).unwrap()[0], &expected[0]);
    assert_eq!(found.refusals().len(), 1, "{found}");
}

#[test]
fn views_with_an_offset_share_what_was_planned() {
    let Some(device) = device() else { return };
    let f: Function<'_> = &|x| Ok(vec![x[0].mul(&x[1])?.exp()?]);
    let found = fused(device, &[tensor(&[3], 0.0), tensor(&[3], 1.0)], f);
    let rows = tensor(&[4, 3], 4.0).to(device).unwrap();
    for row in 0..4 {
        let inputs = [aten::select_int(&rows, 0, row).unwrap(), aten::select_int(&rows, 0, 3 - row).unwrap()];
        same(&found, &inputs, f, &f(&inputs).unwrap());
    }
}

#[test]
fn reductions_end_chains_and_begin_others() {
    let Some(device) = device() else { return };
    let x = tensor(&[5, 7, 9], 0.0);
    for dims in [&[][..], &[0], &[1], &[-1], &[0, 2], &[0, 1, 2]] {
        for keeps in [false, true] {
            one(device, &[x.clone(), tensor(&[9], 1.0)], &|x| {
                let y = x[0].mul(&x[1])?.relu()?;
                let sums = aten::sum_dim_IntList::call(&y, Some(dims), keeps, None)?;
                Ok(vec![sums, aten::amax::call(&y.neg()?, dims, keeps)?, aten::amin::call(&y, dims, keeps)?])
            });
        }
    }
    // A norm of rows: two reductions, where the second depends on the first.
    let norm: Function<'_> = &|x| {
        let apart = x[0].sub(&aten::mean_dim::call(&x[0], Some(&[-1]), true, None)?)?;
        let square = aten::mean_dim::call(&apart.mul(&apart)?, Some(&[-1]), true, None)?;
        Ok(vec![apart.mul(&aten::rsqrt(&aten::add_Scalar(&square, 1e-5.into())?)?)?.mul(&x[1])?])
    };
    one(device, &[x.clone(), tensor(&[9], 1.0)], norm);
    one(device, &[tensor(&[1, 700], 0.0), tensor(&[700], 1.0)], norm);
    one(device, std::slice::from_ref(&x), &|x| {
        let y = aten::neg(&x[0])?;
        Ok(vec![aten::mean(&y)?.exp()?, y.exp()?])
    });
    for special in [special(), special().t().unwrap()] {
        one(device, &[special], &|x| {
            let y = x[0].neg()?;
            Ok(vec![aten::amax::call(&y, &[1], false)?, aten::sum(&y)?, y])
        });
    }
    // Without elements no kernel runs, and the CPU computes the sum.
    let empty = tensor(&[0, 3], 0.0).to(device).unwrap();
    let f: Function<'_> = &|x| Ok(vec![aten::sum(&x[0].exp()?)?]);
    let (single, graph) = trace(&[x.to(device).unwrap()], f).unwrap();
    let found = fuse(graph);
    same(&found, &[x.to(device).unwrap()], f, &single);
    close(
        &found.run(std::slice::from_ref(&empty)).unwrap()[0],
        &f(&[empty.to(Device::CPU).unwrap()]).unwrap()[0],
    );
    assert_eq!(found.refusals(), [("aten::sum: there is no kernel for these types and sizes".to_owned(), 1)]);
}
