//! Arithmetic, comparisons and functions of two operands.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::assert_close;

#[test]
fn operands_broadcast() -> Result<()> {
    let (row, column) = (Tensor::from([[1, 2, 3]]), Tensor::from([[10], [20]]));
    let sum = row.add(&column)?;
    assert_eq!((sum.sizes(), sum.to_vec::<i32>()?), (&[2, 3][..], vec![11, 12, 13, 21, 22, 23]));
    let error = row.add(&Tensor::from([1, 2])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten::add.Tensor: sizes [1, 3] and [2] do not broadcast: 3 and 2 at dimension -1, neither is 1"
    );
    Ok(())
}

#[test]
fn numbers_count_by_their_kind_only() -> Result<()> {
    let x = Tensor::from([1i8, 2]);
    assert_eq!(x.add(1000)?.to_vec::<i8>()?, [-23, -22]);
    assert_eq!(x.mul(0.5)?.to_vec::<f32>()?, [0.5, 1.0]);
    assert_eq!(x.mul(&Tensor::from([1i16]))?.dtype(), DType::Int16);
    assert_eq!(x.mul(&Tensor::from(1i64))?.dtype(), DType::Int8);
    Ok(())
}

#[test]
fn alpha_scales_the_other_operand() -> Result<()> {
    let (x, y) = (Tensor::from([1i64, 2]), Tensor::from([3i64, 4]));
    assert_eq!(aten::add_Tensor::with(&x, &y).alpha(2).call()?.to_vec::<i64>()?, [7, 10]);
    assert_eq!(aten::sub_Tensor::with(&x, &y).alpha(2).call()?.to_vec::<i64>()?, [-5, -6]);
    let error = aten::add_Tensor::with(&x, &y).alpha(0.5).call().unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten::add.Tensor: alpha 0.5 is of a higher kind than the result, which is int64"
    );
    Ok(())
}

#[test]
fn truth_values_have_sums_but_no_differences() -> Result<()> {
    let (x, y) = (Tensor::from([true, false]), Tensor::from([true, true]));
    assert_eq!(x.add(&y)?.to_vec::<bool>()?, [true, true]);
    assert_eq!(x.mul(&y)?.to_vec::<bool>()?, [true, false]);
    assert!(x.sub(&y).is_err() && x.sub(1).is_err());
    Ok(())
}

#[test]
fn quotients_of_integers_are_floats_unless_rounded() -> Result<()> {
    let (x, y) = (Tensor::from([7i32, -7]), Tensor::from([2i32, 2]));
    assert_eq!(x.div(&y)?.to_vec::<f32>()?, [3.5, -3.5]);
    let rounded = |mode| aten::div_Tensor_mode(&x, &y, Some(mode));
    assert_eq!(rounded("trunc")?.to_vec::<i32>()?, [3, -3]);
    assert_eq!(rounded("floor")?.to_vec::<i32>()?, [3, -4]);
    assert!(rounded("up").is_err());
    let zero = Tensor::from([0i32]);
    let error = aten::div_Tensor_mode(&x, &zero, Some("floor")).unwrap_err();
    assert_eq!(error.to_string(), "aten::div.Tensor_mode: an integer was divided by zero");
    assert_eq!(x.div(&zero)?.to_vec::<f32>()?, [f32::INFINITY, f32::NEG_INFINITY]);
    Ok(())
}

#[test]
fn halves_are_rounded_once() -> Result<()> {
    let x = Tensor::from([f16::from_f32(2048.0)]);
    let y = aten::add_Tensor::with(&x, &Tensor::from([f16::ONE])).alpha(1.5).call()?;
    assert_eq!(y.to_vec::<f16>()?, [f16::from_f32(2050.0)]); // 2049.5, of which 2048 and 2050 are the neighbours
    Ok(())
}

#[test]
fn in_place_writes_to_the_tensor_itself() -> Result<()> {
    let mut x = Tensor::from([1.0, 2.0]);
    let handle = x.clone();
    x.add_(&handle)?.mul_(10)?;
    assert_eq!(handle.to_vec::<f64>()?, [20.0, 40.0]);
    assert_eq!(handle.version(), 2);
    Ok(())
}

