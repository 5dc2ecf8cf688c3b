//! Handing operators to PyTorch: once, when the library is loaded, or later if PyTorch was not there.
#![expect(unsafe_code, reason = "registers with PyTorch's functions, and lends texts to C")]

use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use torch_library::schema::{Schema, Type};
use torch_library::{DispatchKey, Dispatcher, EntryPoint, OperatorInfo, Result};

use crate::entry::Exported;
use crate::exception;
use crate::plan::{self, Keys};
use crate::shim::{Object, Shim, WRITTEN_FROM, check, load, number_of};
use crate::text::{Json, json_string};

/// What was done, and what was not.
#[derive(Default)]
struct State {
    is_done: bool,
    /// What is left out, a line each.
    report: Vec<String>,
    /// What the glue in Python has to know, an operator each.
    operators: Vec<String>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands all operators of some namespaces to PyTorch, or of all but `aten` where none is named. A second time it does
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
                Export { shim, state, libraries: HashMap::new() }.all(namespaces);
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

/// The lines of the report, for C: the text stays as long as the process.
pub fn report() -> *const c_char {
    let text = state().as_ref().map_or_else(String::new, |state| state.report.join("\n"));
    lent(text)
}

/// What the glue in Python has to know, as JSON.
pub fn describe() -> *const c_char {
    let operators = state().as_ref().map_or_else(String::new, |state| state.operators.join(","));
    lent(format!("[{operators}]"))
}

/// The glue in Python.
pub fn glue() -> *const c_char {
    static GLUE: OnceLock<CString> = OnceLock::new();
    GLUE.get_or_init(|| CString::new(include_str!("glue.py")).unwrap_or_default()).as_ptr()
}

/// A text that C keeps.
fn lent(text: String) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

struct Export<'e> {
    shim: &'static Shim,
    state: &'e mut State,
    /// PyTorch's libraries, by namespace and key. None is ever deleted: that would take back what it registered.
    libraries: HashMap<(String, Option<DispatchKey>), Object>,
}

