//! One operator as a call sees it: load the published table, index it, call.
//!
//! # How it works
//!
//! 1. `torch_library!` makes two statics for each operator: an [`Operator`], and apart from it the [`Declaration`],
//!    which no call reads, so that operators lie two to a cache line. The first word of one points to a *table*: a key
//!    mask, where the kernel of each of the 137 rows lies, and the kernels. Which row leads to which kernel is the same
//!    for most operators, so that part is shared; the mask and the first kernel are in one cache line.
//! 2. A call joins the keys of its arguments and of the thread, applies the mask, takes the row of the highest key
//!    and calls the kernel there. It takes no lock, asks nothing and writes nothing.
//! 3. Before the first call the table has mask 0 and the operator's cold *stub* for its only kernel. A zero mask leaves
//!    no key, which is row 0, the stub: it resolves the operator, publishes the real table and calls again. So "is it
//!    resolved?" costs a warm call nothing.
//! 4. The same detour serves whatever must see all calls of an operator: a trace, and masks that differ between
//!    backends. The operator is resolved then, and a table like its first one is published, which knows the real one.
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

/// What is known of an operator before anything runs.
#[derive(Clone, Copy)]
pub struct OperatorSpec {
    /// The namespace: `aten`.
    pub namespace: &'static str,
    /// The schema without the namespace: `add.Tensor(Tensor self, …) -> Tensor`. It begins with the name.
    pub schema: &'static str,
    /// How many values a call takes from the stack: one for each argument, or as many as there are.
    pub arity: u16,
    /// How many returns.
    pub returns: u16,
    /// The registry it belongs to; the process-wide one where there is none.
    pub dispatcher: Option<&'static <Program as Registered>::Dispatcher>,
    /// PyTorch's tags, as `pointwise`.
    pub tags: &'static [&'static str],
    /// Where the operator is declared.
    pub place: Place,
    /// Its kernels, where the linker keeps those of operators that are reached alone; then the registry learns of the
    /// operator when it is called.
    pub links: <Program as Registered>::Links,
    /// The operator that it is a variant of, if it was declared beside one: a kernel for that may be one for this as
    /// well.
    pub base: Option<fn() -> &'static Operator>,
    /// Its function for hosts without contexts, with the feature `host`.
    pub entry_point: Option<fn() -> &'static EntryPoint>,
    /// For each return, the position of the argument that it is, if it is one; nothing where none is.
    pub returned: &'static [Option<usize>],
    /// The typed code of rows that have no typed kernel.
    pub adapters: &'static Adapters,
}

/// What typed calls run in rows that have no typed kernel. Operators with one signature share it.
///
/// What is in it is for this crate alone: whoever could pair one operator's code with another's kernels would call it
/// with arguments of other types.
pub struct Adapters {
    /// Where the kernel is boxed: pushes the arguments, runs the boxed face, pops the returns.
    pub(crate) boxing: ErasedCode,
    /// In autograd rows that nobody fills, where no gradient may be lost.
    pub(crate) autograd_default: ErasedCode,
    /// The boxed face of typed kernels: pops the arguments, runs the typed code, pushes the returns.
    pub(crate) unbox: BoxedCode,
    /// Tells the calling convention from others, where there is one.
    pub(crate) convention: Option<fn() -> TypeId>,
}

impl Adapters {
    /// For operators that have no typed callers.
    pub const NEVER_CALLED: &'static Adapters = &Adapters {
        boxing: ErasedCode::never_called(),
        autograd_default: ErasedCode::never_called(),
        unbox: |_, operator, _, _| {
            Err(Error::new(ErrorKind::Internal, format!("{operator} has no typed kernels")))
        },
        convention: None,
    };
}

impl OperatorSpec {
    /// Whether the schema says that something is written to, or that a return is a view.
    pub(crate) fn has_alias_info(&self) -> bool {
        // As it is printed, an annotation follows the type at once; the name of the overload may look like a type.
        self.schema.split_once('(').is_some_and(|(_, rest)| rest.contains("Tensor("))
    }
}

