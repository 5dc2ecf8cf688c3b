//! Sets of slots of a dispatch table.

use crate::NUM_RUNTIME_KEYS;

const WORDS: usize = NUM_RUNTIME_KEYS.div_ceil(64);

/// A set of slots, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slots([u64; WORDS]);

impl Slots {
    pub(super) const EMPTY: Slots = Slots([0; WORDS]);

    pub(super) const fn with(mut self, slot: usize) -> Slots {
        self.0[slot / 64] |= 1 << (slot % 64);
        self
    }

    pub(super) fn union(self, other: Slots) -> Slots {
        Slots(std::array::from_fn(|idx| self.0[idx] | other.0[idx]))
    }

    pub(super) fn intersection(self, other: Slots) -> Slots {
        Slots(std::array::from_fn(|idx| self.0[idx] & other.0[idx]))
    }

    pub(super) fn minus(self, other: Slots) -> Slots {
        Slots(std::array::from_fn(|idx| self.0[idx] & !other.0[idx]))
    }

    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(idx, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                word &= word.wrapping_sub(1);
                (bit < 64).then_some(idx * 64 + bit)
            })
        })
    }
}
