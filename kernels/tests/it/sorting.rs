//! Ranks, medians and modes.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

const NAN: f32 = f32::NAN;

fn longs(values: &[i64]) -> Result<Tensor> {
    Tensor::from_vec(values.to_vec(), &[values.len() as i64])
}

#[test]
fn medians_are_the_smaller_of_two_and_nan_if_there_is_one() -> Result<()> {
    let x = Tensor::from([[3f32, 1.0, 2.0, 1.0], [NAN, 5.0, 4.0, NAN], [NAN; 4]]);
    let (values, places) = aten::median_dim(&x, 1)?;
    let values = values.to_vec::<f32>()?;
    assert!(values[0] == 1.0 && values[1].is_nan() && values[2].is_nan());
    assert_eq!(places.to_vec::<i64>()?, [3, 0, 0]);
    let (values, places) = aten::nanmedian_dim::call(&x, 1, true)?;
    assert_eq!((values.sizes(), places.to_vec::<i64>()?), (&[3, 1][..], vec![3, 2, 2]));
    assert_eq!(values.to_vec::<f32>()?[..2], [1.0, 4.0]);
    assert_eq!(aten::median(&Tensor::from([[2i64, 9], [4, 8]]))?.item()?, Scalar::Int(4));
    assert_eq!(aten::nanmedian(&x)?.item()?, Scalar::Float(2.0));
    assert!(aten::median(&aten::zeros(&[0])?)?.element::<f32>(&[])?.is_nan());
    assert_eq!(aten::median_dim(&Tensor::from(7), 0)?.1.item()?, Scalar::Int(0));
    let error = aten::median_dim(&aten::zeros(&[2, 0])?, 1).unwrap_err();
    let text = "aten::median.dim: there is nothing to choose from in dimension 1 of sizes [2, 0]";
    assert_eq!(error.to_string(), text);
    assert_eq!(aten::median_dim(&aten::zeros(&[0, 2])?, 1)?.0.sizes(), [0]);
    Ok(())
}

#[test]
fn elements_of_a_rank_are_those_of_a_sort_at_the_places_that_pytorch_finds() -> Result<()> {
    let numbers: Vec<f32> = (0..700).map(|i| if i % 50 == 7 { NAN } else { (i * 37 % 101) as f32 }).collect();
    let x = Tensor::from_vec(numbers, &[700])?;
    let (sorted, _) = aten::sort(&x)?;
    for (k, at) in [(1, 404), (2, 0), (350, 86), (686, 232), (687, 657), (700, 7)] {
        let (value, place) = aten::kthvalue(&x, k)?;
        let (value, want) = (value.element::<f32>(&[])?, sorted.element::<f32>(&[k - 1])?);
        assert!(value == want || value.is_nan() && want.is_nan());
        assert_eq!(place.element::<i64>(&[])?, at);
    }
    assert!(aten::kthvalue(&x, 0).is_err() && aten::kthvalue(&x, 701).is_err());
    Ok(())
}

/// Few numbers, each several times.
fn with_equals(count: i64) -> Result<Tensor> {
    Tensor::from_vec((0..count).map(|i| (i * i % 5) as f64).collect(), &[count])
}

