//! Random numbers from keys, which are PyTorch's to the last bit.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn key() -> Tensor {
    Tensor::from([42u64, 0])
}

fn empty(sizes: &[i64], dtype: DType) -> Tensor {
    aten::empty_memory_format::with(sizes).dtype(Some(dtype)).call().unwrap()
}

/// What a kernel fills a new tensor with, as `f64`.
fn drawn(
    sizes: &[i64],
    dtype: DType,
    fill: impl FnOnce(&mut Tensor) -> Result<&mut Tensor>,
) -> Result<Vec<f64>> {
    let mut x = empty(sizes, dtype);
    fill(&mut x)?;
    x.to_dtype(DType::Float64)?.to_vec::<f64>()
}

#[test]
fn keys_are_split_as_in_pytorch() -> Result<()> {
    let keys = Tensor::from([[42u64, u64::MAX], [7, 5]]);
    let split = aten::_philox_key_split(&keys, 2)?;
    assert_eq!(split.sizes(), [2, 2, 2]);
    assert_eq!(
        split.to_vec::<u64>()?,
        [
            1685533963231214966,
            14993516311478150012,
            6202522875320030908,
            13269244410484750595,
            8643895580192075859, // the offset wraps around
            6287785766076502189,
            8633183481599236476,
            7553739660469106344,
        ]
    );
    let last = aten::select_int(&keys, 0, 1)?;
    let want = [18254776826578125602, 10072349536531440997];
    assert_eq!(aten::_philox_key_fold_in(&last, -1)?.to_vec::<u64>()?, want);
    for data in [Tensor::from([u64::MAX]), Tensor::from([[-1i8]])] {
        assert_eq!(aten::_philox_key_fold_in_Tensor(&last, &data)?.to_vec::<u64>()?, want);
    }
    let second = aten::_philox_key_fold_in(&aten::t(&aten::contiguous(&aten::t(&keys)?)?)?, 1)?;
    assert_eq!(second.to_vec::<u64>()?, split.to_vec::<u64>()?[4..], "of keys with other strides");
    assert_eq!(aten::_philox_key_split(&aten::narrow(&keys, 0, 0, 0)?, 3)?.sizes(), [3, 0, 2]);

    let split = |key: &Tensor, count| aten::_philox_key_split(key, count).unwrap_err().to_string();
    assert_eq!(split(&keys, 0), "aten::_philox_key_split: num_splits is 0, expected one or more");
    assert!(split(&keys, -1).ends_with("num_splits is -1, expected one or more"));
    assert!(split(&keys.to_dtype(DType::Int64)?, 2).ends_with("a key of int64, expected uint64"));
    assert!(split(&Tensor::from([1u64, 2, 3]), 2).contains("a key of sizes [3]"));
    assert!(aten::_philox_key_split(&keys, i64::MAX).is_err(), "more than any memory holds");
    assert!(aten::_philox_key_fold_in(&aten::select_int(&last, 0, 0)?, 1).is_err(), "no dimensions");
    let two = aten::_philox_key_fold_in_Tensor(&last, &last).unwrap_err();
    assert!(two.to_string().ends_with("data of sizes [2] has 2 elements, expected exactly one"));
    Ok(())
}

#[test]
fn uniform_numbers_of_a_key_are_pytorchs() -> Result<()> {
    let draw = |count, dtype, low, high| {
        drawn(&[count], dtype, |x| aten::_philox_uniform_::call(x, &key(), low, high))
    };
    assert_eq!(
        draw(5, DType::Float32, -1.0, 3.0)?,
        [2.6709182262420654, 2.832594633102417, 1.9892990589141846, 0.042226552963256836, 2.423898458480835]
    );
    let double = draw(3, DType::Float64, 0.1, 0.7)?;
    assert_eq!(double, [0.30510200555415673, 0.6871589682182929, 0.6086782437505858]);
    assert_eq!(draw(3, DType::Float16, 0.1, 0.7)?, [0.124267578125, 0.1922607421875, 0.150634765625]);
    assert_eq!(draw(3, DType::BFloat16, 0.1, 0.7)?, [0.29296875, 0.23828125, 0.50390625]);
    Ok(())
}

#[test]
fn normal_numbers_of_a_key_are_pytorchs() -> Result<()> {
    let draw = |count, dtype, mean, std| {
        drawn(&[count], dtype, |x| aten::_philox_normal_::call(x, &key(), mean, std))
    };
    assert_eq!(
        draw(5, DType::Float32, 0.5, 2.0)?,
        [-1.4403796195983887, 0.8880377411842346, -1.9712424278259277, 4.347853183746338, 0.3536369204521179]
    );
    let double = draw(3, DType::Float64, 0.0, 1.0)?;
    assert_eq!(double, [0.886497505901441, 0.4393560694379269, -0.15660962291201724]);
    assert_eq!(draw(3, DType::Float16, 0.1, 0.7)?, [-0.5791015625, 0.23583984375, -0.76513671875]);
    assert_eq!(draw(3, DType::BFloat16, 0.1, 0.7)?, [-0.578125, 0.2353515625, -0.765625]);
    Ok(())
}

