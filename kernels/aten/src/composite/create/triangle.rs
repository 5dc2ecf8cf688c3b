//! The row and column indices of the elements of a matrix's lower or upper triangle.

use torch_library::prelude::*;

/// The lower or upper triangle of a matrix.
pub(crate) struct Triangle {
    sizes: [i128; 2],
    /// The diagonal at which it ends or starts, counted from the main one to the right.
    offset: i128,
    is_lower: bool,
    /// The number of its elements.
    pub count: i64,
    pub dtype: DType,
}

impl Triangle {
    /// # Errors
    /// Negative sizes, too many elements, a `dtype` that holds no indices.
    pub(crate) fn new(
        operator: &str,
        sizes: [i64; 2],
        offset: i64,
        is_lower: bool,
        dtype: Option<DType>,
    ) -> Result<Self> {
        ensure!(
            sizes.iter().all(|size| *size >= 0),
            Shape,
            "{operator}: sizes {sizes:?} are not those of a matrix"
        );
        let dtype = dtype.unwrap_or(DType::Int64);
        ensure!(
            matches!(dtype, DType::Int64 | DType::Int32),
            DType,
            "{operator}: {dtype} cannot hold indices, expected int64 or int32"
        );
        let ([rows, cols], offset) = (sizes.map(i128::from), i128::from(offset));
        let count = match is_lower {
            true => elements_left_of([rows, cols], offset + 1),
            false => rows * cols - elements_left_of([rows, cols], offset),
        };
        let Ok(count) = i64::try_from(count) else {
            bail!(Shape, "{operator}: a matrix of sizes {sizes:?} has too many elements")
        };
        Ok(Triangle { sizes: [rows, cols], offset, is_lower, count, dtype })
    }

    /// Writes the row indices of the elements, and then their column indices, to `places`.
    ///
    /// # Panics
    /// If there are not two places for each element.
    pub(crate) fn write<T: Copy>(&self, places: &mut [T], number: impl Fn(i64) -> T) {
        let ([rows, cols], offset) = (self.sizes, self.offset);
        let within = |row: i128| match self.is_lower {
            true => 0..(row + offset + 1).clamp(0, cols),
            false => (row + offset).clamp(0, cols)..cols,
        };
        let rows = match self.is_lower {
            true => (-offset).clamp(0, rows)..rows,
            false => 0..(cols - offset).clamp(0, rows),
        };
        let (mut row_of, mut column_of) = places.split_at_mut(self.count as usize);
        for row in rows {
            let columns = within(row);
            let first = columns.start as i64;
            let (to_rows, to_columns);
            (to_rows, row_of) = row_of.split_at_mut((columns.end - columns.start) as usize);
            (to_columns, column_of) = column_of.split_at_mut(to_rows.len());
            to_rows.fill(number(row as i64));
            to_columns.iter_mut().zip(first..).for_each(|(to, column)| *to = number(column));
        }
        assert!(row_of.is_empty() && column_of.is_empty(), "{} elements are counted", self.count);
    }
}

/// The number of elements of a matrix to the left of a line that starts at column `start`, and moves one column to the
/// right with each row.
fn elements_left_of([rows, cols]: [i128; 2], start: i128) -> i128 {
    // The number in the first `rows` rows, of which the first has one element.
    let of_first = |rows: i128| match rows.max(0) {
        rows if rows <= cols => rows * (rows + 1) / 2,
        rows => (cols * (cols + 1) / 2).saturating_add((rows - cols).saturating_mul(cols)),
    };
    of_first(rows - 1 + start) - of_first(start - 1)
}
