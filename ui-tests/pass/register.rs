//! Registration by hand of records that the linker has already collected.

use torch_library::Dispatcher;
use torch_library::prelude::*;

torch_library! {
    /// Registered twice.
    mod by_hand {
        f(Tensor self) -> int;
    }
}

#[torch_impl(by_hand, CPU)]
mod cpu {
    use torch_library::prelude::*;

    fn f(_: &Tensor) -> Result<i64> {
        Ok(1)
    }
}

#[test]
fn what_is_registered_already_is_left_alone() -> Result<()> {
    torch_library::register!(by_hand, self::cpu, torch_library_ui_tests::myops);
    torch_library::register!(by_hand);
    assert_eq!(by_hand::f(&Tensor::from([1.0]))?, 1);
    assert_eq!(Dispatcher::global().operator("by_hand::f")?.kernels.len(), 1);
    torch_library::init()
}
