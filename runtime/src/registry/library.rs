//! Registration at run time: everything the macros do, undone when the library is dropped.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use once_cell::sync::Lazy;
use torch_library_schema::{Mode, OperatorName, Schema};

use super::entry::{Implementation, Registration};
use super::state::{Name, Namespace};
use super::{Dispatcher, runtime};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{BoxedKernel, Kernel};
use crate::key::DispatchKey;
use crate::operator::{Operator, OperatorHandle, Place};
use crate::value::Stack;
use crate::{DispatchKeySet, bail};

/// A block of registrations made at run time. Dropping it undoes every one of them, and nothing else.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library::{Dispatcher, Library, RuntimeKernel};
///
/// let mut library = Library::new("library_docs")?;
/// library.define("double(int x) -> int")?;
/// library.implement("double", DispatchKey::CompositeExplicitAutograd, RuntimeKernel::boxed(|_, _, stack| {
///     let x: i64 = stack.pop_as()?;
///     stack.push(2 * x);
///     Ok(())
/// }))?;
///
/// let double = Dispatcher::global().find("library_docs::double")?;
/// let mut stack = Stack::from_iter([Value::Int(21)]);
/// double.call_boxed(&mut stack)?;
/// assert_eq!(stack.pop_as::<i64>()?, 42);
///
/// drop(library);
/// assert!(double.call_boxed(&mut Stack::from_iter([Value::Int(21)])).is_err());
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `torch::Library`.
pub struct Library {
    dispatcher: &'static Dispatcher,
    kind: LibraryKind,
    /// Nothing for `_`, the wildcard.
    namespace: Option<&'static str>,
    key: Option<DispatchKey>,
    place: Place,
    undo: Vec<Undo>,
}

/// What a library may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryKind {
    /// Declares a namespace; there is one for each.
    Definition,
    /// Adds to a namespace, whoever declares it.
    Fragment,
    /// Adds kernels only.
    Implementation,
}

enum Undo {
    Namespace(u64),
    Definition { index: usize, id: u64 },
    Kernel { index: usize, id: u64 },
    Fallback(u64),
}

/// A kernel to be registered at run time.
///
/// The state of a closure is kept until the process ends, because a call on another thread may still be in it.
pub struct RuntimeKernel {
    implementation: Implementation,
    /// For typed kernels: the operator whose calling convention they have.
    operator: Option<&'static Operator>,
    inferred: Option<Arc<Schema>>,
}

impl RuntimeKernel {
    /// One function for any signature: takes its arguments from the stack and leaves its returns there.
    ///
    /// PyTorch: `CppFunction::makeFromBoxedFunction`.
    pub fn boxed(
        kernel: impl Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        let kernel: &'static BoxedKernel = Box::leak(Box::new(BoxedKernel::new(kernel)));
        RuntimeKernel { implementation: Implementation::Boxed(kernel), operator: None, inferred: None }
    }

    /// As [`boxed`](Self::boxed), for a function that is known to have this signature: registering it for an operator
    /// with another one is an error. Names, defaults and aliases are not compared.
    ///
    /// # Errors
    /// The schema does not parse.
    pub fn with_signature(
        signature: &str,
        kernel: impl Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Self> {
        let schema = parse(signature)?;
        Ok(RuntimeKernel { inferred: Some(Arc::new(schema)), ..Self::boxed(kernel) })
    }

    /// "Not here: go on with the next key."
    ///
    /// PyTorch: `CppFunction::makeFallthrough`.
    pub const fn fallthrough() -> Self {
        RuntimeKernel { implementation: Implementation::Fallthrough, operator: None, inferred: None }
    }

    /// A closure of an operator's own calling convention; generated code makes these.
    #[doc(hidden)]
    pub const fn typed(operator: &'static Operator, kernel: Kernel) -> Self {
        RuntimeKernel {
            implementation: Implementation::Typed(kernel),
            operator: Some(operator),
            inferred: None,
        }
    }
}

impl Library {
    /// Declares a namespace in the process-wide dispatcher.
    ///
    /// # Errors
    /// The namespace is declared already (the message says where), or is not a name.
    ///
    /// PyTorch: `TORCH_LIBRARY`.
    #[track_caller]
    pub fn new(namespace: &str) -> Result<Self> {
        Self::open(Dispatcher::global(), LibraryKind::Definition, namespace, None)
    }

