//! Decides which parts of an operator PyTorch gets, by their types and keys, and gives reasons for those left out.

use torch_library::autograd::{Derivative, Positions};
use torch_library::schema::{Schema, Type};
use torch_library::{DispatchKey, KernelInfo};

/// How a value of a type is passed to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// In one word.
    Word,
    /// As three integers, to which the glue in Python flattens a number: PyTorch's C functions pass no `Scalar`.
    Scalar,
}

/// How an argument of this type is passed.
///
/// # Errors
/// The reason, if it cannot be passed.
pub(crate) fn passing(ty: &Type) -> Result<Passing, String> {
    match ty {
        Type::Tensor
        | Type::Int
        | Type::SymInt
        | Type::Float
        | Type::Bool
        | Type::ScalarType
        | Type::Layout
        | Type::MemoryFormat
        | Type::Device
        | Type::Str
        | Type::Generator => Ok(Passing::Word),
        Type::Scalar | Type::Complex => Ok(Passing::Scalar),
        Type::Optional(inner) if !matches!(**inner, Type::Optional(_)) => passing(inner),
        Type::List(element) => match &**element {
            Type::Tensor | Type::Int | Type::SymInt | Type::Float | Type::Bool | Type::Str => {
                Ok(Passing::Word)
            }
            Type::Optional(inner) if **inner == Type::Tensor => Ok(Passing::Word),
            _ => Err(format!("no value here is a `{ty}`")),
        },
        _ => Err(format!("PyTorch's C functions pass no `{ty}`")),
    }
}

/// Checks that an operator can be called from PyTorch at all.
///
/// # Errors
/// The reason, if it cannot.
pub(crate) fn check(schema: &Schema) -> Result<(), String> {
    if schema.is_vararg || schema.is_varret {
        return Err("PyTorch's C functions pass no `...`".to_owned());
    }
    for argument in &schema.arguments {
        passing(&argument.ty).map_err(|why| format!("argument `{}`: {why}", argument.name))?;
    }
    for ret in &schema.returns {
        let passes = passing(&ret.ty).map_err(|why| format!("a return: {why}"))?;
        if passes != Passing::Word || has_generator(&ret.ty) {
            return Err(format!("PyTorch's C functions return no `{}`", ret.ty));
        }
    }
    Ok(())
}

fn has_generator(ty: &Type) -> bool {
    match ty {
        Type::Optional(inner) | Type::List(inner) => has_generator(inner),
        ty => *ty == Type::Generator,
    }
}

/// Whether a type is `Tensor`, or an optional or a list of tensors.
pub(crate) fn is_tensors(ty: &Type) -> bool {
    match ty {
        Type::Optional(inner) | Type::List(inner) => is_tensors(inner),
        ty => *ty == Type::Tensor,
    }
}

/// Whether an operator has scalar arguments, which have to be flattened.
pub(crate) fn has_scalars(schema: &Schema) -> bool {
    schema.arguments.iter().any(|argument| passing(&argument.ty) == Ok(Passing::Scalar))
}

/// What PyTorch calls an entry point for. The numbers are the indices of an operator's C functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A kernel for tensors with elements.
    Kernel = 0,
    /// The kernel at the autograd key.
    Above = 1,
    /// The composite kernel, on stand-ins.
    Composite = 2,
}

impl Role {
    pub(crate) fn of(which: usize) -> Role {
        match which {
            1 => Role::Above,
            2 => Role::Composite,
            _ => Role::Kernel,
        }
    }
}

/// How an operator's kernels are registered with PyTorch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    /// The keys at which PyTorch gets the operator's entry point, and the role in which it is called there.
    pub(crate) registered: Vec<(DispatchKey, Role)>,
    /// The key of the autograd kernel.
    pub(crate) autograd: Option<DispatchKey>,
    /// The keys of layers, such as autocast, whose kernels run on stand-ins.
    pub(crate) layers: Vec<DispatchKey>,
    /// Whether there is a batching rule.
    pub(crate) batched: bool,
    /// The kernels that are left out, with the reasons.
    pub(crate) left_out: Vec<String>,
}

