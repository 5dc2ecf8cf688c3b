//! Registers operators with PyTorch, once: when the library is loaded, or later if PyTorch was not loaded then.
#![expect(unsafe_code, reason = "registers with PyTorch's functions, and lends texts to C")]

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use torch_library::autograd::{Derivative, Formula};
use torch_library::schema::{Schema, Type};
use torch_library::{DispatchKey, Dispatcher, EntryPoint, KernelInfo, OperatorInfo, Result};

use crate::above::Above;
use crate::entry::{Exported, Plain};
use crate::plan::{self, Keys, Named, Role};
use crate::shim::{Object, Shim, WRITTEN_FROM, check, load, number_of};
use crate::text::{Json, json_string};
use crate::tracking::Tracking;
use crate::{exception, hidden, later, stubs};

/// The state of the registration with PyTorch.
#[derive(Default)]
struct State {
    is_done: bool,
    /// What is left out, one line each.
    report: Vec<String>,
    /// The descriptions of operators for the glue in Python, as JSON.
    operators: Vec<String>,
    /// The autograd kernels that are not registered yet: namespaces, names and entry points.
    above: Vec<(String, String, &'static EntryPoint)>,
    /// The auxiliary operators that are not defined yet, by the name of their operator.
    later: HashMap<String, Serving>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers all operators of some namespaces with PyTorch, or of all but `aten` if none is named. A second call does
/// nothing, unless PyTorch was not loaded at the first.
///
/// Runs in a constructor: it does not unwind, and runs no code of a user and no Python.
pub fn export(namespaces: &[&str]) {
    let exported = std::panic::catch_unwind(|| {
        let mut guard = state();
        let state = guard.get_or_insert_default();
        if state.is_done {
            return;
        }
        state.report.clear();
        match load() {
            Ok(shim) => {
                state.is_done = true;
                Export::new(shim, state).all(namespaces);
            }
            Err(error) => state.report.push(error.to_string()),
        }
        for line in &state.report {
            eprintln!("torch-library: {line}");
        }
    });
    if exported.is_err() {
        eprintln!("torch-library: a bug of torch-library kept operators from PyTorch");
    }
}

/// Registers the autograd kernels. They record calls with operators that the glue in Python defines with this function,
/// when a call of an operator is first recorded.
///
/// # Safety
/// * The function takes a null-terminated string, or null, from any thread, for as long as the process lives.
pub unsafe fn differentiate(define: later::Define) {
    // SAFETY: the caller guarantees what the function takes.
    unsafe { later::set_define(define) };
    let registered = std::panic::catch_unwind(|| {
        let mut guard = state();
        let (Some(state), Ok(shim)) = (guard.as_mut(), load()) else { return };
        let above = std::mem::take(&mut state.above);
        let mut export = Export::new(shim, state);
        for (namespace, name, point) in above {
            let done = export.implement(&namespace, (DispatchKey::Autograd, Role::Above), &name, point);
            if let Err(why) = done {
                export.leave_out(&format!("{namespace}::{name} at Autograd"), &why);
            }
        }
    });
    if registered.is_err() {
        eprintln!("torch-library: a bug of torch-library kept derivatives from PyTorch");
    }
}

/// Defines the auxiliary operators of the operator with this name, unless they are defined already.
///
/// # Safety
/// * The name is a null-terminated string.
pub unsafe fn define(name: *const c_char) {
    // SAFETY: the caller guarantees that it is a null-terminated string.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let defined = std::panic::catch_unwind(|| {
        let mut guard = state();
        let (Some(state), Ok(shim)) = (guard.as_mut(), load()) else { return };
        let Some(serving) = state.later.remove(&*name) else { return };
        if let Err(why) = Export::new(shim, state).define_serving(&serving) {
            let line = format!("what serves {name} is not in PyTorch: {why}");
            eprintln!("torch-library: {line}");
            state.report.push(line);
        }
    });
    if defined.is_err() {
        eprintln!("torch-library: a bug of torch-library kept what serves {name} from PyTorch");
    }
}

