//! New tensors, filling, copying.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn sequences_of_every_type_are_those_of_int64_converted() -> Result<()> {
    // More numbers than are converted at a time, and a rest.
    let numbers = Tensor::from_vec((0..1300).map(|i| 3 * i - 100).collect::<Vec<i64>>(), &[1300])?;
    let types = [
        DType::UInt8,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::UInt32,
        DType::Float16,
        DType::BFloat16,
        DType::Float32,
        DType::Float64,
    ];
    for dtype in types {
        let want = aten::to_dtype(&numbers, dtype)?;
        let whole =
            aten::arange_start_step::with((-100).into(), 3800.into()).step(3).dtype(Some(dtype)).call()?;
        assert!(whole.dtype() == dtype && aten::equal(&whole, &want)?, "{dtype}");
        if dtype.is_floating_point() {
            let start = Scalar::Float(-100.0);
            let fractional =
                aten::arange_start_step::with(start, 3800.into()).step(3).dtype(Some(dtype)).call()?;
            assert!(aten::equal(&fractional, &want)?, "{dtype}");
        }
    }
    Ok(())
}

#[test]
fn factories_have_pytorchs_default_types() -> Result<()> {
    assert_eq!(aten::zeros(&[2])?.dtype(), DType::Float32);
    assert_eq!(aten::full(&[2], 1.into())?.dtype(), DType::Int64);
    assert_eq!(aten::full(&[2], 1.5.into())?.dtype(), DType::Float32);
    assert_eq!(aten::full(&[2], true.into())?.dtype(), DType::Bool);
    assert_eq!(aten::ones(&[2, 1])?.to_vec::<f32>()?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn the_device_selects_the_backend() -> Result<()> {
    let meta = aten::empty_memory_format::with(&[2, 3]).device(Some(Device::META)).call()?;
    assert_eq!((meta.device(), meta.sizes()), (Device::META, &[2, 3][..]));
    let error = aten::zeros::with(&[2]).device(Some("cuda".parse()?)).call().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Device, "{error}");
    assert!(error.to_string().contains("no backend of this program serves cuda"), "{error}");
    Ok(())
}

#[test]
fn empty_takes_a_memory_format() -> Result<()> {
    let x = aten::empty_memory_format::with(&[2, 3, 4, 5])
        .memory_format(Some(MemoryFormat::ChannelsLast))
        .call()?;
    assert_eq!(x.strides(), [60, 1, 15, 3]);
    let like = aten::empty_like::with(&x).dtype(Some(DType::Int8)).call()?;
    assert_eq!((like.strides(), like.dtype()), (&[60, 1, 15, 3][..], DType::Int8));
    Ok(())
}

#[test]
fn options_that_are_not_carried_are_refused() {
    let error = aten::zeros::with(&[2]).pin_memory(Some(true)).call().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotSupported);
    let error = aten::zeros::with(&[2]).layout(Some(Layout::Sparse)).call().unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten::zeros: aten::empty.memory_format: layout sparse_coo is not supported, only strided tensors are"
    );
    assert!(aten::zeros(&[-1]).is_err());
}

#[test]
fn filling_checks_the_value() -> Result<()> {
    let mut x = Tensor::from([1u8, 2]);
    x.fill_(7)?;
    assert_eq!(x.to_vec::<u8>()?, [7, 7]);
    assert!(x.fill_(300).is_err());
    Ok(())
}

#[test]
fn full_tensors_are_full_on_any_device() -> Result<()> {
    for count in [0, 1, 100, 300_000] {
        assert_eq!(aten::full(&[count], 2.5.into())?.to_vec::<f32>()?, vec![2.5; count as usize]);
    }
    let meta = aten::full::with(&[2, 3], 1.into()).device(Some(Device::META)).call()?;
    assert_eq!((meta.device(), meta.dtype()), (Device::META, DType::Int64));
    assert!(aten::full(&[-1], 1.into()).is_err());
    Ok(())
}

