//! The phases of complex eigenvectors and singular vectors, which are arbitrary: no function of them has a derivative.

use torch_library::guard::no_grad;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::is_readable;

/// How much a loss may depend on a phase: rounding errors must not be refused. It is PyTorch's limit.
const TOLERANCE: f64 = 1e-2;

/// Checks that a loss does not depend on the phases of vectors. `along` has the products of the vectors and their
/// gradients, whose diagonal is imaginary where a loss changes with a phase.
///
/// # Errors
/// It does depend on them.
pub(super) fn check_phases(operator: &str, along: &Tensor) -> Result<()> {
    if !along.dtype().is_complex() || !is_readable(along) {
        return Ok(());
    }
    let is_independent = no_grad(|| {
        let turns = aten::imag(&aten::diagonal::call(along, 0, -2, -1)?)?;
        aten::allclose::call(&turns, &aten::zeros_like(&turns)?, TOLERANCE, TOLERANCE, false)
    })?;
    ensure!(
        is_independent,
        Argument,
        "{operator}: the loss depends on the phases of complex vectors, which are arbitrary, so it has no derivative"
    );
    Ok(())
}