/// The lines of the report, as a C string that lives as long as the process.
pub fn report() -> *const c_char {
    let text = state().as_ref().map_or_else(String::new, |state| state.report.join("\n"));
    lent(text)
}

/// The descriptions of all operators for the glue in Python, as JSON.
pub fn describe() -> *const c_char {
    let operators = state().as_ref().map_or_else(String::new, |state| state.operators.join(","));
    lent(format!("[{operators}]"))
}

/// Signatures of the operators for Python, as JSON.
pub fn signatures(namespaces: &[&str]) -> *const c_char {
    let text = std::panic::catch_unwind(|| stubs::signatures(namespaces));
    lent(text.unwrap_or_else(|_| "[]".to_owned()))
}

/// The source of the glue in Python.
pub fn glue() -> *const c_char {
    static GLUE: OnceLock<CString> = OnceLock::new();
    /// The parts that few imports need, which are compiled when needed.
    macro_rules! later {
        ($($name:literal)*) => {
            concat!("_LATER = {", $("'", $name, "': r'''", include_str!(concat!("glue/", $name, ".py")), "''',\n",)* "}\n")
        };
    }
    const TEXT: &str = concat!(
        include_str!("glue/load.py"),
        later!("numbers" "derivatives" "recorders" "layers" "calls" "checks"),
    );
    GLUE.get_or_init(|| CString::new(TEXT).unwrap_or_default()).as_ptr()
}

/// A C string that is never freed.
fn lent(text: String) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

struct Export<'e> {
    shim: &'static Shim,
    state: &'e mut State,
    /// PyTorch's library objects, by namespace and key. They are never deleted: that would undo their registrations.
    libraries: HashMap<(String, Option<DispatchKey>), Object>,
    /// The keys of fallbacks that serve exported operators.
    fallbacks: Vec<DispatchKey>,
}

impl<'e> Export<'e> {
    fn new(shim: &'static Shim, state: &'e mut State) -> Self {
        Export { shim, state, libraries: HashMap::new(), fallbacks: Vec::new() }
    }

    fn all(&mut self, namespaces: &[&str]) {
        let missing = self.shim.missing();
        let relevant: Vec<_> = missing
            .into_iter()
            .filter(|name| !name.starts_with('_') && !name.starts_with("torch_library_"))
            .collect();
        if !relevant.is_empty() {
            // SAFETY: it takes no arguments.
            let version = unsafe { (self.shim.aoti_torch_abi_version)() };
            let (major, minor) = (version >> 56, version >> 48 & 0xff);
            let names = relevant.join("`, `");
            self.state.report.push(format!(
                "PyTorch {major}.{minor} has no `{names}`: results are copied, tags left out, or messages shorter"
            ));
        }
        if self.shim.library.is_pytorch() && !exception::have_kinds() {
            let text = "every error is a `RuntimeError`: the classes of other exceptions were not found in this PyTorch";
            self.state.report.push(text.to_owned());
        }
        if self.shim.library.is_pytorch() && Tracking::get().is_none() {
            let text = "calls of operators with a derivative go through Python, even where nobody wants a gradient: \
                        this PyTorch does not tell it";
            self.state.report.push(text.to_owned());
        }
        if let Err(conflicts) = torch_library::init() {
            self.state.report.push(conflicts.to_string());
        }
        for fallback in Dispatcher::global().fallbacks() {
            // The fallbacks of torch-library's own layers are for its own tensors, not for PyTorch's.
            let is_of_layers =
                fallback.place.file().is_empty() || fallback.place.krate().starts_with("torch_library");
            if is_of_layers || !fallback.is_active || fallback.is_fallthrough {
                continue;
            }
            let what = format!("the fallback {fallback} for {}", fallback.key);
            match plan::check_fallback(fallback.key) {
                Ok(()) => {
                    self.fallbacks.push(fallback.key);
                    let alone = "serves the operators of this library alone: PyTorch's C functions register none for all";
                    self.state.report.push(format!("{what} {alone}"));
                }
                Err(why) => self.leave_out(&what, why),
            }
        }
        for info in Dispatcher::global().operators() {
            let namespace = info.operator.namespace();
            if stubs::is_asked(namespace, namespaces)
                && let Err(why) = self.operator(&info)
            {
                self.leave_out(&info.operator.to_string(), &why);
            }
        }
    }