#[test]
fn any_number_but_zero_is_true() -> Result<()> {
    let numbers: Vec<f64> = (0..99).map(|i| [0.0, -0.0, 0.5, -3.0, f64::NAN, 1e-40][i % 6]).collect();
    let x = Tensor::from_vec(numbers.clone(), &[99])?;
    for dtype in [DType::Float64, DType::Float32, DType::Int32, DType::Int64, DType::Int16] {
        let is_true = |x: &f64| if dtype.is_floating_point() { *x != 0.0 } else { *x == -3.0 };
        let x = aten::nan_to_num(&x)?.to_dtype(dtype)?;
        let expected: Vec<bool> =
            numbers.iter().map(|x| if x.is_nan() { 0.0 } else { *x }).map(|x| is_true(&x)).collect();
        assert_eq!(x.to_dtype(DType::Bool)?.to_vec::<bool>()?, expected, "{dtype}");
    }
    assert_eq!(Tensor::from([f32::NAN, 0.0]).to_dtype(DType::Bool)?.to_vec::<bool>()?, [true, false]);
    Ok(())
}

#[test]
fn copies_convert_and_broadcast() -> Result<()> {
    let mut x = Tensor::from([[1i32, 2, 3], [4, 5, 6]]);
    x.transpose(0, 1)?.copy_(&Tensor::from([7.9f64, -8.9]))?;
    assert_eq!(x.to_vec::<i32>()?, [7, 7, 7, -8, -8, -8]);
    let error = x.copy_(&Tensor::from([1, 2])).unwrap_err();
    assert!(error.to_string().starts_with("aten::copy_: sizes [2, 3] and [2] do not broadcast"), "{error}");
    Ok(())
}

#[test]
fn clone_copies_elements_and_contiguous_only_if_it_must() -> Result<()> {
    let x = Tensor::from([[1, 2], [3, 4]]);
    let copy = x.t()?.copy()?;
    assert_eq!((copy.strides(), copy.shares_storage_with(&x)), (&[1, 2][..], false));
    assert!(x.contiguous()?.is_same(&x));
    assert_eq!(x.t()?.contiguous()?.strides(), [2, 1]);
    let images = aten::zeros(&[2, 3, 4, 5])?.contiguous_format(MemoryFormat::ChannelsLast)?;
    assert_eq!(images.strides(), [60, 1, 15, 3]);
    Ok(())
}

#[test]
fn series_of_powers_and_places_of_triangles() -> Result<()> {
    assert_eq!(aten::logspace(0.into(), 2.into(), 3)?.to_vec::<f32>()?, [1.0, 10.0, 100.0]);
    assert_eq!(aten::tril_indices::with(3, 2).offset(-1).call()?.to_vec::<i64>()?, [1, 2, 2, 0, 0, 1]);
    assert_eq!(aten::triu_indices::with(2, 3).offset(1).call()?.to_vec::<i64>()?, [0, 0, 1, 1, 2, 2]);
    let narrow = aten::tril_indices::with(2, 2).dtype(Some(DType::Int32)).call()?;
    assert_eq!(narrow.to_vec::<i32>()?, [0, 1, 1, 0, 0, 1]);
    let shapes = aten::triu_indices::with(2, 3).device(Some(Device::META)).call()?;
    assert_eq!((shapes.sizes(), shapes.device()), (&[2, 5][..], Device::META));
    let bytes = aten::linspace::with((-1).into(), 3.into(), 5).dtype(Some(DType::UInt8)).call()?;
    assert_eq!(bytes.to_vec::<u8>()?, [255, 192, 129, 66, 3]);
    for (rows, cols, offset) in
        [(i64::MAX, 1, 0), (i64::MAX, i64::MAX, i64::MIN), (1 << 40, 1 << 40, i64::MAX)]
    {
        let lower = aten::tril_indices::with(rows, cols).offset(offset).call();
        assert!(lower.is_err() || lower?.numel() == 0, "{rows} {cols} {offset}");
        let upper = aten::triu_indices::with(rows, cols).offset(offset).call();
        assert!(upper.is_err() || upper?.numel() <= 2, "{rows} {cols} {offset}");
    }
    assert_eq!(aten::scalar_tensor(3.into())?.dtype(), DType::Float32);
    Ok(())
}

#[test]
fn random_numbers_come_in_the_strides_of_what_they_resemble() -> Result<()> {
    let x = aten::zeros(&[2, 3])?.t()?;
    assert_eq!(aten::randn_like(&x)?.strides(), [1, 3]);
    assert!(aten::rand_like(&x)?.to_vec::<f32>()?.iter().all(|x| (0.0..1.0).contains(x)));
    let whole = aten::randint_like_low_dtype::with(&x, 3, 5).dtype(Some(DType::Int64)).call()?;
    assert!(whole.to_vec::<i64>()?.iter().all(|x| (3..5).contains(x)));
    assert!(aten::rand_like(&Tensor::from([1i64])).is_err());
    Ok(())
}