#[test]
fn in_place_refuses_what_it_cannot_hold() -> Result<()> {
    let mut x = Tensor::from([1, 2]);
    let error = x.add_(0.5).unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten::add_.Tensor: a result of float32 cannot be written to a tensor of int32"
    );
    assert!(x.add_(&Tensor::from([[1, 2], [3, 4]])).is_err());
    assert!(x.unsqueeze(0)?.expand(&[2, 2])?.add_(1).is_err());
    assert_eq!((x.to_vec::<i32>()?, x.version()), (vec![1, 2], 0));
    Ok(())
}

#[test]
fn results_take_the_order_of_dimensions_of_the_first_operand() -> Result<()> {
    let contiguous = aten::zeros(&[2, 3, 4, 5])?;
    let channels_last = contiguous.contiguous_format(MemoryFormat::ChannelsLast)?;
    assert_eq!(channels_last.add(&channels_last)?.strides(), [60, 1, 15, 3]);
    assert_eq!(channels_last.add(&contiguous)?.strides(), [60, 1, 15, 3]);
    assert_eq!(contiguous.add(&channels_last)?.strides(), [60, 20, 5, 1]);
    let x = aten::zeros(&[2, 3])?.t()?;
    assert_eq!(x.add(1)?.strides(), [1, 3]);
    Ok(())
}

#[test]
fn meta_tensors_have_results_of_the_right_shape() -> Result<()> {
    let meta = |sizes: &[i64]| Tensor::empty(sizes, DType::Int32, Device::META);
    let quotient = meta(&[2, 1])?.div(&meta(&[3])?)?;
    assert_eq!((quotient.sizes(), quotient.dtype()), (&[2, 3][..], DType::Float32));
    assert_eq!(quotient.device(), Device::META);
    assert!(meta(&[2])?.add(&Tensor::from([1, 2])).is_err());
    Ok(())
}

#[test]
fn large_tensors_are_shared_among_threads() -> Result<()> {
    let n = 300_001i64;
    let x = Tensor::from_vec((0..n).map(|i| i as f32).collect(), &[n])?;
    let sum = x.add(&x)?.to_vec::<f32>()?;
    assert!(sum.iter().enumerate().all(|(i, x)| *x == 2.0 * i as f32));
    let columns = Tensor::from_vec((0..n - 1).collect(), &[1000, 300])?.t()?;
    let sum = columns.add(&columns.contiguous()?)?;
    assert_eq!(sum.element::<i64>(&[299, 999])?, 2 * (n - 2));
    assert_eq!(sum.element::<i64>(&[3, 700])?, 2 * 210_003);
    Ok(())
}

#[test]
fn halves_are_divided_as_halves() -> Result<()> {
    let bf16 = |values: [f32; 2]| Tensor::from(values.map(half::bf16::from_f32));
    let a = bf16([-0.746_093_75, 1.0]); // over 0.249, that is -2.996, which is -3 in eight bits
    let divide = |b: &Tensor| {
        aten::div_Tensor_mode(&a, b, Some("trunc"))?.to_vec::<half::bf16>().map(|out| out[0].to_f32())
    };
    assert_eq!(divide(&bf16([0.249_023_44, 1.0]))?, -3.0);
    let single = Tensor::from(half::bf16::from_f32(0.249_023_44));
    assert_eq!(divide(&single)?, -2.0);
    Ok(())
}

#[test]
fn powers_by_one_number_are_those_of_many() -> Result<()> {
    let x = Tensor::from([0.25, 1.0, 2.0, 9.0]);
    for exponent in [3.0, 2.0, 0.5, -0.5, -1.0, -2.0, 1.5] {
        let many = aten::pow_Tensor_Tensor(&x, &Tensor::from([exponent; 4]))?;
        assert!(aten::allclose(&aten::pow_Tensor_Scalar(&x, exponent.into())?, &many)?, "{exponent}");
    }
    Ok(())
}