#[test]
fn equal_elements_are_in_the_order_of_pytorch() -> Result<()> {
    let (x, long) = (with_equals(20)?, with_equals(300)?);
    let places = |x: &Tensor| x.to_vec::<i64>();
    let order = |descending| places(&aten::sort::with(&x).descending(descending).call()?.1);
    assert_eq!(order(false)?, [0, 15, 5, 10, 19, 16, 14, 11, 9, 6, 4, 1, 8, 7, 12, 13, 3, 2, 17, 18]);
    assert_eq!(order(true)?, [2, 3, 18, 17, 7, 8, 13, 12, 1, 19, 16, 14, 11, 9, 6, 4, 10, 15, 5, 0]);
    let stable = aten::sort_stable(&x, Some(true))?.1;
    assert_eq!(places(&stable)?[..6], [0, 5, 10, 15, 1, 4]);
    assert_eq!(places(&aten::argsort_stable(&x, true)?)?, places(&stable)?);
    assert_eq!(places(&aten::argsort(&x)?)?, order(false)?);

    let first = |x: &Tensor, count, largest, sorted| {
        places(&aten::topk::with(x, count).largest(largest).sorted(sorted).call()?.1)
    };
    assert_eq!(first(&x, 4, true, true)?, [7, 17, 13, 18]);
    assert_eq!(first(&x, 4, false, true)?, [15, 5, 10, 0]);
    assert_eq!(first(&x, 7, false, true)?, [0, 15, 10, 5, 9, 19, 11]);
    assert_eq!(first(&x, 7, true, false)?, [18, 8, 7, 13, 17, 2, 12]);
    // A few of many are kept in a heap.
    assert_eq!(first(&long, 4, true, true)?, [7, 3, 8, 2]);
    assert_eq!(first(&long, 4, false, false)?, [10, 5, 15, 0]);

    let sum = |places: Vec<i64>| (1..).zip(places).map(|(i, place): (i64, i64)| i * place).sum::<i64>();
    assert_eq!(sum(places(&aten::sort(&long)?.1)?), 6_528_408);
    assert_eq!(sum(places(&aten::sort::with(&long).descending(true).call()?.1)?), 6_480_396);
    assert_eq!(sum(first(&long, 100, true, true)?), 754_187);
    assert_eq!(sum(first(&long, 100, true, false)?), 729_365);
    for (k, place) in [(1, 75), (50, 20), (100, 214), (150, 6), (300, 128)] {
        assert_eq!(aten::kthvalue(&long, k)?.1.item()?, Scalar::Int(place), "{k}");
    }
    assert_eq!(aten::mode(&long)?.1.item()?, Scalar::Int(121));
    Ok(())
}

