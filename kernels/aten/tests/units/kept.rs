//! What a thread keeps between calls.

use std::cell::RefCell;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use torch_library_aten::cpu::kept::{Workspace, beside};

thread_local!(static WORKSPACE: Workspace = Workspace::after(|| ()));

fn with_workspace<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    beside(&WORKSPACE, f)
}

/// Makes a call when it is dropped, and reports whether it ran on the same thread.
struct Calls(Sender<bool>);

impl Drop for Calls {
    fn drop(&mut self) {
        let here = thread::current().id();
        let was_here = with_workspace(|| thread::current().id() == here);
        assert!(self.0.send(was_here).is_ok());
    }
}

#[test]
fn a_thread_at_its_end_has_another_one_do_it() {
    thread_local!(static LAST: RefCell<Option<Calls>> = const { RefCell::new(None) });
    let ran_here = |is_made_first: bool| {
        let (sender, receiver) = channel();
        let calls = move || {
            if is_made_first {
                assert_eq!(with_workspace(|| 1), 1);
            }
            LAST.with(|last| *last.borrow_mut() = Some(Calls(sender)));
            if !is_made_first {
                assert_eq!(with_workspace(|| 1), 1);
            }
        };
        thread::spawn(calls).join().unwrap();
        receiver.recv().unwrap()
    };
    assert!(ran_here(true), "the workspace is there until what was made before it goes");
    assert!(!ran_here(false), "the workspace went first");
}
