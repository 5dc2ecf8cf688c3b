//! More operators in the namespace `glyphs`, from a third crate, with kernels for the CPU.

use torch_library::torch_library;

mod kernels;

torch_library! {
    /// The operators of `glyphs`, and two more.
    pub mod glyphs_extra extends glyphs::glyphs {
        /// Each picture with its outline as an additional channel: the inked pixels next to paper.
        outlined(Tensor images, float paper=0.25) -> Tensor;
        /// The class whose mean picture is nearest to each picture: sizes `[N]`.
        nearest(Tensor images, Tensor means) -> Tensor;
    }
}