impl Keys {
    /// Whether the operator has only the composite kernel (besides layers), which is differentiated through the
    /// operators that it calls.
    pub(crate) fn is_composite(&self) -> bool {
        self.registered.iter().all(|(_, role)| *role == Role::Composite)
    }
}

/// Decides where each kernel of an operator is registered, and the fallbacks at keys where it has no kernel.
pub(crate) fn keys(schema: &Schema, kernels: &[KernelInfo], fallbacks: &[DispatchKey]) -> Keys {
    let kernels = kernels.iter().filter(|kernel| kernel.is_active && !kernel.is_fallthrough);
    let own: Vec<DispatchKey> = kernels.map(|kernel| kernel.key).collect();
    let has_composite = own.iter().any(|key| key.name().starts_with("Composite"));
    let serves = |key: &DispatchKey| !(own.contains(key) || has_composite && has_elements(*key));
    let served = fallbacks.iter().copied().filter(serves).collect::<Vec<_>>();
    of_keys(schema, own.into_iter().chain(served))
}

/// Checks that a fallback can serve exported operators.
///
/// # Errors
/// The reason, if it cannot.
pub(crate) fn check_fallback(key: DispatchKey) -> Result<(), &'static str> {
    if has_elements(key) || is_autocast(key) || key == DispatchKey::FuncTorchBatched {
        return Ok(());
    }
    Err(why_not(key))
}

fn of_keys(schema: &Schema, all: impl IntoIterator<Item = DispatchKey>) -> Keys {
    let mut keys = Keys::default();
    let mut all: Vec<DispatchKey> = all.into_iter().collect();
    all.sort_by_key(|key| *key != DispatchKey::Autograd); // `Autograd`, which is for all devices, comes first
    for key in all {
        match key {
            DispatchKey::CompositeImplicitAutograd => keys.registered.push((key, Role::Composite)),
            key if has_elements(key) => keys.registered.push((key, Role::Kernel)),
            key if is_autograd(key) => match keys.autograd {
                None => keys.autograd = Some(key),
                Some(other) => keys.left_out.push(format!(
                    "{key}: PyTorch has one derivative of an operator for all devices, which is that at {other}"
                )),
            },
            DispatchKey::ADInplaceOrView => {} // versions and views are handled where tensors are converted
            DispatchKey::FuncTorchBatched => match check_batching(schema) {
                Ok(()) => keys.batched = true,
                Err(why) => keys.left_out.push(format!("{key}: {why}; PyTorch runs example by example")),
            },
            key if is_autocast(key) => keys.layers.push(key),
            key => keys.left_out.push(format!("{key}: {}", why_not(key))),
        }
    }
    keys
}

/// Whether a kernel at this key runs unchanged on tensors with elements: a backend kernel, or a composite below
/// autograd.
fn has_elements(key: DispatchKey) -> bool {
    let is_composite = matches!(
        key,
        DispatchKey::CompositeExplicitAutograd | DispatchKey::CompositeExplicitAutogradNonFunctional
    );
    is_composite || key.functionality() == DispatchKey::Dense
}

fn is_autograd(key: DispatchKey) -> bool {
    key.name().starts_with("Autograd")
}

fn is_autocast(key: DispatchKey) -> bool {
    key.name().starts_with("Autocast")
}

/// Checks that an operator can be called by PyTorch's C functions, which take the types of returns in the wrong order.
///
/// # Errors
/// The reason, if it cannot.
pub(crate) fn check_call(schema: &Schema) -> Result<(), &'static str> {
    let types = || schema.returns.iter().map(|ret| &ret.ty);
    match types().eq(types().rev()) {
        true => Ok(()),
        false => {
            Err("PyTorch's C functions call no operator whose returns are of other types read backwards")
        }
    }
}

