torch_library::native_functions!("\n", kernel = self);

fn main() {}
