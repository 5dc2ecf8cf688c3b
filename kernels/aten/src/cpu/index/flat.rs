//! Kernels that count elements through all dimensions, in row-major order.
#![expect(unsafe_code, reason = "takes memory that it fills at once")]

use torch_library::geometry::infer_size;
use torch_library::prelude::*;
use torch_library::{Lease, match_dtype};

use super::advanced::expanded;
use super::check_range;
use crate::arguments::{check_int64, check_masked_scatter};
use crate::aten;
use crate::loops;
use crate::loops::gather::are_within;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::{common_device, unsupported};

/// The composite kernels, which serve any backend, list where each element lies in each dimension.
#[torch_impl(aten, CPU)]
mod kernels {
    use super::*;

    fn take(this: &Tensor, index: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::take::NAME;
        let _lease = Lease::new([], [this, index])?;
        check_int64(OPERATOR, index)?;
        let device = common_device(OPERATOR, &[this, index])?;
        if index.numel() == 0 {
            return Tensor::empty(index.sizes(), this.dtype(), device);
        }
        let size = this.numel();
        let places = Parts::<i64>::row_major(index, index.numel() as usize)?;
        let places = places.get(0);
        if !are_within(places, -size..size) {
            let bad = places.iter().find(|place| !(-size..size).contains(*place));
            check_range(OPERATOR, bad.copied(), 0, size)?;
        }
        match_dtype!(this.dtype(), T: NotFloat8 => {
            let from = Parts::<T>::row_major(this, size as usize)?;
            let from = from.get(0);
            loops::of_numbers(index.sizes(), this.dtype(), device, |i| {
                let place = places[i as usize];
                from[if place < 0 { place + size } else { place } as usize]
            })
        }, else => Err(unsupported(OPERATOR, this.dtype())))
    }

    fn masked_scatter(this: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::masked_scatter::NAME;
        let _lease = Lease::new([], [this, mask, source])?;
        check_masked_scatter(OPERATOR, this, mask, source)?;
        let device = common_device(OPERATOR, &[this, mask, source])?;
        let sizes = infer_size(this.sizes(), mask.sizes()).map_err(|error| error.context(OPERATOR))?;
        // SAFETY: if there are elements, every one is written below; after an error the tensor is dropped.
        let out = unsafe { Tensor::uninit(&sizes, this.dtype(), device)? };
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        let len = out.numel() as usize;
        let mask = Parts::<bool>::row_major(&expanded(mask, &sizes)?, len)?;
        let mask = mask.get(0);
        let count = mask.iter().filter(|is_written| **is_written).count();
        ensure!(
            count as i64 <= source.numel(),
            Shape,
            "{OPERATOR}: {count} elements are written, the source has {}",
            source.numel()
        );
        if count == 0 {
            loops::assign(&out, &expanded(this, &sizes)?)?;
            return Ok(out);
        }
        match_dtype!(out.dtype(), T: NotFloat8 => {
            let from = Parts::<T>::row_major(&expanded(this, &sizes)?, len)?;
            let source = Parts::<T>::row_major(source, source.numel() as usize)?;
            let (source, to) = (source.get(0), PartsMut::<T>::of(&out, len)?);
            // SAFETY: the tensor is new, and this slice of it the only one.
            let to = unsafe { to.uninit(0) };
            let mut next = 0;
            for ((to, kept), is_written) in to.iter_mut().zip(from.get(0)).zip(mask) {
                // Reads both, which takes less time than a branch that is hard to predict.
                let given = source[next.min(source.len() - 1)];
                to.write(if *is_written { given } else { *kept });
                next += usize::from(*is_written);
            }
        }, else => return Err(unsupported(OPERATOR, out.dtype())));
        Ok(out)
    }
}
