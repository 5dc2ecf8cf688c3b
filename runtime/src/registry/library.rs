//! Registration at run time: what the macros do, undone when the library is dropped.

use std::fmt;
use std::panic::Location;

use torch_library_schema::{OperatorName, Schema};

use super::runtime::{self, Request};
use super::runtime_kernel::parse;
use super::state::Namespace;
use super::{Dispatcher, RuntimeKernel};
use crate::bail;
use crate::error::{Error, ErrorKind, Result};
use crate::key::DispatchKey;
use crate::operator::{OperatorHandle, Place};
use crate::warning::warn;

/// A group of registrations made at run time. Dropping it undoes all of them, and nothing else.
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
    /// `None` for the wildcard `_`.
    namespace: Option<Box<str>>,
    key: Option<DispatchKey>,
    place: Place,
    /// Whether registrations get the library's source location, since another language declares them.
    is_foreign: bool,
    undo: Vec<Undo>,
}

/// What a library may do.
///
/// PyTorch: `torch::Library::Kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryKind {
    /// Declares a namespace, which may be declared only once.
    Definition,
    /// Adds to a namespace, whether or not it is declared.
    Fragment,
    /// Adds only kernels.
    Implementation,
}

enum Undo {
    Namespace(u64),
    Definition { index: usize, id: u64 },
    Kernel { index: usize, id: u64 },
    Fallback(u64),
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("kind", &self.kind)
            .field("namespace", &self.namespace)
            .field("key", &self.key)
            .field("place", &self.place)
            .finish_non_exhaustive()
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

    /// Adds to a namespace, whether or not it is declared.
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
    /// The errors of the constructors above; a key with a kind other than [`LibraryKind::Implementation`]; the
    /// namespace `_` with such a kind.
    #[track_caller]
    pub fn open(
        dispatcher: &'static Dispatcher,
        kind: LibraryKind,
        namespace: &str,
        key: Option<DispatchKey>,
    ) -> Result<Self> {
        let place = caller();
        Self::try_open(dispatcher, kind, namespace, key, place).map_err(|error| error.at(place))
    }

    /// Like [`open`](Self::open), for declarations outside this program's Rust sources, such as in a C++ library:
    /// listings and messages name this place, for the library and for everything that is registered with it.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    ///
    /// PyTorch: the file and the line with which a `torch::Library` is created.
    pub fn open_at(
        dispatcher: &'static Dispatcher,
        kind: LibraryKind,
        namespace: &str,
        key: Option<DispatchKey>,
        place: Place,
    ) -> Result<Self> {
        let mut library =
            Self::try_open(dispatcher, kind, namespace, key, place).map_err(|error| error.at(place))?;
        library.is_foreign = true;
        Ok(library)
    }

    fn try_open(
        dispatcher: &'static Dispatcher,
        kind: LibraryKind,
        namespace: &str,
        key: Option<DispatchKey>,
        place: Place,
    ) -> Result<Self> {
        if let (Some(key), LibraryKind::Definition | LibraryKind::Fragment) = (key, kind) {
            bail!(
                Argument,
                "a library that defines operators has no dispatch key of its own, but {key} was given"
            );
        }
        let wildcard = namespace == "_";
        if wildcard && kind != LibraryKind::Implementation {
            bail!(
                Argument,
                "the wildcard namespace `_` is for fallbacks only: open an implementation library, not a {kind:?}"
            );
        }
        if !is_identifier(namespace) {
            bail!(Argument, "{namespace:?} is not a namespace: use letters, digits and `_`");
        }
        let key = key.filter(|key| *key != DispatchKey::Undefined);
        let own = (!wildcard).then(|| namespace.into());
        let (is_foreign, undo) = (false, Vec::new());
        let mut library = Library { dispatcher, kind, namespace: own, key, place, is_foreign, undo };
        if kind == LibraryKind::Definition {
            library.reserve(namespace)?;
        }
        Ok(library)
    }

    fn reserve(&mut self, namespace: &str) -> Result<()> {
        let mut state = self.dispatcher.lock();
        if let Some(other) = state.namespaces.iter().find(|other| *other.namespace == *namespace) {
            bail!(
                Conflict,
                "namespace `{namespace}` is declared already\n  at {}\n  and again at {}\n  help: use a fragment, `Library::fragment({namespace:?})`",
                other.place,
                self.place
            );
        }
        let id = state.new_id();
        state.namespaces.push(Namespace { id, namespace: namespace.into(), place: self.place });
        self.undo.push(Undo::Namespace(id));
        Ok(())
    }

    /// Defines an operator: `add.Tensor(Tensor self, Tensor other) -> Tensor`.
    ///
    /// # Errors
    /// The schema does not parse (the message marks the place with a caret), names another namespace, is defined
    /// already, has more than 64 arguments (an operator declared by a macro has at most 32), or does not match a kernel
    /// that is registered already. Nothing changes in these cases.
    ///
    /// PyTorch: `Library::def`.
    #[track_caller]
    pub fn define(&mut self, schema: &str) -> Result<OperatorHandle> {
        self.define_with_tags(schema, &[])
    }

