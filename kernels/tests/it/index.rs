//! Concatenation, indexing, comparison, selection.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::assert_close;

#[test]
fn tensors_are_joined() -> Result<()> {
    let (x, y) = (Tensor::from([[1i32, 2], [3, 4]]), Tensor::from([[5.5f32, 6.5]]));
    let joined = aten::cat(&[x.clone(), y.clone(), Tensor::from([0f32; 0])])?;
    assert_eq!(joined.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0, 5.5, 6.5]);
    assert_eq!(
        aten::cat::with(&[x.t()?, x.clone()]).dim(-1).call()?.to_vec::<i32>()?,
        [1, 3, 1, 2, 2, 4, 3, 4]
    );
    assert_eq!(
        aten::cat::with(&[x, y]).dim(1).call().unwrap_err().to_string(),
        "aten::cat: sizes [2, 2] and [1, 2] differ in another dimension than 1"
    );
    assert!(aten::cat(&[]).is_err() && aten::cat(&[Tensor::from(1)]).is_err());
    Ok(())
}

#[test]
fn elements_are_taken_in_row_major_order() -> Result<()> {
    let x = aten::arange(60.into())?.reshape(&[3, 4, 5])?.transpose(0, 2)?;
    let flat = x.to_vec::<i64>()?;
    let places = [0i64, -1, 59, -60, 7, 7, 31];
    let index = Tensor::from(places);
    let want: Vec<i64> = places.iter().map(|place| flat[place.rem_euclid(60) as usize]).collect();
    for dtype in [DType::Int64, DType::Float32, DType::BFloat16, DType::Complex64] {
        let taken = aten::take(&x.to_dtype(dtype)?, &index)?;
        assert!(aten::equal(&taken, &Tensor::from(&want[..]).to_dtype(dtype)?)?, "{dtype}");
    }
    let of_bools = aten::take(&x.remainder(3)?.to_dtype(DType::Bool)?, &index)?;
    assert_eq!(of_bools.to_vec::<bool>()?, want.iter().map(|x| x % 3 != 0).collect::<Vec<_>>());
    assert_eq!(aten::take(&x, &index.reshape(&[7, 1])?)?.sizes(), [7, 1]);
    for bad in [60, -61, i64::MIN] {
        let error = aten::take(&x, &Tensor::from([0, bad])).unwrap_err().to_string();
        assert_eq!(error, format!("aten::take: index {bad} is out of range for dimension 0 of size 60"));
    }
    assert!(aten::take(&Tensor::from([0f32; 0]), &Tensor::from([0i64])).is_err());
    assert_eq!(aten::take(&Tensor::from([0f32; 0]), &Tensor::from([0i64; 0]))?.numel(), 0);
    Ok(())
}

#[test]
fn the_coordinates_of_what_is_not_zero_are_in_row_major_order() -> Result<()> {
    let sizes: [&[i64]; 10] =
        [&[], &[7], &[0], &[3, 5], &[5, 1], &[1, 1, 9], &[2, 3, 4], &[4, 0, 2], &[3, 0], &[2, 2, 3, 2]];
    for sizes in sizes {
        let count: i64 = sizes.iter().product();
        for every in [1, 2, 3, 1000] {
            let elements: Vec<i64> = (0..count).map(|i| if i % every == 0 { i + 1 } else { 0 }).collect();
            let places = (0..count).filter(|i| i % every == 0);
            let coordinates = |place: i64| {
                let mut rest = place;
                let backwards = sizes.iter().rev().map(|size| {
                    let coordinate = rest % size;
                    rest /= size;
                    coordinate
                });
                backwards.collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>()
            };
            let want: Vec<i64> = places.clone().flat_map(coordinates).collect();
            let x = Tensor::from_vec(elements, sizes)?;
            for x in [x.to_dtype(DType::Bool)?, x.to_dtype(DType::Float32)?, x] {
                let found = aten::nonzero(&x)?;
                assert_eq!(found.sizes(), [places.clone().count() as i64, sizes.len() as i64]);
                assert_eq!(found.to_vec::<i64>()?, want, "{sizes:?} every {every}");
            }
        }
    }
    Ok(())
}