    fn leave_out(&mut self, what: &str, why: &str) {
        self.state.report.push(format!("{what} is not in PyTorch: {why}"));
    }

    fn operator(&mut self, info: &OperatorInfo) -> Result<(), String> {
        let operator = info.operator;
        if operator.namespace() == "aten" {
            return Err("`aten` is PyTorch's own".to_owned());
        }
        if info.in_conflict {
            return Err("its registrations contradict each other".to_owned());
        }
        let point = operator.entry_point().ok_or("it was defined at run time, so it has no function of C")?;
        let schema = operator.schema().map_err(|error| error.to_string())?;
        plan::check(schema)?;
        let mut keys = plan::keys(schema, &info.kernels, &self.fallbacks);
        for why in std::mem::take(&mut keys.left_out) {
            self.leave_out(&format!("{operator}'s kernel at"), &why);
        }
        keys.batched |= is_batched_by_default(info, schema, &keys);
        keys.autograd = keys.autograd.filter(|key| match plan::check_derivative(schema, operator.tags()) {
            Ok(()) => true,
            Err(why) => {
                self.leave_out(&format!("{operator}'s kernel at {key}"), why);
                false
            }
        });
        self.define(operator.namespace(), schema, info)?;
        let is_native = Tracking::get().is_some() && plan::check_call(schema).is_ok() && !keys.is_composite();
        let served = Served::of(schema, &keys, is_native);
        let above =
            is_native.then(|| Above::new(schema, &served.called, served.recorded.as_deref())).flatten();
        if above.as_ref().is_some_and(|above| !above.records()) {
            // It does not need Python, so it is registered now.
            keys.registered.push((DispatchKey::Autograd, Role::Above));
        } else if above.is_some() {
            self.state.above.push((operator.namespace().to_owned(), served.called.clone(), point));
        }
        let derivative = derivative(&keys, info);
        self.state.operators.push(described(schema, &keys, &served, above.is_some(), derivative));
        let is_view = schema.has_alias_info() && !schema.is_mutable();
        let named = Named::by(derivative);
        let exported = Exported {
            operator,
            shim: self.shim,
            plain: Plain::all(schema),
            has_returns: !schema.returns.is_empty(),
            is_view,
            schema,
            autograd: keys.autograd,
            derivative,
            named,
            above,
        };
        point.set_receiver(Box::new(exported)).map_err(|error| error.to_string())?;
        self.register(&served, &keys.registered, schema, point)?;
        let serving = Serving { served, schema, named, point };
        if !self.shim.library.is_pytorch() {
            return self.define_serving(&serving); // the other host looks for them as soon as the library is loaded
        }
        self.state.later.insert(schema.name.to_string(), serving);
        Ok(())
    }

    /// Defines the operator, and its variant with flattened scalars.
    fn define(&mut self, namespace: &str, schema: &Schema, info: &OperatorInfo) -> Result<(), String> {
        let has_fake = info.kernels.iter().any(|kernel| {
            matches!(kernel.key, DispatchKey::Meta) || kernel.key.name().starts_with("Composite")
        });
        let mut tags: Vec<i32> = Vec::new();
        let known = &self.shim.numbers.tags;
        for tag in info.operator.tags() {
            match known.iter().find(|(name, _)| name == tag) {
                Some((_, number)) => tags.push(*number),
                None => self.state.report.push(format!("{}: this PyTorch has no tag `{tag}`", info.operator)),
            }
        }
        let works_compiled = number_of(known, "pt2_compliant_tag").filter(|_| has_fake);
        tags.extend(works_compiled.filter(|tag| !tags.contains(tag)));
        let mut printed = schema.clone();
        printed.name.namespace = None;
        self.define_one(namespace, &printed.to_string(), &tags)?;
        if let Some(flat) = hidden::flat(schema) {
            self.define_one(namespace, &flat, &tags)?;
        }
        Ok(())
    }

