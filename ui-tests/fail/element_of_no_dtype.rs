use torch_library::prelude::*;

fn main() {
    let _: Result<Vec<usize>> = Tensor::from([1i64]).to_vec();
}
