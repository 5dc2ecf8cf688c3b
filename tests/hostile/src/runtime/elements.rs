//! Threads that write elements while others read or write the same ones.
#![forbid(unsafe_code)]

use torch_library::{Result, Storage, StorageBytes, StorageBytesMut, Tensor};

use crate::harness::{allowed, assert_one_of, attempt, count, together};

const LEN: usize = count(512, 16);

fn zeros() -> Tensor {
    Tensor::from(vec![0i64; LEN])
}

/// One thread fills a tensor, another copies it out: each copy must have one value throughout.
pub(crate) fn fill_while_read() -> Result<()> {
    let x = zeros();
    together(&[
        &|round| {
            attempt(x.clone().fill(round as i64 % 2));
        },
        &|_| {
            if let Some(values) = allowed(x.to_vec::<i64>()) {
                assert_one_of(&values, &[0, 1]);
            }
        },
    ]);
    Ok(())
}

/// One thread copies in, another reads single elements, a third reads all of them by an iterator that reads the tensor itself.
pub(crate) fn copy_while_read() -> Result<()> {
    let x = zeros();
    let (zeros, ones) = (vec![0i64; LEN], vec![1i64; LEN]);
    together(&[
        &|round| {
            attempt(x.clone().copy_from_slice(if round.is_multiple_of(2) { &ones } else { &zeros }));
        },
        &|round| {
            if let Some(value) = allowed(x.element::<i64>(&[(round % LEN) as i64])) {
                assert!(value == 0 || value == 1);
            }
        },
        &|_| {
            let reader = x.clone();
            let values = (0..LEN as i64).map(|i| allowed(reader.element::<i64>(&[i])).unwrap_or(0));
            attempt(x.clone().fill_from(values));
        },
    ]);
    assert!(x.to_vec::<i64>()?.iter().all(|value| *value == 0 || *value == 1));
    Ok(())
}

/// Two threads fill overlapping views, a third reads both: each half must come from one write.
pub(crate) fn overlapping_views_filled() -> Result<()> {
    let x = zeros();
    let half = LEN as i64 / 2;
    let back = x.strided_view(&[half], &[1], half)?;
    together(&[
        &|_| {
            attempt(x.clone().fill(1i64));
        },
        &|_| {
            attempt(back.clone().fill(2i64));
        },
        &|_| {
            if let Some(values) = allowed(x.to_vec::<i64>()) {
                assert_one_of(&values[..LEN / 2], &[0, 1]);
                assert_one_of(&values[LEN / 2..], &[0, 1, 2]);
            }
        },
    ]);
    Ok(())
}

/// Each thread fills rows of its own: a write may be refused, but what was written must stay.
pub(crate) fn disjoint_parts_filled() -> Result<()> {
    let x = zeros();
    let (even, odd) =
        (x.strided_view(&[LEN as i64 / 2], &[2], 0)?, x.strided_view(&[LEN as i64 / 2], &[2], 1)?);
    let write = |part: &Tensor, value: i64| {
        if allowed(part.clone().fill(value)).is_some()
            && let Some(values) = allowed(part.to_vec::<i64>())
        {
            assert_one_of(&values, &[value]);
        }
    };
    together(&[&|round| write(&even, round as i64), &|round| write(&odd, -(round as i64))]);
    Ok(())
}

/// Threads print, compare and take items of a tensor that another writes.
pub(crate) fn shown_while_written() -> Result<()> {
    let x = Tensor::from([[0.0; 4]; 4]);
    let one = x.strided_view(&[], &[], 5)?;
    together(&[
        &|round| {
            attempt(x.clone().fill((round % 3) as f64));
        },
        &|_| assert!(!x.to_string().is_empty()),
        &|_| assert!(!format!("{x:?}").is_empty()),
        &|_| {
            if let Some(item) = allowed(one.item()) {
                assert!([0.0, 1.0, 2.0].contains(&item.cast::<f64>()));
            }
        },
    ]);
    Ok(())
}

/// Writes through views in every direction, while the version counter is read.
pub(crate) fn views_of_one_tensor_moved() -> Result<()> {
    let x = Tensor::from([[0i64; 4]; 4]);
    together(&[
        &|round| {
            if let Some(mut view) = allowed(x.strided_view(&[4, 4], &[1, 4], 0)) {
                attempt(view.fill_from((0..16).map(|i| i + round as i64)));
            }
        },
        &|round| {
            let mut row = x.clone();
            attempt(row.fill(round as i64));
            x.bump_version();
        },
        &|_| {
            attempt(x.strided_view(&[2, 2], &[5, 1], 2).and_then(|view| view.to_vec::<i64>()));
            let _ = x.version();
        },
    ]);
    Ok(())
}

/// A function borrows the bytes of a storage, gives them back, and goes on while others write them.
pub(crate) fn bytes_given_back_within_a_function() -> Result<()> {
    fn use_up(mut bytes: StorageBytesMut<'_>, storage: &Storage) -> Result<()> {
        bytes[0] = 1;
        drop(bytes);
        storage.bytes_mut()?[0] = 2;
        Ok(())
    }
    fn look_up(bytes: StorageBytes<'_>, storage: &Storage) -> Result<u8> {
        let first = bytes[0];
        drop(bytes);
        storage.bytes_mut()?[0] = 3;
        Ok(first)
    }
    let storage = Storage::from_vec(vec![0u8; LEN]);
    use_up(storage.bytes_mut()?, &storage)?;
    assert_eq!(look_up(storage.bytes()?, &storage)?, 2);
    assert_eq!(storage.bytes()?[0], 3);
    Ok(())
}