    fn define_one(&mut self, namespace: &str, schema: &str, tags: &[i32]) -> Result<(), String> {
        let library = self.library(namespace, None)?;
        let text = CString::new(schema).map_err(|error| error.to_string())?;
        let code = match self.shim.torch_library_def_with_tags {
            // SAFETY: the library is alive, the text is null-terminated, and there are `tags.len()` tags.
            Some(define) => unsafe { define(library, text.as_ptr(), tags.as_ptr(), tags.len() as i32) },
            // SAFETY: the library is alive, and the text is null-terminated.
            None => unsafe { (self.shim.aoti_torch_library_def)(library, text.as_ptr()) },
        };
        let doing = || format!("defining `{namespace}::{schema}`, which another library may have done");
        check(code, doing).map_err(|error| error.to_string())
    }

    fn register(
        &mut self,
        served: &Served,
        keys: &[(DispatchKey, Role)],
        schema: &Schema,
        point: &'static EntryPoint,
    ) -> Result<(), String> {
        let namespace = schema.name.namespace.as_deref().unwrap_or_default();
        for (key, role) in keys {
            self.implement(namespace, (*key, *role), &served.called, point)?;
            if *role == Role::Composite && served.batched.is_none() {
                let under_vmap = DispatchKey::FuncTorchBatchedDecomposition;
                self.implement(namespace, (under_vmap, *role), &served.called, point)?;
            }
        }
        Ok(())
    }

    /// Defines the auxiliary operators of an operator.
    fn define_serving(&mut self, Serving { served, schema, named, point }: &Serving) -> Result<(), String> {
        let namespace = schema.name.namespace.as_deref().unwrap_or_default();
        if served.recorded.is_some() {
            self.define_one(namespace, &hidden::recorded(schema), &[])?; // Python implements it
        }
        let serving = [
            (&served.backward, hidden::backward as fn(&Schema) -> String),
            (&served.differentiable, hidden::differentiable),
            (&served.layer, hidden::layer),
            (&served.batched, hidden::batched),
        ];
        let serving = serving.map(|(name, text)| (name, text(schema)));
        let gradients = (&served.gradients, hidden::gradients(schema, *named));
        for (name, text) in serving.into_iter().chain([gradients]) {
            if let Some(name) = name {
                self.define_one(namespace, &text, &[])?;
                for key in
                    [DispatchKey::CompositeImplicitAutograd, DispatchKey::FuncTorchBatchedDecomposition]
                {
                    self.implement(namespace, (key, Role::Kernel), name, point)?;
                }
            }
        }
        Ok(())
    }

    fn implement(
        &mut self,
        namespace: &str,
        (key, role): (DispatchKey, Role),
        name: &str,
        point: &EntryPoint,
    ) -> Result<(), String> {
        let function = point.function(role as usize).ok_or("its entry point has too few functions")?;
        let library = self.library(namespace, Some(key))?;
        let text = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: the library is alive, the name is null-terminated, and the function has the ABI that PyTorch calls.
        // It stays valid because this shared object is never unloaded.
        let code = unsafe { (self.shim.torch_library_impl)(library, text.as_ptr(), function, WRITTEN_FROM) };
        let doing = || format!("registering {namespace}::{name} for {key}");
        check(code, doing).map_err(|error| error.to_string())
    }

    /// PyTorch's library object for a namespace: for definitions, or for kernels at a key.
    fn library(&mut self, namespace: &str, key: Option<DispatchKey>) -> Result<Object, String> {
        let place = (namespace.to_owned(), key);
        if let Some(library) = self.libraries.get(&place) {
            return Ok(*library);
        }
        let text = |text: &str| CString::new(text).unwrap_or_default();
        let (name, mut library) = (text(namespace), ptr::null_mut());
        let file = c"a Rust library".as_ptr();
        // SAFETY: the strings are null-terminated, and the function writes its answer to the given address.
        let code = unsafe {
            match key {
                None => {
                    (self.shim.aoti_torch_library_init_fragment)(name.as_ptr(), file, 0, &raw mut library)
                }
                Some(key) => {
                    let key = text(key.name());
                    let made = &raw mut library;
                    (self.shim.aoti_torch_library_init_impl)(name.as_ptr(), key.as_ptr(), file, 0, made)
                }
            }
        };
        check(code, || format!("opening the namespace `{namespace}`")).map_err(|error| error.to_string())?;
        self.libraries.insert(place, library);
        Ok(library)
    }
}