#[test]
fn a_quantile_without_a_gradient_is_the_same_as_one_with_it() -> Result<()> {
    let numbers =
        |count: i64| Tensor::from_vec((0..count).map(|i| (i * 37 % 23) as f32 * 0.3).collect(), &[count]);
    let infinite = Tensor::from([[f32::INFINITY, 1.0, f32::INFINITY], [f32::NEG_INFINITY, -0.5, 2.0]]);
    let unknown = Tensor::from([[NAN, 1.0, 2.0, 0.0], [4.0, 3.0, -1.0, 6.0]]);
    let rows = numbers(70)?.reshape(&[2, 5, 7])?;
    for x in [numbers(1)?, numbers(50)?, rows, infinite, unknown] {
        let differentiable = x.detach()?;
        differentiable.set_requires_grad(true)?;
        let bits = |x: &Tensor| -> Result<Vec<u32>> {
            Ok(x.detach()?
                .to_vec::<f32>()?
                .iter()
                .map(|x| if x.is_nan() { 0 } else { x.to_bits() })
                .collect())
        };
        let dims = (0..x.dim() as i64).map(Some).chain([None]);
        for (dim, way) in
            dims.flat_map(|dim| ["linear", "lower", "higher", "midpoint", "nearest"].map(|way| (dim, way)))
        {
            for (q, keepdim) in [0.0, 0.25, 0.5, 0.7, 1.0].into_iter().flat_map(|q| [(q, false), (q, true)]) {
                for of in [aten::quantile::call, aten::nanquantile::call] {
                    for q in [Tensor::from(q as f32), Tensor::from([q as f32])] {
                        let [selected, sorted] = [&x, &differentiable].map(|x| of(x, &q, dim, keepdim, way));
                        let (selected, sorted) = (selected?, sorted?);
                        let context = format!("{:?} of {:?}, {dim:?}, {way}, {keepdim}", q, x.sizes());
                        assert_eq!(
                            (selected.sizes(), selected.strides()),
                            (sorted.sizes(), sorted.strides()),
                            "{context}"
                        );
                        assert_eq!(bits(&selected)?, bits(&sorted)?, "{context}");
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn the_most_frequent_is_the_smallest_of_several_and_its_last_place() -> Result<()> {
    let (value, place) = aten::mode(&longs(&[5, 3, 5, 3, 9])?)?;
    assert_eq!((value.item()?, place.item()?), (Scalar::Int(3), Scalar::Int(3)));
    Ok(())
}

#[test]
fn a_line_without_numbers_has_the_index_that_pytorch_gives_it() -> Result<()> {
    let places = [0i64, 0, 0, 2, 2, 3, 5, 6, 7, 8, 8, 9, 8, 9, 9, 10, 10];
    for (len, place) in (1..).zip(places) {
        let line = aten::full(&[len], f64::NAN.into())?;
        let (value, found) = aten::nanmedian_dim(&line, 0)?;
        assert!(value.item()?.to::<f64>()?.is_nan());
        assert_eq!(found.item()?, Scalar::Int(place), "{len}");
    }
    Ok(())
}

#[test]
fn unsigned_integers_are_sorted_by_their_values() -> Result<()> {
    for (dtype, high) in [(DType::UInt16, 65535), (DType::UInt32, 4_294_967_295), (DType::UInt64, -1)] {
        let x = longs(&[3, 1, high, 1])?.to_dtype(dtype)?; // -1 is the highest of 64 bits
        let (values, places) = aten::sort(&x)?;
        let values_of = |x: &Tensor| x.to_dtype(DType::Int64)?.to_vec::<i64>();
        assert_eq!((values.dtype(), values_of(&values)?), (dtype, vec![1, 1, 3, high]));
        assert_eq!(places.to_vec::<i64>()?, [1, 3, 0, 2]);
        let (values, kinds) = aten::_unique::with(&x).return_inverse(true).call()?;
        assert_eq!((values_of(&values)?, kinds.to_vec::<i64>()?), (vec![1, 3, high], vec![1, 0, 2, 0]));
        let (values, _, counts) = aten::unique_consecutive::with(&x).return_counts(true).call()?;
        assert_eq!((values_of(&values)?, counts.to_vec::<i64>()?), (vec![3, 1, high, 1], vec![1; 4]));
        assert_eq!(values_of(&aten::unique_consecutive(&values)?.0)?, [3, 1, high, 1]);
        assert_eq!(values_of(&aten::unique_dim(&x, 0)?.0)?, [1, 3, high]);
        let (zeros, index) = (longs(&[2, 2])?.to_dtype(dtype)?, longs(&[0, 0, 1, 1])?);
        let joined = |reduce| aten::scatter_reduce_two(&zeros, 0, &index, &x, reduce);
        assert_eq!(values_of(&joined("sum")?)?, [6, 2]);
        assert_eq!(values_of(&joined("prod")?)?[0], 6);
        assert!(joined("amax").is_err());
    }
    Ok(())
}

/// Differences of up to 32 bits are sorted as such.
#[test]
fn integers_of_any_distance_are_sorted() -> Result<()> {
    for (first, distance) in [
        (0, 9),
        (-5, 9),
        (i64::MIN, 0xffff_ffff),
        (i64::MIN, 0x1_0000_0000),
        (i64::MAX - 0xffff_ffff, 0xffff_ffff),
        (-0x8000_0000, 0xffff_ffff),
        (i64::MIN + 1, i64::MAX),
        (7, 0),
    ] {
        let above = |i: i64| match i * 7919 % 7 {
            6 => distance,
            n => distance / 7 * n,
        };
        let line: Vec<i64> = (0..1000).map(|i| first.wrapping_add(above(i))).collect();
        for descending in [false, true] {
            let mut want: Vec<i64> = (0..1000).collect();
            want.sort_by_key(|place| line[*place as usize]);
            if descending {
                want.sort_by_key(|place| std::cmp::Reverse(line[*place as usize]));
            }
            let (values, places) =
                aten::sort_stable::with(&longs(&line)?, Some(true)).dim(0).descending(descending).call()?;
            let sorted: Vec<i64> = want.iter().map(|place| line[*place as usize]).collect();
            assert_eq!(values.to_vec::<i64>()?, sorted, "{first} {distance}");
            assert_eq!(places.to_vec::<i64>()?, want, "{first} {distance} {descending}");
        }
    }
    Ok(())
}

/// The element at a place of a line.
type Pattern = fn(i64) -> f64;

#[test]
fn the_first_of_long_lines_are_those_of_a_sort() -> Result<()> {
    let len = 5_000i64;
    let patterns: [(&str, Pattern); 5] = [
        ("ascending", |i| i as f64),
        ("descending", |i| -i as f64),
        ("equal", |_| 1.0),
        ("few values", |i| (i * 7919 % 11) as f64),
        ("mixed, with NaN", |i| if i % 997 == 3 { f64::NAN } else { (i * 7919 % 4999) as f64 }),
    ];
    for ((name, pattern), dtype) in patterns.into_iter().flat_map(|pattern| {
        [DType::Float32, DType::Float64, DType::Int64, DType::UInt8].map(|dtype| (pattern, dtype))
    }) {
        let elements: Vec<f64> = (0..len).map(pattern).collect();
        let line = match dtype.is_floating_point() {
            true => Tensor::from_vec(elements, &[len])?.to_dtype(dtype)?,
            false => Tensor::from_vec(elements.iter().map(|x| *x as i64 % 200).collect::<Vec<_>>(), &[len])?
                .abs()?
                .to_dtype(dtype)?,
        };
        for (count, is_largest) in
            [1, 2, 100, 312, 313, 1300].into_iter().flat_map(|n| [(n, true), (n, false)])
        {
            let (values, places) = aten::topk::with(&line, count).largest(is_largest).call()?;
            let (sorted, order) =
                aten::sort_stable::with(&line, Some(true)).dim(0).descending(is_largest).call()?;
            let context = format!("{count} of {name} {dtype}, largest {is_largest}");
            let first = |x: &Tensor, count| aten::narrow(x, 0, 0, count);
            let wide = |x: &Tensor| x.to_dtype(DType::Float64)?.nan_to_num()?.to_vec::<f64>();
            assert_eq!(wide(&values)?, wide(&first(&sorted, count)?)?, "{context}");
            assert_eq!(wide(&aten::gather(&line, 0, &places)?)?, wide(&values)?, "{context}");
            let in_order = wide(&first(&sorted, count + 1)?)?;
            let mut places = places.to_vec::<i64>()?;
            if in_order.windows(2).all(|pair| pair[0] != pair[1]) {
                assert_eq!(places, first(&order, count)?.to_vec::<i64>()?, "{context}");
            }
            places.sort_unstable();
            assert!(places.windows(2).all(|pair| pair[0] != pair[1]), "{context}");
        }
    }
    Ok(())
}

#[test]
fn the_first_elements_are_row_major_even_if_they_are_all() -> Result<()> {
    let x = Tensor::from([[3.0, 1.0, 2.0], [6.0, 4.0, 5.0]]).t()?;
    for count in [2, 3] {
        let (values, indices) = aten::topk::with(&x, count).dim(0).call()?;
        assert_eq!((values.strides(), indices.strides()), (&[2, 1][..], &[2, 1][..]));
        assert_eq!(values.narrow(0, 0, 2)?.to_vec::<f64>()?, [3.0, 6.0, 2.0, 5.0]);
    }
    assert_eq!(aten::sort::with(&x).dim(0).call()?.0.strides(), [1, 3]);
    Ok(())
}

/// Ranks of narrow integers have fewer digits than those of wide ones.
#[test]
fn long_lines_of_narrow_integers_are_sorted_as_wide_ones() -> Result<()> {
    let wide = aten::arange(3000.into())?.mul(7919)?.remainder(251)?.sub(125)?;
    for dtype in [DType::Int8, DType::Int16, DType::Int32, DType::UInt8, DType::Bool] {
        let narrow = wide.to_dtype(dtype)?;
        for descending in [false, true] {
            let sort = |x: &Tensor| aten::sort_stable::with(x, Some(true)).descending(descending).call();
            let ((values, places), (wide_values, wide_places)) =
                (sort(&narrow)?, sort(&narrow.to_dtype(DType::Int64)?)?);
            assert!(places.equal(&wide_places)?, "{dtype} {descending}");
            assert!(values.to_dtype(DType::Int64)?.equal(&wide_values)?, "{dtype} {descending}");
        }
    }
    Ok(())
}
