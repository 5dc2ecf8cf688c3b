//! Versions are counted for every operator whose schema says that it writes, however the schema says so.
#![forbid(unsafe_code)]

use torch_library::guard::inference_mode;
use torch_library::prelude::*;

torch_library! {
    /// Operators that write, each with another way to say so, and one that does not.
    pub mod aliases {
        in_set(Tensor(a!) x) -> ();
        in_no_set(Tensor! x) -> ();
        in_list(Tensor(a!)[] x) -> ();
        in_set_of_list(Tensor[](a!) x) -> ();
        only_read(Tensor x, str kind="Tensor(a!)") -> ();
    }
}

#[torch_impl(aliases, CPU)]
mod cpu {
    use super::*;

    fn in_set(_: &mut Tensor) -> Result<()> {
        Ok(())
    }

    fn in_no_set(_: &mut Tensor) -> Result<()> {
        Ok(())
    }

    fn in_list(_: &mut [Tensor]) -> Result<()> {
        Ok(())
    }

    fn in_set_of_list(_: &mut [Tensor]) -> Result<()> {
        Ok(())
    }

    fn only_read(_: &Tensor, _: &str) -> Result<()> {
        Ok(())
    }
}

/// What each of the operators that write does to a tensor.
fn calls(x: &Tensor) -> [Result<()>; 4] {
    [
        aliases::in_set(&mut x.clone()),
        aliases::in_no_set(&mut x.clone()),
        aliases::in_list(&mut [x.clone()]),
        aliases::in_set_of_list(&mut [x.clone()]),
    ]
}

#[test]
fn each_call_that_writes_is_counted() -> Result<()> {
    let x = Tensor::from([1.0]);
    for call in calls(&x) {
        call?;
    }
    assert_eq!(x.version(), 4);
    aliases::only_read(&x)?;
    assert_eq!(x.version(), 4);
    Ok(())
}

#[test]
fn a_tensor_of_inference_mode_is_written_to_only_there() {
    let x = inference_mode(|| Tensor::from([1.0]));
    for call in calls(&x) {
        assert!(call.unwrap_err().to_string().contains("inference mode"));
    }
    assert!(inference_mode(|| calls(&x)).iter().all(Result::is_ok));
}
