#[torch_library::torch_impl("add.Scalar", CPU)]
fn add() {}

fn main() {}