#[test]
fn expressions_are_the_operators_of_their_names() -> Result<()> {
    let (x, y) = (Tensor::from([1i64, 2]), Tensor::from([0.5f32, 4.0]));
    x.set_requires_grad(false)?;
    assert_eq!((&x + &y)?.to_vec::<f32>()?, [1.5, 6.0]);
    assert_eq!((&x - 1)?.to_vec::<i64>()?, [0, 1]);
    assert_eq!((&y * 2.0)?.dtype(), DType::Float32);
    assert_eq!(((-&x)? / x.clone())?.to_vec::<f32>()?, [-1.0, -1.0]);
    assert_eq!((x.clone() - y)?.to_vec::<f32>()?, [0.5, -2.0]);
    assert_eq!((x.clone() * Scalar::Bool(true))?.dtype(), DType::Int64);
    let weight = Tensor::from([3.0f32]);
    weight.set_requires_grad(true)?;
    ((&weight * &weight)? + 1)?.backward()?;
    assert_eq!(weight.grad().unwrap().to_vec::<f32>()?, [6.0]);
    let error = (&x + &Tensor::from([1, 2, 3])).unwrap_err().to_string();
    assert!(error.contains("aten::add.Tensor"), "{error}");
    Ok(())
}

#[test]
fn rests_are_exact_whatever_the_quotient() -> Result<()> {
    let mut pairs =
        vec![(5.5, 2.0), (-5.5, 2.0), (5.5, -2.0), (0.0, -3.0), (-0.0, 3.0), (1.0, 3.0), (-1e-30, 1.0)];
    for huge in [(1e30, 7.0), (f64::INFINITY, 1.0), (1.0, f64::INFINITY), (1.0, 0.0), (f64::NAN, 1.0)] {
        pairs.push(huge);
        pairs.extend((1..70).map(|i| (f64::from(i) * 0.7, 0.3))); // blocks with such a quotient and without
    }
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let n = pairs.len() as i64;
    let (x, y) = (Tensor::from_vec(a.clone(), &[n])?, Tensor::from_vec(b.clone(), &[n])?);
    let got = aten::fmod_Tensor(&x, &y)?.to_vec::<f64>()?;
    let rounded_down = aten::remainder_Tensor(&x, &y)?.to_vec::<f64>()?;
    let quotients = aten::div_Tensor_mode::call(&x, &y, Some("floor"))?.to_vec::<f64>()?;
    for (i, (a, b)) in pairs.into_iter().enumerate() {
        let rest = a % b;
        let down = if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest };
        assert!(got[i] == rest || got[i].is_nan() && rest.is_nan(), "{a} {b}: {}", got[i]);
        assert!(
            rounded_down[i] == down || down.is_nan() && rounded_down[i].is_nan(),
            "{a} {b}: {}",
            rounded_down[i]
        );
        let quotient = ((a - down) / b).round();
        assert!(b == 0.0 || !quotient.is_finite() || quotients[i] == quotient, "{a} {b}: {}", quotients[i]);
    }
    Ok(())
}

#[test]
fn extremes_of_numbers_pass_over_nan() -> Result<()> {
    let (x, y) = (Tensor::from([1.0, f64::NAN, 3.0, 5.0]), Tensor::from([2.0, 2.0, f64::NAN, 5.0]));
    x.set_requires_grad(true)?;
    y.set_requires_grad(true)?;
    let most = aten::fmax(&x, &y)?;
    assert_eq!(most.to_vec::<f64>()?, [2.0, 2.0, 3.0, 5.0]);
    assert_eq!(aten::fmin(&x, &y)?.to_vec::<f64>()?, [1.0, 2.0, 3.0, 5.0]);
    aten::sum(&most)?.backward()?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [0.0, 0.0, 1.0, 0.5]);
    assert_eq!(y.grad().unwrap().to_vec::<f64>()?, [1.0, 1.0, 0.0, 0.5]);
    // Of two NaNs the first one is taken, as in PyTorch.
    for extreme in [aten::fmax, aten::fmin] {
        let [x, y] = [(); 2].map(|()| Tensor::from([f64::NAN]));
        x.set_requires_grad(true)?;
        y.set_requires_grad(true)?;
        extreme(&x, &y)?.backward()?;
        assert_eq!([&x, &y].map(|x| x.grad().unwrap().to_vec::<f64>().unwrap()), [[1.0], [0.0]]);
    }
    Ok(())
}

