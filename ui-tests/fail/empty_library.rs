torch_library::torch_library! {}

fn main() {}
