//! Dtypes and numbers that operators accept or refuse as PyTorch does.

use torch_library::Dispatcher;
use torch_library::autograd::{self, Tolerance};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use DType::{BFloat16, Bool, Complex64, Float16, Float32, Float64, Int32, Int64, UInt8};

/// Ones of a dtype.
fn ones(sizes: &[i64], dtype: DType) -> Tensor {
    aten::ones::with(sizes).dtype(Some(dtype)).call().unwrap()
}

/// Checks that an operator accepts these dtypes, and refuses the others.
#[track_caller]
fn accepts(dtypes: &[DType], call: impl Fn(DType) -> Result<Tensor>) {
    for dtype in [Bool, UInt8, Int32, Int64, Float16, BFloat16, Float32, Float64, Complex64] {
        let result = call(dtype);
        assert_eq!(result.is_ok(), dtypes.contains(&dtype), "{dtype}: {result:?}");
    }
}

const FLOATS: [DType; 4] = [Float16, BFloat16, Float32, Float64];
const REALS: [DType; 7] = [UInt8, Int32, Int64, Float16, BFloat16, Float32, Float64];

#[test]
fn dtypes_are_those_of_pytorch() {
    accepts(&FLOATS, |dtype| aten::glu(&ones(&[2, 4], dtype)));
    accepts(&FLOATS, |dtype| aten::prelu(&ones(&[2, 3], dtype), &ones(&[3], dtype)));
    accepts(&FLOATS, |dtype| aten::nanmean(&ones(&[4], dtype)));
    accepts(&FLOATS, |dtype| aten::max_pool1d(&ones(&[1, 2, 8], dtype), &[2]));
    accepts(&FLOATS, |dtype| aten::_euclidean_dist(&ones(&[4, 4], dtype), &ones(&[4, 4], dtype)));
    accepts(&[Float32, Float64], |dtype| aten::cdist(&ones(&[4, 4], dtype), &ones(&[4, 4], dtype)));
    accepts(&REALS, |dtype| Ok(aten::kthvalue(&ones(&[4], dtype), 2)?.0));
    accepts(&REALS, |dtype| aten::searchsorted_Tensor(&ones(&[4], dtype), &ones(&[2], dtype)));
    accepts(&REALS, |dtype| aten::isin_Tensor_Scalar(&ones(&[4], dtype), 1.into()));
    accepts(&REALS, |dtype| aten::randperm::with(4).dtype(Some(dtype)).call());
    accepts(&[&REALS[..], &[Complex64]].concat(), |dtype| aten::trace(&ones(&[4, 4], dtype)));
    accepts(&[Float16, BFloat16, Float32, Float64, Complex64], |dtype| {
        aten::linalg_vecdot(&ones(&[4], dtype), &ones(&[4], dtype))
    });
    accepts(&[UInt8, Int32, Int64, Float32, Float64, Complex64], |dtype| {
        aten::linalg_vander(&ones(&[4], dtype))
    });
    accepts(&[Float16, Float32, Float64], |dtype| aten::view_as_complex(&ones(&[2, 2], dtype)));
    accepts(&[Int64], |dtype| {
        aten::index_fill_int_Scalar(&ones(&[4], Float32), 0, &ones(&[1], dtype), 1.into())
    });
    accepts(&[BFloat16, Float32, Float64], |dtype| {
        let mut noise = ones(&[4], dtype);
        aten::rrelu_with_noise::with(&ones(&[4], dtype), &mut noise).training(true).call()
    });
    accepts(&[Float16, BFloat16, Float32, Float64, Complex64], |dtype| {
        aten::dropout(&ones(&[4], dtype), 0.5, true)
    });
    accepts(&[Bool, Float16, Float32], |dtype| {
        let x = ones(&[1, 2, 4, 8], Float16);
        aten::scaled_dot_product_attention::with(&x, &x, &x).attn_mask(Some(&ones(&[4, 4], dtype))).call()
    });
    accepts(&[Float16, BFloat16, Float32, Float64, Complex64], |dtype| {
        aten::addcdiv(&ones(&[2], Float32), &ones(&[2], Int64), &ones(&[2], dtype))
    });
}

