//! Indices that change after they were checked, and leases of kernels: nothing outside of a tensor is read or written.

use torch_library::backend::{self, Stream, StreamGuard};
use torch_library::prelude::*;
use torch_library::{Lease, OwnedLease};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{device, tensor};

/// Calls an operator, whose indices are checked, and has another stream overwrite them before the kernel runs. On a
/// GPU it may run before; the emulator runs it when its result is asked for.
#[track_caller]
fn with_late_indices(device: Device, index: &Tensor, call: impl Fn(&Tensor) -> Result<Tensor>) {
    let (index, other) = (index.to(device).unwrap(), Stream::new(device).unwrap());
    backend::synchronize(device).unwrap();
    let result = call(&index).unwrap();
    {
        let _guard = StreamGuard::new(other).unwrap();
        aten::fill__Scalar(&mut index.clone(), (1i64 << 40).into()).unwrap();
        other.record_event().unwrap().synchronize().unwrap();
    }
    assert_eq!(result.to_vec::<f32>().unwrap().len() as i64, result.numel());
    assert_eq!(index.to_vec::<i64>().unwrap()[0], 1 << 40);
}

#[test]
fn an_index_that_changes_after_it_was_checked_is_not_followed() {
    let Some(device) = device() else { return };
    let x = tensor(&[4, 3], 0.0).to(device).unwrap();
    let late =
        |index: &Tensor, call: &dyn Fn(&Tensor) -> Result<Tensor>| with_late_indices(device, index, call);
    let (row, square) = (Tensor::from([0i64, 3, 2]), Tensor::from([[0i64, 1], [2, 3]]));
    late(&row, &|index| aten::index_select(&x, 0, index));
    late(&square, &|index| aten::gather(&x, 0, index));
    late(&square, &|index| aten::embedding(&x, index));
    late(&row, &|index| aten::index_Tensor(&x, &[Some(index.clone())]));
    let second = Tensor::from([0i64, 1, 2]).to(device).unwrap();
    late(&row, &|index| aten::index_Tensor(&x, &[Some(index.clone()), Some(second.clone())]));
    late(&square, &|index| aten::scatter_src(&x, 0, index, &x));
    late(&square, &|index| aten::scatter_value(&x, 0, index, 7.into()));
    late(&square, &|index| aten::scatter_add(&x, 0, index, &x));
    late(&row, &|index| aten::index_add(&x, 0, index, &x.narrow(0, 0, 3)?));
    late(&row, &|index| aten::index_put::call(&x, &[Some(index.clone())], &x.narrow(0, 0, 3)?, true));
    late(&row, &|index| aten::embedding_dense_backward(&x.narrow(0, 0, 3)?, index, 4, -1, false));
}

#[test]
fn a_class_that_changes_after_it_was_checked_is_not_followed() {
    let Some(device) = device() else { return };
    let (x, weight) = (tensor(&[4, 3], 0.0).to(device).unwrap(), tensor(&[3], 1.0).to(device).unwrap());
    let classes = Tensor::from([0i64, 1, 2, 1]);
    for reduction in [1, 2] {
        with_late_indices(device, &classes, |target| {
            let (loss, _) = aten::nll_loss_forward(&x, target, Some(&weight), reduction, -100)?;
            Ok(loss)
        });
        let one = Tensor::from(1f32).to(device).unwrap();
        with_late_indices(device, &classes, |target| {
            aten::nll_loss_backward(&one, &x, target, Some(&weight), reduction, -100, &one)
        });
    }
}

#[test]
fn a_kernel_holds_leases_on_its_tensors() {
    let Some(device) = device() else { return };
    let x = tensor(&[4, 3], 0.0).to(device).unwrap();
    let writing = OwnedLease::exclusive(x.clone()).unwrap();
    for refused in [x.add(&x), aten::clone(&x), x.sum(), x.mm(&x.t().unwrap())] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Busy);
    }
    assert_eq!(aten::fill__Scalar(&mut x.clone(), 1.into()).unwrap_err().kind(), ErrorKind::Busy);
    drop(writing);
    let reading = Lease::new([], [&x]).unwrap();
    aten::add__Tensor(&mut x.clone(), &x).unwrap(); // the order of streams decides what is read
    drop(reading);
}

/// Operators whose kernels go through one tensor by the sizes of another.
#[test]
fn tensors_that_are_too_small_for_the_others_are_refused() {
    let Some(device) = device() else { return };
    let there = |sizes: &[i64]| tensor(sizes, 0.0).to(device).unwrap();
    let whole = |sizes: &[i64]| Tensor::zeros(sizes, DType::Int64, device).unwrap();
    let x = there(&[1, 2, 8, 8]);
    let pooled = |grad: &Tensor, index: &Tensor| {
        aten::max_pool2d_with_indices_backward(grad, &x, &[2, 2], &[2, 2], &[0, 0], &[1, 1], false, index)
    };
    assert!(pooled(&there(&[1, 2, 4, 4]), &whole(&[1, 2, 4, 4])).is_ok());
    assert!(pooled(&there(&[1, 2, 4, 4]), &whole(&[1, 2, 1, 1])).is_err());
    assert!(pooled(&there(&[1, 2, 1, 1]), &whole(&[1, 2, 1, 1])).is_err());
    let (scores, classes, one) = (there(&[4, 3]), whole(&[4]), there(&[]));
    assert!(aten::nll_loss_forward(&scores, &classes, Some(&there(&[2])), 1, -100).is_err());
    assert!(aten::nll_loss_backward(&one, &scores, &classes, Some(&there(&[2])), 1, -100, &one).is_err());
    assert!(aten::nll_loss_backward(&one, &scores, &classes, None, 0, -100, &one).is_err());
    let statistics = there(&[1]);
    let norm =
        aten::native_batch_norm(&x, None, None, Some(&statistics), Some(&statistics), false, 0.1, 1e-5);
    assert!(norm.is_err());
}
