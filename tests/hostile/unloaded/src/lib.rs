//! A shared object with operators and a runtime of its own.

use std::thread;

use torch_library::prelude::*;
use torch_library::{Library, RuntimeKernel};

torch_library! {
    pub mod unloaded {
        twice(Tensor self) -> Tensor;
    }
}

#[torch_impl(unloaded, CPU)]
fn twice(this: &Tensor) -> Result<Tensor> {
    Tensor::from_vec(this.to_vec::<f64>()?.iter().map(|x| 2.0 * x).collect(), this.sizes())
}

/// Calls operators on this thread and another, registers at run time, and leaves nothing but what the runtime keeps.
fn calls() -> Result<()> {
    let x = Tensor::from(vec![1.0; 100_000]);
    let on_another = x.clone();
    let values = unloaded::twice(&x)?.to_vec::<f64>()?;
    let others = thread::spawn(move || unloaded::twice(&on_another)?.to_vec::<f64>()).join();
    let mut library = Library::fragment("unloaded")?;
    // Fails while another thread has defined it.
    if let Ok(once) = library.define("once(int x) -> int") {
        let kernel = RuntimeKernel::boxed(|_, _, _| Ok(()));
        library.implement("once", DispatchKey::CompositeExplicitAutograd, kernel)?;
        once.call_boxed(&mut Stack::from_iter([Value::Int(1)]))?;
    }
    let _observer = torch_library::trace::listen(|_| ());
    unloaded::twice(&x)?;
    ensure!(values == vec![2.0; 100_000], Kernel, "other values here");
    ensure!(matches!(others, Ok(Ok(others)) if others == values), Kernel, "other values on another thread");
    Ok(())
}

/// Returns 0 if all calls succeeded.
#[unsafe(no_mangle)]
pub extern "C" fn attack() -> i32 {
    match calls() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error}");
            1
        }
    }
}