/// Whether PyTorch also gets the default batching rule, which serves operators without a rule of their own. For
/// pointwise operators it makes a single call; for lists of tensors, which PyTorch's own loop does not support, it
/// loops over the examples.
fn is_batched_by_default(info: &OperatorInfo, schema: &Schema, keys: &Keys) -> bool {
    let key = DispatchKey::FuncTorchBatched;
    let is_list = |ty: &Type| plan::is_tensors(ty) && matches!(ty.without_optional(), Type::List(_));
    let has_lists = schema.arguments.iter().any(|argument| is_list(&argument.ty))
        || schema.returns.iter().any(|ret| is_list(&ret.ty));
    (has_lists || info.operator.tags().contains(&"pointwise"))
        && !keys.is_composite()
        && plan::check_batching(schema).is_ok()
        && Dispatcher::global().fallbacks().iter().any(|fallback| fallback.key == key)
}

/// The row of `derivatives!` at the operator's autograd key, if its kernel is one.
fn derivative(keys: &Keys, info: &OperatorInfo) -> Option<&'static Derivative> {
    let is_it = |kernel: &&KernelInfo| kernel.is_active && Some(kernel.key) == keys.autograd;
    info.kernels.iter().find(is_it)?.derivative
}

/// The names that an entry point is registered under.
struct Served {
    /// The operator that has the kernels: the flat one, if scalars are flattened.
    called: String,
    recorded: Option<String>,
    backward: Option<String>,
    gradients: Option<String>,
    differentiable: Option<String>,
    layer: Option<String>,
    batched: Option<String>,
}

/// The auxiliary operators of an operator, which are defined when the first of them is needed.
struct Serving {
    served: Served,
    schema: &'static Schema,
    /// The tensors that its derivative may need.
    named: Named,
    point: &'static EntryPoint,
}

impl Served {
    fn of(schema: &Schema, keys: &Keys, is_native: bool) -> Served {
        let overload = &schema.name.overload;
        let separator = if overload.is_empty() { "" } else { "." };
        let called = match plan::has_scalars(schema) {
            true => hidden::name(schema, "flat"),
            false => format!("{}{separator}{overload}", schema.name.name),
        };
        let name = |is_there: bool, what| is_there.then(|| hidden::name(schema, what));
        let has_derivative = keys.autograd.is_some();
        let has_gradients = has_derivative && is_native && plan::has_plain_gradients(schema);
        Served {
            called,
            recorded: name(has_derivative, "recorded"),
            backward: name(has_derivative && !has_gradients, "backward"),
            gradients: name(has_gradients, "gradients"),
            // If Rust makes the call, it finds out without an operator.
            differentiable: name(
                has_derivative && !(is_native && plan::is_recorded_after(schema)),
                "differentiable",
            ),
            layer: name(!keys.layers.is_empty(), "layer"),
            batched: name(keys.batched, "batched"),
        }
    }
}