#[test]
fn integers_of_a_key_are_pytorchs() -> Result<()> {
    let draw = |dtype, low, high| drawn(&[3], dtype, |x| aten::_philox_randint_::call(x, &key(), low, high));
    assert_eq!(draw(DType::UInt8, None, None)?, [83.0, 59.0, 173.0]);
    assert_eq!(draw(DType::Int8, None, None)?, [83.0, 59.0, -83.0]);
    assert_eq!(draw(DType::Int8, Some(-128), None)?, [83.0, 59.0, -83.0]);
    assert_eq!(draw(DType::Int8, None, Some(128))?, [-45.0, -69.0, 45.0]);
    assert_eq!(draw(DType::Int8, Some(-3), Some(4))?, [-2.0, -2.0, 1.0]);
    assert_eq!(draw(DType::Int16, None, Some(10))?, [-20751.0, -5419.0, -9761.0]);
    assert_eq!(draw(DType::UInt16, None, None)?, [61523.0, 18747.0, 20653.0]);
    assert_eq!(draw(DType::Int32, None, None)?, [-1662324653.0, 2012563771.0, 314527917.0]);
    assert_eq!(draw(DType::UInt32, Some(100), Some(200))?, [143.0, 171.0, 117.0]);
    let wide = draw(DType::Int64, Some(-5), Some(1 << 40))?;
    assert_eq!(wide, [358443430534.0, 744487188290.0, 168825595219.0]);
    let mut all = empty(&[2], DType::UInt64);
    aten::_philox_randint_(&mut all, &key())?;
    assert_eq!(all.to_vec::<u64>()?, [11307114055752567099, 1350887118657991639]);

    let refused =
        |dtype, low, high| draw(dtype, low, high).map(drop).unwrap_err().to_string().replace("aten::", "");
    assert_eq!(
        refused(DType::Int32, Some(5), Some(5)),
        "_philox_randint_: a range from Some(5) to Some(5) for int32, whose ends are equal; with neither, all \
         integers that it can hold are drawn"
    );
    for (dtype, low, high) in [
        (DType::Int32, None, Some(1 << 31)),
        (DType::UInt8, Some(256), None),
        (DType::UInt64, None, Some(0)),
        (DType::Int64, None, Some(i64::MIN)),
        (DType::Int16, Some(0), Some(1 << 33)),
    ] {
        assert!(refused(dtype, low, high).contains("whose ends are equal"), "{dtype}");
    }
    for (low, high) in [(Some(7), Some(3)), (Some(0), Some((1 << 30) - 1)), (Some(i64::MIN), Some(i64::MAX))]
    {
        assert!(refused(DType::Int32, low, high).contains("would be drawn from 32 bits with a bias"));
    }
    assert!(draw(DType::Int32, Some(0), Some(1 << 30)).is_ok(), "a power of two has no bias");
    assert!(refused(DType::Float32, None, None).ends_with("is not implemented for float32"));
    assert!(refused(DType::Bool, None, None).ends_with("is not implemented for bool"));
    Ok(())
}

#[test]
fn each_key_of_a_batch_fills_its_part() -> Result<()> {
    let draw = |sizes: &[i64], keys: &Tensor| {
        drawn(sizes, DType::Int64, |x| aten::_philox_randint_::call(x, keys, Some(0), Some(1000)))
    };
    let keys = Tensor::from([[1u64, 0], [2, 3]]);
    let rows = aten::unsqueeze(&keys, 1)?;
    assert_eq!(draw(&[2, 3], &rows)?, [68.0, 559.0, 926.0, 896.0, 899.0, 875.0]);
    let repeated = draw(&[4, 2, 3], &aten::unsqueeze(&rows, 0)?)?;
    assert_eq!(repeated, draw(&[2, 3], &rows)?.repeat(4), "along the first dimension");
    let elements = draw(&[2, 2], &aten::unsqueeze(&keys, 0)?)?;
    assert_eq!(elements, [68.0, 896.0, 68.0, 896.0], "each key has one element, twice");
    assert!(draw(&[0, 3], &aten::narrow(&rows, 0, 0, 0)?)?.is_empty());

    for (sizes, keys) in [(&[3][..], &keys), (&[3, 3], &keys), (&[3, 3], &rows), (&[], &rows)] {
        let error = draw(sizes, keys).unwrap_err().to_string();
        assert!(error.contains("expected one key, or for each dimension as many"), "{error}");
    }
    Ok(())
}

