//! The error for a name without an operator, and what it suggests.

use torch_library_schema::edit_distance;

use super::misspelt::is_slip;
use super::names::Names;
use super::state::State;
use crate::collect::linking;
use crate::error::{Error, ErrorKind};
use crate::limits;

/// The names that an error suggests at most.
const MOST: usize = 5;

/// The crates of this project that declare operators of PyTorch and its libraries, with the namespaces.
const CRATES: [(&str, &str); 8] = [
    ("torchvision", "torch_library_vision"),
    ("torchaudio", "torch_library_audio"),
    ("quantized_decomposed", "torch_library_quantized"),
    ("torchao", "torch_library_quantized"),
    ("transformers", "torch_library_transformers"),
    ("prims", "torch_library_prims"),
    ("_c10d_functional", "torch_library_distributed"),
    ("c10d", "torch_library_distributed"),
];

impl State {
    /// What an author probably meant who has just registered a kernel under this name: nothing in a release build, or
    /// if an operator has the name.
    pub(super) fn meant_by_kernel(&self, name: &str) -> Option<&'static str> {
        let is_defined = self.entry_named(name).is_some_and(|entry| entry.operator().is_some());
        if cfg!(debug_assertions) && !is_defined { self.names.meant(name) } else { None }
    }

    /// The error for a name without an operator.
    #[cold]
    pub(super) fn unknown(&self, text: &str) -> Error {
        if let Some(registration) = self.entry_named(text).and_then(|entry| entry.registrations.first()) {
            let help = match self.names.meant(text) {
                Some(name) => format!("did you mean {name}? Otherwise link"),
                None => "link".to_owned(),
            };
            return Error::new(
                ErrorKind::UnknownOperator,
                format!(
                    "operator {text} has kernels but was never defined\n  a kernel is registered at {}\n  \
                     help: {help} the crate that declares it, or define its schema",
                    registration.place
                ),
            );
        }
        let (names, message) = (self.names, format!("there is no operator {text}"));
        let error = Error::new(ErrorKind::UnknownOperator, message);
        if text.len() > limits::MESSAGE {
            return error; // the message is cut off, and keeps no text of megabytes
        }
        let text = text.to_owned();
        error.with_help(move || names.help(&text))
    }
}

impl Names {
    /// What may have been meant by a name that had no operator when it was looked up.
    fn help(&self, text: &str) -> String {
        if linking::IS_SELECTIVE {
            return "this program is linked selectively: an operator that it calls by name alone is to be named in \
                    `torch_library::link!`"
                .to_owned();
        }
        let is_operator = |text: &str| self.get(text).is_some_and(|name| name.operator().is_some());
        if is_operator(text) {
            return "it was defined after it was looked up".to_owned();
        }
        let namespace = text.split_once("::").map_or("", |(namespace, _)| namespace);
        let is_missing = !namespace.is_empty() && !self.have(namespace);
        if namespace == "aten" && is_missing {
            return "PyTorch's own operators, which gradients, vmap and other layers call as well, are in the crate \
                    `torch_library_kernels`: link it, `use torch_library_kernels as _;`"
                .to_owned();
        }
        if let Some((_, name)) = CRATES.iter().find(|(of, _)| is_missing && *of == namespace) {
            return format!(
                "operators of `{namespace}` are in the crate `{name}`: link it, `use {name} as _;`"
            );
        }
        let in_schemas = without_python(text);
        if is_operator(&in_schemas) {
            return format!("in schemas it is {in_schemas}");
        }
        let is_in_python = in_schemas.split_once("::").is_some_and(|(namespace, _)| self.have(namespace));
        let text = if is_in_python { &in_schemas } else { text };
        // As in Rust, `ns::add_Tensor`.
        let is_in_rust = |name: &&str| name.contains('.') && name.replacen('.', "_", 1) == text;
        if let Some(name) = self.operators().filter(is_in_rust).min() {
            return format!("in schemas it is {name}");
        }
        let is_overload = |name: &&str| name.split_once('.').is_some_and(|(base, _)| base == text);
        let mut overloads: Vec<_> = self.operators().filter(is_overload).collect();
        if !overloads.is_empty() {
            overloads.sort_unstable();
            let more = if overloads.len() > MOST { ", …" } else { "" };
            overloads.truncate(MOST);
            return format!("an overload's name is a part of it: {}{more}", overloads.join(", "));
        }
        match self.similar(text) {
            names if !names.is_empty() => format!("similar names: {}", names.join(", ")),
            _ if namespace == "aten" => {
                "no operator of `aten` has a similar name, and not all of PyTorch's are here: an exported program may do \
                 without it after `run_decompositions()`"
                    .to_owned()
            }
            _ if is_missing => format!(
                "no operator has the namespace `{namespace}`; is the crate that declares it linked (`use that_crate as \
                 _;`)?"
            ),
            _ => "no operator has a similar name; is the crate that declares it linked (`use that_crate as _;`)?"
                .to_owned(),
        }
    }

