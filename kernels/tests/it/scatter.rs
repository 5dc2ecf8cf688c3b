//! Writing and adding elements by index or mask.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::assert_close;

#[test]
fn masks_say_where_a_number_goes() -> Result<()> {
    let mut x = Tensor::from([[1, 2], [3, 4]]);
    let mask = Tensor::from([true, false]);
    assert_eq!(aten::masked_fill_Scalar(&x, &mask, 9.into())?.to_vec::<i32>()?, [9, 2, 9, 4]);
    aten::masked_fill__Tensor(&mut x, &mask, &Tensor::from(7))?;
    assert_eq!((x.to_vec::<i32>()?, x.version()), (vec![7, 2, 7, 4], 1));
    let error = aten::masked_fill__Scalar(&mut x, &Tensor::from([1u8, 0]), 1.into()).unwrap_err();
    assert_eq!(error.to_string(), "aten::masked_fill_.Scalar: the mask is of uint8, expected bool");
    let error = aten::masked_fill__Scalar(&mut x, &Tensor::from([true; 3]), 1.into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten::masked_fill_.Scalar: a mask of sizes [3] does not broadcast to [2, 2]"
    );
    Ok(())
}

#[test]
fn elements_that_meet_are_added() -> Result<()> {
    let (mut x, index) = (aten::zeros(&[2, 2])?, Tensor::from([[0i64, 0], [0, 1]]));
    aten::scatter_add_(&mut x, 0, &index, &Tensor::from([[1f32, 2.0], [4.0, 8.0]]))?;
    assert_eq!((x.to_vec::<f32>()?, x.version()), (vec![5.0, 2.0, 0.0, 8.0], 1));
    let rows = Tensor::from([[1f32, 1.0], [2.0, 2.0]]);
    let sum = aten::index_add::with(&x, 0, &Tensor::from([1i64, 1]), &rows).alpha(10).call()?;
    assert_eq!(sum.to_vec::<f32>()?, [5.0, 2.0, 30.0, 38.0]);
    let error = aten::scatter_add_(&mut x, 0, &Tensor::from([[2i64]]), &rows).unwrap_err();
    assert_eq!(error.to_string(), "aten::scatter_add_: index 2 is out of range for dimension 0 of size 2");
    Ok(())
}

#[test]
fn elements_of_every_size_go_along_every_dimension() -> Result<()> {
    let rows: [[i64; 3]; 2] = [[2, 0, 2], [1, 1, 0]];
    let index = Tensor::from(rows);
    for dtype in [DType::Bool, DType::Int8, DType::Float16, DType::Int32, DType::Float64, DType::Complex128] {
        let source = Tensor::from([[1i64, 0, 1], [0, 1, 1]]).to_dtype(dtype)?;
        let target = Tensor::empty(&[3, 3], dtype, Device::CPU)?;
        let put = |target: &Tensor, dim, index: &Tensor, source: &Tensor| {
            aten::scatter_src(target, dim, index, source)?.to_dtype(DType::Int64)?.to_vec::<i64>()
        };
        assert_eq!(put(&target, 1, &index, &source)?, [0, 0, 1, 1, 1, 0, 0, 0, 0], "{dtype}");
        assert_eq!(put(&target, 0, &index, &source)?, [0, 0, 1, 0, 1, 0, 1, 0, 1], "{dtype}");
        let turned = put(&target, 0, &index.t()?, &source.t()?)?;
        assert_eq!(turned, [0, 1, 0, 0, 1, 0, 1, 0, 0], "{dtype}");
        let (big, places) = (source.t()?.contiguous()?, Tensor::from([[1i64, 1], [0, 1], [1, 0]]));
        let gathered = big.gather(1, &places)?.to_dtype(DType::Int64)?;
        assert_eq!(gathered.to_vec::<i64>()?, [0, 0, 0, 1, 1, 1], "{dtype}");
        let row = big.gather(0, &Tensor::from([[2i64, 2]]))?.to_dtype(DType::Int64)?;
        assert_eq!(row.to_vec::<i64>()?, [1, 1], "{dtype}");
    }
    let mut x = aten::zeros(&[3])?;
    assert!(aten::scatter__src(&mut x, 0, &Tensor::from([-1i64]), &Tensor::from([1f32])).is_err());
    aten::scatter__src(&mut x, 0, &Tensor::from([0i64; 0]), &Tensor::from([1f32]))?;
    aten::scatter__src(&mut x, 0, &Tensor::from([1i64, 1, 1]), &Tensor::from([1f32, 2.0, 3.0]))?;
    assert_eq!(x.to_vec::<f32>()?, [0.0, 3.0, 0.0]);
    Ok(())
}

