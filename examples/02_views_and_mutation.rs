//! Aliases in schemas, mutation in types: `Tensor(a)` is a view; `Tensor(a!)` is written to, and is `&mut Tensor` in Rust.
//! And a factory function, which has no tensor argument to choose its kernel by.

use torch_library::prelude::*;

torch_library! {
    /// Tables of numbers.
    pub mod sheet {
        /// One column, as a view of the same memory.
        column(Tensor(a) self, int index) -> Tensor(a);
        /// Adds to every element, in place.
        lift_(Tensor(a!) self, float by) -> Tensor(a!);
        /// Adds to every element, into a new tensor.
        lift(Tensor self, float by) -> Tensor;
        /// Adds to every element, into a tensor of the caller's.
        lift.out(Tensor self, float by, *, Tensor(a!) out) -> Tensor(a!);
        /// A new sheet of zeros.
        blank(int rows, int columns) -> Tensor;
    }
}

#[torch_impl(sheet, CPU)]
mod cpu {
    use torch_library::prelude::*;

    fn column(this: &Tensor, index: i64) -> Result<Tensor> {
        let (&[rows, columns], &[down, across]) = (this.sizes(), this.strides()) else {
            bail!(Shape, "column: a sheet has two dimensions, this tensor has sizes {:?}", this.sizes());
        };
        ensure!((0..columns).contains(&index), Shape, "column: there is no column {index} among {columns}");
        this.strided_view(&[rows], &[down], this.storage_offset() + index * across)
    }

    // With `&Tensor` here, this would not compile.
    fn lift_(this: &mut Tensor, by: f64) -> Result<&mut Tensor> {
        let values = this.to_vec::<f64>()?;
        this.fill_from(values.iter().map(|value| value + by))?;
        Ok(this)
    }

    fn lift(this: &Tensor, by: f64) -> Result<Tensor> {
        let values = this.to_vec::<f64>()?;
        Tensor::from_vec(values.iter().map(|value| value + by).collect(), this.sizes())
    }

    // With two references, the `&mut` is the one returned. The function's name joins name and overload by `_`.
    fn lift_out(this: &Tensor, by: f64, out: &mut Tensor) -> Result<&mut Tensor> {
        let values = this.to_vec::<f64>()?;
        out.resize(this.sizes(), None)?;
        out.fill_from(values.iter().map(|value| value + by))?;
        Ok(out)
    }
}

// For all backends: a call without tensors has no backend key.
#[torch_impl(sheet, CompositeExplicitAutograd)]
fn blank(rows: i64, columns: i64) -> Result<Tensor> {
    Tensor::zeros(&[rows, columns], DType::Float64, Device::CPU)
}

fn main() -> Result<()> {
    let sheet = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let mut column = sheet::column(&sheet, 1)?;
    println!("column: {column}, shares memory: {}", column.shares_storage_with(&sheet));

    sheet::lift_(&mut column, 10.0)?;
    println!("the sheet saw it: {:?}", sheet.to_vec::<f64>()?);

    println!("a new sheet: {:?}", sheet::lift(&sheet, 100.0)?.to_vec::<f64>()?);

    let mut out = sheet::blank(0, 0)?;
    sheet::lift_out(&sheet, 1000.0, &mut out)?;
    println!("into one of mine: {:?}, sizes {:?}", out.to_vec::<f64>()?, out.sizes());

    // Handles share memory: `&mut` marks mutation, it does not promise exclusive access.
    let mut handle = sheet.clone();
    sheet::lift_(&mut handle, 0.5)?;
    println!("a clone is the same tensor: {:?}", sheet.to_vec::<f64>()?);
    Ok(())
}

// Prints:
// column: tensor([2., 4.], dtype=torch.float64), shares memory: true
// the sheet saw it: [1.0, 12.0, 3.0, 14.0]
// a new sheet: [101.0, 112.0, 103.0, 114.0]
// into one of mine: [1001.0, 1012.0, 1003.0, 1014.0], sizes [2, 2]
// a clone is the same tensor: [1.5, 12.5, 3.5, 14.5]
