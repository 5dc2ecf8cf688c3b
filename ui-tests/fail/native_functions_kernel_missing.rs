torch_library::native_functions!(
    "
- func: ops::f(Tensor self) -> Tensor
"
);

fn main() {}
