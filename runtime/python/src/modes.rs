//! The modes of a thread: recording gradients, autocast, inference mode.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use torch_library::DeviceType;
use torch_library::autocast::{Autocast, AutocastGuard};
use torch_library::guard::{GradMode, InferenceMode};

use crate::error::exception;

/// An active region, which ends when this is dropped.
#[expect(dead_code, reason = "guards act by being there")]
enum Region {
    Autocast(AutocastGuard),
    Inference(InferenceMode),
}

thread_local! {
    /// From the outermost to the innermost. A region ends at the latest with its thread.
    static REGIONS: RefCell<ManuallyDrop<Vec<Region>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

fn enter(region: Region) -> usize {
    REGIONS.with_borrow_mut(|regions| {
        regions.push(region);
        regions.len()
    })
}

/// Enters an autocast region on this thread; returns the number of active regions.
#[pyfunction]
#[pyo3(signature = (device_type, dtype=None, enabled=true, cache_enabled=None))]
pub(crate) fn enter_autocast(
    device_type: &str,
    dtype: Option<&Bound<'_, PyAny>>,
    enabled: bool,
    cache_enabled: Option<bool>,
) -> PyResult<usize> {
    let device: DeviceType = device_type.parse().map_err(exception)?;
    let mut region = Autocast::on(device).enabled(enabled);
    if let Some(object) = dtype {
        let wrong = || PyTypeError::new_err(format!("{object} names no dtype"));
        region = region.dtype(crate::kinds::dtype(object).ok_or_else(wrong)?);
    }
    if let Some(yes) = cache_enabled {
        region = region.cache_enabled(yes);
    }
    Ok(enter(Region::Autocast(region.enter())))
}

/// Turns inference mode on or off on this thread; returns the number of active regions.
#[pyfunction]
pub(crate) fn enter_inference_mode(enabled: bool) -> usize {
    enter(Region::Inference(InferenceMode::new(enabled)))
}

/// Leaves the innermost region, which must have this number.
#[pyfunction]
pub(crate) fn leave(number: usize) -> PyResult<()> {
    let ended = REGIONS.with_borrow_mut(|regions| if regions.len() == number { regions.pop() } else { None });
    // Dropped after the borrow of the list has ended.
    ended.map(drop).ok_or_else(|| {
        PyRuntimeError::new_err("regions end on the thread that began them, the innermost first")
    })
}

/// Whether this thread records gradients.
#[pyfunction]
pub(crate) fn is_grad_enabled() -> bool {
    GradMode::is_enabled()
}

/// Sets whether this thread records gradients; returns whether it did before.
#[pyfunction]
pub(crate) fn set_grad_enabled(enabled: bool) -> bool {
    let before = GradMode::is_enabled();
    GradMode::set_enabled(enabled);
    before
}