/// The arity of operators whose schema ends in `...`: more than any stack holds.
const ANY_NUMBER: u16 = u16::MAX;

/// How many values of the stack a call takes.
pub(crate) fn arity(schema: &Schema) -> u16 {
    if schema.is_vararg { ANY_NUMBER } else { schema.arguments.len() as u16 }
}

/// For each return, the position of the argument that it is, if it is one; nothing where none is.
pub(crate) fn returned_arguments(schema: &Schema) -> Vec<Option<usize>> {
    let returned: Vec<_> = (0..schema.returns.len()).map(|index| schema.returned_argument(index)).collect();
    if returned.iter().any(Option::is_some) { returned } else { Vec::new() }
}

/// An operator that was declared, with its published dispatch table.
///
/// PyTorch: `OperatorEntry` and `TypedOperatorHandle`.
#[repr(C)]
pub struct Operator {
    /// First, because the published table is all that a warm call reads here.
    slot: Slot<Header>,
    declaration: &'static Declaration,
    schema: OnceBox<Schema>,
    /// Where its registry keeps it, plus one; zero while it is not registered.
    entry: AtomicU32,
}

/// What never changes of an operator.
pub struct Declaration {
    spec: OperatorSpec,
    initial: Detour,
}

/// For each row, where its kernel lies: the distance in bytes from the start of the table.
pub(crate) type Rows = [u16; NUM_RUNTIME_KEYS];

/// How every table begins; its kernels lie behind.
#[repr(C)]
pub(crate) struct Header {
    mask: DispatchKeySet,
    /// Tables whose kernels lie alike share this, so it is where all calls have been before.
    rows: &'static Rows,
}

/// A table that sends every call to the stub.
#[repr(C)]
pub(crate) struct Detour {
    header: Header,
    stub: Kernel,
    /// What the stub goes on to, where the operator is resolved.
    resolved: Option<Resolved>,
}

/// Marks the keys that a redispatch hands to the stub: a bit that no key has.
pub(crate) const REDISPATCHED: DispatchKeySet = DispatchKeySet::from_raw(1 << 63);
/// Marks the keys that the stub hands to its boxed face for a typed call whose values somebody wants to see.
pub(crate) const TYPED: DispatchKeySet = DispatchKeySet::from_raw(1 << 62);

impl Detour {
    /// The rows of all detours, and of no other table.
    const ROWS: &'static Rows = {
        static ROWS: Rows = [std::mem::offset_of!(Detour, stub) as u16; NUM_RUNTIME_KEYS];
        &ROWS
    };

    const fn new(stub: Kernel, resolved: Option<Resolved>) -> Self {
        Detour { header: Header { mask: DispatchKeySet::EMPTY, rows: Self::ROWS }, stub, resolved }
    }
}

impl Declaration {
    /// The declaration of the operator in a static named `operator`.
    ///
    /// # Safety
    /// * `operator` points to the operator that is made from the result, before anybody calls it, and lives as long as
    ///   the process.
    /// * `stub` and the code in `spec.adapters` were erased from one function pointer type, the operator's calling
    ///   convention: its callers and its kernels have no other. An operator without typed callers has any.
    /// * `spec.returned` says which arguments the returns of that type are.
    pub const unsafe fn new(operator: *const Operator, stub: ErasedCode, spec: OperatorSpec) -> Self {
        // SAFETY: the caller says that the pointer is to the operator that is made from the result, so it is not null,
        // and that the operator is there before it is called and stays.
        let stub = unsafe { Kernel::stub(stub, stub_boxed, operator) };
        Declaration { spec, initial: Detour::new(stub, None) }
    }

    const fn initial(&self) -> *const Header {
        (&raw const self.initial).cast()
    }
}

impl Operator {
    /// The operator that a declaration was made for.
    ///
    /// # Safety
    /// * It is put where the declaration's pointer points to, and nowhere else.
    pub const unsafe fn new(declaration: &'static Declaration) -> Self {
        Operator {
            slot: Slot::new(AtomicPtr::new(declaration.initial().cast_mut())),
            declaration,
            schema: OnceBox::new(),
            entry: AtomicU32::new(0),
        }
    }

