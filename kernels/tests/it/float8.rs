//! Floats of eight bits: conversions, the few operators that compute with them, and refusals, as in PyTorch 2.15.

use torch_library::element::{Complex32, Float8E4M3Fn, Float8E5M2};
use torch_library::fake::FakeMode;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::vmap::vmap;

const E4M3: DType = DType::Float8E4M3Fn;
const E5M2: DType = DType::Float8E5M2;
const SCALES: DType = DType::Float8E8M0Fnu;

fn types() -> impl Iterator<Item = DType> {
    DType::all().filter(|dtype| dtype.is_float8())
}

fn codes(tensor: &Tensor) -> Result<Vec<u8>> {
    aten::view_dtype(&aten::contiguous(tensor)?, DType::UInt8)?.to_vec()
}

fn to(dtype: DType, numbers: &[f32]) -> Result<Tensor> {
    aten::to_dtype(&Tensor::from(numbers), dtype)
}

fn numbers(tensor: &Tensor) -> Result<Vec<f32>> {
    aten::to_dtype(tensor, DType::Float32)?.to_vec()
}

/// The message of a result that must be an error.
fn refusal<T>(result: Result<T>) -> String {
    result.map(drop).unwrap_err().to_string()
}

#[test]
fn every_type_of_float_is_rounded_as_in_pytorch() -> Result<()> {
    let values = [0.0, -0.0, 1.0, 1.0625, -2.6, 0.0009765625, 448.0, 470.0, 1e6, f64::INFINITY, f64::NAN];
    let recorded = [
        [0, 128, 60, 60, 193, 20, 95, 95, 124, 124, 127],
        [0, 128, 56, 56, 194, 0, 126, 126, 126, 126, 127],
        [0, 0, 64, 64, 197, 24, 99, 99, 128, 128, 128],
        [0, 0, 64, 64, 202, 1, 128, 128, 128, 128, 128],
        [0, 0, 127, 127, 128, 117, 136, 136, 147, 255, 255],
    ];
    for (dtype, recorded) in types().zip(recorded) {
        for from in [DType::Float64, DType::Float32, DType::BFloat16, DType::Float16] {
            let mut recorded = recorded;
            if (from, dtype) == (DType::Float16, SCALES) {
                recorded[8] = 255; // a million is infinity in float16
            }
            let x = aten::to_dtype(&Tensor::from(values), from)?;
            assert_eq!(codes(&aten::to_dtype(&x, dtype)?)?, recorded, "{from} to {dtype}");
        }
    }
    Ok(())
}

#[test]
fn other_types_convert_as_in_pytorch() -> Result<()> {
    let integers = Tensor::from([0i64, 1, -3, 17, 300, 1_000_000]);
    let complex = Tensor::from([Complex32::new(1.5, 2.0), Complex32::new(-0.0, -3.0)]);
    let recorded: [(&[u8], &[u8]); 5] = [
        (&[0, 60, 194, 76, 93, 124], &[62, 128]),
        (&[0, 56, 196, 88, 121, 126], &[60, 128]),
        (&[0, 64, 198, 80, 97, 128], &[66, 0]),
        (&[0, 64, 204, 96, 128, 128], &[68, 0]),
        (&[0, 127, 129, 131, 135, 147], &[128, 0]),
    ];
    for (dtype, (of_integers, of_complex)) in types().zip(recorded) {
        assert_eq!(codes(&aten::to_dtype(&integers, dtype)?)?, of_integers, "{dtype}");
        assert_eq!(codes(&aten::to_dtype(&complex, dtype)?)?, of_complex, "{dtype}");
        let x = to(dtype, &[1.0, 2.5, 16.0, 0.25])?;
        assert_eq!(aten::to_dtype(&x, DType::Int32)?.to_vec::<i32>()?, [1, 2, 16, 0], "{dtype}");
        assert_eq!(aten::to_dtype(&x, DType::Bool)?.to_vec::<bool>()?, [true; 4]);
    }
    Ok(())
}

#[test]
fn each_of_the_types_converts_to_each() -> Result<()> {
    let recorded =
        [[60, 193, 76, 53], [56, 194, 88, 42], [64, 197, 80, 57], [64, 202, 96, 50], [127, 128, 131, 125]];
    for from in types().filter(|dtype| *dtype != SCALES) {
        let x = to(from, &[1.0625, -2.6, 17.0, 0.3])?;
        for (dtype, recorded) in types().zip(recorded) {
            assert_eq!(codes(&aten::to_dtype(&x, dtype)?)?, recorded, "{from} to {dtype}");
        }
    }
    Ok(())
}

