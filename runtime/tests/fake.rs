//! Fake mode without operators of `aten`: what it keeps of real tensors.

use std::sync::Arc;

use torch_library::fake::{FakeMode, to_fake, to_fake_on};
use torch_library::prelude::*;
use torch_library::{Storage, StorageImpl};

/// Memory elsewhere, whose owner counts it while it lives.
struct Remote {
    _alive: Arc<()>,
}

impl StorageImpl for Remote {
    fn nbytes(&self) -> usize {
        1 << 20
    }

    fn device(&self) -> Device {
        "privateuseone:0".parse().unwrap()
    }
}

fn remote(count: &Arc<()>) -> Tensor {
    let keys = DispatchKeySet::EMPTY;
    let storage = Storage::new(Remote { _alive: Arc::clone(count) });
    Tensor::from_storage(storage, &[1 << 18], &[1], 0, DType::Float32, keys).unwrap()
}

#[test]
fn a_mode_lets_go_of_tensors_that_the_program_has_dropped() -> Result<()> {
    let (count, _mode) = (Arc::new(()), FakeMode::new());
    let kept = remote(&count);
    let fake = to_fake(&kept)?;
    for _ in 0..200 {
        to_fake(&remote(&count))?;
    }
    let alive = Arc::strong_count(&count) - 1;
    assert!(alive < 5, "{alive} of 201 are alive");
    assert!(to_fake(&kept)?.shares_storage_with(&fake));
    Ok(())
}

#[test]
fn a_real_storage_has_one_fake_on_each_device_until_the_mode_ends() -> Result<()> {
    let x = Tensor::from([1.0, 2.0, 3.0]);
    let gpu = "cuda:0".parse()?;
    let fakes = || Ok::<_, Error>([to_fake(&x)?, to_fake_on(&x, gpu)?]);
    let mode = FakeMode::new();
    let (first, again) = (fakes()?, fakes()?);
    assert!(first.iter().zip(&again).all(|(first, again)| first.shares_storage_with(again)));
    assert!(!first[0].shares_storage_with(&first[1]));
    drop(mode);
    assert!(!to_fake(&x)?.shares_storage_with(&first[0]));
    Ok(())
}
