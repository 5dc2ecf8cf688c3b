//! Writes in place and their count.

use torch_library::guard::inference_mode;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn a_write_counts_once_for_all_views() -> Result<()> {
    let mut x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let mut row = x.select(0, 0)?;
    row.mul_(2)?;
    aten::zero_(&mut x)?;
    assert_eq!((x.version(), row.version()), (2, 2));
    aten::transpose_(&mut row.unsqueeze(0)?, 0, 1)?;
    assert_eq!(x.version(), 3);
    Ok(())
}

#[test]
fn new_tensors_have_not_been_written() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]);
    for new in [x.copy()?, aten::zeros(&[2])?, aten::ones_like(&x)?, x.to_dtype(DType::Int8)?, x.add(1)?] {
        assert_eq!(new.version(), 0);
    }
    Ok(())
}

#[test]
fn failed_writes_do_not_count() -> Result<()> {
    let mut x = Tensor::from([1, 2]);
    assert!(x.div_(2).is_err() && x.copy_(&Tensor::from([1, 2, 3])).is_err());
    assert_eq!(x.version(), 0);
    Ok(())
}

#[test]
fn tensors_from_outside_of_inference_mode_keep_their_count() -> Result<()> {
    let mut x = Tensor::from([1.0]);
    inference_mode(|| x.add_(1).map(drop))?;
    assert_eq!((x.to_vec::<f64>()?, x.version()), (vec![2.0], 1));
    Ok(())
}

#[test]
fn running_sums_stay_in_their_type() -> Result<()> {
    let mut x = Tensor::from([1i32, 2, 3]);
    aten::cumsum_(&mut x, 0)?;
    assert_eq!(x.to_vec::<i32>()?, [1, 3, 6]);
    assert!(aten::cumsum_::with(&mut x, 0).dtype(Some(DType::Int64)).call().is_err(), "would be of int64");
    assert!(aten::hardtanh(&Tensor::from([true])).is_err());
    Ok(())
}

#[test]
fn views_with_gaps_are_read_before_they_are_written() -> Result<()> {
    let cube = || aten::reshape(&Tensor::from_vec((0..64i64).collect(), &[64])?, &[2, 4, 8]);
    let window = |x: &Tensor, start: i64| aten::narrow(&aten::narrow(x, 1, 0, 2)?, 2, start, 6);
    let (x, untouched) = (cube()?, cube()?);
    aten::copy_(&mut window(&x, 1)?, &window(&x, 0)?)?;
    assert_eq!(window(&x, 1)?.to_vec::<i64>()?, window(&untouched, 0)?.to_vec::<i64>()?);
    for count in [6, 70_000] {
        let numbers = Tensor::from_vec((0..4 * count).collect(), &[4, count])?;
        let sides = |x: &Tensor| -> Result<[Tensor; 2]> {
            Ok([aten::narrow(x, 1, 0, count - 1)?, aten::narrow(x, 1, 1, count - 1)?])
        };
        let [left, right] = sides(&aten::clone(&numbers)?)?;
        let want = aten::add_Tensor(&left, &right)?.to_vec::<i64>()?;
        let [left, mut right] = sides(&numbers)?;
        aten::add__Tensor(&mut right, &left)?;
        assert_eq!(right.to_vec::<i64>()?, want);
    }
    Ok(())
}

#[test]
fn an_index_that_is_overwritten_meanwhile_leads_where_it_led() -> Result<()> {
    let table = Tensor::from([[1i64, 0, 0, 9], [0, 0, 0, 9]]);
    let (mut target, index) = (aten::narrow(&table, 1, 0, 3)?, aten::narrow(&table, 1, 0, 3)?);
    let far = aten::full(&[2, 3], (1i64 << 40).into())?;
    aten::scatter__src(&mut target, 1, &index, &far)?;
    assert_eq!(table.to_vec::<i64>()?, [1 << 40, 1 << 40, 0, 9, 1 << 40, 0, 0, 9]);
    Ok(())
}

#[test]
fn states_of_other_sizes_are_refused() -> Result<()> {
    let (mut x, mut grad, mut number) =
        ([aten::ones(&[1000])?], [aten::ones(&[1000])?], [Tensor::from(0f32)]);
    let step = |x: &mut [Tensor], grads: &mut [Tensor], momenta: &mut [Tensor]| {
        aten::_fused_sgd_(x, grads, momenta, 0.0, 0.9, 0.1, 0.0, false, false, false)
    };
    let error = step(&mut x, &mut grad, &mut number).unwrap_err().to_string();
    assert!(error.contains("a gradient or state of sizes [] for a tensor of [1000]"), "{error}");
    let (head, tail) = (aten::narrow(&x[0], 0, 0, 999)?, aten::narrow(&x[0], 0, 1, 999)?);
    let mut grad = [aten::ones(&[999])?];
    let error = step(&mut [head], &mut grad, &mut [tail]).unwrap_err().to_string();
    assert!(error.contains("they share memory, write to a copy of one"), "{error}");
    Ok(())
}