    /// Like [`define`](Self::define), with tags.
    ///
    /// # Errors
    /// The errors of [`define`](Self::define).
    #[track_caller]
    pub fn define_with_tags(&mut self, text: &str, tags: &[&str]) -> Result<OperatorHandle> {
        let place = self.place_of(caller());
        self.try_define(text, tags, place).map_err(|error| error.at(place))
    }

    fn try_define(&mut self, text: &str, tags: &[&str], place: Place) -> Result<OperatorHandle> {
        if self.kind == LibraryKind::Implementation {
            bail!(
                Argument,
                "an implementation library cannot define operators: define `{text}` in the library of its namespace"
            );
        }
        let schema = parse(text)?;
        let namespace = self.own_namespace(schema.name.namespace.as_deref())?;
        let name = full_name(namespace, &schema.name.name, &schema.name.overload);
        let request =
            Request { dispatcher: self.dispatcher, name: &name, text, schema: &schema, tags, place };
        let mut state = self.dispatcher.change(); // listeners run on release: `undo` has the entry by then
        let (operator, index, id) = runtime::define(&mut state, &request)?;
        self.undo.push(Undo::Definition { index, id });
        Ok(operator.handle())
    }

    /// Defines an operator (`add.Tensor`) with the schema of a kernel, and registers the kernel for a key; `Undefined`
    /// stands for `CompositeImplicitAutograd`.
    ///
    /// ```
    /// use torch_library::prelude::*;
    /// use torch_library::{Library, RuntimeKernel};
    ///
    /// let mut library = Library::new("define_with_docs")?;
    /// let scale = RuntimeKernel::function(|x: &Tensor, factor: f64| {
    ///     Tensor::from_vec(x.to_vec::<f64>()?.iter().map(|x| factor * x).collect(), x.sizes())
    /// })?;
    /// let scale = library.define_with("scale", DispatchKey::CPU, scale)?;
    /// assert_eq!(scale.schema()?.to_string(), "define_with_docs::scale(Tensor arg0, float arg1) -> Tensor");
    /// let x = Tensor::from([1.0, 2.0]);
    /// let scaled: Tensor = scale.call_with([Value::from(&x), Value::Float(3.0)], [])?.pop_as()?;
    /// assert_eq!(scaled.to_vec::<f64>()?, [3.0, 6.0]);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// The kernel was made without a schema, by [`RuntimeKernel::boxed`]; the errors of [`define`](Self::define).
    /// Nothing changes in these cases.
    ///
    /// PyTorch: `Library::def` with a name and a function.
    #[track_caller]
    pub fn define_with(
        &mut self,
        operator: &str,
        key: DispatchKey,
        kernel: RuntimeKernel,
    ) -> Result<OperatorHandle> {
        let place = self.place_of(caller());
        let define = || -> Result<OperatorHandle> {
            let name = parse_name(operator)?;
            let Some(schema) = kernel.signature() else {
                bail!(
                    Schema,
                    "{operator} was given without a schema, and a boxed kernel has none to infer one from\n  \
                     help: define the whole schema, or make the kernel by `RuntimeKernel::function`"
                )
            };
            let schema = Schema { name, ..schema.clone() };
            let handle = self.try_define(&schema.to_string(), &[], place)?;
            self.try_implement(operator, key, kernel, place)?;
            Ok(handle)
        };
        define().map_err(|error| error.at(place))
    }

    /// Registers a kernel for an operator (`add.Tensor`) and a key. The operator may be defined later; a debug build
    /// warns if another one has almost its name.
    ///
    /// With `Undefined` the key is the library's, or `CompositeImplicitAutograd` if the library has none. Of several
    /// kernels for one key the newest is used; when it is removed, the one before it is used again.
    ///
    /// A building block such as `Dense` or `Sparse`, which is not the key of any call, is accepted as in PyTorch: the
    /// kernel never runs, but counts as a backend's kernel below the autograd keys, which `CompositeImplicitAutograd`
    /// then does not serve. The macros refuse such a key.
    ///
    /// # Errors
    /// The name has another namespace or is a whole schema, the library is for another key, or the kernel's signature
    /// differs from the operator's. Nothing changes in these cases.
    ///
    /// PyTorch: `Library::impl`.
    #[track_caller]
    pub fn implement(&mut self, operator: &str, key: DispatchKey, kernel: RuntimeKernel) -> Result<()> {
        let place = self.place_of(caller());
        self.try_implement(operator, key, kernel, place).map_err(|error| error.at(place))
    }

