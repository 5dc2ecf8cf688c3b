//! Channels and pixels rearranged, by views and copies.

use torch_library::prelude::*;

use super::arrange::contiguous_copy;
use crate::aten;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn pixel_shuffle(this: &Tensor, upscale_factor: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::pixel_shuffle::NAME;
        let r = upscale_factor;
        let (batch, [channels, height, width]) = image(OPERATOR, this)?;
        ensure!(
            r > 0 && channels % r.saturating_mul(r) == 0,
            Shape,
            "{OPERATOR}: {channels} channels are not a multiple of the square of the factor, {r}"
        );
        let c = channels / r.saturating_mul(r);
        let parts = aten::reshape(this, &[batch, &[c, r, r, height, width]].concat())?;
        let n = batch.len() as i64;
        let order: Vec<i64> = (0..n).chain([n, n + 3, n + 1, n + 4, n + 2]).collect();
        let pixels = contiguous_copy(&aten::permute(&parts, &order)?)?;
        laid_out_as(
            this,
            &aten::view(&pixels, &[batch, &[c, height.saturating_mul(r), width.saturating_mul(r)]].concat())?,
        )
    }

    fn pixel_unshuffle(this: &Tensor, downscale_factor: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::pixel_unshuffle::NAME;
        let r = downscale_factor;
        let (batch, [channels, height, width]) = image(OPERATOR, this)?;
        ensure!(
            r > 0 && height % r == 0 && width % r == 0,
            Shape,
            "{OPERATOR}: images of {height} × {width} pixels are not multiples of the factor, {r}"
        );
        if this.numel() == 0 && r == 1 {
            return aten::clone(this); // with its strides too
        }
        let parts = aten::reshape(this, &[batch, &[channels, height / r, r, width / r, r]].concat())?;
        let n = batch.len() as i64;
        let order: Vec<i64> = (0..n).chain([n, n + 2, n + 4, n + 1, n + 3]).collect();
        let pixels = contiguous_copy(&aten::permute(&parts, &order)?)?;
        let sizes = [batch, &[channels.saturating_mul(r).saturating_mul(r), height / r, width / r]].concat();
        laid_out_as(this, &aten::view(&pixels, &sizes)?)
    }

    fn channel_shuffle(this: &Tensor, groups: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::channel_shuffle::NAME;
        let &[n, channels, ref rest @ ..] = this.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?} have no channels", this.sizes())
        };
        ensure!(
            !rest.is_empty() && groups > 0 && channels % groups == 0,
            Shape,
            "{OPERATOR}: {groups} groups do not divide the channels of sizes {:?}",
            this.sizes()
        );
        if this.numel() == 0 {
            return this.strided_view(this.sizes(), this.strides(), this.storage_offset());
        }
        let parts = aten::reshape(this, &[&[n, groups, channels / groups], rest].concat())?;
        laid_out_as(this, &aten::view(&contiguous_copy(&aten::transpose_int(&parts, 1, 2)?)?, this.sizes())?)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn native_channel_shuffle(this: &Tensor, groups: i64) -> Result<Tensor> {
    aten::channel_shuffle(this, groups)
}

/// A row-major `out` in the memory format of `images`, to the last stride, even of a dimension of size one.
fn laid_out_as(images: &Tensor, out: &Tensor) -> Result<Tensor> {
    match images.suggest_memory_format() {
        MemoryFormat::Contiguous => Ok(out.clone()),
        format => aten::clone::with(out).memory_format(format).call(),
    }
}

/// The sizes of a batch of images: the batch dimensions, and the channels, height and width.
fn image<'a>(operator: &str, this: &'a Tensor) -> Result<(&'a [i64], [i64; 3])> {
    match this.sizes().split_last_chunk::<3>() {
        Some((batch, image)) => Ok((batch, *image)),
        None => bail!(Shape, "{operator}: sizes {:?} are not [.., channels, height, width]", this.sizes()),
    }
}
