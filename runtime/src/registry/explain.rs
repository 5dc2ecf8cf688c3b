//! Explains why a call goes to a kernel: the keys of the call, what becomes of each, and the rules that choose the
//! kernel.

use std::fmt;

use super::{Dispatcher, RowInfo, TableInfo};
use crate::error::Result;
use crate::guard::LocalDispatchKeySet;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::table::{self, Explanation, Fallbacks, Registration, Source};

/// Where a call goes, and why.
///
/// Its [`Display`](fmt::Display) form has the call's keys, one line for each of its layers, and the rules that decided.
///
/// ```
/// use torch_library::guard::LocalDispatchKeySet;
/// use torch_library::prelude::*;
/// use torch_library::{Dispatcher, Fate};
///
/// torch_library! {
///     pub mod explain_docs {
///         /// Twice a tensor.
///         twice(Tensor x) -> Tensor;
///     }
/// }
///
/// #[torch_impl(explain_docs, CPU)]
/// fn twice(x: &Tensor) -> Result<Tensor> {
///     Ok(x.clone())
/// }
///
/// let keys = Tensor::from([1.0]).key_set();
/// let call = Dispatcher::global().explain("explain_docs::twice", keys, LocalDispatchKeySet::current())?;
/// let fates: Vec<_> = call.layers.iter().map(|layer| (layer.row.key, layer.fate)).collect();
/// assert_eq!(
///     fates,
///     [
///         (DispatchKey::AutocastCPU, Fate::Excluded),
///         (DispatchKey::AutogradCPU, Fate::Taken),
///         (DispatchKey::ADInplaceOrView, Fate::Skipped),
///         (DispatchKey::BackendSelect, Fate::Skipped),
///         (DispatchKey::CPU, Fate::Below),
///     ]
/// );
/// # Ok::<(), torch_library::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallInfo {
    /// The name: `aten::add.Tensor`.
    pub name: String,
    /// The keys that the arguments bring.
    pub arguments: DispatchKeySet,
    /// The keys that the thread includes and excludes.
    pub thread: LocalDispatchKeySet,
    /// The resulting keys, without those that the operator skips: the keys that the kernel gets.
    pub keys: DispatchKeySet,
    /// The fate of each key, the highest first. Exactly one is taken.
    pub layers: Vec<Layer>,
    /// The rules that were applied to the key that is taken, each with its verdict.
    pub explanation: Explanation,
}

/// A key of a call, its row, and its fate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layer {
    /// The row of the key.
    pub row: RowInfo,
    /// The fate of the key.
    pub fate: Fate,
}

/// The fate of a key in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fate {
    /// The thread excludes its functionality.
    Excluded,
    /// Its kernel is a fallthrough, so the operator's mask removes the key.
    Skipped,
    /// The call runs its kernel.
    Taken,
    /// Its kernel runs when a kernel above redispatches.
    Below,
}

impl Dispatcher {
    /// Explains where a call with arguments of these keys goes on a thread in this state.
    ///
    /// # Errors
    /// Nothing is registered under that name.
    pub fn explain(
        &self,
        name: &str,
        arguments: DispatchKeySet,
        thread: LocalDispatchKeySet,
    ) -> Result<CallInfo> {
        Ok(self.table(name)?.explain(arguments, thread))
    }
}

impl TableInfo {
    /// Explains where a call with arguments of these keys goes on a thread in this state.
    pub fn explain(&self, arguments: DispatchKeySet, thread: LocalDispatchKeySet) -> CallInfo {
        let all = (arguments | thread.included) & DispatchKeySet::FULL;
        let allowed = all - thread.excluded;
        let keys = self.mask.apply(allowed);
        let taken = self.row_of(keys);
        let fate = |row: &RowInfo| match row.key {
            key if key == taken.key => Fate::Taken,
            key if (allowed - key.into()) == allowed => Fate::Excluded,
            key if (keys - key.into()) == keys => Fate::Skipped,
            _ => Fate::Below,
        };
        let mut layers = Vec::new();
        let mut rest = all;
        while rest.highest_functionality() != DispatchKey::Undefined {
            let row = self.row_of(rest);
            layers.push(Layer { fate: fate(row), row: row.clone() });
            rest = rest.remove(rest.highest_functionality());
        }
        if taken.key == DispatchKey::Undefined {
            layers.push(Layer { row: taken.clone(), fate: Fate::Taken });
        }
        let name = self.name.clone();
        CallInfo { name, arguments, thread, keys, layers, explanation: self.explain_row(taken.key) }
    }

    /// The rules that were applied to a runtime key, in order, each with its verdict.
    pub fn explain_row(&self, key: DispatchKey) -> Explanation {
        let active = self.kernels.iter().filter(|kernel| kernel.is_active);
        let registration = |key, is_fallthrough| Registration { key, kernel: (), is_fallthrough };
        let registrations: Vec<_> =
            active.map(|kernel| registration(kernel.key, kernel.is_fallthrough)).collect();
        let mut fallbacks = Fallbacks::new();
        if let Some(RowInfo { source: Source::BackendFallback, kernel: Some(kernel), .. }) = self.row(key) {
            let set = fallbacks.set(key, Some(((), kernel.is_fallthrough)));
            debug_assert!(set.is_ok(), "a row's key is a runtime key");
        }
        table::explain(&registrations, &fallbacks, key)
    }

    /// The row that a call with these remaining keys takes.
    fn row_of(&self, keys: DispatchKeySet) -> &RowInfo {
        &self.rows[keys.table_index()]
    }
}

impl CallInfo {
    /// The row that the call takes.
    pub fn row(&self) -> Option<&RowInfo> {
        self.layers.iter().find(|layer| layer.fate == Fate::Taken).map(|layer| &layer.row)
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Fate::Excluded => "excluded",
            Fate::Skipped => "skipped",
            Fate::Taken => "taken",
            Fate::Below => "below",
        })
    }
}

impl fmt::Display for CallInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.name, self.keys)?;
        self.layers.iter().try_for_each(|layer| writeln!(f, "  {:<8}  {}", layer.fate, layer.row))?;
        self.explanation.fmt(f)
    }
}