    /// The operator for which a kernel was probably meant that is registered under a name without an operator: an
    /// overload of that name, or one whose name was mistyped. A kernel for `add_` may well be registered before `add_`
    /// is defined, so it was not meant for `add`.
    pub(super) fn meant(&self, text: &str) -> Option<&'static str> {
        let is_overload = |name: &&str| name.strip_prefix(text).is_some_and(|rest| rest.starts_with('.'));
        let without_underscores = |name: &str| name.replace('_', "");
        let is_meant = |name: &&str| {
            name.len().abs_diff(text.len()) <= 2
                && is_slip(name, text)
                && without_underscores(name) != without_underscores(text)
        };
        self.operators().filter(is_overload).min().or_else(|| self.operators().filter(is_meant).min())
    }

    /// Whether PyTorch's own operators are linked, and with them the fallbacks of layers that call them.
    pub(super) fn have_aten(&self) -> bool {
        self.have("aten")
    }

    /// Whether an operator has this namespace.
    fn have(&self, namespace: &str) -> bool {
        self.operators().any(|name| name.split_once("::").is_some_and(|(of, _)| of == namespace))
    }

    /// The operators with the most similar names, the most similar first: those that a slip or two make of this one. A
    /// name of another meaning, which would only distract, is rarely as near.
    fn similar(&self, text: &str) -> Vec<&'static str> {
        let farthest = if text.rsplit("::").next().is_some_and(|name| name.len() >= 5) { 2 } else { 1 };
        // A namespace or an overload that the text does not have is not compared.
        let (has_namespace, has_overload) = (text.contains("::"), text.contains('.'));
        let comparable = |name: &'static str| {
            let name = name.split_once("::").filter(|_| !has_namespace).map_or(name, |(_, rest)| rest);
            name.split_once('.').filter(|_| !has_overload).map_or(name, |(name, _)| name)
        };
        let mut near: Vec<_> = self
            .operators()
            .map(|name| (comparable(name), name))
            // The distance is at least the difference in length, so a text of megabytes is not compared at all.
            .filter(|(like, _)| like.len().abs_diff(text.len()) <= farthest || like.starts_with(text))
            .map(|(like, name)| (edit_distance(text, like), like, name))
            .filter(|(distance, like, _)| *distance <= farthest || like.starts_with(text))
            .map(|(distance, _, name)| (distance, name))
            .collect();
        near.sort_unstable();
        near.into_iter().map(|(_, name)| name).take(MOST).collect()
    }
}

/// Converts a name as in Python, `aten.add.default`, to one as in schemas, `aten::add`.
fn without_python(text: &str) -> String {
    let text = text.strip_prefix("torch.ops.").unwrap_or(text);
    let text = text.strip_suffix(".default").unwrap_or(text);
    if text.contains("::") { text.to_owned() } else { text.replacen('.', "::", 1) }
}
