//! Associative scans: what a function of two rows makes of each row and all rows before it.
//!
//! Rows are combined in pairs, as a tree, and in the order of PyTorch: results have the same rounding errors, and a
//! function that is not quite associative has the same results. It is called for many rows at once.

use torch_library::Dispatcher;
use torch_library::prelude::*;

/// The operators that take rows apart and put them together.
#[derive(Debug)]
pub(crate) struct Pairs {
    slice: OperatorHandle,
    cat: OperatorHandle,
    stack: OperatorHandle,
    flatten: OperatorHandle,
}

/// One tensor for each operand of the scan.
type Columns = Vec<Tensor>;

impl Pairs {
    /// # Errors
    /// One of the operators is not linked.
    pub(crate) fn new() -> Result<Pairs> {
        let find = |name| Dispatcher::global().find(name);
        Ok(Pairs {
            slice: find("aten::slice.Tensor")?,
            cat: find("aten::cat")?,
            stack: find("aten::stack")?,
            flatten: find("aten::flatten.using_ints")?,
        })
    }

    /// The results for all rows.
    ///
    /// # Errors
    /// Those of `combine`, which combines rows with the same number of others; tensors with different numbers of rows.
    pub(crate) fn scan(
        &self,
        columns: Columns,
        combine: &mut impl FnMut(Columns, Columns) -> Result<Columns>,
    ) -> Result<Columns> {
        let Some(first) = columns.first() else { return Ok(columns) };
        let count = first.size(0)?;
        for column in &columns {
            let found = column.size(0)?;
            ensure!(found == count, Shape, "a scan of {found} rows and of {count}");
        }
        // From the single pairs to the whole: each level combines the neighbours of the level before.
        let mut levels = vec![columns];
        while let Some(level) = levels.last().filter(|level| rows(level) > 1) {
            let (left, right) = (self.part(level, 0, -1, 2)?, self.part(level, 1, i64::MAX, 2)?);
            levels.push(self.combined(left, right, combine)?);
        }
        let mut scanned = levels.pop().unwrap_or_default();
        while let Some(level) = levels.pop() {
            scanned = self.between(&level, &scanned, combine)?;
        }
        Ok(scanned)
    }

    /// The results for a level, from those for its pairs, which are its results in odd places.
    fn between(
        &self,
        level: &Columns,
        odd: &Columns,
        combine: &mut impl FnMut(Columns, Columns) -> Result<Columns>,
    ) -> Result<Columns> {
        let mut even = self.part(level, 0, 1, 1)?;
        let later = self.part(level, 2, i64::MAX, 2)?;
        if rows(&later) > 0 {
            let before = self.part(odd, 0, rows(&later), 1)?;
            let combined = self.combined(before, later, combine)?;
            let joined = even.iter().zip(&combined).map(|(first, others)| self.cat(&[first, others]));
            even = joined.collect::<Result<_>>()?;
        }
        even.iter().zip(odd).map(|(even, odd)| self.interleaved(even, odd)).collect()
    }

    fn combined(
        &self,
        left: Columns,
        right: Columns,
        combine: &mut impl FnMut(Columns, Columns) -> Result<Columns>,
    ) -> Result<Columns> {
        let (columns, count) = (left.len(), rows(&left));
        let combined = combine(left, right)?;
        ensure!(
            combined.len() == columns,
            Argument,
            "a scan of {columns} tensors has a function with {} results",
            combined.len()
        );
        for result in &combined {
            let is_whole = result.dim() > 0 && result.sizes()[0] == count;
            ensure!(is_whole, Shape, "the function of a scan makes {:?} of {count} rows", result.sizes());
        }
        Ok(combined)
    }

    /// The rows of `even` and `odd` by turns; there may be one more in `even`.
    fn interleaved(&self, even: &Tensor, odd: &Tensor) -> Result<Tensor> {
        let count = odd.size(0)?;
        let pairs =
            call(self.stack, [vec![self.rows_of(even, 0, count, 1)?, odd.clone()].into(), Value::Int(1)])?;
        let both = call(self.flatten, [pairs.into(), Value::Int(0), Value::Int(1)])?;
        match even.size(0)? > count {
            true => self.cat(&[&both, &self.rows_of(even, count, i64::MAX, 1)?]),
            false => Ok(both),
        }
    }

    fn part(&self, columns: &Columns, from: i64, to: i64, step: i64) -> Result<Columns> {
        columns.iter().map(|column| self.rows_of(column, from, to, step)).collect()
    }

    fn rows_of(&self, tensor: &Tensor, from: i64, to: i64, step: i64) -> Result<Tensor> {
        let arguments = [tensor.clone().into(), Value::Int(0), from.into(), to.into(), step.into()];
        call(self.slice, arguments)
    }

    fn cat(&self, tensors: &[&Tensor]) -> Result<Tensor> {
        let tensors: Vec<Tensor> = tensors.iter().map(|tensor| (*tensor).clone()).collect();
        call(self.cat, [tensors.into(), Value::Int(0)])
    }
}

/// The number of rows, which is that of each column.
fn rows(columns: &Columns) -> i64 {
    columns.first().and_then(|column| column.sizes().first().copied()).unwrap_or(0)
}

fn call<const N: usize>(operator: OperatorHandle, arguments: [Value<'_>; N]) -> Result<Tensor> {
    let mut stack = Stack::from_iter(arguments);
    operator.call_boxed(&mut stack)?;
    stack.pop_as()
}