#[test]
fn an_angle_has_no_slope_at_the_origin() -> Result<()> {
    let (y, x) = (Tensor::from([0.0, 3.0]), Tensor::from([0.0, 4.0]));
    y.set_requires_grad(true)?;
    x.set_requires_grad(true)?;
    aten::sum(&aten::atan2(&y, &x)?)?.backward()?;
    assert_eq!(y.grad().unwrap().to_vec::<f64>()?, [0.0, 4.0 / 25.0]);
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [-0.0, -3.0 / 25.0]);
    Ok(())
}

#[test]
fn integers_of_any_size_are_divided_exactly() -> Result<()> {
    let ends =
        [i64::MIN, i64::MIN + 1, -(1 << 53) - 1, -(1 << 50) - 1, -(1 << 50), -7, -1, 1, 3, 1 << 50, i64::MAX];
    let numbers: Vec<i64> = (0..99).flat_map(|_| ends).collect();
    let pairs: Vec<(i64, i64)> =
        numbers.iter().enumerate().map(|(i, a)| (*a, ends[i * 7 % 10 + 1])).collect();
    let tensor =
        |f: fn(&(i64, i64)) -> i64| Tensor::from_vec(pairs.iter().map(f).collect(), &[pairs.len() as i64]);
    let (x, y) = (tensor(|pair| pair.0)?, tensor(|pair| pair.1)?);
    let each = |f: fn(i64, i64) -> i64| pairs.iter().map(|(a, b)| f(*a, *b)).collect::<Vec<_>>();
    let down = |a: i64, b: i64| {
        let over = i64::from(a.wrapping_rem(b) != 0 && (a < 0) != (b < 0));
        a.wrapping_div(b) - over
    };
    assert_eq!(aten::floor_divide(&x, &y)?.to_vec::<i64>()?, each(down));
    assert_eq!(aten::fmod_Tensor(&x, &y)?.to_vec::<i64>()?, each(i64::wrapping_rem));
    let rest = |a: i64, b: i64| {
        let rest = a.wrapping_rem(b);
        if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
    };
    assert_eq!(aten::remainder_Tensor(&x, &y)?.to_vec::<i64>()?, each(rest));
    let error = aten::remainder_Tensor(&x, &x.sub(&x)?).unwrap_err().to_string();
    assert_eq!(error, "aten::remainder.Tensor: an integer was divided by zero");
    Ok(())
}

#[test]
fn products_with_columns_and_rows_are_added_in_one_go() -> Result<()> {
    let numbers = |sizes: &[i64]| -> Result<Tensor> {
        let count: i64 = sizes.iter().product();
        aten::arange(count.into())?.remainder(7)?.to_dtype(DType::Float32)?.reshape(sizes)
    };
    let (x, column, row) = (numbers(&[90, 131])?, numbers(&[90])?, numbers(&[131])?);
    let columns = column.reshape(&[90, 1])?;
    for (a, b) in [(&columns, &row), (&row, &columns), (&columns, &x), (&x, &row)] {
        let want = (&x + &(&(a * b)? * 2)?)?;
        assert!(aten::equal(&aten::addcmul::with(&x, a, b).value(2).call()?, &want)?);
        assert!(aten::equal(&aten::addcmul::with(a, &x, b).value(2).call()?, &(a + &(&(&x * b)? * 2)?)?)?);
    }
    let want = (&x + &(&aten::outer(&column, &row)? * 2)?)?;
    assert!(aten::equal(&aten::addr::with(&x, &column, &row).alpha(2).call()?, &want)?);
    let want = (&row + &aten::outer(&column, &row)?)?;
    assert!(aten::equal(&aten::addr(&row, &column, &row)?, &want)?);
    assert!(aten::addr(&x, &row, &column).is_err() && aten::addr(&x, &columns, &row).is_err());
    Ok(())
}