impl Export<'_> {
    fn all(&mut self, namespaces: &[&str]) {
        let missing = self.shim.missing();
        let relevant: Vec<_> = missing
            .into_iter()
            .filter(|name| !name.starts_with('_') && !name.starts_with("torch_library_"))
            .collect();
        if !relevant.is_empty() {
            // SAFETY: it takes nothing.
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
        if let Err(conflicts) = torch_library::init() {
            self.state.report.push(conflicts.to_string());
        }
        for fallback in Dispatcher::global().fallbacks() {
            // Those of torch-library's own layers serve its tensors, not PyTorch's.
            let is_of_layers =
                fallback.place.file().is_empty() || fallback.place.krate().starts_with("torch_library");
            if !is_of_layers {
                let why = "PyTorch's C functions register no kernel for all operators";
                self.leave_out(&format!("the fallback {fallback} for {}", fallback.key), why);
            }
        }
        for info in Dispatcher::global().operators() {
            let namespace = info.operator.namespace();
            let is_asked = match namespaces {
                [] => namespace != "aten",
                namespaces => namespaces.contains(&namespace),
            };
            if is_asked && let Err(why) = self.operator(&info) {
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
        let Keys { registered, composite, autograd, left_out } = plan::keys(&info.kernels);
        for why in left_out {
            self.leave_out(&format!("{operator}'s kernel at"), &why);
        }
        let autograd = autograd.filter(|key| match plan::check_derivative(schema) {
            Ok(()) => true,
            Err(why) => {
                self.leave_out(&format!("{operator}'s kernel at {key}"), &why);
                false
            }
        });
        self.define(operator.namespace(), schema, info)?;
        let exported = Exported { operator, schema, composite, autograd };
        point.set_receiver(Box::new(exported)).map_err(|error| error.to_string())?;
        self.register(&Names::of(schema, autograd.is_some()), &registered, schema, point)?;
        self.state.operators.push(described(schema, autograd.is_some(), &registered));
        Ok(())
    }

    /// Defines the operator, and those that serve it.
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
        if let Some(flat) = plan::flat_schema(schema) {
            self.define_one(namespace, &flat, &tags)?;
        }
        Ok(())
    }

    fn define_one(&mut self, namespace: &str, schema: &str, tags: &[i32]) -> Result<(), String> {
        let library = self.library(namespace, None)?;
        let text = CString::new(schema).map_err(|error| error.to_string())?;
        let code = match self.shim.torch_library_def_with_tags {
            // SAFETY: the library is alive, the text ends in a zero, and there are so many tags.
            Some(define) => unsafe { define(library, text.as_ptr(), tags.as_ptr(), tags.len() as i32) },
            // SAFETY: the library is alive, and the text ends in a zero.
            None => unsafe { (self.shim.aoti_torch_library_def)(library, text.as_ptr()) },
        };
        let doing = || format!("defining `{namespace}::{schema}`, which another library may have done");
        check(code, doing).map_err(|error| error.to_string())
    }

    fn register(
        &mut self,
        names: &Names,
        keys: &[DispatchKey],
        schema: &Schema,
        point: &EntryPoint,
    ) -> Result<(), String> {
        let namespace = schema.name.namespace.as_deref().unwrap_or_default();
        for key in keys {
            self.implement(namespace, *key, &names.called, point)?;
        }
        if names.has_backward {
            let backward = plan::backward_schema(schema);
            self.define_one(namespace, &backward, &[])?;
            self.implement(namespace, DispatchKey::CompositeImplicitAutograd, &names.backward, point)?;
        }
        Ok(())
    }

    fn implement(
        &mut self,
        namespace: &str,
        key: DispatchKey,
        name: &str,
        point: &EntryPoint,
    ) -> Result<(), String> {
        let library = self.library(namespace, Some(key))?;
        let text = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: the library is alive, the name ends in a zero, and the function is of the ABI that PyTorch calls. It
        // stays as long as this library, which nobody unloads.
        let code =
            unsafe { (self.shim.torch_library_impl)(library, text.as_ptr(), point.function(), WRITTEN_FROM) };
        let doing = || format!("registering {namespace}::{name} for {key}");
        check(code, doing).map_err(|error| error.to_string())
    }

    /// PyTorch's library for a namespace: of definitions, or of kernels for a key.
    fn library(&mut self, namespace: &str, key: Option<DispatchKey>) -> Result<Object, String> {
        let place = (namespace.to_owned(), key);
        if let Some(library) = self.libraries.get(&place) {
            return Ok(*library);
        }
        let text = |text: &str| CString::new(text).unwrap_or_default();
        let (name, mut library) = (text(namespace), ptr::null_mut());
        let file = c"a Rust library".as_ptr();
        // SAFETY: the texts end in zeros, and the answer goes where it is told.
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

/// Under which names an entry point is registered.
struct Names {
    /// The operator that kernels serve: the flat one, where numbers are flattened.
    called: String,
    backward: String,
    has_backward: bool,
}

impl Names {
    fn of(schema: &Schema, has_backward: bool) -> Names {
        let overload = &schema.name.overload;
        let separator = if overload.is_empty() { "" } else { "." };
        let called = match plan::has_scalars(schema) {
            true => plan::hidden_name(schema, "flat"),
            false => format!("{}{separator}{overload}", schema.name.name),
        };
        Names { called, backward: plan::hidden_name(schema, "backward"), has_backward }
    }
}

/// What the glue has to know of an operator.
fn described(schema: &Schema, has_backward: bool, keys: &[DispatchKey]) -> String {
    let arguments = schema.arguments.iter().map(|argument| {
        Json::object([
            ("name", json_string(&argument.name)),
            ("kind", json_string(kind(&argument.ty))),
            ("by_name", argument.kwarg_only.to_string()),
            ("is_written", argument.is_mutable().to_string()),
        ])
    });
    let keys = keys.iter().map(|key| json_string(key.name()));
    let hidden = |is_there: bool, what| match is_there {
        true => json_string(&plan::hidden_name(schema, what)),
        false => "null".to_owned(),
    };
    Json::object([
        ("namespace", json_string(schema.name.namespace.as_deref().unwrap_or_default())),
        ("name", json_string(&schema.name.name)),
        ("overload", json_string(&schema.name.overload)),
        ("schema", json_string(&schema.to_string())),
        ("arguments", Json::list(arguments)),
        ("is_view", (schema.has_alias_info() && !schema.is_mutable()).to_string()),
        ("keys", Json::list(keys)),
        ("flat", hidden(plan::has_scalars(schema), "flat")),
        ("backward", hidden(has_backward, "backward")),
    ])
}

/// What the glue does with an argument.
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
        // SAFETY: both are texts that end in zeros and are never freed.
        let text = |text| unsafe { std::ffi::CStr::from_ptr(text) }.to_str().unwrap();
        assert!(text(report).starts_with("PyTorch is not loaded in this process"), "{}", text(report));
        assert_eq!(text(described), "[]");
    }

    #[test]
    fn the_glue_learns_what_it_has_to_do() {
        let schema =
            Schema::parse("ns::f.o(Tensor self, Tensor[] l, Scalar s, *, int n=1) -> Tensor", Mode::Strict);
        assert_eq!(
            described(&schema.unwrap(), true, &[DispatchKey::CPU]),
            concat!(
                r#"{"namespace":"ns","name":"f","overload":"o","#,
                r#""schema":"ns::f.o(Tensor self, Tensor[] l, Scalar s, *, int n=1) -> Tensor","#,
                r#""arguments":[{"name":"self","kind":"tensor","by_name":false,"is_written":false},"#,
                r#"{"name":"l","kind":"tensors","by_name":false,"is_written":false},"#,
                r#"{"name":"s","kind":"number","by_name":false,"is_written":false},"#,
                r#"{"name":"n","kind":"other","by_name":true,"is_written":false}],"#,
                r#""is_view":false,"keys":["CPU"],"flat":"_f_o_flat","backward":"_f_o_backward"}"#,
            )
        );
    }
}
