//! Alias annotations: which storage an argument or a return may share, and whether it is written to.

use std::fmt;

/// A set of alias names: `a`, `a|b`, `*` (anything), or empty.
///
/// Stored as its canonical text (sorted, separated by `|`), so that equality and hash are those of the set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AliasSet(String);

impl AliasSet {
    /// The name of the set that may alias anything.
    pub const WILDCARD: &'static str = "*";

    /// The set with these names.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        Self(names.join("|"))
    }

    pub(crate) fn one(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The names, sorted. The fresh set of a bare `!` has the name `$0`, `$1`, …
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('|').filter(|name| !name.is_empty())
    }

    /// Whether the set has no names.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the set contains `*`.
    pub fn is_wildcard(&self) -> bool {
        self.contains(Self::WILDCARD)
    }

    /// Whether the set contains `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.names().any(|member| member == name)
    }

    /// Whether the two have a name in common.
    pub fn intersects(&self, other: &AliasSet) -> bool {
        self.names().any(|name| other.contains(name))
    }
}

impl fmt::Display for AliasSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The annotation of an argument or a return: `(a)`, `(a!)`, `(a! -> a|b)`.
///
/// For a list it describes the container, and `contained` the elements: `Tensor(a!)[]` has an empty `before`, is
/// written to, and contains `(a!)`.
///
/// PyTorch: `c10::AliasInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AliasInfo {
    /// The sets that the value is in before the call.
    pub before: AliasSet,
    /// The sets that the value is in after the call; the same as `before` unless `->` says otherwise.
    pub after: AliasSet,
    /// Whether the call writes to the value.
    pub is_write: bool,
    /// For a list, the annotation of its elements: at most one entry.
    pub contained: Vec<AliasInfo>,
}

impl AliasInfo {
    /// The annotation of a list, from that of its elements and, if there is one, its own.
    pub(crate) fn of_list(container: Option<Box<Self>>, element: Option<Box<Self>>) -> Option<Box<Self>> {
        let Some(element) = element else { return container };
        let mut list =
            container.unwrap_or_else(|| Box::new(Self { is_write: element.is_write, ..Self::default() }));
        list.contained.push(*element);
        Some(list)
    }

    /// The annotation of the elements of a list; of anything else, its own.
    pub fn of_elements(&self) -> &Self {
        self.contained.first().unwrap_or(self)
    }

    /// Whether this is the shorthand `!`: a fresh set, which is written to.
    pub(crate) fn is_fresh(&self) -> bool {
        self.before.0.starts_with('$')
    }
}