/// Threads share the elements along a dimension that is not indexed.
#[test]
fn large_indices_write_in_order_along_every_dimension() -> Result<()> {
    let sizes = [70, 5, 600];
    let count = sizes.iter().product::<i64>();
    let source = Tensor::from_vec((0..count).map(|i| i as i32).collect(), &sizes)?;
    for dim in 0..3 {
        let places = |i: i64| i * 7919 % 11 % (sizes[dim] - 1);
        let index = Tensor::from_vec((0..count).map(places).collect::<Vec<i64>>(), &sizes)?;
        let (mut last, mut sum) = (vec![-1; count as usize], vec![0; count as usize]);
        let strides = [3000, 600, 1];
        for i in 0..count {
            let own = i / strides[dim] % sizes[dim];
            let place = (i + (places(i) - own) * strides[dim]) as usize;
            (last[place], sum[place]) = (i as i32, sum[place] + i as i32);
        }
        let target = |value: i64, turned: bool| -> Result<Tensor> {
            let full = |sizes: &[i64]| Tensor::full(sizes, value, DType::Int32, Device::CPU);
            if turned { full(&[600, 5, 70])?.transpose(0, 2) } else { full(&sizes) }
        };
        for turned in [false, true] {
            let (mut to, mut sums) = (target(-1, turned)?, target(0, turned)?);
            aten::scatter__src(&mut to, dim as i64, &index, &source)?;
            assert_eq!(to.to_vec::<i32>()?, last, "{dim} {turned}");
            aten::scatter_add_(&mut sums, dim as i64, &index, &source)?;
            assert_eq!(sums.to_vec::<i32>()?, sum, "{dim} {turned}");
        }
        let bad = aten::sub_Scalar(&index, 1.into())?;
        assert!(aten::scatter__src(&mut target(0, false)?, dim as i64, &bad, &source).is_err());
    }
    Ok(())
}

#[test]
fn indices_may_lie_beside_what_is_written() -> Result<()> {
    let memory = Tensor::from([0i64, 0, 0, 2, 0, 1]);
    let (mut x, index) = (memory.narrow(0, 0, 3)?, memory.narrow(0, 3, 3)?);
    aten::scatter__src(&mut x, 0, &index, &Tensor::from([7i64, 8, 9]))?;
    assert_eq!(memory.to_vec::<i64>()?, [8, 9, 7, 2, 0, 1]);
    aten::scatter_add_(&mut x, 0, &index, &Tensor::from([10i64, 20, 30]))?;
    assert_eq!(memory.to_vec::<i64>()?, [28, 39, 17, 2, 0, 1]);
    Ok(())
}