#[test]
fn masks_scatter_in_row_major_order() -> Result<()> {
    let (x, source) = (aten::randn(&[5, 40])?.t()?, aten::randn(&[40, 6])?.t()?);
    let (rows, all) = (aten::rand(&[5])?.gt(0.5)?, aten::rand(&[2, 40, 5])?.gt(0.5)?);
    for (mask, sizes) in [(rows, [1, 40, 5]), (all, [2, 40, 5])] {
        let scattered = aten::masked_scatter(&x, &mask, &aten::cat(&[source.clone(), source.clone()])?)?;
        let mut given = [source.to_vec::<f32>()?, source.to_vec::<f32>()?].concat().into_iter();
        let whole = x.expand(&sizes)?.to_vec::<f32>()?;
        let mask = mask.expand(&sizes)?.to_vec::<bool>()?;
        let want =
            whole.iter().zip(mask).map(|(x, is_written)| if is_written { given.next() } else { Some(*x) });
        assert!(
            scattered.to_vec::<f32>()?
                == want.collect::<Option<Vec<f32>>>().expect("the source is long enough")
        );
    }
    let (all, none) = (Tensor::from([true, true]), Tensor::from([false, false]));
    let error = aten::masked_scatter(&Tensor::from([1i64, 2]), &all, &Tensor::from([3i64])).unwrap_err();
    assert_eq!(error.to_string(), "aten::masked_scatter: 2 elements are written, the source has 1");
    let kept = aten::masked_scatter(&Tensor::from([1i64, 2]), &none, &Tensor::from([0i64; 0]))?;
    assert_eq!(kept.to_vec::<i64>()?, [1, 2]);
    let of_bools = aten::masked_scatter(&none, &Tensor::from([false, true]), &all)?;
    assert_eq!(of_bools.to_vec::<bool>()?, [false, true]);
    Ok(())
}

#[test]
fn long_rows_are_joined_as_short_ones() -> Result<()> {
    for dtype in [DType::Int64, DType::Int16, DType::Bool] {
        let part = |from: i64, sizes: [i64; 3]| {
            let count = sizes.iter().product::<i64>();
            let numbers = aten::arange_start(from.into(), (from + count).into())?.reshape(&sizes)?;
            numbers.remainder(7)?.to_dtype(dtype)
        };
        let (a, b, c) = (part(0, [2, 3, 40])?, part(3, [2, 0, 40])?, part(5, [2, 1, 40])?);
        let joined = aten::cat::with(&[a.clone(), b, c.clone()]).dim(1).call()?;
        assert!(aten::equal(&joined.narrow(1, 0, 3)?, &a)? && aten::equal(&joined.narrow(1, 3, 1)?, &c)?);
        let stacked = aten::stack::with(&[a.clone(), a.add(0)?.to_dtype(dtype)?]).dim(1).call()?;
        assert!(aten::equal(&stacked.select(1, 0)?, &a)? && aten::equal(&stacked.select(1, 1)?, &a)?);
    }
    Ok(())
}

#[test]
fn joined_images_stay_channels_last_if_all_are() -> Result<()> {
    let x = aten::zeros(&[1, 2, 2, 2])?;
    let last = x.contiguous_format(MemoryFormat::ChannelsLast)?;
    let join =
        |tensors: &[Tensor]| Ok::<_, Error>(aten::cat::with(tensors).dim(1).call()?.strides().to_vec());
    assert_eq!(join(&[last.clone(), last.clone()])?, [16, 1, 8, 4]);
    assert_eq!(join(&[last, x])?, [16, 4, 2, 1]);
    Ok(())
}

#[test]
fn stacks_have_a_new_dimension() -> Result<()> {
    let x = Tensor::from([1, 2]);
    let stack = aten::stack::with(&[x.clone(), x.add(10)?]).dim(-1).call()?;
    assert_eq!((stack.sizes(), stack.to_vec::<i32>()?), (&[2, 2][..], vec![1, 11, 2, 12]));
    assert!(aten::stack(&[x, Tensor::from([1])]).is_err());
    Ok(())
}

