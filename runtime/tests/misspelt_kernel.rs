//! A kernel that is registered at run time under a misspelt name. In a process of its own, because it listens to all
//! warnings.

use std::sync::{Arc, Mutex};

use torch_library::prelude::*;
use torch_library::{Dispatcher, Library, RuntimeKernel, warning};

torch_library! {
    mod spelling {
        colour(Tensor self) -> Tensor;
        shade.Tensor(Tensor self) -> Tensor;
        shade.Scalar(Tensor self, Scalar by) -> Tensor;
    }
}

#[test]
fn a_kernel_under_a_misspelt_name_says_which_operator_is_meant() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = heard.clone();
    let _listener = warning::listen(move |message| sink.lock().unwrap().push(message.to_owned()));
    let mut library = Library::implementation("spelling", DispatchKey::CPU).unwrap();
    let mut implement = |name: &str| {
        let kernel = RuntimeKernel::boxed(|_, _, _| Ok(()));
        library.implement(name, DispatchKey::CPU, kernel).unwrap();
        heard.lock().unwrap().pop()
    };

    let warned = implement("color").unwrap();
    let (message, place) = warned.split_once("\n  at ").unwrap();
    let expected = "a kernel for CPU is registered for spelling::color, which is not defined; \
                    did you mean spelling::colour?";
    assert_eq!(message, expected);
    assert!(place.starts_with("runtime/tests/misspelt_kernel.rs:"), "{place}");
    assert!(implement("shade").unwrap().contains("did you mean spelling::shade.Scalar?"), "it has overloads");
    // These are more likely to be defined later.
    for other in ["colour_", "colour2", "texture", "shade.out"] {
        assert_eq!(implement(other), None, "{other}");
    }
    assert_eq!(implement("colour"), None, "it is defined");

    let error = Dispatcher::global().find("spelling::color").unwrap_err().to_string();
    let help = "help: did you mean spelling::colour? Otherwise link the crate that declares it, or define its schema";
    assert!(error.ends_with(help), "{error}");
}
