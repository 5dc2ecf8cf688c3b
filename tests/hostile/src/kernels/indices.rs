//! Indices, lengths and labels that another thread writes while a kernel uses them.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::harness::{allowed, attempt, count, rounds};

const ROWS: i64 = count(20_000, 32) as i64;

/// An index far beyond any memory, and one so near that it may hit another allocation.
const WILD: [i64; 4] = [1 << 40, -(1 << 40), 1 << 16, i64::MAX];

/// Calls while a thread writes wild values over these integers and restores them; the results that are read must be finite.
fn attack(index: &Tensor, value: i64, call: impl Fn(&Tensor) -> Result<Tensor>) -> Result<()> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !done.load(Ordering::Relaxed) {
                let wild = WILD[round % WILD.len()];
                attempt(aten::fill__Scalar(&mut index.clone(), wild.into()).map(drop));
                attempt(aten::fill__Scalar(&mut index.clone(), value.into()).map(drop));
                round += 1;
            }
        });
        for _ in rounds() {
            if let Some(result) = allowed(call(index)) {
                let elements = result.to_vec::<f64>();
                assert!(elements.is_err() || allowed(elements).is_none_or(|all| all.iter().all(|x| x.is_finite())));
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    // The thread may have been refused its last write, while a kernel read the wild values.
    aten::fill__Scalar(&mut index.clone(), value.into()).map(drop)
}

fn longs(sizes: &[i64], value: i64) -> Result<Tensor> {
    Tensor::full(sizes, value, DType::Int64, Device::CPU)
}

fn table() -> Result<Tensor> {
    Tensor::full(&[64, 4], 1.0, DType::Float64, Device::CPU)
}

pub(crate) fn index_select_indices() -> Result<()> {
    let x = table()?;
    attack(&longs(&[ROWS], 3)?, 3, |index| aten::index_select(&x, 0, index))
}

pub(crate) fn gather_indices() -> Result<()> {
    let x = table()?;
    attack(&longs(&[64, 4], 3)?, 3, |index| aten::gather(&x, 0, index))
}

pub(crate) fn take_indices() -> Result<()> {
    let x = table()?;
    attack(&longs(&[ROWS], 3)?, 3, |index| aten::take(&x, index))
}

pub(crate) fn embedding_indices() -> Result<()> {
    let x = table()?;
    attack(&longs(&[ROWS], 3)?, 3, |index| aten::embedding(&x, index))
}

pub(crate) fn index_put_indices() -> Result<()> {
    let (x, values) = (table()?, Tensor::full(&[ROWS, 4], 1.0, DType::Float64, Device::CPU)?);
    attack(&longs(&[ROWS], 3)?, 3, |index| {
        let mut x = x.clone();
        aten::index_put_(&mut x, &[Some(index.clone())], &values).map(|x| x.clone())
    })
}

pub(crate) fn scatter_indices() -> Result<()> {
    let (x, values) = (table()?, Tensor::full(&[64, 4], 1.0, DType::Float64, Device::CPU)?);
    attack(&longs(&[64, 4], 3)?, 3, |index| aten::scatter__src(&mut x.clone(), 0, index, &values).map(|x| x.clone()))
}

pub(crate) fn scatter_add_indices() -> Result<()> {
    let (x, values) = (table()?, Tensor::full(&[64, 4], 1.0, DType::Float64, Device::CPU)?);
    attack(&longs(&[64, 4], 3)?, 3, |index| aten::scatter_add_(&mut x.clone(), 0, index, &values).map(|x| x.clone()))
}

pub(crate) fn index_add_indices() -> Result<()> {
    let (x, values) = (table()?, Tensor::full(&[ROWS, 4], 1.0, DType::Float64, Device::CPU)?);
    attack(&longs(&[ROWS], 3)?, 3, |index| aten::index_add_(&mut x.clone(), 0, index, &values).map(|x| x.clone()))
}

/// Another thread writes indices of short rows, of which there is one for each row, and one for each element.
pub(crate) fn short_row_indices() -> Result<()> {
    for width in [3, 40] {
        let x = Tensor::full(&[64, width], 1.0, DType::Float64, Device::CPU)?;
        let values = Tensor::full(&[ROWS, width], 1.0, DType::Float64, Device::CPU)?;
        for strides in [[1, 0], [width, 1]] {
            let (index, mut sums) = (longs(&[ROWS * width], 3)?, aten::clone(&x)?);
            let rows = |index: &Tensor| index.strided_view(&[ROWS, width], &strides, 0);
            attack(&index, 3, |index| aten::gather(&x, 0, &rows(index)?))?;
            attack(&index, 3, |index| {
                aten::scatter__src(&mut x.clone(), 0, &rows(index)?, &values).map(|x| x.clone())
            })?;
            aten::scatter_add_(&mut sums, 0, &rows(&index)?, &values)?;
            attack(&index, 3, |index| {
                aten::scatter_add_(&mut sums.clone(), 0, &rows(index)?, &values).map(|sums| sums.clone())
            })?;
        }
    }
    Ok(())
}

pub(crate) fn index_indices() -> Result<()> {
    let (x, other) = (table()?, longs(&[ROWS], 1)?);
    attack(&longs(&[ROWS], 3)?, 3, |index| aten::index_Tensor(&x, &[Some(index.clone()), Some(other.clone())]))
}

pub(crate) fn put_indices() -> Result<()> {
    let (x, values) = (table()?, Tensor::full(&[ROWS], 1.0, DType::Float64, Device::CPU)?);
    attack(&longs(&[ROWS], 3)?, 3, |index| aten::put_(&mut x.clone(), index, &values).map(|x| x.clone()))
}

/// Another thread writes the indices of an embedding bag, and the offsets where the bags begin.
pub(crate) fn embedding_bag_indices() -> Result<()> {
    let (x, index) = (table()?, longs(&[ROWS], 3)?);
    attack(&index, 3, |index| Ok(aten::embedding_bag(&x, index, &longs(&[2], 0)?)?.0))?;
    attack(&longs(&[2], 0)?, 0, |offsets| Ok(aten::embedding_bag(&x, &index, offsets)?.0))
}

pub(crate) fn unpool_indices() -> Result<()> {
    let x = Tensor::full(&[1, 1, 64, 64], 1.0, DType::Float64, Device::CPU)?;
    attack(&longs(&[1, 1, 64, 64], 3)?, 3, |index| aten::max_unpool2d(&x, index, &[64, 64]))?;
    attack(&longs(&[1, 1, 64, 64], 3)?, 3, |index| {
        aten::max_pool2d_with_indices_backward(&x, &x, &[1, 1], &[1, 1], &[0, 0], &[1, 1], false, index)
    })
}

/// Another thread writes the pivots of an LU factorisation.
pub(crate) fn pivots_changed() -> Result<()> {
    let (factor, right) = (aten::eye(64)?, Tensor::full(&[64, 4], 1.0, DType::Float32, Device::CPU)?);
    let pivots = Tensor::full(&[64], 1, DType::Int32, Device::CPU)?;
    attack(&pivots, 1, |pivots| aten::linalg_lu_solve(&factor, pivots, &right))?;
    attack(&pivots, 1, |pivots| Ok(aten::lu_unpack(&factor, pivots)?.0))
}

/// Another thread writes the lengths of sequences.
pub(crate) fn lengths_changed() -> Result<()> {
    let scores = Tensor::full(&[16, 8, 4], -1.0, DType::Float64, Device::CPU)?;
    let targets = longs(&[8, 4], 1)?;
    let (inputs, lengths) = (longs(&[8], 16)?, longs(&[8], 4)?);
    attack(&targets, 1, |targets| aten::ctc_loss_Tensor(&scores, targets, &inputs, &lengths))?;
    attack(&lengths, 4, |lengths| aten::ctc_loss_Tensor(&scores, &targets, &inputs, lengths))?;
    attack(&inputs, 16, |inputs| aten::ctc_loss_Tensor(&scores, &targets, inputs, &lengths))
}

/// Another thread writes the numbers of repeats: a wild one asks for too large a result.
pub(crate) fn repeats_changed() -> Result<()> {
    let x = Tensor::full(&[64], 1.0, DType::Float64, Device::CPU)?;
    attack(&longs(&[64], 2)?, 2, |repeats| aten::repeat_interleave_self_Tensor(&x, repeats))
}

/// Another thread writes the permutation that sorts a sequence.
pub(crate) fn sorters_changed() -> Result<()> {
    let x = Tensor::full(&[ROWS], 1.0, DType::Float64, Device::CPU)?;
    let wanted = Tensor::full(&[16], 0.5, DType::Float64, Device::CPU)?;
    attack(&longs(&[ROWS], 3)?, 3, |sorter| {
        aten::searchsorted_Tensor::call(&x, &wanted, false, false, None, Some(sorter))
    })
}

/// Another thread writes the labels of a loss, and numbers to be counted. `one_hot` makes as many classes as the largest label
/// says, and 65 537 are a valid request, so there are few labels, to keep its result small.
pub(crate) fn labels_changed() -> Result<()> {
    let scores = Tensor::full(&[ROWS, 8], -1.0, DType::Float64, Device::CPU)?;
    attack(&longs(&[ROWS], 3)?, 3, |labels| aten::nll_loss(&scores, labels))?;
    attack(&longs(&[8], 3)?, 3, aten::one_hot)?;
    attack(&longs(&[64], 3)?, 3, aten::bincount)
}