#[test]
fn tensors_of_indices_read_and_write() -> Result<()> {
    let mut x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let columns = [None, Some(Tensor::from([-1i64, 0]))];
    assert_eq!(aten::index_Tensor(&x, &columns)?.to_vec::<i32>()?, [3, 1, 6, 4]);
    let mask = [Some(aten::gt_Scalar(&x, 4.into())?)];
    assert_eq!(aten::index_Tensor(&x, &mask)?.to_vec::<i32>()?, [5, 6]);
    aten::index_put_(&mut x, &mask, &Tensor::from([0]))?;
    assert_eq!((x.to_vec::<i32>()?, x.version()), (vec![1, 2, 3, 4, 0, 0], 1));
    let again = [Some(Tensor::from([0i64, 0])), Some(Tensor::from([1i64, 1]))];
    let sum = aten::index_put::with(&x, &again, &Tensor::from([10, 20])).accumulate(true).call()?;
    assert_eq!(sum.to_vec::<i32>()?, [1, 32, 3, 4, 0, 0]);
    let error = aten::index_Tensor(&x, &[Some(Tensor::from([2i64]))]).unwrap_err();
    assert_eq!(error.to_string(), "aten::index.Tensor: index 2 is out of range for dimension 0 of size 2");
    Ok(())
}

#[test]
fn what_is_written_by_index_is_not_read() -> Result<()> {
    let mut x = Tensor::from([0i64, 1, 2]);
    let (same, part) = (x.clone(), x.strided_view(&[2], &[1], 0)?);
    let (index, two) = (Tensor::from([0i64, 1]), Tensor::from([7i64, 7]));
    for shared in [
        aten::index_put_(&mut x, &[Some(Tensor::from([2i64, 1, 0]))], &same).err(),
        aten::index_add_(&mut x, 0, &index, &part).err(),
        aten::index_add_(&mut x, 0, &part, &two).err(),
        aten::index_copy_(&mut x, 0, &part, &two).err(),
        aten::index_fill__int_Scalar(&mut x, 0, &part, 7.into()).err(),
        aten::index_reduce_(&mut x, 0, &index, &part, "prod").err(),
        aten::scatter__src(&mut x, 0, &index, &part).err(),
        aten::scatter_add_(&mut x, 0, &part, &two).err(),
        aten::scatter_add_out(&Tensor::from([0i64; 3]), 0, &index, &part, &mut x).err(),
    ] {
        let message = shared.map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("shares its memory, pass a copy of it"), "{message}");
    }
    assert!(aten::index_add_(&mut x.strided_view(&[3], &[0], 0)?, 0, &index, &two).is_err());
    aten::index_add_out(&same, 0, &index, &two, &mut x)?;
    assert_eq!(x.to_vec::<i64>()?, [7, 8, 2], "`out` may be `self`");
    Ok(())
}

#[test]
fn slices_are_not_copied_to_an_index_from_the_end() -> Result<()> {
    let (x, slices) = (Tensor::from([[0, 0], [0, 0], [0, 0]]), Tensor::from([[1, 2], [3, 4]]));
    let error = aten::index_copy(&x, 0, &Tensor::from([-1i64, 0]), &slices).unwrap_err();
    assert_eq!(error.to_string(), "aten::index_copy: index -1 is out of range, none counts from the end");
    assert!(aten::index_copy(&x, 0, &Tensor::from([3i64, 0]), &slices).is_err());
    let copied = aten::index_copy(&x, 0, &Tensor::from([2i64, 0]), &slices)?;
    assert_eq!(copied.to_vec::<i32>()?, [3, 4, 0, 0, 1, 2]);
    assert!(aten::index_copy(&Tensor::from(1), 0, &Tensor::from(-1i64), &Tensor::from(2)).is_err());
    Ok(())
}

#[test]
fn one_index_of_a_copied_slice_needs_no_dimension() -> Result<()> {
    let (x, slice) = (Tensor::from([[0, 0], [0, 0], [0, 0]]), Tensor::from([[1, 2]]));
    let index = Tensor::from(1i64);
    assert_eq!(aten::index_copy(&x, 0, &index, &slice)?.to_vec::<i32>()?, [0, 0, 1, 2, 0, 0]);
    let x = Tensor::from([0.0, 0.0]);
    assert_eq!(aten::index_copy(&x, 0, &index, &Tensor::from([3.0]))?.to_vec::<f64>()?, [0.0, 3.0]);
    assert_eq!(aten::index_copy(&x, 0, &index, &Tensor::from(3.0))?.to_vec::<f64>()?, [0.0, 3.0]);
    Ok(())
}

