//! Depends on a crate with kernels, but does not name it in the source.
#![forbid(unsafe_code)]
#![deny(warnings)]

use torch_library::prelude::*;

fn main() {
    let x = Tensor::from([1.0f32, 2.0]);
    println!("{}", ops::myops::double(&x).unwrap_err());
}
