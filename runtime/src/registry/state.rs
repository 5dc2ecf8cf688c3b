//! The registry's data, and the only code that changes it. Every change is validated first and committed after.

use std::collections::HashMap;
use std::sync::Arc;

use torch_library_schema::{Mode, Schema};

use super::conflict::{self, Conflict};
use super::entry::{Definition, Entry, Registration};
use super::{KernelInfo, OperatorInfo, removed};
use crate::error::{Error, ErrorKind, Result};
use crate::key::DispatchKey;
use crate::operator::{Operator, OperatorSpec, Place};

/// Namespace, name, overload.
pub(super) type Name<'a> = (&'a str, &'a str, &'a str);

/// A namespace that is declared, by a library that is not a fragment.
pub(super) struct Namespace {
    pub(super) id: u64,
    pub(super) namespace: &'static str,
    pub(super) place: Place,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) entries: Vec<Entry>,
    by_name: HashMap<Name<'static>, usize>,
    by_operator: HashMap<usize, usize>,
    pub(super) namespaces: Vec<Namespace>,
    /// Which crate to link for the kernels of a namespace, where its library says so.
    pub(super) kernels_in: HashMap<&'static str, &'static str>,
    pub(super) fallbacks: Vec<Registration>,
    pub(super) conflicts: Vec<Conflict>,
    /// How many linked records were taken in, see `build`.
    pub(super) absorbed: usize,
    next_id: u64,
}

impl State {
    pub(super) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// The entry of a name, made where there is none.
    pub(super) fn entry_of_name(&mut self, name: Name<'static>) -> usize {
        *self.by_name.entry(name).or_insert_with(|| {
            self.entries.push(Entry::default());
            self.entries.len() - 1
        })
    }

    pub(super) fn index_of_name(&self, name: Name<'_>) -> Option<usize> {
        let by_name: &HashMap<Name<'_>, usize> = &self.by_name;
        by_name.get(&name).copied()
    }

    pub(super) fn index(&self, operator: &'static Operator) -> Option<usize> {
        self.by_operator.get(&address(operator)).copied()
    }

    pub(super) fn entry(&self, operator: &'static Operator) -> Option<&Entry> {
        self.index(operator).map(|index| &self.entries[index])
    }

    /// Adds a definition; the caller has checked that it may.
    pub(super) fn define(&mut self, operator: &'static Operator) -> u64 {
        let OperatorSpec { namespace, name, overload, .. } = *operator.spec();
        let index = self.entry_of_name((namespace, name, overload));
        let id = self.new_id();
        self.by_operator.insert(address(operator), index);
        self.entries[index].definitions.push(Definition { id, operator });
        id
    }

    pub(super) fn find(&self, text: &str) -> Result<&'static Operator> {
        let name = split(text);
        if let Some(index) = self.index_of_name(name) {
            let entry = &self.entries[index];
            if let Some(operator) = entry.operator() {
                return Ok(operator);
            }
            if let Some(registration) = entry.registrations.first() {
                return Err(Error::new(
                    ErrorKind::UnknownOperator,
                    format!(
                        "operator {text} has kernels but was never defined\n  a kernel is registered at {}\n  \
                         help: link the crate that declares it, or define its schema",
                        registration.place
                    ),
                ));
            }
        }
        Err(self.unknown(text))
    }

    #[cold]
    fn unknown(&self, text: &str) -> Error {
        let mut near: Vec<(usize, String)> = self
            .entries
            .iter()
            .filter_map(Entry::operator)
            .map(|operator| operator.to_string())
            .map(|name| (edit_distance(text, &name), name))
            .collect();
        near.sort();
        let near: Vec<_> = near
            .into_iter()
            .filter(|(distance, name)| *distance <= 3.max(text.len() / 4) || name.starts_with(text))
            .take(5)
            .map(|(_, name)| name)
            .collect();
        let help = if near.is_empty() {
            "no operator has a similar name; is the crate that declares it linked (`use that_crate as _;`)?"
                .to_owned()
        } else {
            format!("similar names: {}", near.join(", "))
        };
        Error::new(ErrorKind::UnknownOperator, format!("there is no operator {text}\n  help: {help}"))
    }

    pub(super) fn operators(&self) -> Vec<OperatorInfo> {
        let mut operators: Vec<_> = self.entries.iter().filter_map(Entry::info).collect();
        operators.sort_by_cached_key(|info| info.operator.to_string());
        operators
    }

    /// The fallback that counts for a runtime key.
    pub(super) fn fallback(&self, key: DispatchKey) -> Option<&Registration> {
        let of_key = self.fallbacks.iter().filter(|fallback| fallback.key == key);
        of_key.max_by_key(|fallback| fallback.id)
    }

    pub(super) fn fallbacks(&self) -> Vec<KernelInfo> {
        let mut fallbacks: Vec<_> = self.fallbacks.iter().map(|fallback| fallback.info(true)).collect();
        fallbacks.sort_by_key(|fallback| (fallback.key, fallback.place));
        fallbacks
    }

    pub(super) fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    pub(super) fn report(&self) -> Option<String> {
        conflict::report(&self.conflicts)
    }

    pub(super) fn schema(&mut self, operator: &'static Operator) -> Result<Arc<Schema>> {
        let index = self.index(operator).ok_or_else(|| removed(operator))?;
        let entry = &mut self.entries[index];
        if !entry.definitions.iter().any(|definition| std::ptr::eq(definition.operator, operator)) {
            return Err(removed(operator));
        }
        if let Some(schema) = &entry.schema {
            return Ok(schema.clone());
        }
        let text = operator.spec().schema;
        let mut schema = Schema::parse(text, Mode::PyTorch)
            .map_err(|error| Error::new(ErrorKind::Schema, error.render(text)))?;
        schema.name.namespace = Some(operator.spec().namespace.into());
        Ok(entry.schema.insert(Arc::new(schema)).clone())
    }
}

fn address(operator: &'static Operator) -> usize {
    std::ptr::from_ref(operator).addr()
}

/// `ns::name.overload` in its parts; what is missing is empty.
pub(super) fn split(text: &str) -> Name<'_> {
    let (namespace, rest) = text.split_once("::").unwrap_or(("", text));
    let (name, overload) = rest.split_once('.').unwrap_or((rest, ""));
    (namespace, name, overload)
}

/// How many single-character changes lead from one text to the other.
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