    /// Adds to a namespace, whoever declares it.
    ///
    /// # Errors
    /// The namespace is not a name.
    ///
    /// PyTorch: `TORCH_LIBRARY_FRAGMENT`.
    #[track_caller]
    pub fn fragment(namespace: &str) -> Result<Self> {
        Self::open(Dispatcher::global(), LibraryKind::Fragment, namespace, None)
    }

    /// Adds kernels for one key to the operators of a namespace, or fallbacks with `_` as the namespace.
    ///
    /// # Errors
    /// The namespace is not a name.
    ///
    /// PyTorch: `TORCH_LIBRARY_IMPL`.
    #[track_caller]
    pub fn implementation(namespace: &str, key: DispatchKey) -> Result<Self> {
        Self::open(Dispatcher::global(), LibraryKind::Implementation, namespace, Some(key))
    }

    /// A library of any kind in any dispatcher.
    ///
    /// # Errors
    /// As the constructors above; a key with another kind than [`LibraryKind::Implementation`]; `_` likewise.
    #[track_caller]
    pub fn open(
        dispatcher: &'static Dispatcher,
        kind: LibraryKind,
        namespace: &str,
        key: Option<DispatchKey>,
    ) -> Result<Self> {
        let place = caller();
        if key.is_some() && kind != LibraryKind::Implementation {
            bail!(
                Argument,
                "a library that defines operators has no dispatch key of its own, but {key:?} was given"
            );
        }
        let namespace = match namespace {
            "_" if kind == LibraryKind::Implementation => None,
            "_" => bail!(
                Argument,
                "the wildcard namespace `_` is for fallbacks only: open an implementation library, not a {kind:?}"
            ),
            name if is_identifier(name) => Some(intern(name)),
            other => bail!(Argument, "{other:?} is not a namespace: use letters, digits and `_`"),
        };
        let mut library =
            Library { dispatcher, kind, namespace, key: key.map(normal), place, undo: Vec::new() };
        if let (LibraryKind::Definition, Some(namespace)) = (kind, namespace) {
            library.reserve(namespace)?;
        }
        Ok(library)
    }

    fn reserve(&mut self, namespace: &'static str) -> Result<()> {
        let mut state = self.dispatcher.lock();
        if let Some(other) = state.namespaces.iter().find(|other| other.namespace == namespace) {
            bail!(
                Conflict,
                "namespace `{namespace}` is declared already\n  at {}\n  and again at {}\n  help: use a fragment",
                other.place,
                self.place
            );
        }
        let id = state.new_id();
        state.namespaces.push(Namespace { id, namespace, place: self.place });
        self.undo.push(Undo::Namespace(id));
        Ok(())
    }

    /// Defines an operator: `add.Tensor(Tensor self, Tensor other) -> Tensor`.
    ///
    /// # Errors
    /// The schema does not parse (the message has a caret under the place), names another namespace, is defined
    /// already, has more than 64 arguments, or does not fit a kernel that is registered already. Nothing changes then.
    ///
    /// PyTorch: `Library::def`.
    #[track_caller]
    pub fn define(&mut self, schema: &str) -> Result<OperatorHandle> {
        self.define_with_tags(schema, &[])
    }

    /// As [`define`](Self::define), with tags.
    ///
    /// # Errors
    /// As [`define`](Self::define).
    #[track_caller]
    pub fn define_with_tags(&mut self, text: &str, tags: &[&str]) -> Result<OperatorHandle> {
        let place = caller();
        if self.kind == LibraryKind::Implementation {
            bail!(
                Argument,
                "an implementation library cannot define operators: define `{text}` in the library of its namespace"
            );
        }
        let mut schema = parse(text)?;
        let namespace = self.own_namespace(schema.name.namespace.as_deref())?;
        schema.name.namespace = Some(namespace.into());
        let name = names(&schema.name, namespace);
        let mut state = self.dispatcher.lock();
        let (operator, index, id) = runtime::define(&mut state, self.dispatcher, name, schema, tags, place)?;
        self.undo.push(Undo::Definition { index, id });
        Ok(operator.handle())
    }

