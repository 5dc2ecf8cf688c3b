//! Lists what three crates registered.
#![forbid(unsafe_code)]
#![deny(warnings)]

use {first as _, second as _, third as _};

use torch_library::{Dispatcher, KernelInfo};

fn main() {
    let dispatcher = Dispatcher::global();
    for info in dispatcher.operators() {
        println!("{} of {}", info.operator, info.operator.place().krate());
        info.kernels.iter().for_each(show);
    }
    dispatcher.fallbacks().iter().filter(|fallback| fallback.place.krate() != "torch_library").for_each(show);
}

fn show(kernel: &KernelInfo) {
    println!("  {}: {} of {}", kernel.key, kernel.function, kernel.place.krate());
}
