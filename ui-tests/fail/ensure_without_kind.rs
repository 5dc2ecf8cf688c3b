use torch_library::prelude::*;

fn check(n: i64) -> Result<()> {
    ensure!(n < 10, "{n} is too large");
    Ok(())
}

fn main() {}
