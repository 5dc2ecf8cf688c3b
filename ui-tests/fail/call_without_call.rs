use torch_library::prelude::*;
use torch_library_ui_tests::myops;

fn main() -> Result<()> {
    let x = Tensor::from([1.0]);
    myops::norm::with(&x).p(1.0)?;
    Ok(())
}
