//! The published tables of an operator, found by their content.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::operator::{Draft, Resolved};

/// Up to this many tables are searched linearly.
const FEW: usize = 8;

/// All tables of an operator. Most operators have one.
#[derive(Default)]
pub(super) struct Interned {
    tables: SmallVec<[Resolved; 1]>,
    /// The tables by hash, if there are more than a few.
    by_hash: Option<Box<FxHashMap<u64, SmallVec<[Resolved; 1]>>>>,
}

impl Interned {
    /// The table that equals the draft, or a new one from `make`.
    pub(super) fn find_or_add(&mut self, draft: &Draft, make: impl FnOnce() -> Resolved) -> Resolved {
        let Interned { tables, by_hash } = self;
        let is_indexed = by_hash.is_some();
        let among = match by_hash {
            Some(by_hash) => by_hash.entry(draft.content_hash()).or_default(),
            None => &mut *tables,
        };
        if let Some(known) = among.iter().copied().find(|known| known.matches(draft)) {
            return known;
        }
        let made = make();
        among.push(made);
        if !is_indexed && tables.len() > FEW {
            let mut index: FxHashMap<u64, SmallVec<[Resolved; 1]>> = FxHashMap::default();
            tables.drain(..).for_each(|table| index.entry(table.content_hash()).or_default().push(table));
            *by_hash = Some(Box::new(index));
        }
        made
    }
}
