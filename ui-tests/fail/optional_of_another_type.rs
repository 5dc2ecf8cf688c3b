use torch_library::prelude::*;
use torch_library_ui_tests::myops;

fn main() {
    let x = Tensor::from([1.0]);
    let _ = myops::norm::with(&x).dim(&[0.5]).call();
}
