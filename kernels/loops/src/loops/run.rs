//! Running a loop: the leases, the checks under them, and the choice of the path.
#![expect(unsafe_code, reason = "takes no lease of memory that its caller has just made")]

use torch_library::{Lease, Result, Tensor, ensure, match_dtype};

use super::inner::Inner;
use super::overlap::may_overlap_partially;
use super::walk::broadcasts_to;
use super::{Operands, copy, has_elements, small};

/// Computes every element of `out` from those of the inputs.
#[track_caller]
pub(super) fn run<const N: usize>(out: &Tensor, inputs: [&Tensor; N], inner: &Inner<'_, N>) -> Result<()> {
    if out.may_overlap_itself() {
        return run_in_order(out, inputs, inner);
    }
    let lease = Lease::new([out], inputs)?;
    let overlapping = under(&lease, out, inputs, inner)?;
    drop(lease);
    overlapping.map_or(Ok(()), |k| run_from_copy(out, inputs, k, inner))
}

/// Like [`run`], for an `out` that was just made.
///
/// # Safety
/// - Until this returns, no code but the caller has a handle of or a reference to `out`, or a handle of its storage.
/// - The function that `inner` runs has none either.
#[inline]
#[track_caller]
pub(super) unsafe fn run_new<const N: usize>(
    out: &Tensor,
    inputs: [&Tensor; N],
    inner: &Inner<'_, N>,
) -> Result<()> {
    // SAFETY: the caller vouches that no other code has `out`, the function that runs under this lease included.
    let lease = unsafe { Lease::with_new(out, inputs)? };
    let overlapping = under(&lease, out, inputs, inner)?;
    drop(lease);
    overlapping.map_or(Ok(()), |k| run_from_copy(out, inputs, k, inner))
}

/// Like [`run`], from a copy of input `k`, whose elements might otherwise be overwritten before they are read.
#[cold]
#[track_caller]
fn run_from_copy<const N: usize>(
    out: &Tensor,
    inputs: [&Tensor; N],
    k: usize,
    inner: &Inner<'_, N>,
) -> Result<()> {
    // No lease is held here: if other threads change the tensors in between, `run` checks them again.
    let (apart, mut inputs) = (copy(inputs[k], inputs[k].dtype())?, inputs);
    inputs[k] = &apart;
    run(out, inputs, inner)
}

/// Like [`run`], where elements of `out` may share memory: they are computed in another tensor, and then written one
/// after the other.
#[cold]
fn run_in_order<const N: usize>(out: &Tensor, inputs: [&Tensor; N], inner: &Inner<'_, N>) -> Result<()> {
    check(out, &inputs)?;
    if !has_elements(out) {
        return Ok(());
    }
    let apart = Tensor::empty(out.sizes(), out.dtype(), out.device())?;
    run(&apart, inputs, inner)?;
    match_dtype!(out.dtype(), T => out.clone().copy_from_slice(&apart.to_vec::<T>()?))
}

/// Like [`run`], under a lease on all tensors. If an input has to be copied first, computes nothing and returns its
/// number.
#[inline(always)]
fn under<const N: usize>(
    lease: &Lease<'_, 1, N>,
    out: &Tensor,
    inputs: [&Tensor; N],
    inner: &Inner<'_, N>,
) -> Result<Option<usize>> {
    if !has_elements(out) || small::as_line(inner, out, inputs, lease) {
        return Ok(None);
    }
    ensure!(
        !out.may_overlap_itself(),
        Busy,
        "the strides of a tensor changed to {:?} while it was written",
        out.strides()
    );
    check(out, &inputs)?;
    let overlapping = inputs.iter().position(|input| may_overlap_partially(out, input));
    if overlapping.is_none() && !small::gathered(inner, out, inputs, lease)? {
        Operands::new(out, inputs, inner, lease)?.compute(out, inputs)?;
    }
    Ok(overlapping)
}

/// Checks what walks rely on: every input broadcasts to the result, and no element of the result is written twice, or
/// overlaps an element that is read at another place.
fn check(out: &Tensor, inputs: &[&Tensor]) -> Result<()> {
    out.check_no_internal_overlap()?;
    for input in inputs {
        ensure!(
            broadcasts_to(input.sizes(), out.sizes()),
            Shape,
            "sizes {:?} do not broadcast to those of the result, {:?}",
            input.sizes(),
            out.sizes()
        );
        if input.shares_storage_with(out) {
            out.check_no_partial_overlap(input)?;
        }
    }
    Ok(())
}
