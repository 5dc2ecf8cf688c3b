//! Calls operators of one crate, whose kernels are in another.
#![forbid(unsafe_code)]
#![deny(warnings)]

use kernels as _;
use ops::myops;
use torch_library::prelude::*;

fn main() -> Result<()> {
    let mut x = Tensor::from([1.0f32, 2.0]);
    myops::double_(&mut x)?;
    println!("{:?}", myops::double::with(&x).how("by hand").call()?.to_vec::<f32>()?);
    println!("{:?}", kernels::more::quadruple(&x)?.to_vec::<f32>()?);
    Ok(())
}
