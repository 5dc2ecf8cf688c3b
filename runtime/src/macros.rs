//! The macros, with their documentation.

#[doc(hidden)]
pub use torch_library_macros::{declare_derivatives, declare_library, declare_native_functions};

/// Declares the operators of a namespace.
///
/// ```
/// use torch_library::prelude::*;
///
/// torch_library! {
///     /// Operators on pictures.
///     pub mod pictures {
///         /// Mixes two pictures of the same size.
///         #[tags(pointwise)]
///         mix(Tensor self, Tensor other, *, float weight=0.5) -> Tensor;
///         /// Makes a picture brighter, in place.
///         brighten_(Tensor(a!) self, Scalar by) -> Tensor(a!);
///         "find.first(Tensor self, str what='ink') -> (int row, int column)";
///     }
/// }
///
/// #[torch_impl(pictures, CPU)]
/// fn mix(this: &Tensor, other: &Tensor, weight: f64) -> Result<Tensor> {
///     let (this_values, other_values) = (this.to_vec::<f64>()?, other.to_vec::<f64>()?);
///     let pairs = this_values.iter().zip(&other_values);
///     Tensor::from_vec(pairs.map(|(a, b)| a * (1.0 - weight) + b * weight).collect(), this.sizes())
/// }
///
/// # fn main() -> Result<()> {
/// let (dark, light) = (Tensor::from([0.0, 0.0]), Tensor::from([1.0, 4.0]));
/// assert_eq!(pictures::mix(&dark, &light)?.to_vec::<f64>()?, [0.5, 2.0]);
/// let mixed = pictures::mix::with(&dark, &light).weight(0.25).call()?;
/// assert_eq!(mixed.to_vec::<f64>()?, [0.25, 1.0]);
/// # Ok(())
/// # }
/// ```
///
/// # What it makes
///
/// A module with the namespace's name. For each operator it has a function, which is the call with all defaults, and a
/// module of the same name:
///
/// | in Rust | what it is |
/// |---|---|
/// | `pictures::mix(&a, &b)` | the call: required arguments by position, defaults for the others |
/// | `pictures::mix::with(&a, &b).weight(0.1).call()` | the call with some of the others by name; an operator without defaults has no `with`. An optional argument is given as its value or as an `Option`, see [`IntoOptional`](crate::IntoOptional) |
/// | `pictures::mix::call(&a, &b, 0.1)` | the call with all arguments by position |
/// | `pictures::mix::redispatch(keys, &a, &b, 0.1)` | from a kernel to the next layer |
/// | `pictures::mix::handle()` | an [`OperatorHandle`](crate::OperatorHandle): boxed calls, the schema, registrations |
/// | `pictures::mix::kernel(closure)` | a kernel to register at run time, see [`Library`](crate::Library) |
///
/// `with` only prepares a call. If its `.call()` is forgotten, rustc says that the `?` operator can only be applied to
/// values that implement `Try`, and that `With<'_>` does not; without `?`, it warns that nothing happens before `call`.
///
/// The overload becomes part of the name: `find.first` is `pictures::find_first`; with `#[overloads]`, the arguments
/// choose the overload. The argument `self` becomes `this`; other keywords become raw identifiers, such as `r#where`.
///
/// A namespace may have the name of its crate. With `pub use pictures::*;` at the root of a crate `pictures`, whose
/// kernels are in modules, other crates write `pictures::mix` in calls and in `#[torch_impl]`, as if the crate were the
/// namespace.
///
/// In a documentation test the documented crate is in scope by its name, so a namespace with the same name is ambiguous
/// for rustc: put it outside `main`, and write `crate::pictures` in kernels.
///
/// # Schemas
///
/// The language is PyTorch's, so schemas can be pasted. As bare tokens, strings take double quotes; a schema that Rust
/// cannot tokenise goes into a string literal. Either way a mistake is a compile error at its place in the schema.
///
/// | in a schema | argument | return |
/// |---|---|---|
/// | `Tensor` | `&Tensor` | `Tensor` |
/// | `Tensor(a!)`, which is written to | `&mut Tensor` | the `&mut Tensor` that was passed in |
/// | `Tensor!`, which is written to and not returned | `&mut Tensor` | |
/// | `Tensor[]`, `Tensor(a!)[]`, `Tensor?[]` | `&[Tensor]`, `&mut [Tensor]`, `&[Option<Tensor>]` | `Vec<Tensor>` |
/// | `int` and `SymInt`, `float`, `bool`, `complex` | `i64`, `f64`, `bool`, `Complex64` | the same |
/// | `Scalar`, `ScalarType`, `Device`, `Layout`, `MemoryFormat` | `Scalar`, `DType`, `Device`, `Layout`, `MemoryFormat` | the same |
/// | `str`, `Generator` | `&str`, `&Generator` | `String`, `Generator` |
/// | `Tensor?`, `Tensor(a!)?` | `Option<&Tensor>`, `Option<&mut Tensor>` | `Option<Tensor>`, the `Option<&mut Tensor>` that was passed in |
/// | `Tensor(a)`, of which the result is a view | `&Tensor` | `Tensor` |
/// | `Tensor(a -> *)`, of which the results in a list `Tensor(a)[]` are views | `&Tensor` | `Vec<Tensor>` |
/// | `str[]`, `int[]?` | `&[String]`, `Option<&[i64]>` | `Vec<String>`, `Option<Vec<i64>>` |
/// | `int[]` and `SymInt[]`, `float[]`, `bool[]`, `Scalar[]` | `&[i64]`, `&[f64]`, `&[bool]`, `&[Scalar]` | `Vec<i64>`, `Vec<f64>`, `Vec<bool>`, `Vec<Scalar>` |
/// | `int[2]`, `bool[3]`, … | as without the number | as without the number |
/// | `T?` | `Option<T>` | `Option<T>` |
/// | `()`, `(A, B)` | | `()`, a tuple |
///
/// The number in `int[2] stride=1` says how often a default of one number is repeated. It does not check a call: the
/// kernel gets a list of any length, and checks it if it must.
///
/// Every call returns a [`Result`](crate::Result). An operator has at most 32 arguments and 10 returns, because the
/// code that boxes a call is written out for each number; [`Library::define`](crate::Library::define) takes up to 64
/// arguments.
///
/// # Adding to a namespace
///
/// `pub mod my_aten extends other_crate::aten { … }` adds operators to a namespace that another module declares, and
/// re-exports that module, so that one name reaches old and new operators. It may list several modules of one
/// namespace, such as the extensions of two crates: `extends some_crate::aten, other_crate::aten`. `extends "aten"`
/// adds to a namespace by its name, where there is no module to refer to: rustc cannot check it, so a debug build warns
/// of a name that is almost that of a declared namespace. A library inside a function needs an absolute
/// path, such as `crate::shapes` or `::other_crate::aten`. Without `extends`, two libraries with the same namespace are
/// a conflict.
///
/// ```
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod shapes {
///         corners(Tensor self) -> int;
///     }
/// }
/// torch_library! {
///     pub mod more_shapes extends shapes {
///         edges(Tensor self) -> int;
///     }
/// }
///
/// fn main() {
///     assert_eq!(more_shapes::edges::handle().to_string(), "shapes::edges");
///     assert_eq!(more_shapes::corners::handle(), shapes::corners::handle());
/// }
/// ```
///
/// # Attributes
///
/// - `#[tags(pointwise, inplace_view)]` on an operator: PyTorch's tags.
/// - `#[methods(PictureMethods)]` on the module: a trait with this name, in which every operator with an argument
///   `Tensor self` and no `out` is a method. The method of `clone` is `copy`. An operator with defaults has a second
///   method, `NAME_with` (`NAME_with_` if it is in place), which takes them by name.
/// - `#[overloads]` on the module: overloads are called by their common name, and the types of their required arguments
///   tell them apart, as functions and as methods: `mix(&x, &y)` is `mix.Tensor`, `mix(&x, 2.0)` is `mix.Scalar`.
///   `#[overloads(function)]` does this for functions only. If overloads differ in their number of required arguments,
///   only those with as many as the first take part; an operator whose full name is the common name keeps it. Since no
///   type is expected there, arguments must have exactly the operator's types: pass a `&Vec` as a slice and an `i32` as
///   an `i64`; a `Scalar` can also be an `i64`, `f64`, `bool` or `Complex64`.
/// - `#[variants(function)]` on an operator: only a function; `method`: only a method.
/// - `#[variants(out, in_place)]` on an operator that returns one new tensor: declares its `out` and in-place variants,
///   with schemas, kernels, tags and documentation. A kernel that takes an [`Output`](crate::Output) serves all of
///   them; without such a kernel, the operator's result is copied. `out = "Scalar_out"` and `in_place = "Tensor"`
///   change the overload name, `out = "grad_input(grad_input)"` also the argument's name.
/// - `#[boxed]` on an operator: it has no Rust signature, and its calls and kernels are boxed. So its schema may have
///   types without a counterpart in Rust, any number of arguments (`...`), or more than 32.
/// - `#[kernels_in(my_kernels)]` on the module: the crate with the kernels, for the error of a call that finds none. On
///   a module that extends a namespace it applies only to the operators declared there.
/// - Documentation, `cfg` and all other attributes are passed on to rustc.
///
/// ```
/// use torch_library::prelude::*;
///
/// torch_library! {
///     #[methods(CurveMethods)]
///     pub mod curves {
///         area(Tensor self, float step=1.0) -> float;
///     }
/// }
///
/// #[torch_impl(curves, CPU)]
/// fn area(this: &Tensor, step: f64) -> Result<f64> {
///     Ok(this.to_vec::<f64>()?.iter().sum::<f64>() * step)
/// }
///
/// # fn main() -> Result<()> {
/// use curves::CurveMethods;
///
/// assert_eq!(Tensor::from([1.0, 2.0]).area()?, 3.0);
/// assert_eq!(Tensor::from([1.0, 2.0]).area_with().step(0.5).call()?, 1.5);
/// # Ok(())
/// # }
/// ```
///
/// # Mistakes
///
/// Each mistake is one error at the offending token; in a string literal, the error shows the line with a caret under
/// the mistake. Declarations are strict: two arguments with one name, a default of the wrong kind, an alias set that no
/// argument has and more that PyTorch accepts are errors. A type that is not supported here is reported as
/// `not supported yet`.
///
/// ```compile_fail
/// torch_library::torch_library! {
///     pub mod pictures {
///         mix(Tensor self, tensor other) -> Tensor;
///     }
/// }
/// ```
///
/// ```text
/// error: unknown type `tensor`
///          help: write `Tensor`
///  --> src/lib.rs:3:26
///   |
/// 3 |         mix(Tensor self, tensor other) -> Tensor;
///   |                          ^^^^^^
/// ```
///
/// PyTorch: `TORCH_LIBRARY`; with `extends`, `TORCH_LIBRARY_FRAGMENT`.
#[macro_export]
macro_rules! torch_library {
    () => {
        ::core::compile_error! { "expected `mod NAME { … }`: the namespace that the operators belong to" }
    };
    ($($tokens:tt)*) => {
        $crate::declare_library! { [$crate] $($tokens)* }
    };
}

/// Declares operators from a file in PyTorch's own format, `native_functions.yaml`, and registers the kernels that it
/// names.
///
/// ```
/// use torch_library::prelude::*;
///
/// // A string of several lines is the file itself; otherwise it is a path: native_functions!("native_functions.yaml");
/// torch_library::native_functions!(
///     "
/// - func: signal::energy(Tensor self) -> float
///   variants: function, method
///   dispatch:
///     CPU: energy_cpu
///
/// - func: signal::gain_(Tensor(a!) self, float by=2) -> Tensor(a!)
///   tags: pointwise
/// "
/// );
///
/// fn energy_cpu(this: &Tensor) -> Result<f64> {
///     Ok(this.to_vec::<f64>()?.iter().map(|value| value * value).sum())
/// }
///
/// fn gain_(this: &mut Tensor, by: f64) -> Result<&mut Tensor> {
///     let values = this.to_vec::<f64>()?;
///     this.fill_from(values.iter().map(|value| value * by))?;
///     Ok(this)
/// }
///
/// # fn main() -> Result<()> {
/// use signal::TensorMethods;
///
/// let mut x = Tensor::from([1.0, 2.0]);
/// signal::gain_(&mut x)?;
/// assert_eq!(x.energy()?, 20.0);
/// # Ok(())
/// # }
/// ```
///
/// # Arguments
///
/// The path is looked up beside the source file, then in the package's folder. The other arguments follow in any order:
///
/// - `kernels = crate::cpu`: the module in which kernels are looked up, instead of the one around the macro call;
/// - `extends = other_crate::aten`: the module of a namespace that the file adds to, see
///   [`torch_library!`](crate::torch_library);
/// - `declarations`: registers nothing. PyTorch's own file is read like this.
///
/// # What it makes
///
/// For each namespace in the file (`ns::op`; the default is `aten`) what [`torch_library!`](crate::torch_library)
/// makes, and in that module
///
/// - `TensorMethods`, a trait with the operators whose `variants` say `method`. The method of `clone` is `copy`;
/// - `NATIVE_FUNCTIONS`, the contents of the file, as [`NativeFunction`](crate::NativeFunction)s;
/// - `native_kernels`, the kernels, for [`register!`](crate::register).
///
/// An operator with `manual_cpp_binding`, or without the variant `function`, has no function, only its module:
/// `aten::data::call(…)`. If a schema has a type without a counterpart in Rust yet, the module has only `handle()`, for
/// boxed calls.
///
/// # Kernels
///
/// A name in a dispatch table is a path to a Rust function: `fast::add_cpu` is `add_cpu` in the module `fast`. Rustc
/// compares its signature with the schema. Without a table, the kernel for `CompositeImplicitAutograd` is the function
/// with the operator's name in Rust, `add_Tensor` for `add.Tensor`; with `dispatch: {}`, nothing is registered.
///
/// | field | kernels |
/// |---|---|
/// | `dispatch: {CPU: f}` | `f`. For tensors of CUDA, XPU, HPU, MTIA and MPS a check that they are on one device comes first, unless the entry says `device_check: NoCheck` |
/// | `autogen: f, f.out` | the functional and the `out` variant, in terms of the operator itself, `aten::clone` and `aten::copy_` |
/// | `structured: True` at `f.out` | those of `f.out` and of the variants that name it as their `structured_delegate`, in terms of the kernel in the table, which writes to `out`, and the function `f_meta`, which takes the arguments of `f` and returns a tensor on `meta` for each result |
///
/// # Mistakes
///
/// The rules are those of PyTorch's generator: names, `out` arguments, what in-place operators return, which keys can
/// be combined, which variants an operation has. Each mistake is an error with the line of the file.
///
/// ```compile_fail
/// torch_library::native_functions!(
///     "
/// - func: signal::gain_(Tensor(a!) self) -> Tensor
/// "
/// );
/// # fn main() {}
/// ```
///
/// ```text
/// error: lib.rs:3:9: `gain_` is in place: it must return `self`, once
///          |
///        3 | - func: signal::gain_(Tensor(a!) self) -> Tensor
///          |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
/// ```
///
/// PyTorch: `native_functions.yaml` and `torchgen`.
#[macro_export]
macro_rules! native_functions {
    ($($tokens:tt)*) => {
        $crate::declare_native_functions! { [$crate] $($tokens)* }
    };
}

/// Registers a function, or a module of functions, as kernels of declared operators.
///
/// ```
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod counts {
///         count(Tensor self) -> int;
///         count.above(Tensor self, Scalar limit) -> int;
///         forget_(Tensor(a!) self) -> Tensor(a!);
///     }
/// }
///
/// // One function: it has the operator's name …
/// #[torch_impl(counts, CPU)]
/// fn count(this: &Tensor) -> Result<i64> {
///     Ok(this.numel())
/// }
///
/// // … or the path is the operator's, overload included.
/// #[torch_impl(counts::count_above, CPU)]
/// fn how_many(this: &Tensor, limit: Scalar) -> Result<i64> {
///     let limit: f64 = limit.to()?;
///     Ok(this.to_vec::<f64>()?.iter().filter(|&&value| value > limit).count() as i64)
/// }
///
/// // A layer above the backend: it takes the keys of the call, and redispatches with those below its own.
/// #[torch_impl(counts::count, Tracer)]
/// fn count_traced(keys: DispatchKeySet, this: &Tensor) -> Result<i64> {
///     Ok(100 * counts::count::redispatch(keys.remove(DispatchKey::Tracer), this)?)
/// }
///
/// // A block: every function in it is a kernel.
/// #[torch_impl(counts, Meta, PrivateUse1)]
/// mod without_memory {
///     use torch_library::prelude::*;
///
///     fn forget_(this: &mut Tensor) -> Result<&mut Tensor> {
///         Ok(this)
///     }
///
///     #[torch_impl("count.above")]
///     fn nothing_is_above(_: &Tensor, _: Scalar) -> Result<i64> {
///         Ok(0)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let tensor = Tensor::from([1.0, 2.0, 3.0]);
/// assert_eq!(counts::count_above(&tensor, Scalar::from(1.5))?, 2);
/// let _layer = torch_library::guard::IncludeDispatchKeyGuard::new(DispatchKey::Tracer);
/// assert_eq!(counts::count(&tensor)?, 300);
/// # Ok(())
/// # }
/// ```
///
/// # Arguments
///
/// `#[torch_impl(PATH, KEY, …)]`. The path is that of a namespace, or of an operator in it: `counts`,
/// `torch_library_kernels::aten`, `counts::count_above`. On a module, and together with a string, it is the
/// namespace's. (The same holds for a path of one name, not counting `crate`, `self` and `super`.) The other arguments
/// follow in any order:
///
/// - dispatch keys, one or several: `CPU`, `AutogradCPU`, or an alias such as `CompositeImplicitAutograd`;
/// - `"count.above"`: the operator by its name in the schema;
/// - `override`: this kernel replaces one that is registered elsewhere, which otherwise is a conflict;
/// - `fallthrough`: no kernel; calls go on to the next key: `fn count();`;
/// - `boxed`: the function takes the stack, like a [`BoxedFn`](crate::BoxedFn).
///
/// On a block, `override`, `fallthrough` and `boxed` apply to each of its functions. The attribute on a function in a
/// block says only what differs from the block: the name, or one of these words; `#[torch_impl(helper)]` marks a
/// function that is not a kernel.
///
/// A block is a module, in which names from outside are unknown: each begins with `use super::*;`, or with imports of
/// its own, as above.
///
/// A kernel at `CompositeImplicitAutograd` gets its derivative from the operators that it calls. If it reads elements
/// itself, with [`Tensor::to_vec`](crate::Tensor::to_vec) or the loops for kernels, it calls no operator, and the
/// gradient is silently cut off, as in PyTorch: such a kernel belongs at `CompositeExplicitAutograd` or a backend's
/// key, with a row of [`derivatives!`](crate::derivatives). [`opcheck`](crate::opcheck) finds this mistake.
///
/// # The signature
///
/// The signature follows from the schema, see [`torch_library!`](crate::torch_library), and rustc compares the two,
/// also across crates. A [`DispatchKeySet`](crate::DispatchKeySet) may come first. If a kernel returns its only `&mut`
/// argument, no lifetime is needed; if it has several, name the lifetime of the one that is returned: `out: &'o mut
/// Tensor … -> Result<&'o mut Tensor>`. The function stays an ordinary function, which can be called directly and
/// tested.
///
/// ```compile_fail
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod counts {
///         count(Tensor self) -> int;
///     }
/// }
///
/// #[torch_impl(counts, CPU)]
/// fn count(this: &mut Tensor) -> Result<i64> {
///     Ok(this.numel())
/// }
/// # fn main() {}
/// ```
///
/// ```text
/// error[E0053]: method `count` has an incompatible type for trait
///  --> src/lib.rs:10:16
///    |
/// 10 | fn count(this: &mut Tensor) -> Result<i64> {
///    |                ^^^^^^^^^^^ types differ in mutability
///    |
/// note: type in trait
///  --> src/lib.rs:5:15
///    |
/// 5  |         count(Tensor self) -> int;
///    |               ^^^^^^
/// ```
///
/// # Several kernels for one key
///
/// Two kernels for one operator and key are a conflict unless one says `override`. Within one module rustc reports it,
/// also for rows of [`derivatives!`](crate::derivatives); across modules and crates the first call of the operator
/// reports it, or [`init`](crate::init), with both source locations.
///
/// A crate with nothing but kernels must be named by the program that needs them, `use my_kernels as _;`, or the linker
/// drops it. On targets without link-time collection, [`register!`](crate::register) takes blocks by their path.
///
/// PyTorch: `TORCH_LIBRARY_IMPL`.
#[doc(inline)]
pub use torch_library_macros::torch_impl;

/// Registers a function that serves every operator at one key, except those that have a kernel for that key.
///
/// ```
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod sums {
///         plus(int a, int b) -> int;
///     }
/// }
///
/// #[torch_impl(sums, CompositeExplicitAutograd)]
/// fn plus(a: i64, b: i64) -> Result<i64> {
///     Ok(a + b)
/// }
///
/// /// Refuses negative numbers, for all operators.
/// #[torch_fallback(TESTING_ONLY_GenericMode)]
/// fn only_natural(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
///     for argument in operator.arguments(stack)? {
///         ensure!(!matches!(argument, Value::Int(..0)), Argument, "{operator}: {argument:?} is negative");
///     }
///     operator.redispatch_boxed(keys.remove(DispatchKey::TESTING_ONLY_GenericMode), stack)
/// }
///
/// # fn main() -> Result<()> {
/// let layer = torch_library::guard::IncludeDispatchKeyGuard::new(DispatchKey::TESTING_ONLY_GenericMode);
/// assert_eq!(sums::plus(1, 2)?, 3);
/// assert!(sums::plus(1, -2).is_err());
/// drop(layer);
/// assert_eq!(sums::plus(1, -2)?, -1);
/// # Ok(())
/// # }
/// ```
///
/// `#[torch_fallback(KEY, fallthrough)] fn name();` makes all operators skip the key. A crate that imports
/// `torch_library` under another name says so: `#[torch_fallback(KEY, crate = other_name)]`.
///
/// PyTorch: `TORCH_LIBRARY_IMPL(_, KEY, m)` with `m.fallback`.
#[doc(inline)]
pub use torch_library_macros::torch_fallback;

/// Generates autograd kernels from formulas, a row for each operator.
///
/// Between formulas, the backward pass adds gradients and sums over broadcast dimensions with operators of `aten`, so
/// programs with gradients link these: `use torch_library_kernels as _;`.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library::{autograd, derivatives};
///
/// torch_library! {
///     pub mod halves {
///         /// Half of each element.
///         half(Tensor self) -> Tensor;
///     }
/// }
///
/// #[torch_impl(halves, CPU)]
/// fn half(this: &Tensor) -> Result<Tensor> {
///     Tensor::from_vec(this.to_vec::<f64>()?.iter().map(|x| x / 2.0).collect(), this.sizes())
/// }
///
/// derivatives! {
///     in halves;
///
///     half(Tensor self) -> Tensor as HalfBackward0 {
///         self => halves::half(grad),
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([3.0]);
/// x.set_requires_grad(true)?;
/// let y = halves::half(&x)?;
/// assert_eq!(y.grad_fn()?.map(|node| node.name()), Some("HalfBackward0"));
/// let grads = autograd::grad(&[&y], &[&x], &[Some(Tensor::from([1.0]))], Default::default())?;
/// assert_eq!(grads[0].as_ref().map(Tensor::to_vec::<f64>).transpose()?, Some(vec![0.5]));
/// # Ok(())
/// # }
/// ```
///
/// # A row
///
/// A row begins with the operator's schema as it is declared: names, types, alias sets and defaults. Rustc compares the
/// two, so a row cannot drift from its operator; only white space may differ. Then, after `as`, comes the name of the
/// [node](crate::autograd::Node), which by default is derived from the operator's. Then, for each tensor argument:
///
/// - `other => grad.mul(self)`: a formula, which is a Rust expression of type `Tensor`, `Option<Tensor>`, or a `Result`
///   of these; for a list of tensors, of type `Vec<Tensor>`. `?` works in it.
/// - `(input, weight, bias) => …`: one formula for several arguments, whose value is a tuple. `mask` is the output
///   mask.
/// - `index => non_differentiable`: no gradient flows to the argument.
/// - `weight => cannot_require_grad`: the argument has no derivative, and a call with one that requires a gradient is
///   an error.
///
/// | in a formula | is |
/// |---|---|
/// | `grad` | the gradient of the result, `&Tensor` |
/// | `grads` | the gradients of all results, `&[Option<Tensor>]`, if several have one |
/// | the name of an argument | the argument, as kernels take it |
/// | `result`; with several results `result0`, … or their names | a result of the call |
/// | `self.sizes()`, `.dim()`, `.dtype()` …, `metadata(tensors)` | metadata of a tensor, without its elements |
///
/// The tensors that a formula names are [saved](crate::autograd::SavedTensor) if its gradient is needed; a tensor of
/// which the formula uses only metadata is not. The engine sums the gradients of arguments that were broadcast, and
/// casts those of another type.
///
/// `result1 => non_differentiable` excludes a result. The row of an operator without differentiable results is
/// `argmax(…) -> Tensor as non_differentiable;`. `#[in_place]` above `mul.Tensor(Tensor self, …) -> Tensor` makes the
/// same row for `mul_.Tensor(Tensor(a!) self, …) -> Tensor(a!)`; `#[differentiable_if(…)]` says for which arguments the
/// results have gradients (those of a conversion to integers have none); `#[inplace_view]` says that an operator such
/// as `transpose_` changes only sizes and strides. For operators that return views or write, the row also generates the
/// kernel at [`ADInplaceOrView`](crate::DispatchKey::ADInplaceOrView).
///
/// # Mistakes
///
/// A tensor without a formula, a name that is not an argument, a formula for a number: each is an error at its token.
///
/// ```compile_fail
/// # use torch_library::{derivatives, torch_library};
/// torch_library! {
///     pub mod halves {
///         mean(Tensor self, Tensor other) -> Tensor;
///     }
/// }
/// derivatives! {
///     in halves;
///     mean(Tensor self, Tensor other) -> Tensor { self => grad.clone() }
/// }
/// ```
///
/// ```text
/// error: what is the derivative with respect to `other`? Write `other => FORMULA`, or `other => non_differentiable`
///  --> src/lib.rs:8:5
///   |
/// 8 |     mean(Tensor self, Tensor other) -> Tensor { self => grad.clone() }
///   |     ^^^^
/// ```
///
/// PyTorch: `derivatives.yaml`.
#[macro_export]
macro_rules! derivatives {
    () => {
        ::core::compile_error! { "expected the namespace of the operators: `in aten;`" }
    };
    ($($tokens:tt)*) => {
        $crate::declare_derivatives! { [$crate] $($tokens)* }
    };
}