#[test]
fn copies_keep_every_code_and_follow_strides() -> Result<()> {
    for dtype in types() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let x = aten::view_dtype(&Tensor::from(all.clone()), dtype)?;
        assert_eq!(codes(&aten::clone(&x)?)?, all, "{dtype}");
        let turned = aten::t(&aten::view(&x, &[16, 16])?)?;
        let expected: Vec<u8> =
            (0..16).flat_map(|column| (0..16).map(move |row| row * 16 + column)).collect();
        assert_eq!(codes(&turned)?, expected, "{dtype}");
        assert_eq!(codes(&aten::cat(&[x.clone(), x.clone()])?)?, [&all[..], &all[..]].concat());
        let picked = aten::index_select(&x, 0, &Tensor::from([255i64, 1]))?;
        assert_eq!(codes(&picked)?, [255, 1]);
        let indexed = aten::index_Tensor(&x, &[Some(Tensor::from([[7i64], [130]]))])?;
        assert_eq!(codes(&indexed)?, [7, 130]);
    }
    Ok(())
}

#[test]
fn tensors_are_filled_and_printed() -> Result<()> {
    for dtype in types() {
        let options = |size: &'static [i64]| aten::ones::with(size).dtype(Some(dtype)).call();
        assert_eq!(numbers(&options(&[2])?)?, [1.0, 1.0]);
        assert_eq!(options(&[2])?.to_string(), format!("tensor([1., 1.], dtype=torch.{dtype})"));
        let half = aten::full::with(&[3], 0.5.into()).dtype(Some(dtype)).call()?;
        assert_eq!(numbers(&half)?, [0.5; 3]);
    }
    let x = to(E4M3, &[1.0625, -2.6, 17.0, 0.3])?;
    assert_eq!(x.to_string(), "tensor([ 1.0000, -2.5000, 16.0000,  0.3125], dtype=torch.float8_e4m3fn)");
    assert_eq!(aten::select_int(&x, 0, 1)?.item()?, Scalar::Float(-2.5));
    for (number, dtype) in [(500.0, E4M3), (f64::INFINITY, E4M3), (1e39, E5M2), (-1.0, SCALES)] {
        let full = aten::full::with(&[3], number.into()).dtype(Some(dtype)).call();
        assert!(refusal(full).contains(&format!("does not convert to {dtype}")), "{number} {dtype}");
    }
    assert_eq!(codes(&aten::full::with(&[3], f64::INFINITY.into()).dtype(Some(E5M2)).call()?)?, [124; 3]);
    Ok(())
}

#[test]
fn numbers_are_compared_after_they_are_rounded() -> Result<()> {
    let x = to(E4M3, &[1.0, -0.0, f32::NAN])?;
    let y = to(E4M3, &[1.0, 0.0, f32::NAN])?;
    assert_eq!(aten::eq_Tensor(&x, &y)?.to_vec::<bool>()?, [true, true, false]);
    assert_eq!(aten::ne_Tensor(&x, &y)?.to_vec::<bool>()?, [false, false, true]);
    assert_eq!(aten::eq_Scalar(&x, 1.03.into())?.to_vec::<bool>()?, [true, false, false]);
    assert_eq!(aten::isnan(&x)?.to_vec::<bool>()?, [false, false, true]);
    assert_eq!(aten::isinf(&to(E5M2, &[1e9, 1.0])?)?.to_vec::<bool>()?, [true, false]);
    assert_eq!(aten::isinf(&to(E4M3, &[1e9, 1.0])?)?.to_vec::<bool>()?, [false, false]);
    assert!(!aten::equal(&x, &y)?);
    assert!(aten::equal(&to(E4M3, &[0.0])?, &to(E4M3, &[-0.0])?)?);
    Ok(())
}

#[test]
fn the_operators_that_pytorch_has_compute_in_float32() -> Result<()> {
    let x = to(E4M3, &[1.0, 2.0, 3.0])?;
    assert_eq!(numbers(&aten::mul_Tensor(&x, &to(E4M3, &[1.25; 3])?)?)?, [1.25, 2.5, 3.75]);
    assert_eq!(numbers(&aten::abs(&to(E5M2, &[-1.5, 2.0])?)?)?, [1.5, 2.0]);
    assert_eq!(aten::sum::with(&x).dtype(Some(DType::Float32)).call()?.item()?, Scalar::Float(6.0));
    assert!(aten::all(&x)?.item()? == Scalar::Bool(true));
    let mask = Tensor::from([true, false, true]);
    assert_eq!(numbers(&aten::where_self(&mask, &x, &to(E4M3, &[9.0; 3])?)?)?, [1.0, 9.0, 3.0]);
    assert_eq!(numbers(&aten::masked_select(&x, &mask)?)?, [1.0, 3.0]);
    let place = [Some(Tensor::from([0i64, 0]))];
    let values = to(E4M3, &[2.0, 3.0])?;
    assert_eq!(numbers(&aten::index_put::call(&x, &place, &values, true)?)?, [6.0, 2.0, 3.0]);
    assert_eq!(numbers(&aten::index_put::call(&x, &place[..], &to(E4M3, &[7.0])?, false)?)?, [7.0, 2.0, 3.0]);
    Ok(())
}

