//! A library that misspells the namespace that it extends, in a process of its own, because the warning comes with the
//! first use of the dispatcher.

use std::sync::Mutex;

use torch_library::prelude::*;
use torch_library::{Dispatcher, warning};

torch_library! {
    mod melodies {
        pitch(int x) -> int;
    }
}

torch_library! {
    mod more_melodies extends "melodeis" {
        length(int x) -> int;
    }
}

torch_library! {
    mod far_away extends "tapes" {
        length(int x) -> int;
    }
}

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_namespace_that_is_almost_another_is_warned_of() {
    let _guard = warning::listen(|message| HEARD.lock().unwrap().push(message.to_owned()));
    assert!(Dispatcher::global().find("melodeis::length").is_ok());
    let expected =
        "extends the namespace `melodeis`, which no linked library declares; did you mean `melodies`?";
    let heard = HEARD.lock().unwrap();
    assert!(heard.len() == 1 && heard[0].ends_with(expected), "{heard:?}");
    assert!(heard[0].starts_with("the library at runtime/tests/misspelt_namespace.rs:16 "), "{heard:?}");
}