/// Broadcasting over three dimensions or more is computed plane by plane where rows are dense or single elements: the
/// results are those of whole operands, also in place, of several threads, and of operands with other strides.
#[test]
fn broadcasting_over_many_dimensions() -> Result<()> {
    let numbers = |sizes: &[i64]| -> Result<Tensor> {
        let count: i64 = sizes.iter().product();
        Tensor::from_vec((0..count).map(|i| (i * 7 % 101) as f32).collect(), sizes)
    };
    type Case<'a> = (&'a [i64], &'a [i64], &'a [i64]);
    let cases: [Case<'_>; 6] = [
        (&[8, 1, 8, 1], &[1, 16, 1, 16], &[8, 16, 8, 16]),
        (&[8, 16, 12, 64], &[8, 1, 12, 1], &[8, 16, 12, 64]),
        (&[4, 30, 50, 70], &[30, 1, 70], &[4, 30, 50, 70]),
        (&[3, 1, 5, 9], &[3, 4, 1, 9], &[3, 4, 5, 9]),
        (&[2, 3, 4, 5, 33], &[3, 1, 5, 1], &[2, 3, 4, 5, 33]),
        (&[6, 1, 200, 70], &[1, 40, 1, 1], &[6, 40, 200, 70]),
    ];
    for (a, b, sizes) in cases {
        let (a, b) = (numbers(a)?, numbers(b)?);
        let whole = |x: &Tensor| x.expand(sizes)?.contiguous();
        let sub = aten::sub_Tensor(&whole(&a)?, &whole(&b)?)?;
        assert!(aten::sub_Tensor(&a, &b)?.to_vec::<f32>()? == sub.to_vec::<f32>()?, "{sizes:?}");
        let back = aten::sub_Tensor(&b, &a)?.to_vec::<f32>()?;
        assert!(back == sub.neg()?.to_vec::<f32>()?, "{sizes:?}");
        // As the last two of three operands, and in place.
        let sum = aten::addcmul::with(&whole(&a)?, &b, &b).call()?;
        let want = aten::add_Tensor(&whole(&a)?, &whole(&aten::mul_Tensor(&b, &b)?)?)?;
        assert!(sum.to_vec::<f32>()? == want.to_vec::<f32>()?, "{sizes:?}");
        let mut changed = aten::clone(&whole(&a)?)?;
        aten::sub__Tensor(&mut changed, &b)?;
        assert!(changed.to_vec::<f32>()? == sub.to_vec::<f32>()?, "{sizes:?}");
        // Every other row of larger memory.
        let gaps = aten::zeros(
            &[&sizes[..sizes.len() - 2], &[sizes[sizes.len() - 2] * 2, sizes[sizes.len() - 1]]].concat(),
        )?;
        let mut rows = aten::slice_Tensor::with(&gaps).dim(-2).step(2).call()?;
        aten::copy_(&mut rows, &a)?;
        aten::sub__Tensor(&mut rows, &b)?;
        assert!(rows.to_vec::<f32>()? == sub.to_vec::<f32>()?, "{sizes:?}");
    }
    Ok(())
}

#[test]
fn nothing_times_a_logarithm_is_a_positive_zero() -> Result<()> {
    let products = aten::xlogy_Tensor(&Tensor::from([-0.0, 0.0, -0.0]), &Tensor::from([2.0, 0.0, f64::NAN]))?;
    let products = products.to_vec::<f64>()?;
    assert!(products[..2].iter().all(|x| x.to_bits() == 0) && products[2].is_nan(), "{products:?}");
    Ok(())
}

