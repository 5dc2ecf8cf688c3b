torch_library::native_functions!(
    "
- func: ops::f_(Tensor(a!) self) -> Tensor
- func: ops::g(Tensor self) -> Tenser
"
);

fn main() {}
