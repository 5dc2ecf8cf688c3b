//! Kernels that put another handle into the place of one that they were lent, so that a write would be lost; and
//! kernels that return one as a new tensor.
#![forbid(unsafe_code)]

use std::sync::{Arc, Mutex};

use torch_library::prelude::*;
use torch_library::{Library, guard, warning};

torch_library! {
    /// Operators that write, whose kernels replace a handle if `replaces` is true.
    pub mod kept {
        one(Tensor(a!) x, Tensor y, bool replaces) -> Tensor(a!);
        nothing(Tensor(a!) x, Tensor y, bool replaces) -> ();
        unreturned(Tensor! x, Tensor y, bool replaces) -> Tensor;
        first_of_two(Tensor(a!) x, Tensor(b!) y, bool replaces) -> Tensor(a!);
        both(Tensor(a!) x, Tensor(b!) y, bool swaps) -> (Tensor(a!), Tensor(b!));
        crossed(Tensor(a!) x, Tensor(b!) y, bool swaps) -> (Tensor(b!), int, Tensor(a!));
        list(Tensor(a!)[] x, Tensor y, bool replaces) -> ();
        listed(Tensor(a!)[] x, bool swaps) -> Tensor(a!)[];
        optional(Tensor(a!)? x, Tensor y, bool replaces) -> ();
        with_keys(Tensor(a!) x, Tensor y, bool replaces) -> Tensor(a!);
        closure(Tensor(a!) x, Tensor y, bool replaces) -> Tensor(a!);
    }
}

type Written<'a> = Result<&'a mut Tensor>;

fn replace(x: &mut Tensor, y: &Tensor, replaces: bool) {
    if replaces {
        *x = y.clone();
    }
}

fn swap<'a, 'b>(x: &'a mut Tensor, y: &'b mut Tensor, swaps: bool) -> (&'a mut Tensor, &'b mut Tensor) {
    if swaps {
        std::mem::swap(x, y);
    }
    (x, y)
}

#[torch_impl(kept, CPU)]
mod kernels {
    use super::*;

    fn one<'a>(x: &'a mut Tensor, y: &Tensor, replaces: bool) -> Written<'a> {
        replace(x, y, replaces);
        Ok(x)
    }

    fn nothing(x: &mut Tensor, y: &Tensor, replaces: bool) -> Result<()> {
        replace(x, y, replaces);
        Ok(())
    }

    fn unreturned(x: &mut Tensor, y: &Tensor, replaces: bool) -> Result<Tensor> {
        replace(x, y, replaces);
        Ok(y.clone())
    }

    fn first_of_two<'a>(x: &'a mut Tensor, y: &mut Tensor, replaces: bool) -> Written<'a> {
        replace(y, x, replaces);
        Ok(x)
    }

    fn both<'a, 'b>(
        x: &'a mut Tensor,
        y: &'b mut Tensor,
        swaps: bool,
    ) -> Result<(&'a mut Tensor, &'b mut Tensor)> {
        Ok(swap(x, y, swaps))
    }

    fn crossed<'a, 'b>(
        x: &'a mut Tensor,
        y: &'b mut Tensor,
        swaps: bool,
    ) -> Result<(&'b mut Tensor, i64, &'a mut Tensor)> {
        let (x, y) = swap(x, y, swaps);
        Ok((y, 1, x))
    }

    fn list(x: &mut [Tensor], y: &Tensor, replaces: bool) -> Result<()> {
        x.iter_mut().for_each(|x| replace(x, y, replaces));
        Ok(())
    }

    fn listed(x: &mut [Tensor], swaps: bool) -> Result<&mut [Tensor]> {
        if swaps {
            x.reverse();
        }
        Ok(x)
    }

    fn optional(x: Option<&mut Tensor>, y: &Tensor, replaces: bool) -> Result<()> {
        x.into_iter().for_each(|x| replace(x, y, replaces));
        Ok(())
    }

    fn with_keys<'a>(_: DispatchKeySet, x: &'a mut Tensor, y: &Tensor, replaces: bool) -> Written<'a> {
        replace(x, y, replaces);
        Ok(x)
    }
}

/// Makes a call on new tensors.
fn call(operator: &str, replaces: bool) -> Result<()> {
    let (mut x, mut y) = (Tensor::from([1.0]), Tensor::from([2.0]));
    match operator {
        "one" => kept::one(&mut x, &y, replaces).map(drop),
        "nothing" => kept::nothing(&mut x, &y, replaces),
        "unreturned" => kept::unreturned(&mut x, &y, replaces).map(drop),
        "first_of_two" => kept::first_of_two(&mut x, &mut y, replaces).map(drop),
        "both" => kept::both(&mut x, &mut y, replaces).map(drop),
        "crossed" => kept::crossed(&mut x, &mut y, replaces).map(drop),
        "list" => kept::list(&mut [x], &y, replaces),
        "listed" => kept::listed(&mut [x, y], replaces).map(drop),
        "optional" => kept::optional(Some(&mut x), &y, replaces),
        "with_keys" => kept::with_keys(&mut x, &y, replaces).map(drop),
        "closure" => kept::closure(&mut x, &y, replaces).map(drop),
        other => panic!("no operator {other}"),
    }
}

