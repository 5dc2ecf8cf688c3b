//! Which accesses are refused, and which are not.

use super::*;

fn kind<T>(result: Result<T>) -> ErrorKind {
    result.err().expect("an error").kind()
}

#[test]
fn readers_share_and_writers_are_alone() {
    let (x, y) = (Tensor::from([1, 2]), Tensor::from([3, 4]));
    let view = x.strided_view(&[1], &[1], 1).unwrap();
    let reading = Lease::new([], [&x]).unwrap();
    assert!(Lease::new([], [&view, &y]).is_ok());
    assert_eq!(kind(Lease::new([&view], [])), ErrorKind::Busy);
    drop(reading);
    let writing = Lease::new([&view], [&x]).unwrap();
    assert_eq!(kind(Lease::new([], [&x])), ErrorKind::Busy);
    assert_eq!(kind(Lease::new([&y], [&x])), ErrorKind::Busy);
    assert!(Lease::new([&y], []).is_ok(), "what was taken before a refusal was given back");
    drop(writing);
    assert!(Lease::new([&x], []).is_ok());
}

#[test]
fn a_refusal_says_who_is_in_the_way() {
    let x = Tensor::from([1]);
    let (line, lease) = (line!(), Lease::new([&x], []).unwrap());
    let here = x.to_vec::<i32>().unwrap_err().to_string();
    let elsewhere = std::thread::scope(|scope| scope.spawn(|| Lease::new([&x], []).err().unwrap()).join());
    drop(lease);
    let place = format!("runtime/src/tensor/lease/tests.rs:{line}:");
    assert!(here.starts_with("this memory cannot be read now: it is being written at "), "{here}");
    assert!(here.contains(&place) && here.contains("by this thread, which is in the middle of it"), "{here}");
    let elsewhere = elsewhere.unwrap().to_string();
    assert!(
        elsewhere.contains("cannot be written now") && elsewhere.contains("by another thread"),
        "{elsewhere}"
    );
}

#[test]
fn of_several_readers_a_refusal_names_none() {
    let x = Tensor::from([1]);
    let writing = || Lease::new([&x], []).err().unwrap().to_string();
    let reading = Lease::new([], [&x]).unwrap();
    let (elsewhere, after) = std::thread::scope(|scope| {
        let there = || {
            let _also_reading = Lease::new([], [&x]).unwrap();
            writing()
        };
        (scope.spawn(there).join().unwrap(), writing())
    });
    drop(reading);
    for text in [elsewhere, after] {
        assert!(
            text.contains("it is being read at ") && text.contains(" by this thread or another"),
            "{text}"
        );
    }
    let _alone_again = Lease::new([], [&x]).unwrap();
    let twice = Lease::new([], [&x]).unwrap();
    assert!(writing().contains("by this thread, which is in the middle of it"));
    drop(twice);
}

#[test]
fn tensors_under_a_lease_stay_where_they_are() {
    let mut x = Tensor::from([1, 2, 3]);
    let handle = x.clone();
    let lease = Lease::new([], [&handle]).unwrap();
    assert_eq!(kind(x.set_geometry(&[2], &[1], 0)), ErrorKind::Busy);
    assert_eq!(kind(x.set_storage(Storage::from_vec(vec![1i32]), &[1], &[1], 0)), ErrorKind::Busy);
    assert_eq!(kind(x.resize(&[100], None)), ErrorKind::Busy);
    drop(lease);
    x.set_storage(Storage::from_vec(vec![7i32]), &[1], &[1], 0).unwrap();
    let lease = Lease::new([], [&handle]).unwrap();
    assert_eq!(kind(x.set_geometry(&[0], &[1], 0)), ErrorKind::Busy);
    drop(lease);
    assert_eq!(handle.to_vec::<i32>().unwrap(), [7]);
}

#[test]
fn what_is_written_together_lies_apart() {
    let x = Tensor::from([1, 2, 3, 4]);
    let part = |start| x.strided_view(&[2], &[1], start).unwrap();
    assert!(Lease::new([&part(0), &part(2)], [&x]).is_ok());
    assert_eq!(kind(Lease::new([&part(0), &part(1)], [])), ErrorKind::Argument);
    assert_eq!(kind(Lease::new([&x, &x], [])), ErrorKind::Argument);
    let (even, odd) = (x.strided_view(&[2], &[2], 0).unwrap(), x.strided_view(&[2], &[2], 1).unwrap());
    assert!(Lease::new([&even, &odd], []).is_ok());
}

