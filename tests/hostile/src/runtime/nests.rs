//! Objects nested so deeply that dropping, printing or walking them recursively would exhaust the stack.
#![forbid(unsafe_code)]

use std::error::Error as _;

use torch_library::prelude::*;
use torch_library::{Error, ErrorKind};

use crate::harness::{allowed, attempt, count, together};

const DEEP: usize = count(200_000, 50);

fn wrapped(inside: Tensor) -> Result<Tensor> {
    let keys = DispatchKeySet::from_key(DispatchKey::TESTING_ONLY_GenericWrapper);
    Tensor::wrapper(inside.storage().clone(), inside.geometry(), inside.dtype(), keys, inside.clone())
}

/// Nested wrappers.
pub(crate) fn deep_wrappers() -> Result<()> {
    let mut x = Tensor::from([1.0]);
    for _ in 0..DEEP {
        match allowed(wrapped(x.clone())) {
            Some(wrapper) => x = wrapper,
            None => break,
        }
    }
    assert!(!x.to_string().is_empty());
    assert!(x.to_vec::<f64>().is_err());
    drop(x);
    Ok(())
}

/// Errors whose sources are errors.
pub(crate) fn deep_errors() -> Result<()> {
    let mut error = Error::new(ErrorKind::Kernel, "the first");
    for _ in 0..DEEP {
        error = Error::new(ErrorKind::Kernel, "the next").with_source(error);
    }
    assert!(!error.to_string().is_empty() && !format!("{error:?}").is_empty());
    let mut depth = 0;
    let mut source = error.source();
    while let Some(inner) = source {
        depth += 1;
        source = inner.source();
    }
    assert!(depth <= DEEP);
    drop(error);
    Ok(())
}

/// Gradients that have gradients.
pub(crate) fn deep_grads() -> Result<()> {
    let mut x = Tensor::from([1.0]);
    for _ in 0..DEEP {
        let next = Tensor::from([1.0]);
        if allowed(next.set_grad(Some(x.clone()))).is_none() {
            break;
        }
        x = next;
    }
    assert!(!x.to_string().is_empty() && !format!("{x:?}").is_empty());
    drop(x);
    Ok(())
}

/// Hooks that own tensors with hooks.
pub(crate) fn deep_hooks() -> Result<()> {
    let mut x = Tensor::from([1.0]);
    for _ in 0..DEEP {
        let (next, held) = (Tensor::from([1.0]), x.clone());
        next.set_requires_grad(true)?;
        attempt(next.register_hook(move |_| Ok(Some(held.clone()))));
        x = next;
    }
    drop(x);
    Ok(())
}

/// Threads make, read and drop wrappers, while the tensor inside is written and moved.
pub(crate) fn wrapped_in_threads() -> Result<()> {
    let inside = Tensor::from(vec![1i64; 64]);
    together(&[
        &|_| {
            let Some(wrapper) = allowed(wrapped(inside.clone())) else { return };
            assert!(wrapper.content::<Tensor>().is_some_and(|content| content.is_same(&inside)));
            assert!(wrapper.content::<i64>().is_none());
            assert!(!wrapper.to_string().is_empty());
        },
        &|round| {
            attempt(inside.clone().set_geometry(&[round as i64 % 64], &[1], 0));
            attempt(inside.clone().fill(round as i64));
        },
    ]);
    Ok(())
}
