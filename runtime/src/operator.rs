//! An operator and its call path: load the published table, index it, call the kernel.
//!
//! # How it works
//!
//! 1. `torch_library!` makes two statics for each operator: an [`Operator`], and separately the [`Declaration`], which
//!    no call reads, so that two operators fit a cache line. The first word of an operator points to a *table*: a key
//!    mask, the offset of the kernel for each of the 137 rows, and the kernels. Which row leads to which kernel is the
//!    same for most operators, so that part is shared; the mask and the first kernel are in one cache line.
//! 2. A call joins the keys of its arguments and of the thread, applies the mask, takes the row of the highest key and
//!    calls the kernel there. It takes no lock and writes nothing.
//! 3. Before the first call the table has mask 0, and its only kernel is the operator's cold *stub*. A zero mask leaves
//!    no key, which selects row 0, the stub: it resolves the operator, publishes the real table and calls again. So a
//!    warm call need not test whether the operator is resolved.
//! 4. The same *detour* serves everything that must see all calls of an operator: a trace, and masks that differ
//!    between backends. The operator is resolved in that case, and the published table is like its first one, but
//!    refers to the real table.
//!
//! # Orderings
//!
//! A table is written before it is published by one release store, and read after an acquire load of that pointer.
//! Tables are never freed while the process runs, so a reader needs no protection from the writer that replaces one.
#![expect(unsafe_code, reason = "the call path reads rows through one raw pointer, with no bound checks")]

use std::any::TypeId;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use once_cell::race::OnceBox;
use torch_library_schema::{Mode, Schema, SchemaError};

use crate::error::{Error, ErrorKind, Result};
use crate::guard;
use crate::key::{DispatchKey, DispatchKeySet, NUM_RUNTIME_KEYS};
use crate::program::Program;
use crate::recursion;
use crate::sync::AtomicPtr;

mod above;
mod derivative;
mod enter;
mod entry_point;
mod handle;
pub(crate) mod kernel;
mod place;
mod resolved;
mod slot;

pub use above::CallKind;
pub(crate) use above::{Observing, Registered, Registry};
pub use derivative::{Derivative, Formula, Positions};
use enter::stub_boxed;
pub use entry_point::{EntryFunction, EntryPoint, Receiver};
pub use handle::OperatorHandle;
pub(crate) use handle::too_few;
use kernel::{BoxedCode, ErasedCode, Kernel};
pub use place::{Place, SourceModule};
pub(crate) use resolved::{Draft, Resolved};
use slot::Slot;

/// The static properties of an operator.
#[derive(Clone, Copy)]
pub struct OperatorSpec {
    /// The namespace: `aten`.
    pub namespace: &'static str,
    /// The schema without the namespace: `add.Tensor(Tensor self, …) -> Tensor`. It begins with the name.
    pub schema: &'static str,
    /// The number of values that a call takes from the stack: one for each argument, or all values for a schema with
    /// `...`.
    pub arity: u16,
    /// The number of returns.
    pub returns: u16,
    /// The registry that it belongs to; `None` for the process-wide one.
    pub dispatcher: Option<&'static <Program as Registered>::Dispatcher>,
    /// PyTorch's tags, such as `pointwise`.
    pub tags: &'static [&'static str],
    /// The source location of the declaration.
    pub place: Place,
    /// With selective linking, its kernels that the linker kept; the registry then learns of the operator when it is
    /// first called.
    pub links: <Program as Registered>::Links,
    /// The operator from which this one was derived as a variant, if it was; a kernel for that operator may also serve
    /// this one.
    pub base: Option<fn() -> &'static Operator>,
    /// Its functions for hosts that pass no context, with the feature `host`.
    pub entry_point: Option<fn() -> &'static EntryPoint>,
    /// Whether the schema says that an argument is written to, or that a return is a view.
    pub has_alias_info: bool,
    /// For each return, the index of the argument that it is, if any.
    pub returned: &'static [Option<usize>],
    /// Identifies the calling convention with its lifetimes, if there are typed callers.
    pub convention: Option<fn() -> TypeId>,
    /// The typed code for rows without a typed kernel.
    pub adapters: &'static Adapters,
}

/// The code that typed calls run in rows without a typed kernel. Operators with the same signature share it.
///
/// The fields are private to this crate: code that could combine one operator's adapters with another's kernels would
/// call these with arguments of other types.
pub struct Adapters {
    /// For boxed kernels: pushes the arguments, runs the boxed code, pops the returns.
    pub(crate) boxing: ErasedCode,
    /// For autograd rows without a kernel, where no gradient may be lost.
    pub(crate) autograd_default: ErasedCode,
    /// The boxed code of typed kernels: pops the arguments, runs the typed code, pushes the returns.
    pub(crate) unbox: BoxedCode,
    /// Identifies the calling convention up to lifetimes, if there are typed callers.
    pub(crate) convention: Option<fn() -> TypeId>,
}

