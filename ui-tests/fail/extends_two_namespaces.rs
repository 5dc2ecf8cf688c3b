torch_library::torch_library! {
    pub mod cats { purr(Tensor self) -> Tensor; }
}
torch_library::torch_library! {
    pub mod dogs { bark(Tensor self) -> Tensor; }
}
torch_library::torch_library! { pub mod pets extends cats, dogs {} }
fn main() {}