/// The description of an operator for the glue, as JSON.
fn described(
    schema: &Schema,
    keys: &Keys,
    served: &Served,
    has_above: bool,
    derivative: Option<&Derivative>,
) -> String {
    let arguments = schema.arguments.iter().map(|argument| {
        Json::object([
            ("name", json_string(&argument.name)),
            ("kind", json_string(kind(&argument.ty))),
            ("by_name", argument.kwarg_only.to_string()),
            ("is_written", argument.is_mutable().to_string()),
        ])
    });
    let name = |name: &Option<String>| name.as_deref().map_or_else(|| "null".to_owned(), json_string);
    let flat = plan::has_scalars(schema).then(|| served.called.clone());
    Json::object([
        ("namespace", json_string(schema.name.namespace.as_deref().unwrap_or_default())),
        ("name", json_string(&schema.name.name)),
        ("overload", json_string(&schema.name.overload)),
        ("schema", json_string(&schema.to_string())),
        ("arguments", Json::list(arguments)),
        ("is_view", (schema.has_alias_info() && !schema.is_mutable()).to_string()),
        ("is_composite", keys.is_composite().to_string()),
        ("has_above", has_above.to_string()),
        ("layers", Json::list(keys.layers.iter().map(|key| json_string(key.name())))),
        ("flat", name(&flat)),
        ("recorded", name(&served.recorded)),
        ("is_recorded_after", (has_above && plan::is_recorded_after(schema)).to_string()),
        ("backward", name(&served.backward)),
        ("gradients", name(&served.gradients)),
        ("differentiable", name(&served.differentiable)),
        ("layer", name(&served.layer)),
        ("batched", name(&served.batched)),
        ("formulas", derivative.map_or_else(|| "null".to_owned(), formulas)),
    ])
}

/// For each formula, three bit masks: the arguments whose gradients it computes, and the arguments and results that
/// have to be saved for it. The arguments that the condition of the row names are saved for every formula.
fn formulas(derivative: &Derivative) -> String {
    let formula = |formula: &Formula| {
        let arguments = formula.values().union(formula.metadata()).union(derivative.condition());
        Json::list([formula.of(), arguments, formula.results()].map(|some| some.bits().to_string()))
    };
    Json::list(derivative.formulas().iter().map(formula))
}

/// The kind of an argument, by which the glue handles it.
fn kind(ty: &Type) -> &'static str {
    match ty {
        ty if plan::is_tensors(ty) => match ty.without_optional() {
            Type::List(_) => "tensors",
            _ => "tensor",
        },
        ty => match plan::passing(ty) {
            Ok(plan::Passing::Scalar) => "number",
            _ => "other",
        },
    }
}

#[cfg(test)]
mod tests {
    use torch_library::schema::Mode;

    use super::*;

    #[test]
    fn without_pytorch_nothing_is_exported_and_the_report_says_so() {
        export(&[]);
        let (report, described) = (report(), describe());
        // SAFETY: both are null-terminated strings that are never freed.
        let text = |text| unsafe { std::ffi::CStr::from_ptr(text) }.to_str().unwrap();
        assert!(text(report).starts_with("PyTorch is not loaded in this process"), "{}", text(report));
        assert_eq!(text(described), "[]");
    }

    #[test]
    fn the_glue_learns_what_it_has_to_do() {
        let schema =
            Schema::parse("ns::f.o(Tensor self, Tensor[] l, Scalar s, *, int n=1) -> Tensor", Mode::Strict)
                .unwrap();
        let keys = Keys {
            registered: vec![(DispatchKey::CPU, Role::Kernel)],
            autograd: Some(DispatchKey::Autograd),
            layers: vec![DispatchKey::AutocastCPU],
            ..Keys::default()
        };
        assert_eq!(
            described(&schema, &keys, &Served::of(&schema, &keys, true), true, None),
            concat!(
                r#"{"namespace":"ns","name":"f","overload":"o","#,
                r#""schema":"ns::f.o(Tensor self, Tensor[] l, Scalar s, *, int n=1) -> Tensor","#,
                r#""arguments":[{"name":"self","kind":"tensor","by_name":false,"is_written":false},"#,
                r#"{"name":"l","kind":"tensors","by_name":false,"is_written":false},"#,
                r#"{"name":"s","kind":"number","by_name":false,"is_written":false},"#,
                r#"{"name":"n","kind":"other","by_name":true,"is_written":false}],"#,
                r#""is_view":false,"is_composite":false,"has_above":true,"layers":["AutocastCPU"],"#,
                r#""flat":"_f_o_flat","recorded":"_f_o_recorded","is_recorded_after":true,"backward":"_f_o_backward","#,
                r#""gradients":null,"differentiable":null,"layer":"_f_o_layer","batched":null,"formulas":null}"#,
            )
        );
    }
}