impl Adapters {
    /// For operators without typed callers.
    pub const NEVER_CALLED: &'static Adapters = &Adapters {
        boxing: ErasedCode::never_called(),
        autograd_default: ErasedCode::never_called(),
        unbox: |_, operator, _, _| {
            Err(Error::new(ErrorKind::Internal, format!("{operator} has no typed kernels")))
        },
        convention: None,
    };
}

/// The arity of operators whose schema ends in `...`: larger than any stack.
const ANY_NUMBER: u16 = u16::MAX;

/// The number of values on the stack that a call takes.
pub(crate) fn arity(schema: &Schema) -> u16 {
    if schema.is_vararg { ANY_NUMBER } else { schema.arguments.len() as u16 }
}

/// For each return, the index of the argument that it is, if any.
pub(crate) fn returned_arguments(schema: &Schema) -> Vec<Option<usize>> {
    (0..schema.returns.len()).map(|index| schema.returned_argument(index)).collect()
}

/// A declared operator, with its published dispatch table.
///
/// PyTorch: `OperatorEntry` and `TypedOperatorHandle`.
#[repr(C)]
pub struct Operator {
    /// First, because it is the only field that a warm call reads.
    slot: Slot<Header>,
    declaration: &'static Declaration,
    schema: OnceBox<Schema>,
    /// The index of its entry in the registry, plus one; zero while it is not registered.
    entry: AtomicU32,
}

/// The immutable part of an operator.
pub struct Declaration {
    spec: OperatorSpec,
    initial: Detour,
}

/// For each row, the offset of its kernel in bytes from the start of the table.
pub(crate) type Rows = [u16; NUM_RUNTIME_KEYS];

/// The start of every table; its kernels follow.
#[repr(C)]
pub(crate) struct Header {
    mask: DispatchKeySet,
    /// Shared by all tables with the same arrangement of kernels, so it is usually in the cache.
    rows: &'static Rows,
}

/// A table that sends every call to the stub.
#[repr(C)]
pub(crate) struct Detour {
    header: Header,
    stub: Kernel,
    /// The table to which the stub passes calls, if the operator is resolved.
    resolved: Option<Resolved>,
}

/// Marks the keys that a redispatch passes to the stub, with a bit that belongs to no key.
pub(crate) const REDISPATCHED: DispatchKeySet = DispatchKeySet::from_raw(1 << 63);
/// Marks the keys that the stub passes to its boxed form, for a typed call whose values are observed.
pub(crate) const TYPED: DispatchKeySet = DispatchKeySet::from_raw(1 << 62);

impl Detour {
    /// The rows of all detours; no other table has them.
    const ROWS: &'static Rows = {
        static ROWS: Rows = [std::mem::offset_of!(Detour, stub) as u16; NUM_RUNTIME_KEYS];
        &ROWS
    };

    const fn new(stub: Kernel, resolved: Option<Resolved>) -> Self {
        Detour { header: Header { mask: DispatchKeySet::EMPTY, rows: Self::ROWS }, stub, resolved }
    }
}

impl Declaration {
    /// The declaration of the operator at the address `operator`.
    ///
    /// # Safety
    /// * `operator` points to the operator that is made from the result; it is made before it is called, and lives as
    ///   long as the process.
    /// * `stub` and the code in `spec.adapters` were erased from one function pointer type, the operator's calling
    ///   convention, which all of its callers and kernels have. For an operator without typed callers any convention
    ///   will do.
    /// * That type accepts arguments of any lifetime. `spec.returned` says which arguments its returns are: such a
    ///   return has a lifetime of that argument, no other return has one, and no argument is named twice.
    /// * `spec.convention` is its `TypeId`.
    pub const unsafe fn new(operator: *const Operator, stub: ErasedCode, spec: OperatorSpec) -> Self {
        // SAFETY: the caller promises that the pointer is to the operator that is made from the result, so it is not
        // null, and that the operator is made before it is called and stays alive.
        let stub = unsafe { Kernel::stub(stub, stub_boxed, operator) };
        Declaration { spec, initial: Detour::new(stub, None) }
    }

    /// The operator that was declared.
    pub(crate) fn operator(&'static self) -> &'static Operator {
        self.initial.stub.operator()
    }

    const fn initial(&self) -> *const Header {
        (&raw const self.initial).cast()
    }
}

impl Operator {
    /// The operator that a declaration was made for.
    ///
    /// # Safety
    /// * The result is placed at the address in the declaration, and nowhere else.
    pub const unsafe fn new(declaration: &'static Declaration) -> Self {
        Operator {
            slot: Slot::new(AtomicPtr::new(declaration.initial().cast_mut())),
            declaration,
            schema: OnceBox::new(),
            entry: AtomicU32::new(0),
        }
    }