#[test]
fn sums_are_cut_off_at_zero() -> Result<()> {
    let x = Tensor::from([1.0, -2.0]);
    let sum = aten::_add_relu_Tensor::call(&x, &Tensor::from([3.0, 0.5]), 2.into())?;
    assert_close(&sum, &[7.0, 0.0])?;
    let sum = aten::_add_relu_Scalar::call(&Tensor::from([3, -5, 1]), 2.into(), 3.into())?;
    assert_eq!(sum.to_vec::<i32>()?, [9, 1, 7]);
    let mut y = Tensor::from([1f32, f32::NAN]);
    aten::_add_relu__Scalar(&mut y, 1.into())?;
    assert_eq!(y.to_vec::<f32>()?, [2.0, 0.0]);
    assert!(aten::_add_relu__Tensor(&mut Tensor::from([1]), &Tensor::from([1.5])).is_err(), "no integers");
    for dtype in [DType::Float16, DType::UInt8, DType::Bool, DType::Complex64] {
        let x = aten::to_dtype(&x, dtype)?;
        assert!(aten::_add_relu_Tensor(&x, &x).is_err(), "{dtype}");
        assert!(
            aten::_add_relu_Scalar(&x, 1.5.into()).is_err(),
            "{dtype}, though the sum may be of another type"
        );
    }
    let short = Tensor::from([1i16, -2]);
    assert_eq!(aten::_add_relu_Tensor(&short, &short)?.to_vec::<i16>()?, [2, 0]);
    Ok(())
}

#[test]
fn powers_of_two_scale_without_overflow_on_the_way() -> Result<()> {
    let ldexp = |x: &[f64], dtype, exponents: &[i64]| -> Result<Vec<f64>> {
        let (x, exponents) = (Tensor::from(x.to_vec()).to_dtype(dtype)?, Tensor::from(exponents.to_vec()));
        let product = aten::ldexp_Tensor(&x, &exponents)?;
        assert_eq!(product.dtype(), dtype);
        product.to_dtype(DType::Float64)?.to_vec::<f64>()
    };
    let (half, single) = (DType::Float16, DType::Float32);
    assert_eq!(ldexp(&[1.5, -3.0, 2f64.powi(-24)], half, &[2, 20, 20])?, [6.0, f64::NEG_INFINITY, 0.0625]);
    assert_eq!(ldexp(&[2f64.powi(-100), 0.0, 1.0], single, &[160, 5000, -5000])?, [2f64.powi(60), 0.0, 0.0]);
    assert_eq!(
        ldexp(&[2f64.powi(-149), 2f64.powi(127)], single, &[276, -276])?,
        [2f64.powi(127), 2f64.powi(-149)]
    );
    let exponents: Vec<i64> = (-1074..1024).collect();
    let powers = ldexp(&vec![1.0; exponents.len()], DType::Float64, &exponents)?;
    for (exponent, power) in exponents.into_iter().zip(powers) {
        let half = exponent as i32 / 2; // `powi` divides one by powers, which overflow
        assert_eq!(power, 2f64.powi(half) * 2f64.powi(exponent as i32 - half), "{exponent}");
    }
    let ends = ldexp(&[f64::MIN_POSITIVE, 5e-324], DType::Float64, &[2000, 2000])?;
    assert_eq!(ends, [2f64.powi(978), 2f64.powi(926)]);
    let bools = Tensor::from([true]);
    assert!(aten::ldexp_Tensor(&Tensor::from([1.5]), &bools).is_err());
    Ok(())
}

