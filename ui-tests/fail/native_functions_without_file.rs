torch_library::native_functions!(declarations);

fn main() {}