#[test]
fn numbers_that_a_dtype_cannot_hold_are_refused() -> Result<()> {
    for (number, refusing) in [(1e6, &[UInt8, Float16][..]), (300.0, &[UInt8]), (-256.0, &[UInt8])] {
        for dtype in [UInt8, Int32, Float16, BFloat16, Float32] {
            let fill = aten::fill__Scalar(&mut ones(&[2], dtype), number.into()).map(drop);
            assert_eq!(fill.is_err(), refusing.contains(&dtype), "{number} as {dtype}");
            let full = aten::full::with(&[2], number.into()).dtype(Some(dtype)).call();
            assert_eq!(full.is_err(), refusing.contains(&dtype), "{number} as {dtype}");
        }
    }
    // A tensor is converted, as elements are.
    let mut bytes = ones(&[1], UInt8);
    aten::fill__Tensor(&mut bytes, &Tensor::from(300i64))?;
    assert_eq!(bytes.to_vec::<u8>()?, [44]);
    let mut float = ones(&[1], Float32);
    aten::fill__Tensor(&mut float, &Tensor::from(1e40))?;
    assert_eq!(float.to_vec::<f32>()?, [f32::INFINITY]);
    assert!(aten::randperm::with(257).dtype(Some(UInt8)).call().is_err());
    assert!(aten::randperm::with(256).dtype(Some(UInt8)).call().is_ok());
    assert!(aten::randperm::with(2050).dtype(Some(Float16)).call().is_err());
    Ok(())
}

#[test]
fn comparisons_and_medians_are_those_of_pytorch() -> Result<()> {
    assert!(aten::equal(&ones(&[2], Float32), &ones(&[2], Int64))?);
    assert!(!aten::equal(&Tensor::from([0.1f32]), &Tensor::from([0.1f64]))?);
    assert!(!aten::equal(&ones(&[2], Float32), &ones(&[3], Float64))?);
    let median = |dtype| aten::median(&ones(&[0], dtype))?.item();
    assert_eq!((median(Int64)?, median(Int32)?), (Scalar::Int(i64::MIN), Scalar::Int(i32::MIN.into())));
    assert_eq!(median(UInt8)?, Scalar::Int(0));
    assert!(median(Float32)?.to::<f64>()?.is_nan());
    assert_eq!(aten::pow_Tensor_Scalar(&ones(&[2], Bool), true.into())?.to_vec::<bool>()?, [true, true]);
    Ok(())
}

#[test]
fn spaced_numbers_may_be_complex_and_a_single_power_has_any_exponent() -> Result<()> {
    let end = Scalar::Complex(torch_library::element::Complex64::new(0.0, 1.0));
    let spaced = aten::linspace(0.into(), end, 3)?;
    assert_eq!(spaced.dtype(), Complex64);
    assert_eq!(aten::imag(&spaced)?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
    assert!(aten::linspace::with(0.into(), end, 3).dtype(Some(Float32)).call().is_err());
    assert!(aten::linspace::with(0.into(), 1.into(), 3).dtype(Some(Bool)).call().is_err());
    assert!(
        aten::linspace::with(0.into(), 1.into(), 0).dtype(Some(Bool)).call().is_ok(),
        "no numbers are bools, too"
    );
    let one = aten::logspace::with(3.7.into(), 0.into(), 1).dtype(Some(Int64)).call()?;
    assert_eq!(one.to_vec::<i64>()?, [5011], "the exponent of a single number is not rounded");
    let powers = aten::logspace(0.into(), end, 2)?;
    assert!((aten::real(&powers)?.to_vec::<f32>()?[1] - 10f32.ln().cos()).abs() < 1e-6);
    Ok(())
}

#[test]
fn lists_of_tensors_have_gradients() -> Result<()> {
    let x = Tensor::from([4.0, 9.0]);
    x.set_requires_grad(true)?;
    aten::_foreach_sqrt(std::slice::from_ref(&x))?[0].sum()?.backward()?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [0.25, 1.0 / 6.0]);
    x.set_grad(None)?;
    aten::_foreach_norm_Scalar(std::slice::from_ref(&x))?[0].backward()?;
    let norm = 97f64.sqrt();
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [4.0 / norm, 9.0 / norm]);
    assert!(aten::_foreach_sqrt(&[]).is_err() && aten::_foreach_norm_Scalar(&[]).is_err());
    Ok(())
}

#[test]
fn the_slope_of_a_loss_without_a_quadratic_part_is_negative_at_zero() -> Result<()> {
    let x = Tensor::from([1.0, -1.0, 0.0, f64::NAN]);
    x.set_requires_grad(true)?;
    let zeros = Tensor::from([0.0; 4]);
    aten::smooth_l1_loss::with(&x, &zeros).reduction(2).beta(0.0).call()?.backward()?;
    let grad = x.grad().unwrap().to_vec::<f64>()?;
    assert!(grad[..3] == [1.0, -1.0, -1.0] && grad[3].is_nan(), "{grad:?}");
    Ok(())
}