#[test]
fn elements_are_looked_up_among_others() -> Result<()> {
    let x = Tensor::from([[f32::NAN, 0.0], [-0.0, 3.0]]);
    let tests = Tensor::from([3.0, f64::NAN, 0.0, 3.0]);
    assert_eq!(aten::isin_Tensor_Tensor(&x, &tests)?.to_vec::<bool>()?, [false, true, true, true]);
    let others = aten::isin_Tensor_Tensor::with(&x, &tests).invert(true).call()?;
    assert_eq!(others.to_vec::<bool>()?, [true, false, false, false]);
    let found = aten::isin_Tensor_Tensor(&Tensor::from([1i64, (1 << 31) + 5]), &Tensor::from([1i32, 5]))?;
    assert_eq!(found.to_vec::<bool>()?, [true, false]);
    let nothing = Tensor::from_vec(Vec::<i64>::new(), &[0])?;
    assert_eq!(aten::isin_Tensor_Tensor(&Tensor::from(2), &nothing)?.item()?, Scalar::Bool(false));
    assert!(aten::isin_Tensor_Tensor(&Tensor::from(true), &Tensor::from(true)).is_err());
    let turned = aten::t(&Tensor::from([[1, 2, 3], [4, 3, 6]]))?;
    let found = aten::isin_Tensor_Scalar(&turned, 3.into())?;
    assert_eq!(found.to_vec::<bool>()?, [false, false, false, true, true, false]);
    assert_eq!(found.strides(), [2, 1], "row-major, whatever the strides of the elements");
    Ok(())
}

#[test]
fn common_multiples_of_small_integers_are_cut_off_with_their_sign() -> Result<()> {
    let (x, y) = (Tensor::from([126i8, 126, -6, -128]), Tensor::from([8i8, -8, 4, -128]));
    assert_eq!(aten::lcm(&x, &y)?.to_vec::<i8>()?, [-8, -8, 12, -128], "504 is -8 in eight bits");
    let wide = aten::lcm(&Tensor::from([1i16 << 14]), &Tensor::from([3i16]))?;
    assert_eq!(wide.to_vec::<i16>()?, [-(1 << 14)]);
    Ok(())
}

#[test]
fn complex_numbers_have_exact_integral_powers() -> Result<()> {
    let x = Tensor::from([Complex64::new(3.0, 4.0), Complex64::I]).to_dtype(DType::Complex64)?;
    let power = |exponent: Scalar| {
        aten::pow_Tensor_Scalar(&x, exponent)?.to_dtype(DType::Complex128)?.to_vec::<Complex64>()
    };
    let numbers = |pairs: [(f64, f64); 2]| pairs.map(|(re, im)| Complex64::new(re, im));
    assert_eq!(power(2.into())?, numbers([(-7.0, 24.0), (-1.0, 0.0)]));
    assert_eq!(power(Complex64::new(3.0, 0.0).into())?, numbers([(-117.0, 44.0), (0.0, -1.0)]));
    assert_eq!(power(1.into())?, numbers([(3.0, 4.0), (0.0, 1.0)]));
    assert_eq!(power(0.into())?, numbers([(1.0, 0.0), (1.0, 0.0)]));
    assert_eq!(power((-1.0).into())?[1], Complex64::new(0.0, -1.0));
    assert_eq!(power(0.5.into())?[0], Complex64::new(2.0, 1.0));
    // With an imaginary part, the exponent has no formula of its own: iⁱ = exp(-π/2).
    assert!((power(Complex64::I.into())?[1].re - 0.207_879_58).abs() < 1e-7);
    let zeros = Tensor::from([Complex64::ZERO; 2]);
    let powers = aten::pow_Tensor_Tensor(&zeros, &Tensor::from([Complex64::ZERO, Complex64::new(2.0, 0.0)]))?;
    let powers = powers.to_vec::<Complex64>()?;
    assert!(powers[0].is_nan() && powers[1] == Complex64::ZERO, "{powers:?}");
    Ok(())
}

#[test]
fn an_exponent_that_the_type_does_not_have_is_refused() -> Result<()> {
    let x = Tensor::from([1u8, 5]);
    assert!(
        aten::pow_Tensor_Scalar(&x, 300.into()).is_err() && aten::pow_Tensor_Scalar(&x, 255.into()).is_ok()
    );
    assert!(aten::pow__Scalar(&mut x.clone(), 300.into()).is_err());
    let truth = Tensor::from([true, false]);
    assert_eq!(aten::pow_Tensor_Scalar(&truth, false.into())?.to_vec::<bool>()?, [true, true]);
    assert_eq!(aten::pow_Tensor_Scalar(&truth, true.into())?.to_vec::<bool>()?, [true, false]);
    Ok(())
}