    /// An operator that is defined at run time and lives as long as the process. It has no module and therefore no
    /// typed callers: none of its typed code ever runs.
    pub(crate) fn leak(spec: OperatorSpec) -> &'static Operator {
        // The stub and all others use this one pointer, so that no reference derived later invalidates it.
        let place: *mut Operator = Box::into_raw(Box::<Operator>::new_uninit()).cast();
        // SAFETY: the operator is written there below, and never freed. It has no module, so it has no typed callers.
        let declaration = unsafe { Declaration::new(place, ErasedCode::never_called(), spec) };
        // SAFETY: this is put at the address that the declaration was just made for.
        let operator = unsafe { Operator::new(Box::leak(Box::new(declaration))) };
        // SAFETY: the address is that of a box that nothing else uses and that is not initialised yet.
        unsafe { place.write(operator) };
        // SAFETY: it is initialised, never freed, and there is no `&mut` to it.
        unsafe { &*place }
    }

    /// The static properties of the operator.
    pub const fn spec(&self) -> &OperatorSpec {
        &self.declaration.spec
    }

    /// The name, with the overload if it has one: `add.Tensor`.
    pub(crate) fn name(&self) -> &'static str {
        let schema = self.spec().schema;
        schema.split_once('(').map_or(schema, |(name, _)| name)
    }

    /// The schema, namespace included, parsed when it is first needed.
    pub(crate) fn schema(&self) -> Result<&Schema> {
        let text = self.spec().schema;
        let parse = || {
            let mut schema = Schema::parse(text, Mode::PyTorch)?;
            schema.name.namespace = Some(self.spec().namespace.into());
            Ok(Box::new(schema))
        };
        let schema = self.schema.get_or_try_init(parse);
        schema.map_err(|error: SchemaError| {
            Error::new(ErrorKind::Schema, error.render(text).trim_end().to_owned())
        })
    }

    /// An argument as messages name it: ``argument 2 `alpha` ``, counted from 1.
    pub(crate) fn argument(&self, index: usize) -> String {
        let argument = self.schema().ok().and_then(|schema| schema.arguments.get(index));
        let name = argument.map_or_else(String::new, |argument| format!(" `{}`", argument.name));
        format!("argument {}{name}", index + 1)
    }

    /// Adds the operator's name to the error of a kernel.
    ///
    /// # Errors
    /// The error in `result`, with the operator's name added.
    #[inline(always)]
    pub fn named<T>(&self, mut result: Result<T>) -> Result<T> {
        if let Err(error) = &mut result {
            error.name_operator(self);
        }
        result
    }

    /// The index of the registry's entry, while the operator is registered.
    pub(crate) fn entry(&self) -> Option<usize> {
        // Written under the registry's lock; code that goes on to use the entry takes that lock.
        self.entry.load(Ordering::Relaxed).checked_sub(1).map(|index| index as usize)
    }

    pub(crate) fn set_entry(&self, index: Option<usize>) {
        self.entry.store(index.map_or(0, |index| index as u32 + 1), Ordering::Relaxed);
    }

    /// Whether typed kernels that were made for the other operator may serve this one: either the two are the same, or
    /// they are two statics of one operator, from a crate that is linked twice. Rust types are compared as well as
    /// schemas, with their lifetimes, so it does not matter who made the statics.
    pub(crate) fn accepts_kernels_of(&self, other: &Operator) -> bool {
        let declared = |operator: &Operator| {
            let OperatorSpec { namespace, schema, dispatcher, returned, convention, .. } = *operator.spec();
            let convention = convention.filter(|_| dispatcher.is_none())?;
            Some((namespace, schema, returned, convention()))
        };
        std::ptr::eq(self, other) || declared(self).is_some_and(|own| declared(other) == Some(own))
    }

    /// A handle, for everything beyond calls by module path.
    pub fn handle(&'static self) -> OperatorHandle {
        OperatorHandle::new(self)
    }

    /// The kernel for a call whose arguments have these keys, and the key set to pass to it.
    #[inline(always)]
    pub fn select(&self, argument_keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        if recursion::is_suspect() {
            return self.select_cold(argument_keys);
        }
        self.row(guard::apply(argument_keys))
    }

    /// The thread's first call, or one that is nested too deep, which the stub refuses.
    #[cold]
    #[inline(never)]
    fn select_cold(&self, argument_keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        match recursion::is_exhausted() {
            true => (&self.declaration.initial.stub, DispatchKeySet::EMPTY),
            false => self.row(guard::apply(argument_keys)),
        }
    }

    /// The kernel for a redispatch with these keys, and the key set to pass to it.
    ///
    /// The mask is applied again, so a set that still holds a fallthrough key skips the key, unlike in PyTorch.
    #[inline(always)]
    pub fn select_again(&'static self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        let (kernel, masked) = self.row(keys);
        let is_plain = !masked.is_empty() && !recursion::is_suspect();
        if is_plain { (kernel, masked) } else { self.select_again_cold(keys) }
    }

    /// No key is left, because the set has none or because a detour is published; or the stack may be nearly used up.
    #[cold]
    #[inline(never)]
    fn select_again_cold(&'static self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        match self.resolved() {
            Ok(resolved) if !Program::is_active() && !recursion::is_exhausted() => resolved.row(keys),
            // The stub notifies observers of the call, or reports what is wrong with the operator or the call.
            _ => (&self.declaration.initial.stub, keys | REDISPATCHED),
        }
    }

    /// The kernel for a call that finds its own kernel gone, with the keys that were passed to that kernel. Observers
    /// have been notified of the call already, so this bypasses the stub.
    ///
    /// # Errors
    /// The operator is in conflict with another registration, or was removed.
    pub(crate) fn select_anew(
        &'static self,
        keys: DispatchKeySet,
    ) -> Result<(&'static Kernel, DispatchKeySet)> {
        Ok(self.resolved()?.row(keys))
    }

    #[inline(always)]
    fn row(&self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        let table = self.slot.table();
        // SAFETY: the slot is initialised with the declaration's initial table; `publish` and `retract` store that
        // table, tables from `Resolved::leak`, and detours, which are boxes that are never freed. Each of the three
        // starts with a header, is written before the pointer is stored with release ordering, and is never freed.
        let header = unsafe { &*table };
        let keys = keys & header.mask;
        // SAFETY: the mask is empty in a detour, and elsewhere a subset of `DispatchKeySet::FULL` (`Mask::without`), so
        // `keys` has no unused bit, and its index is below `NUM_RUNTIME_KEYS`, the length of the rows.
        let offset = unsafe { *header.rows.get_unchecked(keys.table_index()) };
        // SAFETY: each row of a table holds the offset of one of its kernels, which follow the header in the memory
        // that `table` was made from: `Draft::new` checks that each row names a kernel, and the rows of a detour name
        // its stub.
        let kernel = unsafe { &*table.byte_add(usize::from(offset)).cast::<Kernel>() };
        (kernel, keys)
    }

    /// Whether the operator is registered.
    ///
    /// # Errors
    /// The operator was removed.
    fn check_alive(&'static self) -> Result<()> {
        Program::check_alive(self)
    }

    /// The kernel registered for exactly this key, otherwise the key's fallback.
    ///
    /// # Errors
    /// The key has neither a kernel nor a fallback, or that is a fallthrough.
    fn kernel_for_key(&'static self, key: DispatchKey) -> Result<&'static Kernel> {
        Program::kernel_for_key(self, key)
    }

    /// Whether a kernel is registered for exactly this key.
    fn has_kernel_for(&'static self, key: DispatchKey) -> bool {
        Program::has_kernel_for(self, key)
    }

    /// The resolved operator, which the registry makes the first time.
    pub(crate) fn resolved(&'static self) -> Result<Resolved> {
        self.published().map_or_else(|| Program::resolve(self), Ok)
    }

    /// The resolved operator, if it has been resolved.
    pub(crate) fn published(&self) -> Option<Resolved> {
        let table = self.slot.table();
        // SAFETY: the slot holds one of the three kinds of table, see `row`; each starts with a header and is never
        // freed.
        if !std::ptr::eq(unsafe { (*table).rows }, Detour::ROWS) {
            // SAFETY: initial tables and detours have the rows that were compared. Of the kinds of table in a slot,
            // only those from `Resolved::table` remain.
            return Some(unsafe { Resolved::of_table(table) });
        }
        // SAFETY: only `Detour::new` makes tables with these rows, so this is a `Detour`, and it is never freed.
        unsafe { (*table.cast::<Detour>()).resolved }
    }

    /// Makes later calls use this table; with `detour`, through the stub.
    pub(crate) fn publish(&self, resolved: Resolved, detour: bool) {
        let stub = self.declaration.initial.stub;
        self.slot.publish(if detour { resolved.detour(stub) } else { resolved.table() });
    }

    /// Restores the state before the first call.
    pub(crate) fn retract(&self) {
        self.slot.publish(self.declaration.initial());
    }

    /// The index of the argument that a return is, if any.
    pub(crate) fn returned_argument(&self, index: usize) -> Option<usize> {
        self.spec().returned.get(index).copied().flatten()
    }
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operator({self})")
    }
}

/// Prints `ns::name.overload`.
impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.spec().namespace, self.name())
    }
}

const _: () = assert!(NUM_RUNTIME_KEYS == 137);
