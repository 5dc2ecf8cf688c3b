//! How functionalization writes an updated view back into its base, for each view operator.
//!
//! Views that are not listed here are written back by `as_strided_scatter`: this is correct, but harder to read in the
//! resulting program.

use torch_library::functionalize;
use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, Functionalize)]
mod all_elements {
    use super::*;

    fn alias(this: &Tensor) -> Result<Tensor> {
        functionalize::view(this, aten::alias, |_, view| Ok(view.clone()))
    }

    fn detach(this: &Tensor) -> Result<Tensor> {
        functionalize::view(this, aten::detach, |_, view| Ok(view.clone()))
    }

    fn _conj(this: &Tensor) -> Result<Tensor> {
        functionalize::view(this, aten::_conj, |_, view| aten::conj_physical(view))
    }

    fn _neg_view(this: &Tensor) -> Result<Tensor> {
        functionalize::view(this, aten::_neg_view, |_, view| aten::neg(view))
    }

    fn view(this: &Tensor, size: &[i64]) -> Result<Tensor> {
        let size = size.to_vec();
        functionalize::view(this, move |base| aten::view(base, &size), like_base)
    }

    fn view_dtype(this: &Tensor, dtype: DType) -> Result<Tensor> {
        let seen_as = move |base: &Tensor| aten::view_dtype(base, dtype);
        functionalize::view(this, seen_as, |base, view| aten::view_dtype(&lined_up(view)?, base.dtype()))
    }

    fn view_as_real(this: &Tensor) -> Result<Tensor> {
        functionalize::view(this, aten::view_as_real, |_, view| aten::view_as_complex(&lined_up(view)?))
    }

    fn view_as_complex(this: &Tensor) -> Result<Tensor> {
        functionalize::view(this, aten::view_as_complex, |_, view| aten::view_as_real(&lined_up(view)?))
    }

    fn t(this: &Tensor) -> Result<Tensor> {
        functionalize::view(this, aten::t, |_, view| aten::t(view))
    }

    fn transpose_int(this: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
        let transposed = move |base: &Tensor| aten::transpose_int(base, dim0, dim1);
        functionalize::view(this, transposed, move |_, view| transposed(view))
    }

    fn permute(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
        let dims = dims.to_vec();
        let back = crate::arguments::inverse(&dims)?;
        functionalize::view(
            this,
            move |base| aten::permute(base, &dims),
            move |_, view| aten::permute(view, &back),
        )
    }

    fn unsqueeze(this: &Tensor, dim: i64) -> Result<Tensor> {
        functionalize::view(
            this,
            move |base| aten::unsqueeze(base, dim),
            move |_, view| aten::squeeze_dim(view, dim),
        )
    }

    fn squeeze(this: &Tensor) -> Result<Tensor> {
        functionalize::view(this, aten::squeeze, like_base)
    }

    fn squeeze_dim(this: &Tensor, dim: i64) -> Result<Tensor> {
        functionalize::view(this, move |base| aten::squeeze_dim(base, dim), like_base)
    }

    fn squeeze_dims(this: &Tensor, dim: &[i64]) -> Result<Tensor> {
        let dims = dim.to_vec();
        functionalize::view(this, move |base| aten::squeeze_dims(base, &dims), like_base)
    }
}

/// The elements of a view such that its last dimension may be seen as another type.
fn lined_up(view: &Tensor) -> Result<Tensor> {
    aten::resolve_neg(&aten::resolve_conj(&aten::contiguous(view)?)?)
}

/// The elements of a view in the shape of its base.
fn like_base(base: &Tensor, view: &Tensor) -> Result<Tensor> {
    aten::reshape(view, base.sizes())
}

#[torch_impl(aten, Functionalize)]
mod some_elements {
    use super::*;

    fn select_int(this: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
        let selected = move |base: &Tensor| aten::select_int(base, dim, index);
        functionalize::view(this, selected, move |base, view| aten::select_scatter(base, view, dim, index))
    }

    fn slice_Tensor(
        this: &Tensor,
        dim: i64,
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    ) -> Result<Tensor> {
        let sliced = move |base: &Tensor| aten::slice_Tensor::call(base, dim, start, end, step);
        functionalize::view(this, sliced, move |base, view| {
            aten::slice_scatter::call(base, view, dim, start, end, step)
        })
    }

    fn diagonal(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        let diagonal = move |base: &Tensor| aten::diagonal::call(base, offset, dim1, dim2);
        functionalize::view(this, diagonal, move |base, view| {
            aten::diagonal_scatter::call(base, view, offset, dim1, dim2)
        })
    }

    fn unbind_int(this: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
        functionalize::views(
            this,
            move |base| aten::unbind_int::call(base, dim),
            move |base, view, index| aten::select_scatter(base, view, dim, index as i64),
        )
    }

    fn split_Tensor(this: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
        functionalize::views(
            this,
            move |base| aten::split_Tensor::call(base, split_size, dim),
            move |base, view, index| {
                let start = index as i64 * split_size;
                part_back(base, view, dim, start)
            },
        )
    }

    fn split_with_sizes(this: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        let (sizes, back) = (split_sizes.to_vec(), split_sizes.to_vec());
        let parts = move |base: &Tensor| aten::split_with_sizes::call(base, &sizes, dim);
        functionalize::views(this, parts, move |base, view, index| {
            part_back(base, view, dim, back[..index].iter().sum())
        })
    }
}

/// The base with `part` in place of the slices from `start` on along a dimension.
fn part_back(base: &Tensor, part: &Tensor, dim: i64, start: i64) -> Result<Tensor> {
    aten::slice_scatter::call(base, part, dim, Some(start), Some(start + part.size(dim)?), 1)
}

/// Elements that the view shows several times were all written with the same value.
#[torch_impl(aten::expand, Functionalize)]
fn expand(this: &Tensor, size: &[i64], implicit: bool) -> Result<Tensor> {
    let size = size.to_vec();
    let expanded = move |base: &Tensor| aten::expand::call(base, &size, implicit);
    functionalize::view(this, expanded, |base, view| {
        let new = (base.dim()..view.dim()).try_fold(view.clone(), |view, _| aten::select_int(&view, 0, 0))?;
        let ones = (0..).zip(base.sizes()).filter(|(_, size)| **size == 1);
        ones.into_iter().try_fold(new, |view, (dim, _)| aten::narrow(&view, dim, 0, 1))
    })
}