    /// An operator that is defined at run time and lives as long as the process. It has no module and so no typed
    /// callers: none of its typed code ever runs.
    pub(crate) fn leak(spec: OperatorSpec) -> &'static Operator {
        // One pointer for the stub and for all others, so that none is derived after it.
        let place: *mut Operator = Box::into_raw(Box::<Operator>::new_uninit()).cast();
        // SAFETY: the operator is made there, below, and never freed. It has no module, so no typed callers.
        let declaration = unsafe { Declaration::new(place, ErasedCode::never_called(), spec) };
        // SAFETY: this is the place that the declaration was just made for.
        let operator = unsafe { Operator::new(Box::leak(Box::new(declaration))) };
        // SAFETY: the place is that of a box of its own, which is not initialised yet.
        unsafe { place.write(operator) };
        // SAFETY: it is initialised, and nobody frees it or refers to it uniquely.
        unsafe { &*place }
    }

    /// What is known of the operator before anything runs.
    pub const fn spec(&self) -> &OperatorSpec {
        &self.declaration.spec
    }

    /// The name, with the overload if it has one: `add.Tensor`.
    pub(crate) fn name(&self) -> &'static str {
        let schema = self.spec().schema;
        schema.split_once('(').map_or(schema, |(name, _)| name)
    }

    /// The schema, namespace included, parsed by whoever asks first.
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

    /// The result of a kernel of this operator.
    ///
    /// # Errors
    /// That of the result, which names the operator now if it did not.
    #[inline(always)]
    pub fn named<T>(&self, mut result: Result<T>) -> Result<T> {
        if let Err(error) = &mut result {
            error.name_operator(self);
        }
        result
    }

    /// The index of the registry's entry, while the operator is registered.
    pub(crate) fn entry(&self) -> Option<usize> {
        // Written under the registry's lock; whoever goes on to use the entry takes that lock.
        self.entry.load(Ordering::Relaxed).checked_sub(1).map(|index| index as usize)
    }

    pub(crate) fn set_entry(&self, index: Option<usize>) {
        self.entry.store(index.map_or(0, |index| index as u32 + 1), Ordering::Relaxed);
    }

    /// Whether typed kernels made for the other operator may serve this one: whether the two are one, or two statics of
    /// one that is declared in a crate which is linked twice. Rust's types are compared beside the schemas, so that it
    /// is no matter who made the statics.
    pub(crate) fn calls_like(&self, other: &Operator) -> bool {
        let declared = |operator: &Operator| {
            let OperatorSpec { namespace, schema, dispatcher, returned, adapters, .. } = *operator.spec();
            let convention = adapters.convention.filter(|_| dispatcher.is_none())?;
            Some((namespace, schema, returned, convention()))
        };
        std::ptr::eq(self, other) || declared(self).is_some_and(|own| declared(other) == Some(own))
    }

    /// A handle, for everything that a call by module path cannot do.
    pub fn handle(&'static self) -> OperatorHandle {
        OperatorHandle::new(self)
    }

    /// The kernel for a call whose arguments have these keys, and the key set to hand to it.
    #[inline(always)]
    pub fn select(&self, argument_keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        if recursion::is_suspect() {
            return self.select_cold(argument_keys);
        }
        self.row(guard::apply(argument_keys))
    }

    /// The thread's first call, or one of too many within one another, which the stub refuses.
    #[cold]
    #[inline(never)]
    fn select_cold(&self, argument_keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        match recursion::is_exhausted() {
            true => (&self.declaration.initial.stub, DispatchKeySet::EMPTY),
            false => self.row(guard::apply(argument_keys)),
        }
    }

    /// The kernel for a redispatch with these keys, and the key set to hand to it.
    ///
    /// The mask is applied again, so a set that still holds a fallthrough key skips it, unlike PyTorch's.
    #[inline(always)]
    pub fn select_again(&'static self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        let (kernel, masked) = self.row(keys);
        let is_plain = !masked.is_empty() && !recursion::is_suspect();
        if is_plain { (kernel, masked) } else { self.select_again_cold(keys) }
    }

    /// No key is left: because none should be, or because a detour is published. Or too little of the stack is,
    /// perhaps.
    #[cold]
    #[inline(never)]
    fn select_again_cold(&'static self, keys: DispatchKeySet) -> (&'static Kernel, DispatchKeySet) {
        match self.resolved() {
            Ok(resolved) if !Program::is_active() && !recursion::is_exhausted() => resolved.row(keys),
            // The stub reports the call, or what is wrong with the operator or with the call.
            _ => (&self.declaration.initial.stub, keys | REDISPATCHED),
        }
    }

    /// The kernel for a call that found its own gone, with the keys that were handed to it. Whoever observes the call
    /// has been told of it, so this passes the stub by.
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
        // SAFETY: the slot is made with the declaration's initial table, and `publish` and `retract` store that, tables
        // from `Resolved::leak` and detours, which are boxes that nobody frees. Each of the three starts with a header,
        // is written before the pointer is stored with release, and stays.
        let header = unsafe { &*table };
        let keys = keys & header.mask;
        // SAFETY: a mask is empty in a detour, and elsewhere a part of `DispatchKeySet::FULL` (`Mask::without`), so
        // what is left has no spare bit, and its index is below `NUM_RUNTIME_KEYS`, the length of the rows.
        let offset = unsafe { *header.rows.get_unchecked(keys.table_index()) };
        // SAFETY: the rows of a table hold the distance to one of its kernels, which lie behind the header in the
        // memory that `table` was made from: `Draft::new` checks that each row names one, and those of a detour name
        // its stub.
        let kernel = unsafe { &*table.byte_add(usize::from(offset)).cast::<Kernel>() };
        (kernel, keys)
    }

    /// Whether the operator is registered.
    ///
    /// # Errors
    /// It was removed.
    fn check_alive(&'static self) -> Result<()> {
        Program::check_alive(self)
    }

    /// The kernel registered for exactly this key, or else the key's fallback.
    ///
    /// # Errors
    /// Neither is there, or it is a fallthrough.
    fn kernel_for_key(&'static self, key: DispatchKey) -> Result<&'static Kernel> {
        Program::kernel_for_key(self, key)
    }

    /// The resolved operator, from the registry the first time.
    pub(crate) fn resolved(&'static self) -> Result<Resolved> {
        self.published().map_or_else(|| Program::resolve(self), Ok)
    }

    /// The resolved operator, if it is.
    pub(crate) fn published(&self) -> Option<Resolved> {
        let table = self.slot.table();
        // SAFETY: what the slot holds is one of the three kinds of table, see `row`; each starts with a header and
        // stays.
        if !std::ptr::eq(unsafe { (*table).rows }, Detour::ROWS) {
            // SAFETY: initial tables and detours have the rows compared with. Of the kinds that `publish` stores that
            // leaves those from `Resolved::table`.
            return Some(unsafe { Resolved::of_table(table) });
        }
        // SAFETY: only `Detour::new` makes tables with these rows, so this is a `Detour`, which stays.
        unsafe { (*table.cast::<Detour>()).resolved }
    }

    /// Makes the next call use this; with `detour`, by way of the stub.
    pub(crate) fn publish(&self, resolved: Resolved, detour: bool) {
        let stub = self.declaration.initial.stub;
        self.slot.publish(if detour { resolved.detour(stub) } else { resolved.table() });
    }

    /// Back to the state before the first call.
    pub(crate) fn retract(&self) {
        self.slot.publish(self.declaration.initial());
    }

    /// The position of the argument that a return is, if it is one.
    pub(crate) fn returned_argument(&self, index: usize) -> Option<usize> {
        self.spec().returned.get(index).copied().flatten()
    }
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operator({self})")
    }
}

/// `ns::name.overload`
impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.spec().namespace, self.name())
    }
}

const _: () = assert!(NUM_RUNTIME_KEYS == 137);
