torch_library::native_functions!(
    "
- func: ops::f(Tensor self) -> QScheme
"
);

fn main() {}