#[test]
fn masked_indices_may_be_any() -> Result<()> {
    let x = Tensor::from([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
    let mask = Tensor::from([true, false, true]);
    let indices = [None, Some(Tensor::from([1i64, 9, -1]))];
    let picked = aten::_unsafe_masked_index(&x, &mask, &indices, 7.into())?;
    assert_eq!(picked.to_vec::<f64>()?, [1.0, 7.0, 2.0, 4.0, 7.0, 5.0]);
    let ones = aten::ones_like(&x)?;
    let added = aten::_unsafe_masked_index_put_accumulate(&x, &mask, &indices, &ones)?;
    assert_eq!(added.to_vec::<f64>()?, [0.0, 2.0, 3.0, 3.0, 5.0, 6.0]);
    let by_mask = [None, Some(mask.clone())];
    assert!(aten::_unsafe_masked_index(&x, &mask, &by_mask, 7.into()).is_err());
    Ok(())
}

#[test]
fn numbers_are_put_at_flat_places() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let (index, source) = (Tensor::from([0i64, -1, 0]), Tensor::from([10.0, 20.0, 30.0]));
    let sums = aten::put::call(&x, &index, &source, true)?;
    assert_close(&sums, &[41.0, 2.0, 3.0, 4.0, 5.0, 26.0])?;
    // Positions count in row-major order, whatever the strides.
    let turned = aten::put(&x.t()?, &Tensor::from([1i64]), &Tensor::from([9.0]))?;
    assert_close(&turned, &[1.0, 9.0, 2.0, 5.0, 3.0, 6.0])?;
    assert_eq!(turned.strides(), [1, 3]);
    let mut written = x.t()?;
    aten::put_(&mut written, &Tensor::from([1i64]), &Tensor::from([9.0]))?;
    assert_close(&x, &[1.0, 2.0, 3.0, 9.0, 5.0, 6.0])?;
    let mut whole = aten::clone(&x)?;
    aten::put_::call(&mut whole, &index, &source, true)?;
    assert_eq!(whole.version(), 1);
    assert_close(&whole, &[41.0, 2.0, 3.0, 9.0, 5.0, 26.0])?;
    for (index, source) in [
        (Tensor::from([6i64]), Tensor::from([0.0])),
        (Tensor::from([0i32]), Tensor::from([0.0])),
        (Tensor::from([0i64]), Tensor::from([0.0f32])),
        (Tensor::from([0i64, 1]), Tensor::from([0.0])),
    ] {
        assert!(aten::put(&x, &index, &source).is_err());
        assert!(aten::put_(&mut written, &index, &source).is_err());
    }
    Ok(())
}

#[test]
fn an_element_of_an_expanded_tensor_is_written_where_any_repetition_is_selected() -> Result<()> {
    let mask = Tensor::from([[false, true, false], [false, false, false]]);
    let column = || aten::expand(&Tensor::from([[1.0_f32], [2.0]]), &[2, 3]);
    let mut x = column()?;
    aten::masked_fill__Scalar(&mut x, &mask, 9.into())?;
    assert_eq!(x.to_vec::<f32>()?, [9.0, 9.0, 9.0, 2.0, 2.0, 2.0]);
    let mut x = column()?;
    aten::index_put_(&mut x, &[Some(mask)], &Tensor::from(7.0_f32))?;
    assert_eq!(x.to_vec::<f32>()?, [7.0, 7.0, 7.0, 2.0, 2.0, 2.0]);
    let mut x = aten::expand(&aten::zeros::with(&[1]).dtype(Some(DType::Float16)).call()?, &[4])?;
    let ones = aten::ones::with(&[2]).dtype(Some(DType::Float16)).call()?;
    aten::index_put_::call(&mut x, &[Some(Tensor::from([0i64, 1]))], &ones, true)?;
    assert_eq!(x.to_dtype(DType::Float32)?.to_vec::<f32>()?, [2.0; 4]);
    Ok(())
}