    /// Registers a kernel for an operator (`add.Tensor`) and a key. The operator may be defined later.
    ///
    /// Of several kernels for one key the newest counts; when it goes, the one before it counts again.
    ///
    /// # Errors
    /// The name names another namespace or is a whole schema, the library is for another key, or the kernel's
    /// signature is not the operator's. Nothing changes then.
    ///
    /// PyTorch: `Library::impl`.
    #[track_caller]
    pub fn implement(&mut self, operator: &str, key: DispatchKey, kernel: RuntimeKernel) -> Result<()> {
        let place = caller();
        let name = OperatorName::parse(operator)
            .map_err(|error| Error::new(ErrorKind::Argument, error.render(operator)))?;
        let namespace = self.own_namespace(name.namespace.as_deref())?;
        let key = self.merged_key(key)?;
        let name = names(&name, namespace);
        let mut state = self.dispatcher.lock();
        let registration = kernel.registration(key, place);
        let (index, id) = runtime::implement(&mut state, name, registration, kernel.operator)?;
        self.undo.push(Undo::Kernel { index, id });
        Ok(())
    }

    /// Registers a kernel that serves every operator at a key; for an alias, at each of its runtime keys.
    ///
    /// # Errors
    /// The library is not an implementation library for `_`, the kernel is typed, or there is a fallback already.
    ///
    /// PyTorch: `Library::fallback`.
    #[track_caller]
    pub fn fallback(&mut self, key: DispatchKey, kernel: RuntimeKernel) -> Result<()> {
        let place = caller();
        if self.kind != LibraryKind::Implementation || self.namespace.is_some() {
            bail!(Argument, "fallbacks serve all namespaces: open an implementation library for `_`");
        }
        let key = self.merged_key(key)?;
        let mut state = self.dispatcher.lock();
        let ids = runtime::add_fallbacks(&mut state, kernel.registration(key, place))?;
        self.undo.extend(ids.into_iter().map(Undo::Fallback));
        Ok(())
    }

    /// The namespace of a name that was given with or without one.
    fn own_namespace(&self, given: Option<&str>) -> Result<&'static str> {
        match (self.namespace, given) {
            (Some(own), None) => Ok(own),
            (Some(own), Some(given)) if own == given => Ok(own),
            (None, Some(given)) => Ok(intern(given)),
            (Some(own), Some(given)) => {
                bail!(
                    Argument,
                    "the name is in namespace `{given}`, but the library at {} is for `{own}`",
                    self.place
                )
            }
            (None, None) => {
                bail!(Argument, "a library for `_` needs the namespace with each name: `ns::name`")
            }
        }
    }

    fn merged_key(&self, key: DispatchKey) -> Result<DispatchKey> {
        let key = normal(key);
        match self.key {
            Some(own) if own != key => bail!(
                Argument,
                "the kernel is for {key}, but the library at {} is for {own}: open another one",
                self.place
            ),
            _ => Ok(key),
        }
    }
}

impl RuntimeKernel {
    fn registration(&self, key: DispatchKey, place: Place) -> Registration {
        let function = match self.implementation {
            Implementation::Fallthrough => "fallthrough",
            _ => "closure",
        };
        Registration {
            id: 0,
            key,
            implementation: self.implementation,
            function,
            overrides: false,
            place,
            inferred: self.inferred.clone(),
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let mut state = self.dispatcher.lock();
        for undo in self.undo.drain(..).rev() {
            match undo {
                Undo::Namespace(id) => state.namespaces.retain(|namespace| namespace.id != id),
                Undo::Definition { index, id } => runtime::undefine(&mut state, index, id),
                Undo::Kernel { index, id } => runtime::remove_kernel(&mut state, index, id),
                Undo::Fallback(id) => runtime::remove_fallback(&mut state, id),
            }
        }
    }
}

/// `Undefined` is PyTorch's old spelling of "for any key".
fn normal(key: DispatchKey) -> DispatchKey {
    if key == DispatchKey::Undefined { DispatchKey::CompositeImplicitAutograd } else { key }
}

fn parse(text: &str) -> Result<Schema> {
    Schema::parse(text, Mode::Strict).map_err(|error| Error::new(ErrorKind::Schema, error.render(text)))
}

fn names(name: &OperatorName, namespace: &'static str) -> Name<'static> {
    (namespace, intern(&name.name), intern(&name.overload))
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first == '_' || first.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
}

#[track_caller]
fn caller() -> Place {
    let location = Location::caller();
    Place { file: location.file(), line: location.line(), column: location.column(), module: "" }
}

/// One copy of each text for as long as the process runs: names outlive the libraries that brought them.
pub(super) fn intern(text: &str) -> &'static str {
    static TEXTS: Lazy<Mutex<HashSet<&'static str>>> = Lazy::new(Mutex::default);
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    match texts.get(text) {
        Some(text) => text,
        None => {
            let text: &'static str = Box::leak(text.into());
            texts.insert(text);
            text
        }
    }
}