#[test]
fn a_kernel_that_replaces_a_handle_is_told_so_whatever_its_operator_writes_to() -> Result<()> {
    let mut library = Library::fragment("kept")?;
    let closure = kept::closure::kernel(|x: &mut Tensor, y: &Tensor, replaces: bool| {
        replace(x, y, replaces);
        Ok(x)
    });
    library.implement("closure", DispatchKey::CPU, closure)?;
    for name in [
        "one",
        "nothing",
        "unreturned",
        "first_of_two",
        "both",
        "crossed",
        "list",
        "listed",
        "optional",
        "with_keys",
        "closure",
    ] {
        call(name, false)?;
        let error = call(name, true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Kernel, "{name}: {error}");
        let expected = format!("a kernel of kept::{name} replaced the handle of a tensor");
        assert!(error.to_string().contains(&expected), "{error}");
    }
    kept::optional(None, &Tensor::from([1.0]), true)?;
    Ok(())
}

#[test]
fn a_boxed_call_is_told_so_too() {
    let mut stack =
        Stack::from_iter([Value::from(Tensor::from([1.0])), Tensor::from([2.0]).into(), true.into()]);
    let error = kept::one::handle().call_boxed(&mut stack).unwrap_err();
    assert!(error.to_string().contains("replaced the handle"), "{error}");
}

/// A trait whose method has the name of one that generated code calls.
trait Hijacks {
    fn id(&self) -> usize {
        0
    }

    fn identity(&self) -> usize {
        0
    }
}

impl Hijacks for &mut Tensor {}

#[test]
fn a_trait_of_the_program_does_not_change_the_check() {
    let mut x = Tensor::from([1.0]);
    assert_eq!((Hijacks::id(&&mut x), Hijacks::identity(&&mut x)), (0, 0));
    assert!(call("one", true).is_err());
}

torch_library! {
    /// Operators that return an argument.
    pub mod given {
        same(Tensor x) -> Tensor;
        second(float by, Tensor? y, Tensor x) -> (int, Tensor);
        at_run_time(Tensor x) -> Tensor;
        view(Tensor(a) x) -> Tensor(a);
        composed(Tensor x) -> Tensor;
        layered(Tensor x) -> Tensor;
    }
}

#[torch_impl(given, CPU)]
mod givers {
    use super::*;

    fn same(x: &Tensor) -> Result<Tensor> {
        Ok(x.clone())
    }

    fn second(by: f64, y: Option<&Tensor>, x: &Tensor) -> Result<(i64, Tensor)> {
        Ok((by as i64, y.unwrap_or(x).clone()))
    }

    fn view(x: &Tensor) -> Result<Tensor> {
        Ok(x.clone())
    }

    fn layered(x: &Tensor) -> Result<Tensor> {
        Tensor::from_vec(x.to_vec::<f64>()?, x.sizes())
    }
}

#[torch_impl(given, CompositeImplicitAutograd)]
fn composed(x: &Tensor) -> Result<Tensor> {
    Ok(x.clone())
}

#[torch_impl(given, Tracer)]
fn layered(_: DispatchKeySet, x: &Tensor) -> Result<Tensor> {
    Ok(x.clone())
}

#[test]
fn a_debug_build_warns_once_of_a_kernel_that_returns_an_argument_as_a_new_tensor() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    let _listening = warning::listen(move |message| listener.lock().unwrap().push(message.to_owned()));
    let mut library = Library::fragment("given").unwrap();
    let closure = given::at_run_time::kernel(|x: &Tensor| Ok(x.clone()));
    library.implement("at_run_time", DispatchKey::CPU, closure).unwrap();

    let (x, y) = (Tensor::from([1.0]), Tensor::from([2.0]));
    for _ in 0..2 {
        given::same(&x).unwrap();
        given::second::call(0.0, Some(&y), &x).unwrap();
        given::at_run_time(&x).unwrap();
        given::view(&x).unwrap();
        given::composed(&x).unwrap();
        guard::include(DispatchKey::Tracer, || given::layered(&x)).unwrap();
    }
    let message = |operator, name| {
        format!(
            "a kernel of given::{operator} returned its argument `{name}`, where its schema promises a new tensor: \
             return a copy, or declare a view, `Tensor(a) {name}` and `-> Tensor(a)`"
        )
    };
    let expected = [message("same", "x"), message("second", "y"), message("at_run_time", "x")];
    let is_checked = cfg!(debug_assertions);
    assert_eq!(*heard.lock().unwrap(), expected[..if is_checked { 3 } else { 0 }]);
}