    fn try_implement(
        &mut self,
        operator: &str,
        key: DispatchKey,
        kernel: RuntimeKernel,
        place: Place,
    ) -> Result<()> {
        let (namespace, name) = match operator.split_once("::") {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, operator),
        };
        let name = full_name(self.own_namespace(namespace)?, name, "");
        let key = self.merged_key(key)?.unwrap_or(DispatchKey::Undefined).registration_key();
        let mut kernel = Some(kernel); // if it is refused, it is dropped after the lock
        let mut state = self.dispatcher.change();
        if state.entry_named(&name).is_none() {
            parse_name(operator)?;
        }
        let (index, id) = runtime::implement(&mut state, &name, (key, place), &mut kernel)?;
        self.undo.push(Undo::Kernel { index, id });
        let meant = state.meant_by_kernel(&name);
        drop(state);
        if let Some(meant) = meant {
            warn(format!(
                "a kernel for {key} is registered for {name}, which is not defined; did you mean {meant}?\n  at {place}"
            ));
        }
        Ok(())
    }

    /// Registers a kernel that serves every operator at a key; for an alias, at each of its runtime keys. A building
    /// block such as `Dense` has none. With `Undefined` the key is the library's.
    ///
    /// # Errors
    /// The library is not an implementation library for `_`, the kernel is typed, or there is a fallback already.
    ///
    /// PyTorch: `Library::fallback`.
    #[track_caller]
    pub fn fallback(&mut self, key: DispatchKey, kernel: RuntimeKernel) -> Result<()> {
        let place = self.place_of(caller());
        self.try_fallback(key, kernel, place).map_err(|error| error.at(place))
    }

    fn try_fallback(&mut self, key: DispatchKey, kernel: RuntimeKernel, place: Place) -> Result<()> {
        if self.kind != LibraryKind::Implementation || self.namespace.is_some() {
            bail!(Argument, "fallbacks serve all namespaces: open an implementation library for `_`");
        }
        let key = Some(key).filter(|key| *key != DispatchKey::Undefined);
        let Some(key) = key.or(self.key) else {
            bail!(Argument, "a fallback serves all operators at one key, but none was given")
        };
        let mut kernel = Some(kernel); // if it is refused, it is dropped after the lock
        let mut state = self.dispatcher.lock();
        let ids = runtime::add_fallbacks(&mut state, (key, place), &mut kernel)?;
        self.undo.extend(ids.into_iter().map(Undo::Fallback));
        Ok(())
    }

    /// The source location for a registration by a method that was called there.
    fn place_of(&self, caller: Place) -> Place {
        if self.is_foreign { self.place } else { caller }
    }

    /// Checks the namespace of a name, if it has one, and returns the library's.
    fn own_namespace(&self, namespace: Option<&str>) -> Result<&str> {
        let Some(own) = self.namespace.as_deref() else {
            bail!(
                Argument,
                "the library at {} is for `_`, all namespaces: it takes fallbacks only; open one for the operator's namespace",
                self.place
            )
        };
        match namespace {
            Some(namespace) if namespace != own => bail!(
                Argument,
                "the name is in namespace `{namespace}`, but the library at {} is for `{own}`",
                self.place
            ),
            _ => Ok(own),
        }
    }

    /// The key for a kernel: the given one, otherwise the library's. `Undefined` means that none is given.
    fn merged_key(&self, key: DispatchKey) -> Result<Option<DispatchKey>> {
        match (self.key, key) {
            (own, DispatchKey::Undefined) => Ok(own),
            (Some(own), key) if own != key => bail!(
                Argument,
                "the kernel is for {key}, but the library at {} is for {own}: open another one",
                self.place
            ),
            (_, key) => Ok(Some(key)),
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let mut state = self.dispatcher.change();
        let (mut touched, mut seats) = (Vec::new(), Vec::new());
        let mut all = false;
        for undo in self.undo.drain(..).rev() {
            match undo {
                Undo::Namespace(id) => state.namespaces.retain(|namespace| namespace.id != id),
                Undo::Definition { index, id } => state.undefine(index, id),
                Undo::Kernel { index, id } => {
                    let seat = state.remove_kernel(index, id);
                    seats.extend(seat.map(|(key, seat)| (Some(index), key, seat)));
                    touched.push(index);
                }
                Undo::Fallback(id) => {
                    let seat = state.remove_fallback(id);
                    seats.extend(seat.map(|(key, seat)| (None, key, seat)));
                    all = true;
                }
            }
        }
        if !state.conflicts.is_empty() {
            state.find_conflicts(); // this library may have been one side of a conflict
        } else if all {
            state.refresh_all();
        } else {
            // Once for each operator, after everything was removed, so that an operator loses all kernels of the
            // library in one step.
            touched.sort_unstable();
            touched.dedup();
            touched.into_iter().for_each(|index| state.refresh(index));
        }
        // The published tables no longer lead to the seats. The closures are dropped when the lock is released and the
        // last calls in them have returned.
        for (index, key, seat) in seats {
            state.leaving.extend(seat.empty());
            state.seats(index).put(key, seat);
        }
    }
}

fn parse_name(text: &str) -> Result<OperatorName> {
    OperatorName::parse(text)
        .map_err(|error| Error::new(ErrorKind::Argument, error.render(text).trim_end().to_owned()))
}

fn full_name(namespace: &str, name: &str, overload: &str) -> String {
    let mut text = String::with_capacity(namespace.len() + name.len() + overload.len() + 3);
    text.extend([namespace, "::", name]);
    if !overload.is_empty() {
        text.extend([".", overload]);
    }
    text
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first == '_' || first.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
}

#[track_caller]
fn caller() -> Place {
    Place::of(Location::caller())
}
