torch_library::native_functions!(
    "
- func: ops::f_(Tensor(a!) self) -> Tensor
"
);

fn main() {}
