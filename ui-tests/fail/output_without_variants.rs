use torch_library::prelude::*;

torch_library! {
    pub mod pictures {
        sharpen(Tensor self) -> Tensor;
    }
}

#[torch_impl(pictures, CPU)]
fn sharpen(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
    output.contiguous(this.sizes(), this.dtype(), this.device(), &[this])
}

fn main() {}