#[test]
fn operators_of_exported_programs_compute_what_pytorch_computes() -> Result<()> {
    let range = aten::range_step::with(0.5.into(), 2.6.into()).step(0.5).call()?;
    assert_eq!((range.dtype(), range.to_vec::<f32>()?), (Float32, vec![0.5, 1.0, 1.5, 2.0, 2.5]));
    assert_eq!(aten::range(0.into(), 2.into())?.to_vec::<f32>()?, [0.0, 1.0, 2.0]);
    assert!(aten::range_step::with(0.into(), 5.into()).step(-1).call().is_err());
    assert!(aten::range_step::with(0.into(), 5.into()).step(0).call().is_err());

    let mut tall = ones(&[7, 2], Int64).mul(0)?;
    aten::fill_diagonal_::call(&mut tall, 1.into(), true)?;
    assert_eq!(tall.to_vec::<i64>()?, [1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0]);
    let mut cube = ones(&[2, 2, 2], Int64).mul(0)?;
    aten::fill_diagonal_(&mut cube, 3.into())?;
    assert_eq!(cube.to_vec::<i64>()?, [3, 0, 0, 0, 0, 0, 0, 3]);
    assert!(aten::fill_diagonal_(&mut ones(&[2, 3, 2], Int64), 1.into()).is_err());

    let lines = [Tensor::from([1i64]), Tensor::from([2i64, 3])];
    let left = aten::pad_sequence::with(&lines).batch_first(true).padding_value(7.0).padding_side("left");
    assert_eq!(left.call()?.to_vec::<i64>()?, [7, 1, 2, 3]);
    assert!(aten::pad_sequence(&[]).is_err());

    let matrix = aten::full::with(&[2, 2], 100.into()).dtype(Some(DType::Int8)).call()?;
    let product = aten::_int_mm(&matrix, &matrix)?;
    assert_eq!((product.dtype(), product.to_vec::<i32>()?), (Int32, vec![20_000; 4]));
    assert!(aten::_int_mm(&matrix, &ones(&[2, 2], UInt8)).is_err());
    assert_eq!(
        aten::nuclear_norm(&Tensor::from([[3.0, 0.0], [0.0, 4.0]]))?.item()?.to::<f64>()?.round(),
        7.0
    );
    Ok(())
}

#[test]
fn a_normalised_weight_has_gradients_of_every_order() -> Result<()> {
    let v = Tensor::from([[[0.5, -1.0], [2.0, 0.25]], [[1.0, 0.5], [-0.5, 1.5]]]);
    for (dim, sizes) in [(0, [2, 1, 1]), (2, [1, 1, 2]), (1, [1, 2, 1])] {
        let g = aten::reshape(&Tensor::from([1.5, 0.5]), &sizes)?;
        let norm = |x: &[Tensor]| Ok(vec![aten::_weight_norm::call(&x[0], &x[1], dim)?]);
        assert!(autograd::gradcheck(norm, &[v.clone(), g.clone()], Tolerance::default()).is_ok(), "{dim}");
        assert!(autograd::gradgradcheck(norm, &[v.clone(), g], Tolerance::default()).is_ok(), "{dim}");
    }
    let whole = aten::_weight_norm::call(&v, &aten::reshape(&Tensor::from([2.0]), &[1, 1, 1])?, -1)?;
    assert!((aten::linalg_vector_norm(&whole)?.item()?.to::<f64>()? - 2.0).abs() < 1e-12);
    Ok(())
}

#[test]
fn a_step_of_adagrad_divides_by_the_root_of_squares() -> Result<()> {
    let (x, sums) = (Tensor::from([1.0, 2.0]), Tensor::from([0.0, 9.0]));
    let mut steps = [Tensor::from(2.0f32)];
    aten::_fused_adagrad_(
        &mut [x.clone()],
        &mut [Tensor::from([3.0, 4.0])],
        &mut [sums.clone()],
        &mut steps,
        0.2,
        1.0,
        0.0,
        0.0,
        false,
    )?;
    assert_eq!((x.to_vec::<f64>()?, sums.to_vec::<f64>()?), (vec![0.9, 1.92], vec![9.0, 25.0]));
    let y = Tensor::from([1.0, 2.0]);
    aten::_fused_adagrad__tensor_lr(
        &mut [y.clone()],
        &mut [Tensor::from([3.0, 4.0])],
        &mut [Tensor::from([0.0, 9.0])],
        &steps,
        &Tensor::from(0.2),
        1.0,
        0.0,
        0.0,
        false,
    )?;
    assert_eq!(y.to_vec::<f64>()?, x.to_vec::<f64>()?);
    Ok(())
}

