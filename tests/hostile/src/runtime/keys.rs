//! Dispatch keys that no tensor should have, and guards that end in any order.
#![forbid(unsafe_code)]

use std::thread;

use torch_library::guard::{
    ExcludeDispatchKeyGuard, ForceDispatchKeyGuard, IncludeDispatchKeyGuard, LocalDispatchKeySet, include, no_grad,
};
use torch_library::prelude::*;

use crate::harness::{allowed, attempt, count, rounds};

torch_library! {
    /// Operators for these programs.
    pub mod keys {
        /// The first element.
        first(Tensor self) -> float;
        /// Writes zero to all.
        clear_(Tensor(a!) self) -> Tensor(a!);
        /// The same tensor.
        same(Tensor(a) self) -> Tensor(a);
    }
}

#[torch_impl(keys, CPU)]
mod kernels {
    use torch_library::prelude::*;

    fn first(this: &Tensor) -> Result<f64> {
        this.element::<f64>(&[0])
    }

    fn clear_(this: &mut Tensor) -> Result<&mut Tensor> {
        this.fill(0.0)?;
        Ok(this)
    }

    fn same(this: &Tensor) -> Result<Tensor> {
        this.strided_view(this.sizes(), this.strides(), this.storage_offset())
    }
}

/// Calls every operator on a tensor with these keys.
fn call(keys: DispatchKeySet) {
    let _ = (keys.highest_priority(), keys.highest_functionality(), keys.highest_backend(), keys.to_string());
    let _ = (keys.iter().count(), keys.table_index(), keys.backend_index());
    let mut x = Tensor::from([3.0, 4.0]).with_key_set(keys);
    if let Some(first) = allowed(keys::first(&x)) {
        // It is zero if a key says that all elements are.
        assert!([0.0, 3.0].contains(&first.abs()), "{first}");
    }
    if let Some(same) = allowed(keys::same(&x)) {
        assert!(!same.to_string().is_empty());
        attempt(same.to_vec::<f64>());
    }
    attempt(keys::clear_(&mut x).map(|_| ()));
    assert!(!x.to_string().is_empty());
    attempt(x.set_requires_grad(true));
    attempt(keys::first(&x));
    attempt(keys::same::handle().call_boxed(&mut Stack::from_iter([Value::from(&x)])));
    attempt(keys::first::handle().redispatch_boxed(keys, &mut Stack::from_iter([Value::from(&x)])));
    attempt(keys::first::redispatch(keys, &x));
}

/// Each dispatch key, alone, with another one, and without the keys that belong to it.
pub(crate) fn any_key_on_any_tensor() -> Result<()> {
    let all = DispatchKeySet::FULL;
    let some = DispatchKeySet::from_key(DispatchKey::CPU);
    for key in all.iter() {
        for keys in [DispatchKeySet::from_key(key), some.add(key), all.remove(key)] {
            call(keys);
        }
        attempt(keys::first::handle().call_boxed_for_key(key, &mut Stack::from_iter([Value::from(Tensor::from([1.0]))])));
    }
    Ok(())
}

/// Key sets of arbitrary bits, on tensors and on the thread.
pub(crate) fn keys_from_bits() -> Result<()> {
    let mut bits = 0x9E37_79B9_7F4A_7C15u64;
    for shift in 0..64 {
        call(DispatchKeySet::from_raw(1 << shift));
        call(DispatchKeySet::from_raw(u64::MAX >> shift));
    }
    for _ in rounds() {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        call(DispatchKeySet::from_raw(bits));
        let local = LocalDispatchKeySet {
            included: DispatchKeySet::from_raw(bits),
            excluded: DispatchKeySet::from_raw(bits.rotate_left(32)),
        };
        let _guard = ForceDispatchKeyGuard::new(local);
        attempt(keys::first(&Tensor::from([3.0])));
        include(DispatchKeySet::from_raw(!bits), || allowed(keys::first(&Tensor::from([3.0]))));
    }
    assert_eq!(keys::first(&Tensor::from([3.0]))?, 3.0);
    Ok(())
}

/// Guards that end in an order other than the reverse, or never.
pub(crate) fn guards_out_of_order() -> Result<()> {
    for round in rounds() {
        let ended = thread::spawn(move || {
            let first = IncludeDispatchKeyGuard::new(DispatchKey::Tracer);
            let second = ExcludeDispatchKeyGuard::new(DispatchKey::AutogradCPU);
            let third = ForceDispatchKeyGuard::new(LocalDispatchKeySet::current());
            match round % 3 {
                0 => drop((first, third, second)),
                1 => drop((third, first, second)),
                _ => std::mem::forget((first, second, third)),
            }
            attempt(keys::first(&Tensor::from([3.0])));
        });
        assert!(ended.join().is_ok());
        if round > count(50, 3) {
            break;
        }
    }
    assert_eq!(keys::first(&Tensor::from([3.0]))?, 3.0);
    Ok(())
}

/// Threads that end in the middle of a mode; later threads must not see it.
pub(crate) fn modes_left_by_threads() -> Result<()> {
    for round in rounds().take(count(50, 2)) {
        let before = LocalDispatchKeySet::current();
        let left = thread::spawn(|| {
            std::mem::forget(torch_library::fake::FakeMode::new());
            std::mem::forget(torch_library::vmap::Level::enter(2, torch_library::vmap::Randomness::Same));
            std::mem::forget(torch_library::trace::listen(|_| ()));
            no_grad(|| allowed(keys::first(&Tensor::from([3.0]))))
        });
        assert!(left.join().is_ok());
        assert_eq!(LocalDispatchKeySet::current(), before, "round {round}");
        assert_eq!(keys::first(&Tensor::from([3.0]))?, 3.0);
    }
    Ok(())
}
