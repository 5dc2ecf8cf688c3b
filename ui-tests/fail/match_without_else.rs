use torch_library::{DType, match_dtype};
fn main() {
    let _ = match_dtype!(DType::Float32, T: Half | Float => size_of::<T>());
}