/// Checks that PyTorch can use the batching rule of an operator.
///
/// # Errors
/// The reason, if it cannot.
pub(crate) fn check_batching(schema: &Schema) -> Result<(), &'static str> {
    let returns_tensors = schema.returns.iter().all(|ret| match &ret.ty {
        Type::List(element) => **element == Type::Tensor,
        ty => *ty == Type::Tensor,
    });
    let by_name =
        |argument: &torch_library::schema::Argument| argument.kwarg_only && is_tensors(&argument.ty);
    if schema.is_mutable() || schema.has_alias_info() {
        Err("PyTorch takes rules for vmap of operators alone that write to nothing and return no view")
    } else if !returns_tensors || schema.returns.is_empty() {
        Err("the operator returns something besides tensors")
    } else if schema.arguments.iter().any(by_name) && !has_scalars(schema) {
        Err("PyTorch's rules for vmap get no tensor that is given by name")
    } else {
        Ok(())
    }
}

fn why_not(key: DispatchKey) -> &'static str {
    match key {
        DispatchKey::Conjugate | DispatchKey::Negative | DispatchKey::ZeroTensor => {
            "PyTorch resolves the bit of a tensor before its C functions show it"
        }
        DispatchKey::Functionalize => "PyTorch's C functions do not show its functional tensors",
        DispatchKey::BackendSelect => {
            "PyTorch's C functions cannot go on to the backend that a kernel chooses; register it for \
             CompositeExplicitAutograd"
        }
        key if key.name().starts_with("FuncTorch") => "PyTorch's C functions do not show the levels of vmap",
        key if key.name().starts_with("Sparse") || key.name().starts_with("Quantized") => {
            "PyTorch's C functions show no element of such a tensor"
        }
        _ => "PyTorch's C functions cannot go on to the next key from there",
    }
}

/// Checks that PyTorch can use the derivative of an operator.
///
/// # Errors
/// The reason, if it cannot.
pub(crate) fn check_derivative(schema: &Schema, tags: &[&str]) -> Result<(), &'static str> {
    if tags.contains(&"inplace_view") {
        return Err("the operator changes sizes in place, which PyTorch's C functions do not record");
    }
    if schema.is_mutable() {
        return check_write(schema);
    }
    if schema.has_alias_info() {
        return Err("the operator returns a view, which PyTorch differentiates itself");
    }
    let is = |ty: &Type, what: &Type| *ty.without_optional() == *what;
    let lists = schema.returns.iter().filter(|ret| is(&ret.ty, &Type::List(Box::new(Type::Tensor))));
    match lists.count() {
        0 if !schema.returns.iter().any(|ret| is(&ret.ty, &Type::Tensor)) => {
            Err("the operator returns no tensor")
        }
        0 | 1 => Ok(()),
        _ => Err("the operator returns several lists of tensors"),
    }
}

/// Whether a call can be made before it is recorded: it returns only new tensors, at most 63 so that a word has a bit
/// for each, and its arguments can be kept. Other calls are made by Python.
pub(crate) fn is_recorded_after(schema: &Schema) -> bool {
    (1..64).contains(&schema.returns.len())
        && schema.returns.iter().all(|ret| ret.ty == Type::Tensor)
        && !schema.has_alias_info()
        && !schema.arguments.iter().any(|argument| has_generator(&argument.ty))
}

/// Whether a derivative can take and return its tensors one by one instead of in lists: none is optional or in a list,
/// and there are at most 63, so that a word has a bit for each.
pub(crate) fn has_plain_gradients(schema: &Schema) -> bool {
    let tensors = schema.arguments.iter().filter(|argument| is_tensors(&argument.ty));
    let is_plain = |argument: &torch_library::schema::Argument| argument.ty == Type::Tensor;
    is_recorded_after(schema) && (1..64).contains(&tensors.clone().count()) && tensors.clone().all(is_plain)
}

/// The tensors of a call that its derivative may need: for a row of `derivatives!`, those that its formulas or its
/// condition name; for a handwritten derivative, all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Named(Option<[Positions; 2]>);

