//! Where a Hessenberg matrix falls into blocks: the criterion by which QR iterations end.

use num_traits::Float;

use super::columns::Columns;
use super::field::{Field, Real};

/// The first row of the block that ends in row `last` and starts no earlier than in row `first`: the element to the
/// left of its diagonal is negligible. `modulus` is that of the numbers below the diagonal.
pub(super) fn start_of_block<T: Field>(
    h: &Columns<'_, T>,
    [first, last]: [usize; 2],
    modulus: impl Fn(T) -> T::Real,
) -> usize {
    let n = T::Real::from_f64((last + 1 - first) as f64);
    let least = T::Real::LEAST * (n / precision::<T>());
    let is_negligible = |k: usize| is_negligible(h, k, [first, last], least, &modulus);
    (first + 1..=last).rev().find(|k| is_negligible(*k)).unwrap_or(first)
}

fn precision<T: Field>() -> T::Real {
    T::Real::ROUNDING + T::Real::ROUNDING
}

/// Whether the element to the left of the diagonal in row `k` may become zero: a criterion of Ahues and Tisseur.
fn is_negligible<T: Field>(
    h: &Columns<'_, T>,
    k: usize,
    [first, last]: [usize; 2],
    least: T::Real,
    modulus: impl Fn(T) -> T::Real,
) -> bool {
    let zero = T::Real::ZERO;
    let off_diagonal = modulus(h[[k, k - 1]]);
    if off_diagonal <= least {
        return true;
    }
    let mut around = h[[k - 1, k - 1]].size() + h[[k, k]].size();
    if around == zero {
        around = if k >= first + 2 { modulus(h[[k - 1, k - 2]]) } else { zero };
        around += if k < last { modulus(h[[k + 1, k]]) } else { zero };
    }
    if off_diagonal > precision::<T>() * around {
        return false;
    }
    let above = h[[k - 1, k]].size();
    let (here, difference) = (h[[k, k]].size(), (h[[k - 1, k - 1]] - h[[k, k]]).size());
    let (most, fewest) = (off_diagonal.max(above), off_diagonal.min(above));
    let (larger, smaller) = (here.max(difference), here.min(difference));
    let sum = larger + most;
    fewest * (most / sum) <= least.max(precision::<T>() * (smaller * (larger / sum)))
}
