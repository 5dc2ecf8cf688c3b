use torch_library::prelude::*;

fn check(n: i64) -> Result<()> {
    bail!("{n} is wrong")
}

fn main() {}