#[test]
fn operands_are_rounded_to_a_common_type_of_16_bits() -> Result<()> {
    let x = Tensor::from([256.0, -256.0, 3.0]).to_dtype(DType::BFloat16)?;
    let wide = [Tensor::from([257i64, -257, 515]), Tensor::from([257i32, -257, 515])];
    let numbers = |tensor: Tensor| tensor.to_dtype(DType::Float64)?.to_vec::<f64>();
    for other in &wide {
        assert_eq!(numbers(x.sub(other)?)?, [0.0, 0.0, -512.0]);
        assert_eq!(numbers(x.mul(other)?)?, [65536.0, 65536.0, 1552.0]);
        assert_eq!(numbers(aten::fmod_Tensor(&x, other)?)?, [0.0, 0.0, 3.0]);
        assert_eq!(aten::eq_Tensor(&x, other)?.to_vec::<bool>()?, [true, true, false]);
        assert_eq!(
            aten::isin_Tensor_Tensor::call(&x, other, false, false)?.to_vec::<bool>()?,
            [true, true, false]
        );
    }
    let large = Tensor::from([100_000i64]);
    let half = Tensor::from([0.5f32]).to_dtype(DType::Float16)?;
    assert_eq!(numbers(aten::expand(&large, &[2])?.mul(&aten::expand(&half, &[2])?)?)?, [f64::INFINITY; 2]);
    // Numbers are rounded as well, except for a second factor or divisor.
    assert_eq!(numbers(x.add(257.0)?)?, [512.0, 0.0, 260.0]);
    assert_eq!(numbers(aten::fmod_Scalar(&x, 257.into())?)?, [0.0, 0.0, 3.0]);
    assert_eq!(aten::eq_Scalar(&x, 257.into())?.to_vec::<bool>()?, [true, false, false]);
    assert_eq!(numbers(x.mul(257)?)?, [65536.0, -65536.0, 772.0]);
    assert_eq!(numbers(half.mul(&large)?)?, [49984.0]);
    assert_eq!(numbers(large.mul(&half)?)?, [f64::INFINITY]);
    assert_eq!(numbers(Tensor::from(257.0f32).mul(&x)?)?, [65536.0, -65536.0, 768.0]);
    // In place, PyTorch multiplies the number by the tensor.
    let mut product = aten::clone(&x)?;
    aten::mul__Scalar(&mut product, 257.into())?;
    assert_eq!(numbers(product)?, [65536.0, -65536.0, 768.0]);
    Ok(())
}

#[test]
fn exponents_are_numbers_of_a_type_of_16_bits() -> Result<()> {
    let x = Tensor::from([2.0f32, 3.0]);
    for (dtype, exponent) in [(DType::Float16, 70_000.0), (DType::BFloat16, 1e39)] {
        let mut half = x.to_dtype(dtype)?;
        let error = aten::pow_Tensor_Scalar(&half, exponent.into()).unwrap_err().to_string();
        assert!(error.starts_with("aten::pow.Tensor_Scalar"), "{error}");
        assert!(aten::pow__Scalar(&mut half, exponent.into()).is_err());
        assert!(aten::hardshrink_backward(&half, &half, exponent.into()).is_err());
        assert!(aten::softshrink_backward(&half, &half, exponent.into()).is_err());
    }
    assert!(aten::pow_Tensor_Scalar(&x, 1e39.into()).is_ok());
    Ok(())
}

#[test]
fn one_to_any_complex_power_is_one() -> Result<()> {
    let exponents = [Complex64::new(f64::NAN, 1.0), Complex64::new(f64::INFINITY, 0.0)];
    let exponents = Tensor::from(exponents);
    let one = Complex64::new(1.0, 0.0);
    assert_eq!(aten::pow_Scalar(1.into(), &exponents)?.to_vec::<Complex64>()?, [one; 2]);
    assert_eq!(aten::float_power_Scalar(1.into(), &exponents)?.to_vec::<Complex64>()?, [one; 2]);
    Ok(())
}
