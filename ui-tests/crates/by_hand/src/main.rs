//! Registers by hand, without the linker's collection.
#![forbid(unsafe_code)]
#![deny(warnings)]

use torch_library::prelude::*;

torch_library! {
    /// Unknown to the dispatcher before `register!`.
    pub mod myops {
        /// A number.
        number(Tensor self) -> int;
    }
}

#[torch_impl(myops, CPU)]
mod cpu {
    use torch_library::prelude::*;

    fn number(_: &Tensor) -> Result<i64> {
        Ok(1)
    }
}

#[torch_impl(myops, CPU)]
mod better {
    use torch_library::prelude::*;

    #[torch_impl(override)]
    fn number(_: &Tensor) -> Result<i64> {
        Ok(2)
    }
}

fn main() {
    let x = Tensor::from([1.0f32]);
    println!("{:?}", myops::number(&x).map_err(|error| error.kind()));
    torch_library::register!(myops);
    println!("{:?}", myops::number(&x).map_err(|error| error.kind()));
    torch_library::register!(myops, cpu);
    println!("{:?}", myops::number(&x));
    torch_library::register!(better);
    println!("{:?}", myops::number(&x));
}
