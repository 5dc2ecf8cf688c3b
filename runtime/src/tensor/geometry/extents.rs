//! The sizes and strides of a geometry, stored together.

use super::format::write_dense_strides;

/// The number of dimensions that are stored inline.
const FEW: usize = 6;

/// A size and a stride for each dimension.
///
/// Every result of every operator gets its own, so nothing here needs a function call for a few dimensions: arrays are
/// copied and compared whole, padded with zeros after the last dimension.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Extents {
    Few {
        dim: u8,
        sizes: [i64; FEW],
        strides: [i64; FEW],
    },
    /// More dimensions than are stored inline: first all sizes, then all strides.
    Many(Box<[i64]>),
}

impl Extents {
    /// Without dimensions.
    pub(super) const NONE: Extents = Extents::Few { dim: 0, sizes: [0; FEW], strides: [0; FEW] };

    /// Sets sizes and strides, where there were none.
    #[inline]
    pub(super) fn set(&mut self, sizes: &[i64], strides: &[i64]) {
        debug_assert_eq!(sizes.len(), strides.len());
        match self {
            Extents::Few { dim, sizes: own_sizes, strides: own_strides } if sizes.len() <= FEW => {
                *dim = sizes.len() as u8;
                copy(own_sizes, sizes);
                copy(own_strides, strides);
            }
            _ => *self = Extents::Many([sizes, strides].concat().into()),
        }
    }

    /// Sets sizes with contiguous strides, where there were none.
    #[inline]
    pub(super) fn set_contiguous(&mut self, sizes: &[i64]) {
        match self {
            Extents::Few { dim, sizes: own_sizes, strides } if sizes.len() <= FEW => {
                *dim = sizes.len() as u8;
                copy(own_sizes, sizes);
                write_dense_strides(strides, sizes, (0..sizes.len()).rev(), 1);
            }
            _ => self.set(sizes, &super::contiguous_strides(sizes)),
        }
    }

    #[inline]
    pub(super) fn sizes(&self) -> &[i64] {
        match self {
            Extents::Few { dim, sizes, .. } => &sizes[..*dim as usize],
            Extents::Many(both) => &both[..both.len() / 2],
        }
    }

    #[inline]
    pub(super) fn strides(&self) -> &[i64] {
        match self {
            Extents::Few { dim, strides, .. } => &strides[..*dim as usize],
            Extents::Many(both) => &both[both.len() / 2..],
        }
    }

    /// Whether both have the same sizes.
    #[inline]
    pub(super) fn are_sizes_equal(&self, other: &Extents) -> bool {
        match (self, other) {
            (Extents::Few { dim, sizes, .. }, Extents::Few { dim: other_dim, sizes: others, .. }) => {
                // Not `==`, which would be a call of `memcmp`.
                let differing = sizes.iter().zip(others).fold(0, |bits, (a, b)| bits | (a ^ b));
                dim == other_dim && differing == 0
            }
            _ => self.sizes() == other.sizes(),
        }
    }
}

/// Copies number by number: a copy of variable length would be a function call.
#[inline]
fn copy(to: &mut [i64; FEW], list: &[i64]) {
    for (dim, to) in to.iter_mut().enumerate() {
        match list.get(dim) {
            Some(number) => *to = *number,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_dimensions_are_as_good_as_few() {
        for dims in 0..10 {
            let sizes: Vec<i64> = (1..=dims).collect();
            let strides: Vec<i64> = (0..dims).map(|dim| 10 * dim).collect();
            let of = |sizes: &[i64], strides: &[i64]| {
                let mut extents = Extents::NONE;
                extents.set(sizes, strides);
                extents
            };
            let contiguous = |sizes: &[i64]| {
                let mut extents = Extents::NONE;
                extents.set_contiguous(sizes);
                extents
            };
            let extents = of(&sizes, &strides);
            assert_eq!((extents.sizes(), extents.strides()), (&sizes[..], &strides[..]));
            assert!(extents == extents.clone() && extents.are_sizes_equal(&contiguous(&sizes)));
            assert_eq!(contiguous(&sizes).strides(), &super::super::contiguous_strides(&sizes)[..]);
            let longer: Vec<i64> = (0..=dims).map(|dim| if dim < dims { dim + 1 } else { 0 }).collect();
            assert!(!extents.are_sizes_equal(&contiguous(&longer)));
        }
    }
}
