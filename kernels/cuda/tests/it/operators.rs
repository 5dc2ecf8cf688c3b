//! One row for each operator, with its arguments, for each floating-point type.

use torch_library::DeviceType;
use torch_library::autocast::Autocast;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{close, device, falls, same_as_named, special, tensor};

/// A call with its name; its inputs are converted to each of the types.
type Row = (&'static str, Vec<Tensor>, fn(&[Tensor]) -> Result<Vec<Tensor>>);

fn call(name: &'static str, inputs: Vec<Tensor>, compute: fn(&[Tensor]) -> Result<Vec<Tensor>>) -> Row {
    (name, inputs, compute)
}

const FLOATS: [DType; 4] = [DType::Float32, DType::Float64, DType::Float16, DType::BFloat16];

/// Runs rows for some types.
#[track_caller]
fn rows(rows: Vec<Row>, dtypes: &[DType]) {
    let Some(device) = device() else { return };
    for (name, inputs, compute) in rows {
        for dtype in dtypes {
            let convert = |input: &Tensor| match input.dtype() {
                DType::Float32 => aten::to_dtype(input, *dtype).unwrap(),
                _ => input.clone(),
            };
            let inputs: Vec<_> = inputs.iter().map(convert).collect();
            same_as_named(device, &format!("{name} of {dtype}"), &inputs, compute);
        }
    }
}

/// A row with one result of one function; after `all`, also with the arguments that have defaults.
macro_rules! row {
    ($name:ident($($input:expr),+) $(, $argument:expr)*) => {
        row!(@ $name, aten::$name, ($($input),+) ($($argument),*))
    };
    (all $name:ident($($input:expr),+) $(, $argument:expr)*) => {
        row!(@ $name, aten::$name::call, ($($input),+) ($($argument),*))
    };
    (@ $name:ident, $function:path, ($a:expr) ($($argument:expr),*)) => {
        call(stringify!($name), vec![$a], |inputs| Ok(vec![$function(&inputs[0] $(, $argument)*)?]))
    };
    (@ $name:ident, $function:path, ($a:expr, $b:expr) ($($argument:expr),*)) => {
        call(stringify!($name), vec![$a, $b], |inputs| {
            Ok(vec![$function(&inputs[0], &inputs[1] $(, $argument)*)?])
        })
    };
    (@ $name:ident, $function:path, ($a:expr, $b:expr, $c:expr) ($($argument:expr),*)) => {
        call(stringify!($name), vec![$a, $b, $c], |inputs| {
            Ok(vec![$function(&inputs[0], &inputs[1], &inputs[2] $(, $argument)*)?])
        })
    };
}

fn x() -> Tensor {
    tensor(&[3, 5], 0.0)
}

fn positive() -> Tensor {
    aten::abs(&tensor(&[3, 5], 1.0)).unwrap()
}

#[test]
fn elements_one_by_one() {
    let y = || tensor(&[3, 5], 7.0);
    let row = || tensor(&[5], 3.0);
    let turned = || tensor(&[5, 3], 9.0).t().unwrap();
    rows(
        vec![
            row!(abs(x())),
            row!(neg(x())),
            row!(relu(x())),
            row!(exp(x())),
            row!(log(positive())),
            row!(sqrt(positive())),
            row!(rsqrt(positive())),
            row!(sin(x())),
            row!(cos(x())),
            row!(tanh(x())),
            row!(sigmoid(x())),
            row!(floor(x())),
            row!(reciprocal(x())),
            row!(silu(x())),
            row!(erf(x())),
            row!(expm1(x())),
            row!(log1p(positive())),
            row!(add_Tensor(x(), row())),
            row!(add_Tensor(turned(), y())),
            row!(sub_Tensor(x(), y())),
            row!(mul_Tensor(turned(), turned())),
            row!(div_Tensor(x(), y())),
            row!(maximum(x(), y())),
            row!(lt_Tensor(x(), y())),
            row!(ge_Scalar(x()), 0.5.into()),
            row!(atan2(x(), y())),
            row!(pow_Tensor_Scalar(x()), 3.into()),
            row!(pow_Tensor_Scalar(positive()), 1.7.into()),
            row!(addcmul(x(), y(), row())),
            row!(leaky_relu(x())),
            row!(gelu(x())),
            row!(hardswish(x())),
            row!(all clamp(x()), Some((-0.5).into()), Some(1.into())),
            row!(elu(x())),
            row!(softplus(x())),
            row!(mish(x())),
            row!(mish_backward(x(), y())),
            call("elu_backward", vec![x(), y()], |x| {
                let back =
                    |is_result| aten::elu_backward(&x[0], 1.5.into(), 0.5.into(), 2.into(), is_result, &x[1]);
                Ok(vec![back(false)?, back(true)?])
            }),
            call("mse_loss_backward", vec![x(), y(), row()], |x| {
                let back = |reduction| aten::mse_loss_backward(&x[0], &x[1], &x[2], reduction);
                Ok(vec![back(0)?, back(1)?, back(2)?])
            }),
            row!(lerp_Scalar(x(), y()), 0.3.into()),
        ],
        &FLOATS,
    );
}

#[test]
fn matrices() {
    rows(
        vec![
            row!(mm(tensor(&[5, 7], 0.0), tensor(&[7, 3], 1.0))),
            row!(mm(tensor(&[7, 5], 0.0).t().unwrap(), tensor(&[3, 7], 1.0).t().unwrap())),
            row!(mm(tensor(&[1, 7], 0.0), tensor(&[7, 1], 1.0))),
            row!(mm(tensor(&[40, 7], 0.0), tensor(&[7, 33], 1.0))),
            row!(bmm(tensor(&[2, 5, 7], 0.0), tensor(&[2, 7, 3], 1.0))),
            row!(addmm(tensor(&[3], 2.0), tensor(&[5, 7], 0.0), tensor(&[7, 3], 1.0))),
        ],
        &[DType::Float32, DType::Float64, DType::Float16],
    );
}

#[test]
fn reductions() {
    rows(
        vec![
            row!(sum(x())),
            row!(sum(aten::abs(&tensor(&[40_000], 0.0)).unwrap())),
            row!(mean(aten::abs(&tensor(&[200, 300], 0.0)).unwrap())),
            row!(sum_dim_IntList(tensor(&[4, 5, 6], 0.0)), Some(&[1])),
            row!(sum_dim_IntList(tensor(&[30, 600], 0.0)), Some(&[0])),
            row!(mean_dim(tensor(&[4, 5, 6], 0.0)), Some(&[0, 2])),
            row!(all amax(tensor(&[4, 50, 6], 0.0)), &[1], false),
            row!(all amin(tensor(&[4, 5, 60], 0.0)), &[2], false),
            row!(all amax(tensor(&[3, 20_000], 0.0)), &[1], false),
            row!(all argmax(tensor(&[4, 50], 0.0)), Some(1), false),
            row!(argmin(tensor(&[4, 50], 0.0))),
            row!(prod(x())),
            row!(_softmax(tensor(&[6, 50], 0.0)), 1, false),
            row!(_log_softmax(tensor(&[6, 50, 3], 0.0)), 1, false),
        ],
        &FLOATS[..2],
    );
}

#[test]
fn writes() {
    let Some(device) = device() else { return };
    let whole = Tensor::from((0..24i64).collect::<Vec<_>>());
    for dtype in [
        DType::Float32,
        DType::Float64,
        DType::Float16,
        DType::BFloat16,
        DType::Int64,
        DType::Int32,
        DType::UInt8,
        DType::Bool,
    ] {
        let x = aten::to_dtype(&whole, dtype).unwrap().reshape(&[4, 6]).unwrap();
        same_as_named(device, &format!("copies of {dtype}"), &[x.clone(), tensor(&[4, 6], 0.0)], |inputs| {
            let mut turned = inputs[0].t()?;
            let copy = aten::clone(&turned)?;
            let mut wide = aten::to_dtype(&turned, DType::Float64)?;
            aten::copy_(&mut wide, &inputs[0].t()?)?;
            aten::fill__Scalar(&mut turned, 1.into())?;
            Ok(vec![copy, wide, aten::cat::call(&[inputs[0].clone(), inputs[0].clone()], 1)?])
        });
        same_as_named(device, &format!("a cast to {dtype}"), &[tensor(&[40], 0.0)], |inputs| {
            Ok(vec![aten::to_dtype(&aten::mul_Scalar(&inputs[0], 100.into())?, DType::Int32)?])
        });
    }
    rows(
        vec![
            call("in place", vec![x(), tensor(&[3, 5], 2.0)], |inputs| {
                let mut x = inputs[0].clone();
                aten::add__Tensor(&mut x, &inputs[1])?;
                aten::mul__Tensor(&mut x, &inputs[1])?;
                aten::relu_(&mut x)?;
                let mut column = x.strided_view(&[3], &[5], 2)?;
                aten::sub__Tensor(&mut column, &inputs[1].strided_view(&[3], &[1], 4)?)?;
                Ok(vec![])
            }),
            call("cumsum", vec![tensor(&[3, 300], 0.0), tensor(&[4, 5, 6], 0.0)], |inputs| {
                Ok(vec![aten::cumsum(&inputs[0], 1)?, aten::cumsum(&inputs[1], 1)?])
            }),
        ],
        &FLOATS[..2],
    );
}

#[test]
fn uniform_halves_are_less_than_the_upper_bound() {
    let Some(device) = device() else { return };
    for dtype in [DType::Float16, DType::BFloat16] {
        // A bound that the type cannot hold is rounded to it, too.
        for (from, to, highest) in [(0.0, 1.0, 1.0), (0.0, 1.001, 1.001), (-3.0, 4.0, 4.0)] {
            let mut x = Tensor::empty(&[20_000], dtype, device).unwrap();
            aten::uniform_::with(&mut x).from(from).to(to).call().unwrap();
            let x = aten::to_dtype(&x, DType::Float32).unwrap().to_vec::<f32>().unwrap();
            assert!(x.iter().all(|x| (from as f32..highest).contains(x)), "{dtype} from {from} to {to}");
        }
    }
}

#[test]
fn roots_of_negative_infinity_and_negative_zero_are_those_of_the_cpu() {
    let Some(device) = device() else { return };
    for dtype in FLOATS {
        let x = aten::to_dtype(&special(), dtype).unwrap();
        let of = |x: &Tensor| aten::pow_Tensor_Scalar(x, 0.5.into()).unwrap().reciprocal().unwrap();
        close(&of(&x.to(device).unwrap()), &of(&x));
    }
}

#[test]
fn autocast_follows_pytorchs_policies_for_cuda() {
    let Some(device) = device() else { return };
    let (x, weight) = (tensor(&[3, 5], 0.0).to(device).unwrap(), tensor(&[5, 2], 1.0).to(device).unwrap());
    weight.set_requires_grad(true).unwrap();
    let before = falls();
    for dtype in [DType::Float16, DType::BFloat16] {
        let region = Autocast::on(DeviceType::Cuda).dtype(dtype);
        let product = region.run(|| x.mm(&weight)).unwrap();
        assert_eq!(product.dtype(), dtype);
        close(&product.detach().unwrap(), &to(&x, dtype).mm(&to(&weight.detach().unwrap(), dtype)).unwrap());
        let exponentials = region.run(|| product.exp()).unwrap();
        assert_eq!(exponentials.dtype(), DType::Float32);
        assert_eq!(region.run(|| product.relu()).unwrap().dtype(), dtype);
        weight.set_grad(None).unwrap();
        exponentials.sum().unwrap().backward().unwrap();
        let grad = weight.grad().unwrap();
        assert_eq!((grad.dtype(), grad.device()), (DType::Float32, device));
    }
    assert_eq!(before, falls());
    let single = Autocast::on(DeviceType::Cpu).run(|| x.mm(&x.t()?)).unwrap();
    assert_eq!(single.dtype(), DType::Float32, "a region is for one kind of device");
}

fn to(x: &Tensor, dtype: DType) -> Tensor {
    aten::to_dtype(x, dtype).unwrap()
}

#[test]
fn an_empty_view_may_begin_behind_the_end() {
    let Some(device) = device() else { return };
    let view = Tensor::zeros(&[2, 0], DType::Float32, device).unwrap().narrow(0, 1, 1).unwrap();
    assert_eq!(aten::clone(&view).unwrap().sizes(), [1, 0]);
    let mut target = view.clone();
    aten::copy_(&mut target, &view).unwrap();
    assert!(view.to_vec::<f32>().unwrap().is_empty());
}
