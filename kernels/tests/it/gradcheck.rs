//! First and second derivatives compared with finite differences, for operators whose arguments matter.

use torch_library::autograd::{gradcheck, gradgradcheck};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

mod own;

/// A tensor of distinct numbers in an interval, in no order.
fn sample(sizes: &[i64], low: f64, high: f64) -> Tensor {
    let count = sizes.iter().product::<i64>() as usize;
    let value =
        |i: usize| low + (high - low) * (((i * 7 + 3) % (count + 4)) as f64 + 0.37) / (count as f64 + 4.0);
    let tensor = Tensor::from_vec((0..count).map(value).collect(), sizes).unwrap();
    tensor.set_requires_grad(true).unwrap();
    tensor
}

fn fixed(values: &[i64], sizes: &[i64]) -> Tensor {
    Tensor::from_slice(values, sizes).unwrap()
}

#[track_caller]
fn both(name: &str, inputs: &[Tensor], function: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let function = |inputs: &[Tensor]| Ok(vec![function(inputs)?]);
    for check in [gradcheck, gradgradcheck] {
        check(function, inputs, Default::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Functions of one tensor, where they are smooth.
macro_rules! unary {
    ($($function:ident $low:literal $high:literal;)+) => {
        $(both(stringify!($function), &[sample(&[2, 3], $low, $high)], |x| aten::$function(&x[0]));)+
    };
}

#[test]
fn functions_of_one_tensor() {
    unary! {
        neg -2.0 2.0; abs 0.2 2.0; exp -1.0 1.0; log 0.3 3.0; sqrt 0.3 3.0; rsqrt 0.3 3.0; reciprocal 0.3 3.0;
        sin -2.0 2.0; cos -2.0 2.0; tanh -2.0 2.0; sigmoid -2.0 2.0; relu 0.2 2.0; relu -2.0 -0.2;
        expm1 -1.0 1.0; log1p -0.5 2.0; log2 0.3 3.0; log10 0.3 3.0; tan -1.0 1.0; asin -0.8 0.8; acos -0.8 0.8;
        atan -2.0 2.0; sinh -1.0 1.0; cosh -1.0 1.0; asinh -2.0 2.0; acosh 1.3 3.0; atanh -0.8 0.8;
        erf -1.5 1.5; erfc -1.5 1.5; square -2.0 2.0; floor 0.1 0.9; ceil 0.1 0.9; round 0.1 0.4; trunc 0.1 0.9;
        frac 0.1 0.9; silu -2.0 2.0; mish -2.0 2.0; hardswish -2.5 2.5; hardsigmoid -2.5 2.5; leaky_relu 0.2 2.0;
        leaky_relu -2.0 -0.2; elu 0.2 2.0; elu -2.0 -0.2; softplus -2.0 2.0; hardtanh -0.9 0.9;
    }
    both("gelu", &[sample(&[4], -2.0, 2.0)], |x| x[0].gelu());
    both("gelu tanh", &[sample(&[4], -2.0, 2.0)], |x| aten::gelu::call(&x[0], "tanh"));
    both("clamp", &[sample(&[7], -2.0, 2.0)], |x| x[0].clamp(-1.0, 1.0));
    both("clamp_min", &[sample(&[7], -2.0, 2.0)], |x| aten::clamp_min(&x[0], 0.1.into()));
    both("clamp_max", &[sample(&[7], -2.0, 2.0)], |x| aten::clamp_max(&x[0], 0.1.into()));
}

/// Functions of two tensors that broadcast.
macro_rules! binary {
    ($($function:ident;)+) => { $(
        let inputs = [sample(&[2, 3], 0.5, 3.0), sample(&[3], 0.7, 2.0)];
        both(stringify!($function), &inputs, |x| aten::$function(&x[0], &x[1]));
    )+ };
}

#[test]
fn functions_of_two_tensors() {
    binary! {
        add_Tensor; sub_Tensor; rsub_Tensor; mul_Tensor; div_Tensor; maximum; minimum; atan2; fmod_Tensor;
        remainder_Tensor; pow_Tensor_Tensor;
    }
    let x = || [sample(&[2, 3], 0.5, 3.0)];
    let number = Scalar::from(1.5);
    both("add.Scalar", &x(), |x| aten::add_Scalar(&x[0], number));
    both("sub.Scalar", &x(), |x| aten::sub_Scalar(&x[0], number));
    both("rsub.Scalar", &x(), |x| aten::rsub_Scalar(&x[0], number));
    both("mul.Scalar", &x(), |x| aten::mul_Scalar(&x[0], number));
    both("div.Scalar", &x(), |x| aten::div_Scalar(&x[0], number));
    both("fmod.Scalar", &x(), |x| aten::fmod_Scalar(&x[0], number));
    both("remainder.Scalar", &x(), |x| aten::remainder_Scalar(&x[0], number));
    both("pow.Tensor_Scalar", &x(), |x| aten::pow_Tensor_Scalar(&x[0], number));
    both("pow.Scalar", &x(), |x| aten::pow_Scalar(number, &x[0]));
    both("alpha", &[sample(&[2], 0.0, 1.0), sample(&[2], 0.0, 1.0)], |x| {
        aten::sub_Tensor::with(&x[0], &x[1]).alpha(3).call()
    });
}

#[test]
fn functions_of_three_tensors() {
    let three = || [sample(&[2, 3], 0.5, 3.0), sample(&[3], 0.7, 2.0), sample(&[2, 1], 0.2, 0.9)];
    both("lerp.Tensor", &three(), |x| aten::lerp_Tensor(&x[0], &x[1], &x[2]));
    both("lerp.Scalar", &three()[..2], |x| aten::lerp_Scalar(&x[0], &x[1], 0.3.into()));
    both("addcmul", &three(), |x| aten::addcmul::with(&x[0], &x[1], &x[2]).value(2).call());
    both("addcdiv", &three(), |x| aten::addcdiv::with(&x[0], &x[1], &x[2]).value(2).call());
    both("clamp.Tensor", &three(), |x| aten::clamp_Tensor::call(&x[0], Some(&x[2]), Some(&x[1])));
    both("where", &three()[..2], |x| aten::where_self(&aten::gt_Scalar(&x[0], 1.5.into())?, &x[0], &x[1]));
}

#[test]
fn reductions() {
    let zeros = || {
        let x = Tensor::from([[2.0, 0.0, 3.0], [0.0, 0.0, 1.0]]);
        x.set_requires_grad(true).unwrap();
        x
    };
    let x = || [sample(&[2, 3, 2], -2.0, 2.0)];
    both("sum", &x(), |x| x[0].sum());
    both("sum.dim", &x(), |x| x[0].sum_dim(&[0, -1], false));
    both("mean", &x(), |x| x[0].mean());
    both("mean.dim", &x(), |x| x[0].mean_dim(&[1], true));
    both("amax", &x(), |x| x[0].amax(&[1], false));
    both("amin", &x(), |x| x[0].amin(&[], false));
    both("prod", &[sample(&[4], 0.5, 2.0)], |x| aten::prod(&x[0]));
    both("prod.dim_int", &x(), |x| aten::prod_dim_int(&x[0], 1));
    both("var", &x(), |x| aten::var_correction::with(&x[0]).dim(Some(&[1])).call());
    both("var of all", &x(), |x| aten::var_correction(&x[0]));
    both("std", &x(), |x| aten::std_correction::with(&x[0]).dim(Some(&[0, 2])).keepdim(true).call());
    for ord in [1.0, 2.0, 3.0, f64::INFINITY] {
        both(&format!("norm {ord}"), &x(), |x| {
            aten::linalg_vector_norm::with(&x[0]).ord(ord).dim(Some(&[1])).call()
        });
    }
    both("cumsum", &x(), |x| aten::cumsum(&x[0], 1));
    both("cumprod", &x(), |x| aten::cumprod(&x[0], 1));
    both("cumprod of zeros", &[zeros()], |x| aten::cumprod(&x[0], 1));
    both("logcumsumexp", &x(), |x| aten::logcumsumexp(&x[0], 1));
    both("max", &x(), |x| aten::max(&x[0]));
    both("max.dim", &x(), |x| Ok(aten::max_dim(&x[0], 1)?.0));
    both("min.dim", &x(), |x| Ok(aten::min_dim::with(&x[0], -1).keepdim(true).call()?.0));
    both("sort", &x(), |x| Ok(aten::sort(&x[0])?.0));
    both("topk", &x(), |x| Ok(aten::topk::with(&x[0], 2).dim(1).call()?.0));
}

#[test]
fn views() {
    let x = || [sample(&[2, 3, 2], -2.0, 2.0)];
    both("view", &x(), |x| x[0].view(&[3, 4]));
    both("reshape", &x(), |x| x[0].transpose(0, 1)?.reshape(&[-1]));
    both("permute", &x(), |x| x[0].permute(&[2, 0, 1]));
    both("unsqueeze", &x(), |x| x[0].unsqueeze(1));
    both("squeeze", &[sample(&[2, 1, 3], 0.0, 1.0)], |x| x[0].squeeze());
    both("expand", &[sample(&[2, 1], 0.0, 1.0)], |x| x[0].expand(&[3, 2, 4]));
    both("slice", &x(), |x| x[0].slice(1, 0, 3, 2));
    both("select", &x(), |x| x[0].select(1, -1));
    both("narrow", &x(), |x| x[0].narrow(1, 1, 2));
    both("diagonal", &[sample(&[3, 3], 0.0, 1.0)], |x| aten::diagonal(&x[0]));
    both("unbind", &x(), |x| Ok(aten::unbind_int(&x[0])?.remove(1)));
    both("split", &x(), |x| Ok(aten::split_Tensor::with(&x[0], 2).dim(1).call()?.remove(1)));
    both("as_strided", &[sample(&[6], 0.0, 1.0)], |x| aten::as_strided(&x[0], &[2, 3], &[1, 2]));
    both("as_strided that overlaps", &[sample(&[4], 0.0, 1.0)], |x| {
        aten::as_strided(&x[0], &[3, 2], &[1, 1])
    });
    both("tril", &[sample(&[3, 3], 0.0, 1.0)], |x| aten::tril(&x[0]));
    both("copy", &x(), |x| x[0].copy());
}

#[test]
fn writes_in_place() {
    both("through a view", &[sample(&[2, 3], 0.5, 2.0)], |x| {
        let whole = x[0].mul(2)?;
        whole.select(0, 1)?.mul_(&x[0].select(0, 0)?)?;
        Ok(whole)
    });
    both("chain", &[sample(&[3], 0.5, 2.0)], |x| {
        let mut y = x[0].mul(&x[0])?;
        y.add_(&x[0])?;
        aten::sin_(&mut y)?;
        aten::tanh_(&mut y)?;
        Ok(y)
    });
    both("copy_", &[sample(&[2, 2], 0.5, 2.0), sample(&[2], 0.5, 2.0)], |x| {
        let mut y = x[0].mul(3)?;
        aten::copy_(&mut y.select(1, 0)?, &x[1])?;
        y.mul_(&x[0])?;
        Ok(y)
    });
}

#[test]
fn indexing() {
    let x = || [sample(&[3, 4], -2.0, 2.0)];
    let rows = || fixed(&[2, 0, 2], &[3]);
    let places = || fixed(&[1, 0, 3, 3, 2, 1], &[3, 2]);
    both("cat", &[sample(&[2, 2], 0.0, 1.0), sample(&[1, 2], 1.0, 2.0)], aten::cat);
    both("stack", &[sample(&[2], 0.0, 1.0), sample(&[2], 1.0, 2.0)], |x| aten::stack::with(x).dim(1).call());
    both("index_select", &x(), |x| x[0].index_select(0, &rows()));
    both("gather", &x(), |x| x[0].gather(1, &places()));
    both("index", &x(), |x| aten::index_Tensor(&x[0], &[Some(rows())]));
    let pair = || [sample(&[3, 4], 0.0, 1.0), sample(&[3, 2], 1.0, 2.0)];
    both("scatter", &pair()[..1], |x| aten::scatter_value(&x[0], 1, &places(), 0.5.into()));
    both("scatter_add", &pair(), |x| aten::scatter_add(&x[0], 1, &places(), &x[1]));
    both("index_add", &[sample(&[3, 4], 0.0, 1.0), sample(&[3, 4], 1.0, 2.0)], |x| {
        aten::index_add(&x[0], 0, &rows(), &x[1])
    });
    both("index_put", &[sample(&[3, 4], 0.0, 1.0), sample(&[2, 4], 1.0, 2.0)], |x| {
        aten::index_put(&x[0], &[Some(fixed(&[2, 0], &[2]))], &x[1])
    });
    both("masked_fill", &x(), |x| {
        aten::masked_fill_Scalar(&x[0], &aten::gt_Scalar(&x[0], 0.into())?, 7.into())
    });
    both("embedding", &x(), |x| aten::embedding(&x[0], &places().clamp(None, 2)?));
}

#[test]
fn products() {
    let (a, b) = (|| sample(&[2, 3], -1.0, 1.0), || sample(&[3, 4], -1.0, 1.0));
    both("mm", &[a(), b()], |x| x[0].mm(&x[1]));
    both("addmm", &[sample(&[4], 0.0, 1.0), a(), b()], |x| {
        aten::addmm::with(&x[0], &x[1], &x[2]).beta(2).alpha(3).call()
    });
    both("bmm", &[sample(&[2, 2, 3], -1.0, 1.0), sample(&[2, 3, 2], -1.0, 1.0)], |x| aten::bmm(&x[0], &x[1]));
    both("mv", &[a(), sample(&[3], 0.0, 1.0)], |x| aten::mv(&x[0], &x[1]));
    both("dot", &[sample(&[3], 0.0, 1.0), sample(&[3], -1.0, 1.0)], |x| aten::dot(&x[0], &x[1]));
    both("matmul", &[sample(&[2, 2, 3], -1.0, 1.0), b()], |x| x[0].matmul(&x[1]));
    both("linear", &[a(), sample(&[4, 3], -1.0, 1.0), sample(&[4], 0.0, 1.0)], |x| {
        aten::linear::with(&x[0], &x[1]).bias(Some(&x[2])).call()
    });
}

#[test]
fn normalisations_and_losses() {
    let x = || [sample(&[2, 4], -1.0, 1.0)];
    both("softmax", &x(), |x| x[0].softmax(1));
    both("log_softmax", &x(), |x| x[0].log_softmax(0));
    let parameters = || [sample(&[2, 4], -1.0, 1.0), sample(&[4], 0.5, 1.5), sample(&[4], -1.0, 1.0)];
    both("layer_norm", &parameters(), |x| {
        aten::layer_norm::with(&x[0], &[4]).weight(Some(&x[1])).bias(Some(&x[2])).call()
    });
    both("batch_norm", &parameters(), |x| {
        aten::batch_norm(&x[0], Some(&x[1]), Some(&x[2]), None, None, true, 0.1, 1e-5, true)
    });
    let target = || fixed(&[3, 1], &[2]);
    both("nll_loss", &x(), |x| aten::nll_loss(&x[0], &target()));
    both("cross_entropy", &x(), |x| aten::cross_entropy_loss(&x[0], &target()));
}

#[test]
fn windows() {
    let image = || sample(&[1, 2, 4, 4], -1.0, 1.0);
    both("conv2d", &[image(), sample(&[3, 2, 2, 2], -1.0, 1.0), sample(&[3], -1.0, 1.0)], |x| {
        aten::conv2d::with(&x[0], &x[1]).bias(Some(&x[2])).padding(&[1, 0]).stride(&[2, 1]).call()
    });
    both("max_pool2d", &[image()], |x| aten::max_pool2d(&x[0], &[2, 2]));
    both("avg_pool2d", &[image()], |x| aten::avg_pool2d(&x[0], &[2, 2]));
    both("adaptive_avg_pool2d", &[image()], |x| aten::adaptive_avg_pool2d(&x[0], &[2, 2]));
    both("constant_pad_nd", &[image()], |x| aten::constant_pad_nd(&x[0], &[1, -1, 0, 2]));
}

#[test]
fn looks_at_complex_numbers_in_other_ways() {
    let z = || {
        let z = Tensor::from(
            [[(0.3, -1.0), (0.5, 2.0)], [(-0.7, 0.2), (1.5, 0.1)]]
                .map(|row| row.map(|(re, im)| Complex64::new(re, im))),
        );
        z.set_requires_grad(true).unwrap();
        [z]
    };
    both("_conj", &z(), |z| aten::_conj(&z[0]));
    both("a product with _conj", &z(), |z| z[0].mul(&aten::_conj(&z[0].t()?)?));
    both("view_as_real", &z(), |z| aten::view_as_real(&z[0]));
    both("the square of view_as_real", &z(), |z| aten::square(&aten::view_as_real(&z[0])?));
    both("view_as_complex", &[sample(&[3, 2], -1.0, 1.0)], |x| aten::view_as_complex(&x[0]));
    both("the square of view_as_complex", &[sample(&[3, 2], -1.0, 1.0)], |x| {
        let z = aten::view_as_complex(&x[0])?;
        z.mul(&z)
    });
    both("acosh left of zero", &[sample(&[3, 2], -2.0, -0.5)], |x| {
        aten::view_as_real(&aten::acosh(&aten::view_as_complex(&x[0])?)?)
    });
    both("real and imag", &z(), |z| aten::real(&z[0])?.mul(&aten::imag(&aten::conj(&z[0])?)?));
}
