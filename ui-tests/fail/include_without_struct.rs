use torch_library_export::include_model;

include_model!("model.pt2");

fn main() {}