#[test]
fn the_numbers_do_not_depend_on_strides_or_threads() -> Result<()> {
    for dtype in [DType::Float32, DType::Float64, DType::BFloat16] {
        let mut plain = empty(&[301, 401], dtype);
        aten::_philox_normal_(&mut plain, &key())?;
        let mut columns = aten::t(&empty(&[401, 301], dtype))?;
        aten::_philox_normal_(&mut columns, &key())?;
        assert!(aten::equal(&plain, &columns)?, "{dtype}");
        let mut few = empty(&[77], dtype);
        aten::_philox_normal_(&mut few, &key())?;
        assert!(aten::equal(&few, &aten::narrow(&aten::flatten_using_ints(&plain)?, 0, 0, 77)?)?, "{dtype}");
        let late = aten::_philox_normal(&few, &Tensor::from([42u64, 10_000]))?;
        let skipped = if dtype == DType::Float64 { 20_000 } else { 40_000 };
        let later = aten::narrow(&aten::flatten_using_ints(&plain)?, 0, skipped, 77)?;
        assert!(aten::equal(&late, &later)?, "{dtype}: an offset skips blocks of four words");
    }
    let mut shared = aten::expand(&empty(&[1], DType::Float32), &[4])?;
    assert!(aten::_philox_uniform_(&mut shared, &key()).is_err(), "elements share memory");
    Ok(())
}

#[test]
fn the_other_forms_draw_the_same_numbers() -> Result<()> {
    let like = aten::t(&empty(&[3, 5], DType::Float32))?;
    let new = aten::_philox_uniform(&like, &key())?;
    assert_eq!((new.sizes(), new.strides()), (&[5, 3][..], &[1, 5][..]), "laid out like the input");
    let mut out = empty(&[0], DType::Float32);
    aten::_philox_uniform_out(&like, &key(), &mut out)?;
    assert!(aten::equal(&new, &out)?);
    let mut ints = empty(&[3], DType::Int32);
    aten::_philox_randint_(&mut ints, &key())?;
    assert!(aten::equal(&ints, &aten::_philox_randint(&empty(&[3], DType::Int32), &key())?)?);
    let mut x = empty(&[3], DType::Float32);
    aten::_philox_uniform_(&mut x, &key())?;
    assert_eq!(x.version(), 1);
    assert!(aten::_philox_uniform_(&mut ints, &key()).is_err(), "integers are not uniform on an interval");
    assert!(aten::_philox_uniform_(&mut x, &Tensor::from([1i64, 2])).is_err());
    let meta = |tensor: &Tensor| aten::_to_copy::with(tensor).device(Some(Device::META)).call();
    assert_eq!(aten::_philox_normal(&meta(&like)?, &meta(&key())?)?.sizes(), [5, 3]);
    assert!(aten::_philox_normal(&like, &meta(&key())?).is_err(), "a key on another device");
    Ok(())
}

#[test]
fn the_bits_of_a_hundred_thousand_numbers_are_pytorchs() -> Result<()> {
    let key = Tensor::from([7u64, 9]);
    let bits = |dtype: DType, integer: DType, is_normal: bool| -> Result<i64> {
        let mut x = empty(&[100_000], dtype);
        match (is_normal, dtype) {
            (true, DType::Float32 | DType::Float64) => aten::_philox_normal_(&mut x, &key)?,
            (true, _) => aten::_philox_normal_::call(&mut x, &key, 0.1, 0.7)?,
            (false, _) => aten::_philox_uniform_::call(&mut x, &key, 0.1, 0.7)?,
        };
        let numbers = aten::to_dtype(&aten::view_dtype(&x, integer)?, DType::Int64)?.to_vec::<i64>()?;
        Ok(numbers.iter().map(|bits| if integer == DType::Int64 { bits >> 16 } else { *bits }).sum())
    };
    assert_eq!(bits(DType::Float32, DType::Int32, true)?, -1_681_655_636_328);
    assert_eq!(bits(DType::Float64, DType::Int64, true)?, -8_644_246_239_326_128);
    assert_eq!(bits(DType::Float32, DType::Int32, false)?, 105_239_209_803_878);
    assert_eq!(bits(DType::Float16, DType::Int16, false)?, 1_377_670_816);
    assert_eq!(bits(DType::Float16, DType::Int16, true)?, -66_365_431);
    assert_eq!(bits(DType::BFloat16, DType::Int16, false)?, 1_605_679_727);
    assert_eq!(bits(DType::BFloat16, DType::Int16, true)?, 154_789_686);
    Ok(())
}
