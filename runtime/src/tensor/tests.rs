//! The tensor handle: identity, sharing, in-place replacement.

use super::*;

#[test]
fn a_handle_is_one_word() {
    assert_eq!(size_of::<Tensor>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Tensor>>(), size_of::<usize>());
}

#[test]
fn handles_cross_threads() {
    fn check<T: Send + Sync>() {}
    check::<Tensor>();
    check::<WeakTensor>();
    check::<crate::Generator>();
}

#[test]
fn clones_are_the_same_tensor_and_views_are_not() {
    let x = Tensor::from([1, 2]);
    let view = x.strided_view(&[2], &[1], 0).unwrap();
    assert!(x.is_same(&x.clone()) && !x.is_same(&view) && x.shares_storage_with(&view));
    view.bump_version();
    assert_eq!((x.version(), view.version(), Tensor::from(1).version()), (1, 1, 0));
}

#[test]
fn default_keys_are_pytorchs() {
    assert_eq!(Tensor::from([1.0]).key_set().raw(), 635_655_225_345);
    let meta = Tensor::empty(&[1], DType::Float32, Device::META).unwrap();
    assert_eq!(meta.key_set().raw(), 85_899_444_224);
    let keys = DispatchKeySet::from_raw(3);
    assert_eq!(meta.with_key_set(keys).key_set(), keys);
}

#[test]
fn sizes_are_counted_from_both_ends() {
    let x = Tensor::from([[1, 2, 3]]);
    assert_eq!((x.size(0).unwrap(), x.size(-1).unwrap()), (1, 3));
    assert!(x.size(2).is_err() && x.size(-3).is_err() && Tensor::from(1).size(0).is_err());
}

#[test]
fn replacement_in_place_is_seen_by_all_handles_and_old_borrows_stay_good() {
    let mut x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let handle = x.clone();
    let old = handle.geometry();
    for _ in 0..3 {
        x.set_geometry(&[3, 2], &[1, 3], 0).unwrap();
        assert_eq!((handle.sizes(), old.sizes()), (&[3, 2][..], &[2, 3][..]));
        x.set_geometry(&[2, 3], &[3, 1], 0).unwrap();
    }
    assert_eq!(handle.sizes(), [2, 3]);
    assert!(x.set_geometry(&[7], &[1], 0).is_err());
    assert_eq!(x.sizes(), [2, 3], "a refused change changes nothing");
}

#[test]
fn memory_can_be_replaced_under_handles_but_not_under_views() {
    let mut x = Tensor::from([1, 2]);
    let (handle, view) = (x.clone(), x.strided_view(&[1], &[1], 1).unwrap());
    x.set_storage(Storage::from_vec(vec![7, 8, 9]), &[3], &[1], 0).unwrap();
    assert_eq!(handle.to_vec::<i32>().unwrap(), [7, 8, 9]);
    assert_eq!(view.to_vec::<i32>().unwrap(), [2]);
    let elsewhere = Storage::without_data(12, Device::META);
    assert!(x.set_storage(elsewhere, &[3], &[1], 0).is_err());
}

#[test]
fn tensors_stay_within_their_storage() {
    let storage = || Storage::from_vec(vec![0u8; 9]);
    let make = |sizes: &[i64], strides: &[i64], offset, dtype| {
        Tensor::from_storage(storage(), sizes, strides, offset, dtype, DispatchKeySet::EMPTY)
    };
    assert!(make(&[9], &[1], 0, DType::UInt8).is_ok());
    assert!(make(&[9], &[1], 1, DType::UInt8).is_err());
    assert!(make(&[2, 2], &[i64::MAX, 1], 0, DType::UInt8).is_err());
    assert!(make(&[0], &[1], i64::MAX, DType::UInt8).is_ok());
    let error = make(&[3], &[1], 0, DType::Float32).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sizes [3], strides [1] and offset 0 reach 3 elements of float32, the storage has 2"
    );
}

#[test]
fn only_numbers_with_gradients_require_them() {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true).unwrap();
    assert!(x.clone().requires_grad());
    let error = Tensor::from([1]).set_requires_grad(true).unwrap_err();
    assert!(error.to_string().contains("int32 cannot require grad"));
    assert!(Tensor::from([1]).set_requires_grad(false).is_ok());
}

#[test]
fn weak_handles_end_with_the_tensor() {
    let x = Tensor::from([1.0]);
    let weak = x.downgrade();
    assert!(weak.upgrade().unwrap().is_same(&x));
    drop(x);
    assert!(weak.upgrade().is_none());
}
