//! Sorting indices on the host by the positions that they lead to.

use std::ops::Range;

use torch_library::prelude::*;

/// The positions of indices along a dimension, sorted by the place that the index leads to, and stably for equal places.
pub(super) struct Order {
    /// An int32 tensor on the host: the sorted positions, then the end of each place's positions, then the places.
    pub(super) numbers: Tensor,
    /// The offset of the ends in `numbers`.
    pub(super) ends: i64,
    /// The number of places.
    pub(super) places: i64,
    /// The number of rows of indices. The number of a place is `place * lines + line`.
    pub(super) lines: i64,
}

impl Order {
    /// Sorts indices in rows of length `length`, of which `below` are interleaved. Returns `None` if an index is out of
    /// `range`, whose end is the number of places of a row, or if there are too many for int32.
    pub(super) fn of(
        index: &Tensor,
        length: i64,
        below: i64,
        range: Range<i64>,
        without: Option<i64>,
    ) -> Result<Option<Order>> {
        let lines = index.numel() / length;
        let most = i64::from(i32::MAX);
        if index.numel() > most || range.end.checked_mul(lines).is_none_or(|places| places > most) {
            return Ok(None);
        }
        let indices = match index.dtype() {
            DType::Int32 => index.to_vec::<i32>()?.into_iter().map(i64::from).collect(),
            _ => index.to_vec::<i64>()?,
        };
        // Place and position packed into one word, which sorts faster than two.
        let mut pairs = Vec::with_capacity(indices.len());
        for (at, index) in (0..).zip(indices) {
            if !range.contains(&index) {
                return Ok(None);
            }
            let place = if index < 0 { index + range.end } else { index };
            if Some(place) != without {
                let line = at / below / length * below + at % below;
                pairs.push(((place * lines + line) << 32) | (at / below % length));
            }
        }
        pairs.sort_unstable();
        Order::in_words(&pairs, lines).map(Some)
    }

    fn in_words(pairs: &[i64], lines: i64) -> Result<Order> {
        let runs = || pairs.chunk_by(|a, b| a >> 32 == b >> 32);
        let numbers = pairs.iter().map(|pair| *pair as i32);
        let ends = runs().scan(0, |end, run| {
            *end += run.len() as i32;
            Some(*end)
        });
        let places = runs().filter_map(|run| Some((run.first()? >> 32) as i32));
        let words: Vec<i32> = numbers.chain(ends).chain(places).collect();
        let (ends, count) = (pairs.len() as i64, words.len() as i64);
        Ok(Order { numbers: Tensor::from_vec(words, &[count])?, ends, places: (count - ends) / 2, lines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_by_place_and_row() {
        let index = Tensor::from([[[2i64, 0], [0, 0], [2, -1]]]);
        let order = Order::of(&index, 3, 2, -3..3, None).unwrap().unwrap();
        let expected = [1, 0, 1, 0, 2, 2, 1, 3, 5, 6, 0, 1, 4, 5];
        assert_eq!(order.numbers.to_vec::<i32>().unwrap(), expected);
        assert_eq!((order.ends, order.places, order.lines), (6, 4, 2));
        assert!(Order::of(&index, 3, 2, 0..3, None).unwrap().is_none(), "-1 is out of the range");
        let without = Order::of(&Tensor::from([1i32, 0, 1]), 3, 1, 0..2, Some(1)).unwrap().unwrap();
        assert_eq!(without.numbers.to_vec::<i32>().unwrap(), [1, 1, 0]);
    }
}