#[test]
fn what_is_out_of_range_is_of_a_kind_of_its_own() -> Result<()> {
    let (x, far) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([9i64]));
    let refused = [
        aten::select_int(&x, 0, 2),
        aten::select_int(&x, 2, 0),
        aten::unsqueeze(&x, 4),
        aten::index_select(&x, 0, &far),
        aten::index_Tensor(&x, &[Some(far.clone())]),
        aten::embedding::with(&x, &far).call(),
        aten::embedding_bag::with(&x, &far, &Tensor::from([0i64])).call().map(|(out, ..)| out),
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index, "{error}");
    }
    Ok(())
}

#[test]
fn elements_are_gathered_by_index() -> Result<()> {
    let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let index = Tensor::from([[2i64, 0], [1, 1]]);
    assert_eq!(x.gather(1, &index)?.to_vec::<i32>()?, [3, 1, 5, 5]);
    assert_eq!(x.t()?.gather(0, &index)?.to_vec::<i32>()?, [3, 4, 2, 5]);
    let error = x.gather(0, &Tensor::from([[2i64]])).unwrap_err();
    assert_eq!(error.to_string(), "aten::gather: index 2 is out of range for dimension 0 of size 2");
    assert!(x.gather(0, &Tensor::from([[-1i64]])).is_err() && x.gather(0, &Tensor::from([0i64])).is_err());
    assert!(x.gather(0, &Tensor::from([[0.5f32]])).is_err());
    assert_eq!(Tensor::from(7).gather(0, &Tensor::from([0i64, 0]))?.to_vec::<i32>()?, [7, 7]);
    Ok(())
}

#[test]
fn slices_are_selected_by_index() -> Result<()> {
    let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    assert_eq!(x.index_select(1, &Tensor::from([2i32, 0]))?.to_vec::<i32>()?, [3, 1, 6, 4]);
    assert_eq!(x.index_select(0, &Tensor::from(1i64))?.sizes(), [1, 3]);
    assert!(x.index_select(0, &Tensor::from([2i64])).is_err());
    assert!(x.index_select(0, &Tensor::from([[0i64]])).is_err());
    Ok(())
}

