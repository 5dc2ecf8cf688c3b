//! Tensors that get other sizes and other memory while another thread reads them.
#![forbid(unsafe_code)]

use torch_library::{DType, Device, DispatchKey, DispatchKeySet, MemoryFormat, Result, Storage, Tensor};

use crate::harness::{allowed, assert_one_of, attempt, count, rounds, together};

const SMALL: usize = 4;
const LARGE: usize = count(1 << 16, 64);

fn filled(len: usize, value: i64) -> Storage {
    Storage::from_vec(vec![value; len])
}

/// One thread alternates the tensor between a small and a large memory, others read it: they must see one of the two, whole.
pub(crate) fn storage_set_while_read() -> Result<()> {
    let x = Tensor::from(vec![1i64; SMALL]);
    together(&[
        &|round| {
            let (len, value) = if round.is_multiple_of(2) { (LARGE, 2) } else { (SMALL, 1) };
            attempt(x.clone().set_storage(filled(len, value), &[len as i64], &[1], 0));
        },
        &|_| {
            if let Some(values) = allowed(x.to_vec::<i64>()) {
                assert_one_of(&values, &[1, 2]);
                assert_eq!(values.len(), if values[0] == 1 { SMALL } else { LARGE });
            }
        },
        &|_| {
            attempt(x.clone().fill_from(vec![1i64; SMALL]));
        },
        &|_| {
            if let Some(value) = allowed(x.element::<i64>(&[SMALL as i64 - 1])) {
                assert!(value == 1 || value == 2);
            }
        },
    ]);
    Ok(())
}

/// One thread resizes a tensor, others print it and query everything about it.
pub(crate) fn resized_while_shown() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    together(&[
        &|round| {
            let sizes: &[i64] = [&[2, 2][..], &[100], &[0], &[1, 2, 1]][round % 4];
            attempt(x.clone().resize(sizes, None));
        },
        &|_| assert!(!x.to_string().is_empty()),
        &|_| {
            let geometry = x.geometry();
            assert_eq!(geometry.sizes().len(), geometry.strides().len());
            let _ = (x.numel(), x.dim(), x.size(-1), x.is_contiguous(MemoryFormat::ChannelsLast));
            let _ = (x.is_non_overlapping_and_dense(), x.suggest_memory_format(), x.storage().nbytes());
        },
    ]);
    Ok(())
}

/// One thread transposes the tensor in place, others copy in and out.
pub(crate) fn moved_while_walked() -> Result<()> {
    let x = Tensor::from((0..64).collect::<Vec<i64>>());
    x.clone().set_geometry(&[8, 8], &[8, 1], 0)?;
    together(&[
        &|round| {
            let strides: [i64; 2] = if round.is_multiple_of(2) { [8, 1] } else { [1, 8] };
            attempt(x.clone().set_geometry(&[8, 8], &strides, 0));
        },
        &|_| {
            if let Some(values) = allowed(x.to_vec::<i64>()) {
                assert!((values[0], values[63]) == (0, 63) && (values[1] == 1 || values[1] == 8));
            }
        },
        &|_| {
            attempt(x.empty_like(DType::Int64, MemoryFormat::Preserve));
            attempt(x.strided_view(&[4], &[9], 3).and_then(|view| view.to_vec::<i64>()));
        },
    ]);
    Ok(())
}

/// Handles are cloned and dropped and weak ones upgraded, while the memory is replaced: if there is no other handle, at once.
pub(crate) fn last_handle_races() -> Result<()> {
    for round in rounds() {
        let x = Tensor::from(vec![1i64; SMALL]);
        let weak = x.downgrade();
        std::thread::scope(|scope| {
            let mut mine = x;
            scope.spawn(move || {
                attempt(mine.set_storage(filled(SMALL, 2), &[SMALL as i64], &[1], 0));
                drop(mine);
            });
            for _ in 0..2 {
                let weak = weak.clone();
                scope.spawn(move || {
                    let Some(mut x) = weak.upgrade() else { return };
                    if let Some(values) = allowed(x.to_vec::<i64>()) {
                        assert_one_of(&values, &[1, 2]);
                    }
                    attempt(x.set_geometry(&[round as i64 % 3], &[1], 0));
                });
            }
        });
        assert!(weak.upgrade().is_none());
    }
    Ok(())
}

/// A tensor with a second handle gets new memory again and again, here 4 GiB in all: only some of it may be kept.
pub(crate) fn storages_without_end() -> Result<()> {
    let mut x = Tensor::from([0u8]);
    let other = x.clone();
    let len = count(1 << 20, 64);
    for round in 0..count(4096, 8) {
        x.set_storage(Storage::from_vec(vec![round as u8; len]), &[len as i64], &[1], 0)?;
        assert_eq!(other.element::<u8>(&[len as i64 - 1])?, round as u8);
    }
    Ok(())
}

/// A tensor with a second handle is resized a quarter of a million times.
pub(crate) fn geometries_without_end() -> Result<()> {
    let mut x = Tensor::zeros(&[1 << 20], DType::UInt8, Device::CPU)?;
    let other = x.clone();
    for round in 0..count(1 << 18, 8) as i64 {
        x.set_geometry(&[round], &[1], 0)?;
        assert_eq!(other.numel(), round);
    }
    Ok(())
}

/// A tensor with 200 000 dimensions is refused, or shown and iterated in a moment.
pub(crate) fn many_dimensions() -> Result<()> {
    let ones = vec![1; count(200_000, 500)];
    let x = Tensor::from([7.0]);
    if let Some(x) = allowed(x.strided_view(&ones, &ones, 0)) {
        assert!(!x.to_string().is_empty());
        assert_eq!(x.to_vec::<f64>()?, [7.0]);
        attempt(x.empty_like(DType::Float64, MemoryFormat::Preserve));
    }
    Ok(())
}

/// Sizes, strides and offsets at the ends of their type are refused, or lead to no element out of bounds.
pub(crate) fn sizes_without_sense() -> Result<()> {
    let numbers = [i64::MIN, -1, 0, 1, 2, 1 << 31, 1 << 32, 1 << 61, i64::MAX];
    let keys = DispatchKeySet::from_key(DispatchKey::CPU);
    let x = Tensor::from([1i64, 2]);
    for size in numbers {
        for stride in numbers {
            for offset in numbers {
                let place = (&[2, size][..], &[stride, stride][..], offset);
                for view in [
                    x.strided_view(place.0, place.1, place.2),
                    Tensor::from_storage(x.storage().clone(), place.0, place.1, place.2, DType::Int64, keys),
                ] {
                    let Some(view) = allowed(view) else { continue };
                    assert!(!view.to_string().is_empty());
                    if view.numel() < 100
                        && let Some(values) = allowed(view.to_vec::<i64>())
                    {
                        assert!(values.iter().all(|value| [1, 2].contains(value)));
                    }
                }
                attempt(Tensor::empty_strided(&[size.min(4)], &[stride.min(4)], DType::Int64, Device::CPU));
                attempt(Tensor::from([1i64]).resize(&[size.min(100), stride.min(100)], None));
            }
        }
    }
    Ok(())
}