#[test]
fn an_empty_list_fits_every_list_of_tensors() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]);
    let list = |tensor: &Tensor| Value::Tensors(vec![tensor.clone()].into());
    let numbers = [0.0, 0.0, 0.5, 0.0].map(Value::Float);
    let flags = [false; 3].map(Value::Bool);
    let lists = [list(&x), list(&Tensor::from([2.0, 2.0])), Value::Tensors((&[][..]).into())];
    let arguments = lists.into_iter().chain(numbers).chain(flags).chain([Value::None, Value::None]);
    let mut stack = Stack::from_iter(arguments);
    Dispatcher::global().find("aten::_fused_sgd_")?.call_boxed(&mut stack)?;
    assert_eq!(x.to_vec::<f64>()?, [0.0, 1.0]);
    Ok(())
}

#[test]
fn what_pytorch_refuses_is_refused() -> Result<()> {
    let x = ones(&[2, 2], Float32);
    assert!(aten::float_power__Scalar(&mut x.clone(), 2.into()).is_err());
    assert!(aten::float_power__Scalar(&mut ones(&[2], Float64), 2.into()).is_ok());
    for dtype in [UInt8, Int32] {
        assert!(aten::conv_transpose1d(&ones(&[1, 1, 3], dtype), &ones(&[1, 1, 2], dtype)).is_err());
    }
    assert!(aten::conv_transpose1d(&ones(&[1, 1, 3], Int64), &ones(&[1, 1, 2], Int64)).is_ok());
    assert!(aten::conv_transpose1d(&ones(&[1, 2, 3], Float32), &ones(&[2, 0, 2], Float32)).is_err());
    assert!(aten::conv1d(&ones(&[1, 2, 3], Float32), &ones(&[0, 2, 2], Float32)).is_err());
    let half = ones(&[2, 3], Float16);
    assert!(aten::_cdist_forward(&half, &half, 2.0, None).is_err());
    assert!(aten::chain_matmul(&[ones(&[2], Float32)]).is_err());
    Ok(())
}

#[test]
fn singular_matrices_have_the_conditions_and_gradients_of_pytorch() -> Result<()> {
    let zeros = Tensor::from([[0.0, 0.0], [0.0, 0.0]]);
    assert_eq!(aten::linalg_cond::call(&zeros, Some(1.into()))?.item()?.to::<f64>()?, f64::INFINITY);
    zeros.set_requires_grad(true)?;
    let (solution, _) = aten::linalg_solve_ex(&zeros, &Tensor::from([[1.0], [1.0]]))?;
    solution.sum()?.backward()?;
    assert!(zeros.grad().is_some_and(|grad| grad.to_vec::<f64>().unwrap().iter().all(|x| !x.is_finite())));
    Ok(())
}

#[test]
fn values_are_found_in_sorted_and_in_unsorted_rows() -> Result<()> {
    let sorted = Tensor::from([1.0, 2.0, 2.0, 5.0, 7.0]);
    let values = Tensor::from([0.0, 1.0, 2.0, 4.0, 5.0, 7.0, 8.0, f64::NAN]);
    let left = aten::searchsorted_Tensor(&sorted, &values)?;
    let right = aten::searchsorted_Tensor::with(&sorted, &values).right(true).call()?;
    assert_eq!(left.to_vec::<i64>()?, [0, 0, 1, 3, 3, 4, 5, 5]);
    assert_eq!(right.to_vec::<i64>()?, [0, 1, 3, 3, 4, 5, 5, 5]);
    let unsorted = Tensor::from([5.0, 1.0, f64::NAN]);
    let places = aten::searchsorted_Tensor(&unsorted, &Tensor::from([0.0, 2.0, 6.0]))?;
    assert_eq!(places.to_vec::<i64>()?, [0, 3, 3]);
    Ok(())
}