#[test]
fn whole_series_are_exact_beyond_doubles() -> Result<()> {
    const BIG: i64 = (1 << 53) + 1;
    let closed = |start: i64, end: i64, step: i64| {
        let series = aten::range_step::with(start.into(), end.into()).step(step);
        series.dtype(Some(DType::Int64)).call()
    };
    assert_eq!(closed(BIG, BIG + 4, 2)?.to_vec::<i64>()?, [BIG, BIG + 2, BIG + 4]);
    assert_eq!(closed(BIG + 4, BIG, -3)?.to_vec::<i64>()?, [BIG + 4, BIG + 1]);
    assert_eq!(closed(i64::MAX - 3, i64::MAX, 3)?.to_vec::<i64>()?, [i64::MAX - 3, i64::MAX]);
    assert!(closed(0, 3, 0).is_err() && closed(3, 0, 1).is_err() && closed(i64::MIN, i64::MAX, 1).is_err());
    let fractions = aten::range_step::with(0.9.into(), 9.1.into()).step(3).dtype(Some(DType::Int32));
    assert_eq!(fractions.call()?.to_vec::<i32>()?, [0, 3, 6, 9], "without their fractions");

    let end = Scalar::Float((BIG + 3) as f64);
    let series = aten::arange_start::with(BIG.into(), end).dtype(Some(DType::Int64)).call()?;
    assert_eq!(series.to_vec::<i64>()?, [BIG, BIG + 1, BIG + 2, BIG + 3]);
    let single = aten::linspace::with(BIG.into(), (BIG + 1).into(), 1).dtype(Some(DType::Int64)).call()?;
    assert_eq!(single.to_vec::<i64>()?, [BIG]);
    Ok(())
}

#[test]
fn floats_fill_the_range_of_unsigned_integers() -> Result<()> {
    let floats =
        Tensor::from([1e19f32, 9_223_372_036_854_775_808.0, 18_446_744_073_709_551_616.0, -1.0, 3.7]);
    let want = [9_999_999_980_506_447_872, 1 << 63, 0, u64::MAX, 3];
    assert_eq!(aten::to_dtype(&floats, DType::UInt64)?.to_vec::<u64>()?, want);
    Ok(())
}

#[test]
fn the_indices_along_a_dimension_are_a_range() -> Result<()> {
    let x = Tensor::from([[0, 1, 2], [3, 4, 5]]);
    assert_eq!(aten::_dim_arange(&x, -1)?.to_vec::<i64>()?, [0, 1, 2]);
    assert!(aten::_dim_arange(&x, 2).is_err() && aten::_dim_arange(&Tensor::from(1), 0).is_err());
    Ok(())
}

#[test]
fn complex_numbers_lie_as_their_parts_do() -> Result<()> {
    let part = aten::arange(24.into())?.to_dtype(DType::Float32)?.view(&[2, 3, 4])?.permute(&[2, 0, 1])?;
    let numbers = aten::complex(&part, &part.contiguous()?)?;
    assert_eq!((numbers.strides(), numbers.dtype()), (part.strides(), DType::Complex64));
    assert!(aten::equal(&aten::imag(&numbers)?, &part)?);
    let polar = aten::polar(&part, &part.mul_Scalar(1e6.into())?)?; // angles that are not moderate, too
    assert_eq!(polar.strides(), part.strides());
    let (abs, angle) =
        (part.to_dtype(DType::Float64)?, part.mul_Scalar(1e6.into())?.to_dtype(DType::Float64)?);
    let real = aten::mul_Tensor(&abs, &aten::cos(&angle)?)?;
    assert!(aten::allclose::with(&aten::real(&polar)?.to_dtype(DType::Float64)?, &real).atol(1e-4).call()?);
    let halves = part.to_dtype(DType::Float16)?;
    assert_eq!(aten::complex(&halves, &halves)?.dtype(), DType::Complex32);
    assert!(aten::complex(&part, &halves).is_err());
    Ok(())
}
