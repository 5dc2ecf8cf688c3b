use torch_library_export::include_model;

include_model! {
    pub struct Model = "models/nowhere.pt2";
}

fn main() {}