/// PyTorch reverses the order of whole rows only, which it copies.
#[test]
fn elements_of_each_type_are_flipped() -> Result<()> {
    for dtype in types() {
        let x = aten::view_dtype(
            &aten::view(&Tensor::from((0..=u8::MAX).collect::<Vec<_>>()), &[2, 8, 16])?,
            dtype,
        )?;
        let rows = codes(&aten::flip(&x, &[1])?)?;
        assert_eq!((rows[0], rows[1], rows[127], rows[128]), (112, 113, 15, 240), "{dtype}");
        let all: Vec<u8> = (0..=u8::MAX).rev().collect();
        assert_eq!(codes(&aten::flip(&x, &[0, 1, 2])?)?, all);
        assert_eq!(codes(&aten::flip(&aten::permute(&x, &[2, 1, 0])?, &[0])?)?[..3], [15, 143, 31]);
        assert!(aten::flip(&aten::narrow(&x, 0, 0, 0)?, &[0])?.sizes() == [0, 8, 16]);
    }
    Ok(())
}

#[test]
fn a_number_in_a_tensor_is_rounded_before_it_is_a_factor() -> Result<()> {
    let x = to(E4M3, &[3.0, 5.0, 9.0])?;
    for factor in [Tensor::from(1.3f32), Tensor::from(1.3f64), to(E5M2, &[1.25])?] {
        let factor = aten::reshape(&factor, &[])?;
        assert_eq!(numbers(&aten::mul_Tensor(&factor, &x)?)?, [3.75, 6.0, 11.0]); // 1.3 itself gives 4, 6.5 and 12
    }
    assert!(refusal(aten::mul_Tensor(&x, &Tensor::from(1.3f32))).contains("not implemented"));
    Ok(())
}

#[test]
fn one_element_is_filled_with_what_a_number_is_rounded_to() -> Result<()> {
    let filled = |sizes: &[i64], number: f64, dtype| {
        numbers(&aten::full::with(sizes, number.into()).dtype(Some(dtype)).call()?)
    };
    for sizes in [&[][..], &[1], &[1, 1]] {
        assert_eq!(filled(sizes, 1e9, E4M3)?, [448.0]);
        assert_eq!(filled(sizes, 1e9, E5M2)?, [f32::INFINITY]);
        assert_eq!(filled(sizes, -5.0, SCALES)?, [4.0]);
        assert_eq!(filled(sizes, 1e39, DType::Float16)?, [f32::INFINITY]);
        assert!(refusal(filled(sizes, 1e39, DType::Float32)).contains("does not convert to float32"));
    }
    assert!(refusal(filled(&[0], 1e9, E4M3)).contains("does not convert to float8_e4m3fn"));
    let mut twice = aten::expand(&to(E4M3, &[1.0])?, &[2])?;
    assert!(refusal(aten::fill__Scalar(&mut twice, 1e9.into()).map(drop)).contains("does not convert"));
    aten::fill__Scalar(&mut twice, 3.0.into())?;
    assert_eq!(numbers(&twice)?, [3.0, 3.0]);
    Ok(())
}

#[test]
fn a_value_without_dimensions_is_searched_in_the_type_of_the_sequence() -> Result<()> {
    let sequence = Tensor::from([1.0f32, 2.0, 5.0]);
    let value = aten::reshape(&to(E4M3, &[3.0])?, &[])?;
    assert_eq!(aten::searchsorted_Tensor(&sequence, &value)?.item()?, Scalar::Int(2));
    assert_eq!(aten::bucketize_Tensor(&value, &sequence)?.item()?, Scalar::Int(2));
    let none = aten::searchsorted_Tensor(&aten::narrow(&sequence, 0, 0, 0)?, &to(E4M3, &[])?)?;
    assert_eq!(none.sizes(), [0]);
    assert!(refusal(aten::searchsorted_Tensor(&sequence, &to(E4M3, &[3.0])?)).contains("no common type"));
    // 0.1 is less than its nearest float32, but is rounded to it.
    let (sequence, value) = (Tensor::from([0.1f32]), Tensor::from(0.1f64));
    let found = aten::searchsorted_Tensor::with(&sequence, &value).right(true).call()?;
    assert_eq!(found.item()?, Scalar::Int(1));
    Ok(())
}

