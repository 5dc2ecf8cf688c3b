//! Grouped matrix products.

use torch_library::prelude::*;

use crate::aten;
use crate::loops;
use crate::loops::pointwise::{common_device, unsupported};

#[torch_impl(aten, CPU, Meta)]
fn _grouped_mm(
    this: &Tensor,
    mat2: &Tensor,
    offs: Option<&Tensor>,
    bias: Option<&Tensor>,
    out_dtype: Option<DType>,
) -> Result<Tensor> {
    const OPERATOR: &str = aten::_grouped_mm::NAME;
    ensure!(bias.is_none(), NotSupported, "{OPERATOR}: a bias is not supported, add it to the product");
    let groups = Groups::new(OPERATOR, this, mat2, offs)?;
    ensure!(
        out_dtype.is_none_or(|dtype| dtype == this.dtype()),
        DType,
        "{OPERATOR}: a product of {} as {}, expected the type of the matrices",
        this.dtype(),
        out_dtype.unwrap_or(this.dtype())
    );
    let out = groups.output(this.dtype(), this.device())?;
    let Some(offs) = offs else {
        aten::bmm_out(this, mat2, &mut out.clone())?;
        return Ok(out);
    };
    if !loops::has_elements(&out) {
        return Ok(out);
    }
    let ends = loops::elements::<i32>(offs)?;
    let mut start = 0;
    for (group, end) in ends.into_iter().map(i64::from).enumerate() {
        ensure!(
            (start..=groups.cut).contains(&end),
            Argument,
            "{OPERATOR}: a group ends at {end}, expected one from {start} to {}",
            groups.cut
        );
        groups.one(group as i64, [start, end], [this, mat2, &out])?;
        start = end;
    }
    Ok(out)
}

/// The groups of a grouped matrix product: the dimension of the matrices that is split.
struct Groups {
    /// The size of the dimension that is split.
    cut: i64,
    sizes: Vec<i64>,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Batches,
    Rows,
    Columns,
    Inner,
}

impl Groups {
    fn new(operator: &'static str, a: &Tensor, b: &Tensor, offs: Option<&Tensor>) -> Result<Self> {
        common_device(operator, &[a, b])?;
        for matrix in [a, b] {
            if !matches!(matrix.dtype(), DType::Float32 | DType::Float16 | DType::BFloat16) {
                return Err(unsupported(operator, matrix.dtype()));
            }
            check_strides(operator, matrix)?;
        }
        ensure!(
            a.dtype() == b.dtype(),
            DType,
            "{operator}: matrices of {} and {}, expected one type",
            a.dtype(),
            b.dtype()
        );
        let ([.., rows, inner], [.., other, columns]) = (a.sizes(), b.sizes()) else {
            bail!(Shape, "{operator}: sizes {:?} and {:?} are not those of matrices", a.sizes(), b.sizes())
        };
        let (kind, cut, batch) = match (a.dim(), b.dim()) {
            (3, 3) => (Kind::Batches, 0, b.sizes()[0]),
            (2, 3) => (Kind::Rows, *rows, b.sizes()[0]),
            (3, 2) => (Kind::Columns, *columns, a.sizes()[0]),
            _ => (Kind::Inner, *inner, offs.map_or(0, |offs| offs.numel())),
        };
        let is_batch = matches!(kind, Kind::Batches);
        ensure!(
            inner == other && (!is_batch || a.sizes()[0] == batch),
            Shape,
            "{operator}: matrices of sizes {:?} and {:?} cannot be multiplied",
            a.sizes(),
            b.sizes()
        );
        ensure!(
            offs.is_some() != is_batch,
            Argument,
            "{operator}: offsets are needed for a matrix that is divided into groups, and for nothing else"
        );
        if let Some(offs) = offs {
            ensure!(
                offs.dim() == 1 && offs.dtype() == DType::Int32 && offs.numel() == batch,
                Argument,
                "{operator}: offsets of sizes {:?} and {}, expected a vector of {batch} of int32",
                offs.sizes(),
                offs.dtype()
            );
            common_device(operator, &[a, offs])?;
        }
        let sizes = match kind {
            Kind::Rows | Kind::Columns => vec![*rows, *columns],
            Kind::Batches | Kind::Inner => vec![batch, *rows, *columns],
        };
        Ok(Groups { cut, sizes, kind })
    }

    /// Zeros whose rows start at multiples of 16 bytes.
    fn output(&self, dtype: DType, device: Device) -> Result<Tensor> {
        let mut padded = self.sizes.clone();
        let wide = (16 / dtype.size()) as i64;
        if let Some(columns) = padded.last_mut() {
            *columns = columns.saturating_add(wide - 1) / wide * wide;
        }
        let memory = Tensor::zeros(&padded, dtype, device)?;
        memory.strided_view(&self.sizes, memory.strides(), 0)
    }

    /// Writes the product of one group.
    fn one(&self, group: i64, [start, end]: [i64; 2], [a, b, out]: [&Tensor; 3]) -> Result<()> {
        let part = |x: &Tensor, dim| aten::narrow(x, dim, start, end - start);
        let one = |x: &Tensor| aten::select_int(x, 0, group);
        let (a, b, mut out) = match self.kind {
            Kind::Batches => (one(a)?, one(b)?, one(out)?),
            Kind::Rows => (part(a, 0)?, one(b)?, part(out, 0)?),
            Kind::Columns => (one(a)?, part(b, 1)?, part(out, 1)?),
            Kind::Inner => (part(a, 1)?, part(b, 0)?, one(out)?),
        };
        aten::mm_out(&a, &b, &mut out).map(drop)
    }
}

/// # Errors
/// Inputs that are not matrices, or whose rows or columns do not start at multiples of 16 bytes.
fn check_strides(operator: &str, matrix: &Tensor) -> Result<()> {
    let ([.., rows, columns], [.., down, right]) = (matrix.sizes(), matrix.strides()) else {
        bail!(Shape, "{operator}: sizes {:?} are not those of matrices", matrix.sizes())
    };
    ensure!(
        matches!(matrix.dim(), 2 | 3),
        Shape,
        "{operator}: sizes {:?}, expected matrices or a batch of them",
        matrix.sizes()
    );
    let step = match (*down, *right) {
        (1, right) if right >= *rows.max(&1) => right,
        (down, 1) if down >= *columns.max(&1) => down,
        _ => 1,
    };
    ensure!(
        step * matrix.dtype().size() as i64 % 16 == 0,
        Shape,
        "{operator}: strides {:?} of {}, expected rows or columns that begin at multiples of 16 bytes",
        matrix.strides(),
        matrix.dtype()
    );
    Ok(())
}
