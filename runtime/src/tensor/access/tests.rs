//! Elements are accessed in place or copied, and an index out of range is refused.

use super::*;
use crate::{Device, DispatchKeySet, ErrorKind, Storage};

#[test]
fn memory_of_no_elements_may_be_another_types() {
    let keys = DispatchKeySet::from(DispatchKey::CPU);
    let storage = Storage::from_vec(Vec::<u8>::new());
    let x = Tensor::from_storage(storage, &[0, 2], &[2, 1], 0, DType::Float64, keys).unwrap();
    assert_eq!(x.to_vec::<f64>().unwrap(), []);
}

#[test]
fn elements_come_in_logical_order() {
    let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let transposed = x.strided_view(&[3, 2], &[1, 3], 0).unwrap();
    assert_eq!(transposed.to_vec::<i32>().unwrap(), [1, 4, 2, 5, 3, 6]);
    let expanded = x.strided_view(&[2, 2], &[0, 1], 1).unwrap();
    assert_eq!(expanded.to_vec::<i32>().unwrap(), [2, 3, 2, 3]);
    assert_eq!(x.strided_view(&[0], &[1], 100).unwrap().to_vec::<i32>().unwrap(), []);
}

#[test]
fn huge_expanded_tensors_are_errors() {
    let x = Tensor::from([1]).strided_view(&[i64::MAX], &[0], 0).unwrap();
    assert!(x.to_vec::<i32>().unwrap_err().to_string().starts_with("cannot allocate a vector of 92233720"));
    assert_eq!(x.to_string(), "tensor([1, 1, 1,  ..., 1, 1, 1], dtype=torch.int32)");
}

#[test]
fn elements_have_an_index_per_dimension() {
    let x = Tensor::from([[1, 2], [3, 4]]).strided_view(&[2], &[2], 1).unwrap();
    assert_eq!(x.element::<i32>(&[1]).unwrap(), 4);
    assert_eq!(
        x.element::<i32>(&[2]).unwrap_err().to_string(),
        "there is no element [2] in a tensor of sizes [2]"
    );
    assert!(x.element::<i32>(&[0, 0]).is_err() && x.element::<i32>(&[-1]).is_err());
}

#[test]
fn types_are_not_confused() {
    let error = Tensor::from([1.0]).to_vec::<f32>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DType);
    assert_eq!(
        error.to_string(),
        "elements of float32 were requested from a tensor of float64, convert the tensor or request its type"
    );
}

#[test]
fn foreign_bytes_are_truths() {
    let storage = Storage::from_vec(vec![0u8, 1, 2, 255]);
    let keys = DispatchKeySet::EMPTY;
    let x = Tensor::from_storage(storage, &[4], &[1], 0, DType::Bool, keys).unwrap();
    assert_eq!(x.to_vec::<bool>().unwrap(), [false, true, true, true]);
}

#[test]
fn items_are_single() {
    assert_eq!(Tensor::from([[2.5f32]]).item().unwrap(), Scalar::Float(2.5));
    assert_eq!(
        Tensor::from([1, 2]).item().unwrap_err().to_string(),
        "a tensor of sizes [2] has 2 elements, `item` needs exactly one"
    );
}

#[test]
fn a_value_fills_any_strides() {
    let mut x = Tensor::from([1, 2, 3, 4]);
    x.strided_view(&[2], &[2], 1).unwrap().fill(0).unwrap();
    assert_eq!(x.to_vec::<i32>().unwrap(), [1, 0, 3, 0]);
    x.fill(7).unwrap();
    assert_eq!(x.to_vec::<i32>().unwrap(), [7; 4]);
}

#[test]
fn writes_are_all_or_nothing() {
    let mut x = Tensor::from([1, 2, 3]);
    assert!(x.fill_from([7, 8]).is_err() && x.fill_from([7; 4]).is_err());
    assert_eq!(x.to_vec::<i32>().unwrap(), [1, 2, 3]);
    let source = x.clone();
    x.fill_from(source.to_vec::<i32>().unwrap().into_iter().rev()).unwrap();
    assert_eq!(source.to_vec::<i32>().unwrap(), [3, 2, 1]);
}

#[test]
fn slices_need_contiguous_memory() {
    let mut x = Tensor::from([[1, 2], [3, 4]]);
    x.elements_mut::<i32>().unwrap().as_mut_slice().unwrap()[3] = 40;
    assert_eq!(x.elements::<i32>().unwrap().as_slice().unwrap(), [1, 2, 3, 40]);
    let transposed = x.strided_view(&[2, 2], &[1, 2], 0).unwrap();
    let elements = transposed.elements::<i32>().unwrap();
    assert!(elements.as_slice().is_err());
    assert_eq!(elements.iter().collect::<Vec<_>>(), [1, 3, 2, 40]);
    let empty = Tensor::empty(&[0], DType::Float32, Device::CPU).unwrap();
    assert_eq!(empty.elements::<f32>().unwrap().as_slice().unwrap(), []);
}

#[test]
fn slices_of_truths_hold_nothing_else() {
    let keys = DispatchKeySet::EMPTY;
    let of = |bytes: Vec<u8>| {
        Tensor::from_storage(Storage::from_vec(bytes), &[2], &[1], 0, DType::Bool, keys).unwrap()
    };
    assert_eq!(of(vec![0, 1]).elements::<bool>().unwrap().as_slice().unwrap(), [false, true]);
    let mut foreign = of(vec![1, 2]);
    assert_eq!(foreign.elements::<bool>().unwrap().as_slice().unwrap_err().kind(), ErrorKind::DType);
    assert!(foreign.elements_mut::<bool>().unwrap().as_mut_slice().is_err());
    assert_eq!(foreign.to_vec::<bool>().unwrap(), [true, true]);
}

#[test]
fn elements_are_set_one_by_one() {
    let mut x = Tensor::from([[1, 2], [3, 4]]).strided_view(&[2, 2], &[1, 2], 0).unwrap();
    let mut elements = x.elements_mut::<i32>().unwrap();
    elements.set(&[1, 0], 20).unwrap();
    assert_eq!((elements.get(&[1, 0]).unwrap(), elements.geometry().strides()), (20, &[1, 2][..]));
    assert!(elements.set(&[2, 0], 0).is_err());
    drop(elements);
    assert_eq!(x.to_vec::<i32>().unwrap(), [1, 3, 20, 4]);
}
