//! Handwritten registration records, which pair a kernel with an operator that it was not made for.
#![forbid(unsafe_code)]

use torch_library::prelude::*;
use torch_library::{__private as private, ErrorKind, RuntimeKernel};

torch_library! {
    /// Operators whose kernels get swapped.
    pub mod forged {
        /// Takes a tensor.
        of_tensor(Tensor self) -> int;
        /// Takes a number.
        of_number(int x) -> int;
        /// Returns the first of two.
        first(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!);
        /// Returns the second, so that its kernel type differs from that of `first` only in lifetimes.
        second(Tensor(a!) x, Tensor(b!) y) -> Tensor(b!);
        /// Returns the first of two, and so does a forged operator of the same name.
        third(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!);
        /// Left alone.
        honest(Tensor self) -> int;
    }
}

#[torch_impl(forged, CPU)]
mod kernels {
    use torch_library::prelude::*;

    fn of_tensor(this: &Tensor) -> Result<i64> {
        Ok(this.sizes()[0])
    }

    fn honest(this: &Tensor) -> Result<i64> {
        Ok(this.sizes()[0])
    }

    fn second<'b>(_: &mut Tensor, y: &'b mut Tensor) -> Result<&'b mut Tensor> {
        Ok(y)
    }
}

struct Reads;

impl forged::of_tensor::Kernel for Reads {
    fn of_tensor(this: &Tensor) -> Result<i64> {
        Ok(this.sizes()[0])
    }
}

struct First;

impl forged::first::Kernel for First {
    fn first<'a>(x: &'a mut Tensor, _: &mut Tensor) -> Result<&'a mut Tensor> {
        Ok(x)
    }
}

/// A record that registers another operator's kernel for `operator`.
fn record(operator: &'static private::Operator, code: private::TypedCode) -> &'static private::Record {
    static MODULE: private::SourceModule = private::SourceModule { file: file!(), path: module_path!() };
    let record = private::KernelRecord {
        operator,
        key: DispatchKey::CompositeExplicitAutograd,
        kernel: private::RecordedKernel::Typed(code),
        derivative: None,
        function: "forged",
        overrides: false,
        place: private::Place { module: &MODULE, line: 1, column: 1 },
    };
    Box::leak(Box::new(private::Record::Kernels(Box::leak(Box::new([record])))))
}

#[test]
fn a_kernel_is_never_called_for_another_operator() {
    let (x, mut y) = (Tensor::from([1.0, 2.0]), Tensor::from([3.0]));
    assert_eq!(forged::of_tensor(&x).unwrap(), 2);
    // The operator is already in use, and this very call would run the forged kernel.
    let report = forged::of_number(0x4141_4141).unwrap_err();
    assert_eq!(report.kind(), ErrorKind::MissingKernel, "{report}");

    private::register(&[
        record(&forged::of_number::OPERATOR, forged::of_tensor::code::<Reads>()),
        record(&forged::second::OPERATOR, forged::first::code::<First>()),
    ]);

    let error = forged::of_number(0x4141_4141).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    let expected = "a kernel of `forged::of_tensor` is registered for `forged::of_number` \
         at CompositeExplicitAutograd\n";
    assert!(error.to_string().contains(expected), "{error}");
    let mut short = Tensor::from([4.0]);
    assert_eq!(forged::second(&mut short, &mut y).unwrap_err().kind(), ErrorKind::Conflict);
    let mut stack = Stack::from_iter([Value::Int(7)]);
    assert_eq!(forged::of_number::handle().call_boxed(&mut stack).unwrap_err().kind(), ErrorKind::Conflict);
    let key = DispatchKey::CompositeExplicitAutograd;
    let mut stack = Stack::from_iter([Value::Int(7)]);
    let called = forged::of_number::handle().call_boxed_for_key(key, &mut stack);
    assert_eq!(called.unwrap_err().kind(), ErrorKind::Conflict);

    assert_eq!(forged::honest(&x).unwrap(), 2);
    assert_eq!(forged::of_tensor(&x).unwrap(), 2);
    assert!(torch_library::init().is_err());
}

/// The operator `third` again, but with one lifetime for both arguments, so that a kernel may return either.
mod again {
    use torch_library::__private::{DispatchKeySet, Place, Result, SourceModule, Tensor};

    pub(crate) static SOURCE: SourceModule = SourceModule { file: file!(), path: module_path!() };

    pub(crate) trait Kernel {
        fn third<'a>(x: &'a mut Tensor, y: &'a mut Tensor) -> Result<&'a mut Tensor>;
    }

    #[expect(dead_code, reason = "the macro needs it, and no kernel here takes keys")]
    pub(crate) trait KernelWithKeys {
        fn third<'a>(_: DispatchKeySet, x: &'a mut Tensor, y: &'a mut Tensor) -> Result<&'a mut Tensor>;
    }

    torch_library::__operator! {
        name: third,
        symbol: "again.third",
        lifetimes: ['a],
        arguments: 2 [[x (&'a mut Tensor)] [y (&'a mut Tensor)]],
        output: &'a mut Tensor,
        signature: (&'static mut Tensor, &'static mut Tensor) -> &'static mut Tensor,
        returned: 1 [r { 0 }],
        written: [],
        spec: {
            namespace: "forged",
            schema: "third(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)",
            tags: [],
            place: Place { module: &SOURCE, line: 1, column: 1 },
            base: None,
            aliases: true,
        },
    }
}

struct Second;

impl again::Kernel for Second {
    fn third<'a>(_: &'a mut Tensor, y: &'a mut Tensor) -> Result<&'a mut Tensor> {
        Ok(y)
    }
}

#[test]
fn a_kernel_serves_an_operator_of_the_same_name_only_if_the_lifetimes_are_the_same_too() {
    private::register(&[record(&forged::third::OPERATOR, again::code::<Second>())]);
    let (mut x, mut y) = (Tensor::from([1.0]), Tensor::from([2.0]));
    assert_eq!(forged::third(&mut x, &mut y).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(again::SCHEMA, forged::third::SCHEMA);
}

#[test]
fn a_library_refuses_the_closure_of_another_operator() {
    let mut library = torch_library::Library::fragment("forged").unwrap();
    let kernel = forged::first::kernel(|x: &mut Tensor, _: &mut Tensor| Ok(x));
    let error = library.implement("second", DispatchKey::CPU, kernel).unwrap_err();
    assert!(
        error.to_string().contains("the CPU kernel was made for forged::first, not for forged::second"),
        "{error}"
    );
    let _: fn(_) -> RuntimeKernel = forged::of_tensor::kernel::<fn(&Tensor) -> Result<i64>>;
}