impl Named {
    /// The tensors that the formulas of a derivative name.
    pub(crate) fn by(derivative: Option<&Derivative>) -> Named {
        Named(derivative.map(|derivative| {
            derivative.formulas().iter().fold([Positions::default(); 2], |[arguments, results], formula| {
                let by_it = formula.values().union(formula.metadata()).union(derivative.condition());
                [arguments.union(by_it), results.union(formula.results())]
            })
        }))
    }

    /// Whether an argument is among them.
    pub(crate) fn has_argument(self, index: usize) -> bool {
        self.0.is_none_or(|[arguments, _]| arguments.contains(index))
    }

    /// Whether a result is among them.
    pub(crate) fn has_result(self, index: usize) -> bool {
        self.0.is_none_or(|[_, results]| results.contains(index))
    }
}

/// Checks that PyTorch can record a write in place.
fn check_write(schema: &Schema) -> Result<(), &'static str> {
    let mut written = schema.arguments.iter().filter(|argument| argument.is_mutable());
    let one = written.next().filter(|argument| argument.ty == Type::Tensor && !argument.kwarg_only);
    if one.is_none() || written.next().is_some() {
        return Err("the operator writes to other things than one tensor in place");
    }
    match &schema.returns[..] {
        [_] if schema.returned_argument(0).is_some() => Ok(()),
        _ => Err("the operator does not return the tensor alone that it writes to"),
    }
}

#[cfg(test)]
mod tests {
    use torch_library::schema::Mode;

    use super::*;

    fn schema(text: &str) -> Schema {
        Schema::parse(text, Mode::PyTorch).unwrap()
    }

    #[test]
    fn what_passes_and_what_does_not() {
        for text in [
            "f(Tensor x, Tensor? w, Tensor[] l, Tensor?[] o, int i, SymInt[2] s, float[] f, bool[] b, str[] t) -> ()",
            "f(ScalarType? dtype, Layout? layout, Device? device, MemoryFormat? format, Generator? generator) -> ()",
            "f(Scalar a, Scalar? b, complex c) -> (Tensor, Tensor[], int, str, float, Tensor?)",
            "f(Tensor(a!) self) -> Tensor(a!)",
        ] {
            assert_eq!(check(&schema(text)), Ok(()), "{text}");
        }
        let why = |text| check(&schema(text)).unwrap_err();
        assert_eq!(why("f(Scalar[] s) -> ()"), "argument `s`: no value here is a `Scalar[]`");
        assert_eq!(
            why("f(Dict(str, int) d) -> ()"),
            "argument `d`: PyTorch's C functions pass no `Dict(str, int)`"
        );
        assert_eq!(why("f(Stream s) -> ()"), "argument `s`: PyTorch's C functions pass no `Stream`");
        assert_eq!(why("f(Tensor self) -> Scalar"), "PyTorch's C functions return no `Scalar`");
        assert_eq!(why("f(Tensor self, ...) -> ()"), "PyTorch's C functions pass no `...`");
    }

    #[test]
    fn every_kernel_is_registered_or_has_a_reason() {
        use DispatchKey::*;
        let f = schema("f(Tensor self) -> Tensor");
        let keys = of_keys(
            &f,
            [
                CPU,
                CUDA,
                PrivateUse1,
                Meta,
                Autograd,
                ADInplaceOrView,
                AutocastCPU,
                FuncTorchBatched,
                Conjugate,
            ],
        );
        assert_eq!(keys.registered, [CPU, CUDA, PrivateUse1, Meta].map(|key| (key, Role::Kernel)));
        assert_eq!((keys.autograd, keys.batched), (Some(Autograd), true));
        assert_eq!(keys.layers, [AutocastCPU]);
        assert_eq!(keys.left_out.len(), 1);
        assert!(keys.left_out[0].starts_with("Conjugate: ") && !keys.is_composite());
        let derivatives = of_keys(&f, [AutogradCPU, Autograd]);
        assert_eq!(derivatives.autograd, Some(Autograd));
        assert!(
            derivatives.left_out[0].starts_with("AutogradCPU: PyTorch has one derivative of an operator")
        );
        assert!(of_keys(&f, [CompositeImplicitAutograd, AutocastCPU]).is_composite());
        let both = of_keys(&f, [CompositeImplicitAutograd, CPU]);
        assert_eq!(both.registered, [(CompositeImplicitAutograd, Role::Composite), (CPU, Role::Kernel)]);
        let written = of_keys(&schema("f_(Tensor(a!) self) -> Tensor(a!)"), [FuncTorchBatched]);
        assert!(!written.batched && written.left_out[0].ends_with("PyTorch runs example by example"));
    }

