use torch_library_export::include_model;

include_model! {
    pub struct Model = "Cargo.toml";
}

fn main() {}