#[test]
fn embeddings_are_rows() -> Result<()> {
    let weight = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let rows = aten::embedding(&weight, &Tensor::from([[2i64, 0], [1, 1]]))?;
    assert_eq!(rows.sizes(), [2, 2, 2]);
    assert_eq!(rows.to_vec::<f64>()?, [5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
    assert!(aten::embedding(&weight.flatten()?, &Tensor::from([0i64])).is_err());
    Ok(())
}

#[test]
fn comparisons_give_truth_values() -> Result<()> {
    let (x, y) = (Tensor::from([1, 2, 3]), Tensor::from([2.0, 2.0, 2.0]));
    assert_eq!(aten::lt_Tensor(&x, &y)?.to_vec::<bool>()?, [true, false, false]);
    assert_eq!(aten::ge_Scalar(&x, 2.into())?.to_vec::<bool>()?, [false, true, true]);
    assert_eq!(aten::ne_Scalar(&x, 2.5.into())?.to_vec::<bool>()?, [true; 3]);
    assert!(aten::lt_Scalar(&Tensor::from([Complex64::new(0.0, 1.0)]), 1.into()).is_err());
    Ok(())
}

#[test]
fn a_condition_chooses() -> Result<()> {
    let (condition, x) = (Tensor::from([[true], [false]]), Tensor::from([1i8, 2]));
    let chosen = aten::where_ScalarOther(&condition, &x, 0.5.into())?;
    assert_eq!(chosen.to_vec::<f32>()?, [1.0, 2.0, 0.5, 0.5]);
    assert_eq!(aten::where_Scalar(&condition, 1.into(), 2.into())?.dtype(), DType::Int64);
    let half = Tensor::from(half::f16::ONE);
    let chosen = aten::where_ScalarSelf(&Tensor::from(true), 1e10.into(), &half)?;
    assert_eq!(chosen.to_vec::<half::f16>()?, [half::f16::INFINITY]);
    assert!(aten::where_self(&x, &x, &x).is_err());
    Ok(())
}

#[test]
fn indices_cross_whatever_the_order_of_memory() -> Result<()> {
    // Element [i, j, k] is 100 i + 10 j + k.
    let numbers = (0..4 * 5 * 6).map(|at| (at / 30 * 100 + at / 6 % 5 * 10 + at % 6) as f32).collect();
    let x = Tensor::from_vec(numbers, &[4, 5, 6])?;
    let back = aten::permute(&aten::contiguous(&aten::permute(&x, &[2, 0, 1])?)?, &[1, 2, 0])?;
    let index = |places: &[i64], sizes: &[i64]| Tensor::from_slice(places, sizes).map(Some);
    let (i, j, k) = (index(&[3, -4], &[2, 1])?, index(&[4, 4, 0], &[3])?, index(&[1, 2, 3, 4, 5, -2], &[6])?);
    for x in [x, back] {
        let check = |indices: &[Option<Tensor>], want: &[f32]| -> Result<()> {
            let picked = aten::index_Tensor(&x, indices)?;
            assert_eq!(aten::contiguous(&picked)?.to_vec::<f32>()?[..want.len()], *want);
            let mut zeros = aten::clone(&x)?;
            aten::index_put_(&mut zeros, indices, &aten::zeros_like(&picked)?)?;
            assert_eq!(aten::sum(&aten::index_Tensor(&zeros, indices)?)?.item()?.to::<f32>()?, 0.0);
            aten::index_put_(&mut zeros, indices, &picked)?;
            assert!(aten::equal(&zeros, &x)?);
            Ok(())
        };
        check(&[i.clone(), j.clone()], &[340.0, 341.0, 342.0, 343.0, 344.0, 345.0, 340.0])?;
        check(&[None, None, k.clone()], &[1.0, 2.0, 3.0, 4.0, 5.0, 4.0, 11.0])?;
        check(&[None, j.clone()], &[40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 40.0])?;
        check(&[i.clone(), None, index(&[5, 0], &[2])?], &[305.0, 315.0, 325.0, 335.0, 345.0, 300.0])?;
        check(&[None, index(&[1, 2, 0, 1], &[2, 2])?], &[10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 20.0])?;
        check(&[index(&[2], &[])?, j.clone()], &[240.0, 241.0, 242.0, 243.0, 244.0, 245.0, 240.0])?;
        let error = aten::index_Tensor(&x, &[None, index(&[0, 5], &[2])?]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "aten::index.Tensor: index 5 is out of range for dimension 1 of size 5"
        );
    }
    Ok(())
}

#[test]
fn a_mask_that_is_the_only_index_takes_one_value() -> Result<()> {
    let mut x = aten::zeros(&[2, 2, 2])?;
    let mask = Some(Tensor::from([true, false]));
    aten::index_put_(&mut x, &[None, mask.clone()], &Tensor::from(3.0f32))?;
    assert_eq!(x.to_vec::<f32>()?, [3.0, 3.0, 0.0, 0.0, 3.0, 3.0, 0.0, 0.0]);
    aten::index_put_(&mut x, std::slice::from_ref(&mask), &Tensor::from([1.0f32]))?;
    assert_eq!(x.to_vec::<f32>()?, [1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 0.0, 0.0]);
    let value = aten::select_int(&aten::select_int(&aten::select_int(&x, 0, 1)?, 0, 0)?, 0, 0)?;
    aten::index_put_(&mut x, &[mask], &aten::clone(&value)?)?;
    assert_eq!(x.to_vec::<f32>()?[..5], [3.0; 5]);
    Ok(())
}

#[test]
fn rows_are_scaled_down_to_a_norm() -> Result<()> {
    let rows = || aten::arange(12.into())?.to_dtype(DType::Float64)?.reshape(&[4, 3]);
    let mut x = rows()?;
    aten::embedding_renorm_(&mut x, &Tensor::from([[3i32, 1], [1, 0]]), 2.0, 2.0)?;
    let want = Tensor::from([
        [0.0, 0.8944271509999159, 1.7888543019998318],
        [0.8485281254285477, 1.13137083390473, 1.4142135423809129],
        [6.0, 7.0, 8.0],
        [1.0357809884623, 1.1508677649581, 1.2659545414539],
    ]);
    assert!(aten::allclose(&x, &want)?, "{x}");
    assert_eq!(x.version(), 1);
    let (x, index) = (rows()?, Tensor::from([-1i64]));
    let largest = aten::embedding_renorm(&x, &index, 2.0, f64::INFINITY)?;
    assert!(aten::allclose(&largest.select(0, 3)?, &Tensor::from([1.6363636, 1.8181818, 2.0]))?, "{largest}");
    assert!(aten::equal(&x, &rows()?)?);
    Ok(())
}

#[test]
fn rows_that_are_none_have_no_norm() -> Result<()> {
    let (x, index) = (aten::ones(&[4, 3])?, Tensor::from([1i64]));
    let refusal = |x: &Tensor, index: &Tensor, norm, order| {
        aten::embedding_renorm(x, index, norm, order).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(&x.select(0, 0)?, &index, 1.0, 2.0),
        "aten::embedding_renorm: sizes [3], expected a matrix"
    );
    for (x, index) in [(&x, Tensor::from([1.0])), (&x.to_dtype(DType::Int64)?, index.clone())] {
        assert!(refusal(x, &index, 1.0, 2.0).contains("expected floating-point or complex numbers"));
    }
    for (index, norm, order) in [(4i64, 1.0, 2.0), (1, -1.0, 2.0), (1, 1.0, 0.0)] {
        let error = refusal(&x, &Tensor::from([index]), norm, order);
        assert!(error.starts_with("aten::embedding_renorm: "), "{error}");
    }
    Ok(())
}

#[test]
fn tensors_are_one_vector_and_its_parts() -> Result<()> {
    let (square, number) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from(5.0));
    let flat = aten::flatten_dense_tensors(&[square.clone(), number.clone()])?;
    assert_close(&flat, &[1.0, 2.0, 3.0, 4.0, 5.0])?;
    let parts = aten::unflatten_dense_tensors(&flat, &[square.clone(), number.clone()])?;
    assert_eq!((parts[0].sizes(), parts[1].sizes()), (&[2, 2][..], &[][..]));
    assert_close(&parts[0], &[1.0, 2.0, 3.0, 4.0])?;
    let none = Tensor::zeros(&[0, 2], DType::Float32, Device::CPU)?;
    assert_eq!(aten::unflatten_dense_tensors(&flat, &[none])?[0].sizes(), [0, 2]);
    assert!(aten::unflatten_dense_tensors(&flat, &[square.clone(), square]).is_err(), "too few elements");
    assert!(aten::flatten_dense_tensors(&[]).is_err());
    Ok(())
}

#[test]
fn places_that_are_missing_are_filled() -> Result<()> {
    let x = Tensor::from([[0.0, 1.0], [2.0, 0.0]]);
    let places = aten::nonzero_static::with(&x, 3).fill_value(-9).call()?;
    assert_eq!(places.to_vec::<i64>()?, [0, 1, 1, 0, -9, -9]);
    assert!(aten::nonzero_static(&x, -1).is_err());
    Ok(())
}

#[test]
fn rows_that_a_mask_keeps_are_numbered() -> Result<()> {
    let weight = Tensor::from([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]);
    let mask = Tensor::from([true, false, true]);
    let (rows, indices) = aten::_rowwise_prune(&weight, &mask, DType::Int32)?;
    assert_eq!((rows.sizes(), rows.to_vec::<f64>()?), (&[2, 2][..], vec![0.0, 1.0, 4.0, 5.0]));
    assert_eq!(indices.to_vec::<i32>()?, [0, -1, 1]);
    let (none, indices) = aten::_rowwise_prune(&weight, &aten::zeros_like(&mask)?, DType::Int64)?;
    assert_eq!((none.sizes(), indices.to_vec::<i64>()?), (&[0, 2][..], vec![-1; 3]));
    let refused = |weight: &Tensor, mask: &Tensor, dtype| {
        aten::_rowwise_prune(weight, mask, dtype).map(drop).unwrap_err().to_string()
    };
    assert!(refused(&weight, &mask, DType::Float32).ends_with("of float32, expected int32 or int64"));
    let few = aten::narrow(&mask, 0, 0, 2)?;
    assert!(refused(&weight, &few, DType::Int32).contains("expected a matrix and a bool for each row"));
    assert!(
        refused(&weight, &aten::to_dtype(&mask, DType::Int64)?, DType::Int32).contains("a mask of int64")
    );
    assert!(refused(&few, &few, DType::Int32).contains("a weight of sizes [2]"));
    Ok(())
}