#[test]
fn without_two_elements_to_combine_every_type_accumulates() -> Result<()> {
    for dtype in types() {
        let x = aten::reshape(&to(dtype, &[2.0])?, &[])?;
        for result in
            [aten::cumsum(&x, 0)?, aten::cumprod(&x, 0)?, aten::cummax(&x, 0)?.0, aten::cummin(&x, 0)?.0]
        {
            assert_eq!((numbers(&result)?, result.sizes()), (vec![2.0], &[][..]), "{dtype}");
        }
        assert_eq!(aten::cummax(&x, 0)?.1.item()?, Scalar::Int(0));
        let none = to(dtype, &[])?;
        assert_eq!(aten::cumsum(&none, 0)?.sizes(), [0]);
        assert_eq!(aten::cummin(&none, 0)?.1.sizes(), [0]);
        assert!(refusal(aten::cumsum(&to(dtype, &[2.0])?, 0)).contains("not implemented"));
        let (column, row) = (aten::reshape(&none, &[2, 0])?, aten::reshape(&none, &[0, 3])?);
        assert_eq!(codes(&aten::mm(&column, &row)?)?, [0; 6]);
        assert_eq!(aten::mm(&row, &aten::ones::with(&[3, 2]).dtype(Some(dtype)).call()?)?.sizes(), [0, 2]);
    }
    Ok(())
}

#[test]
fn sums_over_a_batch_of_products_are_rounded_after_each() -> Result<()> {
    let start = aten::reshape(&to(E4M3, &[16.0])?, &[1, 1])?;
    let (left, right) = (to(E4M3, &[0.75; 3])?, to(E4M3, &[1.0; 3])?);
    let [left, right] = [aten::reshape(&left, &[3, 1, 1])?, aten::reshape(&right, &[3, 1, 1])?];
    // 16.75 is rounded to 16, three times; the sum of all is 18.25.
    assert_eq!(numbers(&aten::addbmm(&start, &left, &right)?)?, [16.0]);
    Ok(())
}

#[test]
fn matrices_are_multiplied_in_float32_and_rounded_once() -> Result<()> {
    let (a, b) = matrices()?;
    assert_eq!(numbers(&aten::mm(&a, &b)?)?, [5.0, -3.0, 5.0, 5.0, 5.0, 13.0]);
    let bias = aten::narrow(&a, 1, 0, 2)?;
    assert_eq!(numbers(&aten::addmm(&bias, &a, &b)?)?, [-0.5, -7.5, 3.5, 4.5, 7.5, 16.0]);
    assert!(
        refusal(aten::bmm(&aten::unsqueeze(&a, 0)?, &aten::unsqueeze(&b, 0)?)).contains("not implemented")
    );
    Ok(())
}

fn matrices() -> Result<(Tensor, Tensor)> {
    let a: Vec<f32> = (0..12u8).map(|i| f32::from(i) - 5.5).collect();
    let b: Vec<f32> = (0..8u8).map(|i| (f32::from(i) - 3.0) / 2.0).collect();
    Ok((aten::view(&to(E4M3, &a)?, &[3, 4])?, aten::view(&to(E4M3, &b)?, &[4, 2])?))
}