#[test]
fn addresses_are_for_tensors_of_the_lease() {
    let (x, y) = (Tensor::from([1, 2]), Tensor::from([3]));
    let lease = Lease::new([&y], [&x]).unwrap();
    assert!(x.data_ptr::<i32>(&lease).is_ok() && y.data_ptr_mut::<i32>(&lease).is_ok());
    assert_eq!(kind(x.data_ptr_mut::<i32>(&lease)), ErrorKind::Internal);
    assert_eq!(kind(Tensor::from([1]).data_ptr::<i32>(&lease)), ErrorKind::Internal);
    assert_eq!(kind(x.data_ptr::<f32>(&lease)), ErrorKind::DType);
}

#[test]
fn a_lease_that_is_kept_gives_addresses_for_what_it_is() {
    let (x, y) = (Tensor::from([1, 2]), Tensor::from([3]));
    let reading = OwnedLease::shared(x.clone()).unwrap();
    assert!(x.data_ptr::<i32>(&reading).is_ok());
    assert_eq!(kind(x.data_ptr_mut::<i32>(&reading)), ErrorKind::Internal);
    assert_eq!(kind(y.data_ptr::<i32>(&reading)), ErrorKind::Internal);
    assert_eq!(kind(OwnedLease::exclusive(x.clone())), ErrorKind::Busy);
    drop(reading);
    let writing = OwnedLease::exclusive(x.clone()).unwrap();
    assert!(x.data_ptr::<i32>(&writing).is_ok() && x.data_ptr_mut::<i32>(&writing).is_ok());
    assert_eq!(kind(OwnedLease::shared(x.clone())), ErrorKind::Busy);
}

#[test]
fn a_backend_and_the_memory_that_it_lends_have_one_lease() {
    struct Lent(Storage);
    impl crate::StorageImpl for Lent {
        fn nbytes(&self) -> usize {
            self.0.nbytes()
        }
        fn device(&self) -> crate::Device {
            crate::Device::CPU
        }
        fn host(&self) -> Option<&Storage> {
            Some(&self.0)
        }
    }
    let memory = Storage::from_vec(vec![1u8, 2]);
    let lent = Storage::new(Lent(Storage::new(Lent(memory.clone()))));
    let writing = memory.bytes_mut().unwrap();
    assert_eq!(kind(lent.bytes()), ErrorKind::Busy);
    drop(writing);
    assert_eq!(*lent.bytes().unwrap(), [1, 2]);
    let keys = crate::DispatchKeySet::EMPTY;
    let of = |storage| Tensor::from_storage(storage, &[2], &[1], 0, crate::DType::UInt8, keys).unwrap();
    let (lender, borrower) = (of(memory), of(lent));
    assert!(lender.shares_storage_with(&borrower) && lender.may_overlap(&borrower));
    assert_eq!(kind(Lease::new([&lender, &borrower], [])), ErrorKind::Argument);
}

#[test]
fn what_somebody_writes_is_printed_without_elements() {
    let x = Tensor::from([1, 2]);
    let _writing = Lease::new([&x], []).unwrap();
    assert_eq!(x.to_string(), "tensor(..., size=(2,), dtype=torch.int32)");
}

#[test]
fn a_forgotten_lease_refuses_and_does_no_harm() {
    let mut x = Tensor::from([1]);
    std::mem::forget(Lease::new([], [&x]).unwrap());
    assert_eq!(kind(x.fill(2)), ErrorKind::Busy);
    assert_eq!(x.to_vec::<i32>().unwrap(), [1]);
}

#[test]
fn threads_that_read_and_write_see_whole_values_or_a_refusal() {
    let x = Tensor::from_vec(vec![0i64; 64], &[64]).unwrap();
    let rounds = if cfg!(miri) { 30 } else { 2000 };
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let mut x = x.clone();
            scope.spawn(move || (0..rounds).for_each(|i| drop(x.fill(2 * i + writer))));
        }
        let mut seen = 0;
        while seen < rounds {
            match x.to_vec::<i64>() {
                Ok(values) => assert!(values.iter().all(|value| *value == values[0])),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Busy),
            }
            seen += 1;
        }
    });
}
