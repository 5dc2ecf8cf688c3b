//! Channels rearranged: into pixels, back, and among groups.

use torch_library::torch_library;

torch_library! {
    /// Shuffling of pixels and channels.
    #[methods(PixelShuffleMethods)]
    pub mod aten extends "aten" {
        /// Rearranges channels into pixels: `[c r², h, w]` becomes `[c, h r, w r]`, where `r` is the factor.
        ///
        /// # Errors
        /// Fewer than three dimensions, a number of channels that `r²` does not divide.
        ///
        /// PyTorch: `torch.nn.functional.pixel_shuffle`.
        pixel_shuffle(Tensor self, int upscale_factor) -> Tensor;
        /// Rearranges pixels into channels: `[c, h r, w r]` becomes `[c r², h, w]`, where `r` is the factor.
        ///
        /// # Errors
        /// Fewer than three dimensions, heights or widths that `r` does not divide.
        ///
        /// PyTorch: `torch.nn.functional.pixel_unshuffle`.
        pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor;
        /// Splits the channels into groups and interleaves them: the first channel of each group, then the second of
        /// each.
        ///
        /// # Errors
        /// Fewer than three dimensions, a number of channels that `groups` does not divide.
        ///
        /// PyTorch: `torch.nn.functional.channel_shuffle`.
        channel_shuffle(Tensor self, SymInt groups) -> Tensor;
        /// [`channel_shuffle`](fn@channel_shuffle), where a backend has a kernel of its own for it.
        ///
        /// PyTorch: `torch.native_channel_shuffle`.
        #[variants(function)]
        native_channel_shuffle(Tensor self, SymInt groups) -> Tensor;
    }
}
