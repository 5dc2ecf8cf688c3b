//! A program that loads plug-ins, which are its arguments, and calls their operators.

use std::path::Path;

use shared_runtime as _; // so that the runtime is the shared one
use torch_library::prelude::*;
use torch_library::{Dispatcher, plug_in};

/// Loads a plug-in, and prints how many records it has, or why it is refused. The names of folders are left out.
fn load(path: &str) {
    // SAFETY: the caller names plug-ins, whose initialisers only add records to a list, and whose crates were built
    // together with those of this program.
    let found = unsafe { plug_in::load(path) };
    let path = Path::new(path);
    let (name, folder) = (path.file_name().unwrap_or_default().display(), path.parent().unwrap_or(path).display());
    match found {
        Ok(records) => println!("{name}: {records} new"),
        Err(error) => println!("{:?}: {}", error.kind(), error.to_string().replace(&format!("{folder}/"), "")),
    }
}

fn call(name: &str) -> Result<Vec<f64>> {
    let mut returns = Dispatcher::global().find(name)?.call_with([Value::from(Tensor::from([1.0]))], [])?;
    returns.pop_as::<Tensor>()?.to_vec()
}

fn main() {
    println!("{:?}", ops::myops::double(&Tensor::from([1.0])).map(drop).map_err(|error| error.kind()));
    println!("{:?}", call("plugged::quadruple").map_err(|error| error.kind()));
    std::env::args().skip(1).for_each(|path| load(&path));
    for name in ["myops::double", "plugged::quadruple", "plugged_in_second::sixteenfold"] {
        println!("{name} {:?}", call(name).map_err(|error| error.to_string()));
    }
    match torch_library::init() {
        Ok(()) => println!("no conflicts"),
        Err(error) => println!("{error}"),
    }
}
