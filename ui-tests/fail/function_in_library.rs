torch_library::torch_library! {
    pub mod ops {
        fn scale(this: &mut Tensor, by: f64, dims: Option<&[i64]>) -> Result<&mut Tensor>;
    }
}

fn main() {}
