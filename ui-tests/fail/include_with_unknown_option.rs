use torch_library_export::include_model;

include_model! {
    pub struct Model = "model.pt2", operators = { mylib: mylib };
}

fn main() {}
