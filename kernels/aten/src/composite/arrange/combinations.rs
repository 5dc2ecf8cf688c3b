//! Combinations of elements.

use torch_library::prelude::*;

use crate::aten;
use crate::composite::{collected, vector};

#[torch_impl(aten, CompositeImplicitAutograd)]
fn combinations(this: &Tensor, r: i64, with_replacement: bool) -> Result<Tensor> {
    const OPERATOR: &str = aten::combinations::NAME;
    ensure!(this.dim() == 1, Shape, "{OPERATOR}: sizes {:?}, expected a vector", this.sizes());
    ensure!(r >= 0, Argument, "{OPERATOR}: combinations of {r} elements, expected zero or more");
    if r == 0 {
        return aten::new_empty(this, &[0]);
    }
    let places = choices(OPERATOR, this.numel(), r, with_replacement)?;
    let sizes = [places.len() as i64 / r, r];
    let index = aten::view(&vector(places, this.device())?, &sizes)?;
    aten::index_Tensor(this, &[Some(index)])
}

/// The indices of all combinations, one after the other.
fn choices(operator: &str, n: i64, r: i64, with_replacement: bool) -> Result<Vec<i64>> {
    // Combinations with replacement correspond to combinations of more elements without it, minus 0, 1, 2, … at the
    // successive positions.
    let more = if with_replacement { n.saturating_add(r - 1) } else { n };
    if n == 0 || r > more {
        return Ok(Vec::new());
    }
    // Computed by the complement if that is smaller: there are as many choices of the elements left out.
    let count = (0..r.min(more - r)).try_fold(1i64, |count, k| {
        i64::try_from(i128::from(count) * i128::from(more - k) / i128::from(k + 1)).ok()
    });
    let numbers = count.and_then(|count| count.checked_mul(r));
    let Some(numbers) = numbers else {
        bail!(OutOfMemory, "{operator}: cannot allocate memory for all combinations of {r} of {n} elements")
    };
    let mut all = collected(operator, numbers, |_| 0)?;
    let mut choice: Vec<i64> = (0..r).map(|k| if with_replacement { 0 } else { k }).collect();
    for row in all.chunks_exact_mut(r as usize) {
        row.copy_from_slice(&choice);
        let last = |k: usize| if with_replacement { n - 1 } else { n - (r - k as i64) };
        let Some(k) = (0..r as usize).rev().find(|k| choice[*k] < last(*k)) else { break };
        let next = choice[k] + 1;
        for (behind, place) in choice[k..].iter_mut().enumerate() {
            *place = if with_replacement { next } else { next + behind as i64 };
        }
    }
    Ok(all)
}
