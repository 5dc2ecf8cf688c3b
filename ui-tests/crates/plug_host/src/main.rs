//! A program that loads plug-ins, which are its arguments, and calls their operators.

use std::ffi::{CString, c_char, c_int, c_void};

use shared_runtime as _; // so that the runtime is the shared one
use torch_library::Dispatcher;
use torch_library::prelude::*;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

const NOW: c_int = 2;

fn load(path: &str) {
    let path = CString::new(path).expect("a path");
    // SAFETY: the caller names plug-ins, whose initialisers only add records to a list.
    let object = unsafe { dlopen(path.as_ptr(), NOW) };
    if object.is_null() {
        // SAFETY: loading failed, so there is a message.
        panic!("{}", unsafe { std::ffi::CStr::from_ptr(dlerror()) }.to_string_lossy());
    }
}

fn call(name: &str) -> Result<Vec<f64>> {
    let mut returns = Dispatcher::global().find(name)?.call_with([Value::from(Tensor::from([1.0]))], [])?;
    returns.pop_as::<Tensor>()?.to_vec()
}

fn main() {
    println!("{:?}", ops::myops::double(&Tensor::from([1.0])).map(drop).map_err(|error| error.kind()));
    std::env::args().skip(1).for_each(|path| load(&path));
    println!("{:?}", call("plugged::quadruple").map_err(|error| error.kind()));
    Dispatcher::global().rescan();
    for name in ["myops::double", "plugged::quadruple", "plugged_in_second::sixteenfold"] {
        println!("{name} {:?}", call(name).map_err(|error| error.to_string()));
    }
    println!("{:?}", torch_library::init().map_err(|error| error.to_string()));
}