#[test]
fn scaled_products_are_those_of_pytorch() -> Result<()> {
    let (a, b) = matrices()?;
    let (first, second, bias) = (Tensor::from(0.5f32), Tensor::from(0.75f32), Tensor::from([1.0f32, -1.0]));
    let product = || aten::_scaled_mm::with(&a, &b, &first, &second);
    let wide = product().out_dtype(Some(DType::Float32)).call()?;
    assert_eq!(wide.to_vec::<f32>()?, [1.875, -1.125, 1.875, 1.875, 1.875, 4.875]);
    assert_eq!(codes(&product().call()?)?, [63, 185, 63, 63, 63, 74]);
    let half = product().bias(Some(&bias)).out_dtype(Some(DType::BFloat16)).call()?;
    assert_eq!(numbers(&half)?, [2.875, -2.125, 2.875, 0.875, 2.875, 3.875]);
    let scale = Tensor::from(0.3f32);
    let narrow = product().bias(Some(&bias)).scale_result(Some(&scale)).call()?;
    assert_eq!(codes(&narrow)?, [68, 192, 68, 54, 68, 72]);
    let narrow = product().bias(Some(&bias)).scale_result(Some(&scale)).out_dtype(Some(E4M3)).call()?;
    assert_eq!(codes(&narrow)?, [82, 206, 82, 68, 82, 85]);
    let (rows, columns) = (Tensor::from([[0.5f32], [1.0], [2.0]]), Tensor::from([[1.0f32, 0.25]]));
    let by_rows = aten::_scaled_mm::with(&a, &b, &rows, &columns).out_dtype(Some(DType::Float32)).call()?;
    assert_eq!(by_rows.to_vec::<f32>()?, [2.5, -0.375, 5.0, 1.25, 10.0, 6.5]);
    let second_form = aten::_scaled_mm_v2::call(
        &a,
        &b,
        std::slice::from_ref(&rows),
        &[1],
        &[0],
        std::slice::from_ref(&columns),
        &[1],
        &[0],
        None,
        Some(DType::Float32),
        &[],
        false,
    )?;
    assert_eq!(second_form.to_vec::<f32>()?, by_rows.to_vec::<f32>()?);
    Ok(())
}

#[test]
fn scaled_products_say_what_they_need() -> Result<()> {
    let (a, b) = matrices()?;
    let (one, rows) = (Tensor::from(1.0f32), Tensor::from([[0.5f32], [1.0], [2.0]]));
    let cases = [
        (aten::_scaled_mm(&a, &b, &rows, &one), "contiguous ones of sizes [3, 1] and [1, 2]"),
        (aten::_scaled_mm(&a, &b, &Tensor::from(1.0f64), &one), "expected float32"),
        (aten::_scaled_mm(&a, &a, &one, &one), "have no product"),
        (
            aten::_scaled_mm(&aten::to_dtype(&a, DType::Float32)?, &b, &one, &one),
            "expected floats of eight bits",
        ),
    ];
    for (result, expected) in cases {
        let message = refusal(result);
        assert!(message.contains(expected), "{message}");
    }
    Ok(())
}

#[test]
fn other_operators_refuse_the_types() -> Result<()> {
    let x = to(E4M3, &[1.0, 2.0])?;
    let mask = Tensor::from([true, false]);
    let results = [
        aten::add_Tensor::with(&x, &x).call(),
        aten::neg(&x),
        aten::exp(&x),
        aten::lt_Tensor(&x, &x),
        aten::logical_not(&x),
        aten::masked_fill_Scalar(&x, &mask, 1.0.into()),
        aten::take(&x, &Tensor::from([0i64])),
        aten::nonzero(&x),
        aten::sum(&x),
        aten::abs(&to(SCALES, &[1.0])?),
    ];
    for (place, result) in results.into_iter().enumerate() {
        let message = refusal(result);
        assert!(message.contains("not implemented for float8_"), "{place}: {message}");
    }
    let message = refusal(aten::mul_Tensor(&x, &Tensor::from([1.0f32, 2.0])));
    assert!(message.contains("float8_e4m3fn and float32 have no common type"), "{message}");
    Ok(())
}

#[test]
fn gradients_flow_through_conversions() -> Result<()> {
    let x = Tensor::from([1.5f32, 3.1]);
    x.set_requires_grad(true)?;
    let y = aten::to_dtype(&aten::to_dtype(&x, E4M3)?, DType::Float32)?;
    assert_eq!(y.to_vec::<f32>()?, [1.5, 3.0]);
    aten::sum(&y)?.backward()?;
    assert_eq!(x.grad().expect("a gradient").to_vec::<f32>()?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn layers_handle_the_types() -> Result<()> {
    let x = Tensor::from([[1.1f32, 2.0], [3.0, 4.4]]);
    let rounded = vmap([&x], |[row]| aten::to_dtype(&row, E5M2))?;
    assert_eq!(codes(&rounded)?, [60, 64, 66, 68]);
    let _mode = FakeMode::new();
    let fake = aten::_to_copy::with(&aten::ones(&[2, 3])?).dtype(Some(E5M2)).call()?;
    assert_eq!((fake.dtype(), fake.sizes()), (E5M2, &[2, 3][..]));
    Ok(())
}

#[test]
fn elements_are_read_as_they_are() -> Result<()> {
    let x = Tensor::from_vec([1.0, -2.0].map(Float8E5M2::from_f32).to_vec(), &[2])?;
    assert_eq!(x.to_vec::<Float8E5M2>()?, [1.0, -2.0].map(Float8E5M2::from_f32));
    assert!(x.to_vec::<Float8E4M3Fn>().is_err());
    Ok(())
}
