//! The sizes and strides of one geometry, in one place.

use super::format::write_dense_strides;

/// Up to so many dimensions are stored inline.
const FEW: usize = 6;

/// A size and a stride for each dimension.
///
/// Every result of every operator gets its own, hence nothing here takes a call for a few dimensions: arrays are copied
/// and compared whole, with zeros behind their last dimension.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Extents {
    Few {
        dim: u8,
        sizes: [i64; FEW],
        strides: [i64; FEW],
    },
    /// More dimensions than are stored inline: all sizes, then all strides.
    Many(Box<[i64]>),
}

impl Extents {
    /// Of no dimensions.
    pub(super) const NONE: Extents = Extents::Few { dim: 0, sizes: [0; FEW], strides: [0; FEW] };

    /// Makes these so many sizes and strides, where there were none.
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

    /// Makes these sizes, where there were none, with strides that leave no gaps, last dimension densest.
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
                dim == other_dim && sizes == others
            }
            _ => self.sizes() == other.sizes(),
        }
    }
}

/// Number by number: a copy of a length that varies would be a call.
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
