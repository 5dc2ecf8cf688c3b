//! Views with gaps over one memory: what is read through one may be what is written through the other.

use torch_library::{Overlap, Tensor};

/// Whether elements that are read may lie in the memory of others that are written, where neither was refused: of views with
/// gaps it is not worked out in general. The same elements in the same order are not meant.
pub(crate) fn is_entangled(written: &Tensor, read: &Tensor) -> bool {
    read.shares_storage_with(written) && written.overlap_with(read) == Overlap::TooHard && {
        let (written, read) = (Bytes::of(written), Bytes::of(read));
        !written.is(&read)
            && written.end() > read.start
            && read.end() > written.start
            && !written.misses(&read)
    }
}

/// Where the elements of a tensor lie in its storage, in bytes.
struct Bytes {
    start: i64,
    /// The size of an element.
    size: i64,
    /// Of each dimension with more than one index: how many, and how far apart.
    dims: Vec<(i64, i64)>,
}

impl Bytes {
    fn of(tensor: &Tensor) -> Self {
        let size = tensor.dtype().size() as i64;
        let dims = tensor.sizes().iter().zip(tensor.strides()).filter(|(count, _)| **count > 1);
        let dims = dims.map(|(count, stride)| (*count, stride * size)).collect();
        Bytes { start: tensor.storage_offset() * size, size, dims }
    }

    /// Whether each element lies at the same place.
    fn is(&self, other: &Bytes) -> bool {
        (self.start, self.size, &self.dims) == (other.start, other.size, &other.dims)
    }

    fn end(&self) -> i64 {
        self.start + self.reach(i64::MAX)
    }

    /// How many bytes lie between the first and behind the last element of those that smaller steps than this reach.
    fn reach(&self, step: i64) -> i64 {
        let within = self.dims.iter().filter(|(_, stride)| *stride < step);
        self.size + within.map(|(count, stride)| (count - 1) * stride).sum::<i64>()
    }

    /// Whether both lie in rows of one length, at columns that the other has not: halves of a table, side by side.
    fn misses(&self, other: &Bytes) -> bool {
        self.dims.iter().filter(|(_, row)| *row > 0).any(|(_, row)| {
            let columns = |bytes: &Bytes| {
                let is_whole = |(_, stride): &(i64, i64)| stride < row || stride % row == 0;
                let first = bytes.start % row;
                let end = first + bytes.reach(*row);
                (end <= *row && bytes.dims.iter().all(is_whole)).then_some(first..end)
            };
            let (Some(columns), Some(others)) = (columns(self), columns(other)) else { return false };
            columns.end <= others.start || others.end <= columns.start
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_with_gaps_are_entangled_where_columns_meet() {
        let table = Tensor::from_vec((0..32).map(f64::from).collect(), &[4, 8]).unwrap();
        let columns = |first: i64, count: i64| table.strided_view(&[4, count], &[8, 1], first).unwrap();
        let rows = |first: i64| table.strided_view(&[2, 3], &[8, 1], 8 * first).unwrap();
        let every = |start: i64| table.strided_view(&[16], &[2], start).unwrap();
        assert!(!is_entangled(&columns(0, 4), &columns(4, 4)), "halves side by side");
        assert!(!is_entangled(&columns(2, 3), &columns(2, 3)), "the same elements");
        assert!(!is_entangled(&rows(0), &rows(2)), "one behind the other");
        assert!(!is_entangled(&every(0), &every(1)), "one between the other");
        assert!(!is_entangled(&columns(0, 3), &Tensor::from([1.0])), "another storage");
        assert!(is_entangled(&columns(0, 7), &columns(1, 7)));
        assert!(is_entangled(&columns(0, 4), &every(1)));
        assert!(
            is_entangled(&columns(6, 2), &table.strided_view(&[3, 2], &[8, 1], 7).unwrap()),
            "around the edge"
        );
        assert!(
            is_entangled(&rows(0), &table.strided_view(&[3, 2], &[1, 8], 0).unwrap()),
            "in another order"
        );
    }
}
