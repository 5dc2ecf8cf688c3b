//! Lists what nine crates registered: three crates for each place where a kernel can be.

use {block_first as _, block_second as _, block_third as _};
use {function_first as _, function_second as _, function_third as _};
use {private_module_first as _, private_module_second as _, private_module_third as _};

use torch_library::{Dispatcher, KernelInfo};

/// Prints the list.
pub(crate) fn print() {
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
