//! Finds the spans of the parts of a schema.
//!
//! The parser does not keep the places of the parts. They can be found by brackets and commas alone, because the
//! schema is known to be well formed.

use std::ops::Range;

use super::{Pieces, SpanRange};

/// The spans of a schema's parts.
pub(crate) struct Places {
    /// The operator's name, with its overload.
    pub(crate) name: SpanRange,
    /// Each argument.
    pub(crate) arguments: Vec<ArgumentPlaces>,
    /// Each return.
    pub(crate) returns: Vec<SpanRange>,
}

/// The spans of an argument's parts.
#[derive(Clone, Copy)]
pub(crate) struct ArgumentPlaces {
    pub(crate) ty: SpanRange,
    pub(crate) name: SpanRange,
    /// The span of the default or, if there is none, of the whole argument.
    pub(crate) default: SpanRange,
}

impl Places {
    /// Finds the parts in the pieces that a schema was parsed from.
    pub(crate) fn new(pieces: &Pieces) -> Self {
        let open = pieces.find('(', 0).unwrap_or(0);
        let close = pieces.closing(open);
        let arguments = pieces
            .between_commas(open + 1..close)
            .filter(|range| !matches!(pieces.sign(range.start), Some('*' | '.')))
            .map(|range| ArgumentPlaces::new(pieces, range))
            .collect();
        // After the arguments and `->`.
        let returns = close + 3..pieces.spans.len();
        let is_list =
            pieces.sign(returns.start) == Some('(') && pieces.closing(returns.start) + 1 == returns.end;
        let returns = if is_list { returns.start + 1..returns.end - 1 } else { returns };
        let returns = pieces.between_commas(returns).map(|range| pieces.place(&range)).collect();
        Places { name: pieces.place(&(0..open)), arguments, returns }
    }

    /// All parts with the same span: that of a string literal.
    pub(crate) fn all_at(place: SpanRange, arguments: usize, returns: usize) -> Self {
        let argument = ArgumentPlaces { ty: place, name: place, default: place };
        Places { name: place, arguments: vec![argument; arguments], returns: vec![place; returns] }
    }
}

impl ArgumentPlaces {
    /// `type name` or `type name=default`
    fn new(pieces: &Pieces, range: Range<usize>) -> Self {
        let equals = range.clone().find(|&at| pieces.sign(at) == Some('='));
        let name = equals.unwrap_or(range.end).saturating_sub(1).max(range.start);
        ArgumentPlaces {
            ty: pieces.place(&(range.start..name)),
            name: pieces.place(&(name..name + 1)),
            default: pieces.place(&(equals.map_or(range.start, |equals| equals + 1)..range.end)),
        }
    }
}

impl Pieces {
    fn find(&self, sign: char, start: usize) -> Option<usize> {
        (start..self.spans.len()).find(|&at| self.sign(at) == Some(sign))
    }

    /// The bracket that closes the one at `open`.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0;
        for at in open..self.spans.len() {
            match self.sign(at) {
                Some('(' | '[') => depth += 1,
                Some(')' | ']') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.spans.len()
    }

    /// The parts of a range, separated by commas outside of brackets.
    fn between_commas(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let mut start = range.start;
        std::iter::from_fn(move || {
            if start >= range.end {
                return None;
            }
            let mut end = start;
            while end < range.end && self.sign(end) != Some(',') {
                let is_open = matches!(self.sign(end), Some('(' | '['));
                end = if is_open { self.closing(end) + 1 } else { end + 1 };
            }
            let part = start..end.min(range.end);
            start = end + 1;
            Some(part)
        })
    }
}
