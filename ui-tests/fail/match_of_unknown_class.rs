use torch_library::{DType, match_dtype};
fn main() {
    let _ = match_dtype!(DType::Float32, T: Floats => size_of::<T>(), else => 0);
}