    #[test]
    fn returns_have_to_read_backwards() {
        assert_eq!(check_call(&schema("f() -> (Tensor, int, Tensor)")), Ok(()));
        assert!(check_call(&schema("f() -> (Tensor, int)")).is_err());
    }

    #[test]
    fn what_leaves_new_tensors_alone_is_recorded_after_it() {
        for (text, expected) in [
            ("f(Tensor self, Tensor?[] l, str how) -> (Tensor, Tensor)", true),
            ("f(Tensor self) -> Tensor[]", false),
            ("f(Tensor self) -> (Tensor, int)", false),
            ("f(Tensor(a!) self) -> Tensor(a!)", false),
            ("f(Tensor self, *, Generator? generator=None) -> Tensor", false),
        ] {
            assert_eq!(is_recorded_after(&schema(text)), expected, "{text}");
        }
        for (text, expected) in [
            ("f(Tensor self, Scalar how, int[] l, Tensor other) -> (Tensor, Tensor)", true),
            ("f(Tensor self, Tensor? other) -> Tensor", false),
            ("f(Tensor[] self) -> Tensor", false),
            ("f(int n) -> Tensor", false),
        ] {
            assert_eq!(has_plain_gradients(&schema(text)), expected, "{text}");
        }
    }

    #[test]
    fn roles_are_numbered() {
        for role in [Role::Kernel, Role::Above, Role::Composite] {
            assert_eq!(Role::of(role as usize), role);
        }
    }

    #[test]
    fn derivatives_that_pytorch_cannot_have_are_named() {
        for text in [
            "f(Tensor self, Tensor[] x) -> (Tensor, Tensor)",
            "f(Tensor self) -> Tensor[]",
            "f(Tensor self, *, Tensor other) -> (Tensor, int, Tensor[])",
            "f_(Tensor(a!) self) -> Tensor(a!)",
        ] {
            assert_eq!(check_derivative(&schema(text), &[]), Ok(()), "{text}");
        }
        let why = |text| check_derivative(&schema(text), &[]).unwrap_err();
        assert_eq!(why("f(Tensor self) -> int"), "the operator returns no tensor");
        assert_eq!(
            why("f(Tensor self) -> (Tensor[], Tensor[])"),
            "the operator returns several lists of tensors"
        );
        assert!(why("f_(Tensor(a!) self) -> ()").ends_with("that it writes to"));
        assert!(why("f(Tensor self, *, Tensor(a!) out) -> Tensor(a!)").ends_with("one tensor in place"));
        assert!(why("f(Tensor(a) self) -> Tensor(a)").starts_with("the operator returns a view"));
    }
    #[test]
    fn fallbacks_serve_what_has_no_kernel() {
        use DispatchKey::*;
        let f = schema("f(Tensor self) -> Tensor");
        let fallbacks = [PrivateUse1, AutocastCPU];
        let found = keys(&f, &[], &fallbacks);
        assert_eq!((found.registered, found.layers), (vec![(PrivateUse1, Role::Kernel)], vec![AutocastCPU]));
        assert_eq!(fallbacks.map(check_fallback), [Ok(()); 2]);
        assert!(check_fallback(Functionalize).is_err());
    }
}
