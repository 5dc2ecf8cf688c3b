use torch_library::match_dtype;
fn main() {
    let _ = match_dtype!(torch_library::DType::Float32, T => size_of::<T>(), else => 0);
}
