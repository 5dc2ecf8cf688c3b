//! Derivatives of operators that rearrange channels and pixels.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    pixel_shuffle(Tensor self, int upscale_factor) -> Tensor as PixelShuffleBackward0 {
        self => aten::pixel_unshuffle(grad, upscale_factor),
    }
    pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor as PixelUnshuffleBackward0 {
        self => aten::pixel_shuffle(grad, downscale_factor),
    }
    channel_shuffle(Tensor self, SymInt groups) -> Tensor as ChannelShuffleBackward0 {
        self => aten::channel_shuffle(grad, grad.size(1)? / groups),
    }
}