#[test]
fn further_names_are_those_of_known_operators() -> Result<()> {
    let x = Tensor::from([-1.5, 2.5, 300.0]);
    assert_eq!(aten::_cast_Float(&x)?.dtype(), Float32);
    assert_eq!(aten::_cast_Byte(&x)?.to_vec::<u8>()?[1..], [2, 44]);
    assert_eq!(aten::_cast_Long(&x)?.to_vec::<i64>()?, [-1, 2, 300]);
    assert!(aten::_cast_Double(&x)?.is_same(&x), "it is a double");
    assert!(aten::is_same_size(&x, &ones(&[3], Bool))? && !aten::is_same_size(&x, &ones(&[1, 3], Bool))?);
    assert!(!aten::_nnpack_available()? && !aten::is_vulkan_available()?);
    aten::_print("a line")?;

    let (smallest, largest) = aten::_aminmax(&x)?;
    assert_eq!((smallest.item()?, largest.item()?), (Scalar::Float(-1.5), Scalar::Float(300.0)));
    let (smallest, _) = aten::_aminmax_dim::call(&ones(&[2, 3], Int64), -1, true)?;
    assert_eq!((smallest.sizes(), smallest.dtype()), (&[2, 1][..], Int64));
    assert!(aten::_aminmax(&ones(&[0], Float32)).is_err() && aten::_aminmax(&ones(&[2], Complex64)).is_err());
    assert!(aten::_aminmax_dim(&ones(&[0, 2], Float32), 0).is_err());

    let (image, weight) = (ones(&[1, 2, 4, 4], Float64), ones(&[3, 2, 3, 3], Float64));
    let plain = aten::convolution(&image, &weight, None, &[1, 1], &[0, 0], &[1, 1], false, &[0, 0], 1)?;
    let convolved = aten::_convolution(
        &image,
        &weight,
        None,
        &[1, 1],
        &[0, 0],
        &[1, 1],
        false,
        &[0, 0],
        1,
        false,
        false,
        true,
        true,
    )?;
    assert_eq!(convolved.to_vec::<f64>()?, plain.to_vec::<f64>()?);
    let older = aten::_convolution_deprecated(
        &image,
        &weight,
        None,
        &[1, 1],
        &[0, 0],
        &[1, 1],
        false,
        &[0, 0],
        1,
        false,
        false,
        true,
    )?;
    assert_eq!(older.to_vec::<f64>()?, plain.to_vec::<f64>()?);
    let in_words = |padding| aten::_convolution_mode(&image, &weight, None, &[1, 1], padding, &[1, 1], 1);
    assert_eq!(in_words("valid")?.to_vec::<f64>()?, plain.to_vec::<f64>()?);
    assert_eq!(in_words("same")?.sizes(), [1, 3, 4, 4]);
    assert!(in_words("full").is_err());
    Ok(())
}

#[test]
fn root_mean_squares_are_returned_with_what_they_divide() -> Result<()> {
    let x = Tensor::from([[3.0, -4.0, 1.0], [0.5, 2.0, -1.0]]);
    let weight = Tensor::from([1.0, 2.0, -0.5]);
    let (output, scale) = aten::_fused_rms_norm(&x, &[3], Some(&weight), None)?;
    let plain = aten::rms_norm::with(&x, &[3]).weight(Some(&weight)).call()?;
    assert_eq!((output.to_vec::<f64>()?, scale.sizes()), (plain.to_vec::<f64>()?, &[2, 1][..]));
    assert_eq!(aten::_fused_rms_norm(&x, &[], None, None)?.1.sizes(), [1, 1]);
    assert!(aten::_fused_rms_norm(&ones(&[2, 3], Int64), &[3], None, None).is_err());
    let (half, scale) = aten::_fused_rms_norm(&x.to_dtype(Float16)?, &[3], None, None)?;
    assert_eq!((half.dtype(), scale.dtype()), (Float16, Float32));

    let leaves = [&x, &weight];
    leaves.iter().try_for_each(|leaf| leaf.set_requires_grad(true).map(drop))?;
    let (output, scale) = aten::_fused_rms_norm(&x, &[3], Some(&weight), Some(0.1))?;
    let grad = Tensor::from([[1.0, 0.5, -2.0], [0.25, 1.5, 3.0]]);
    output.mul(&grad)?.sum()?.backward()?;
    let grads = aten::_fused_rms_norm_backward(
        &grad,
        &x.detach()?,
        &[3],
        &scale.detach()?,
        Some(&weight.detach()?),
        &[true, true],
    )?;
    for (found, leaf) in [grads.0, grads.1].iter().zip(leaves) {
        let wanted = leaf.grad().unwrap().to_vec::<f64>()?;
        assert!(found.to_vec::<f64>()?.iter().zip(wanted).all(|(x, y)| (x - y).abs() < 1e-14), "{found}");
    }
    let none = aten::_fused_rms_norm_backward(&grad, &x, &[3], &scale, None, &[false, true])?;
    assert!(!none.0.is_defined() && !none.1.is_defined());
    Ok(())
}
