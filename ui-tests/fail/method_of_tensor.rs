torch_library::torch_library! {
    #[methods(PaintMethods)]
    pub mod ui_method_of_tensor {
        fill(Tensor self, Tensor colour) -> Tensor;
    }
}

fn main() {}
