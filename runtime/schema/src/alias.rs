//! Which storage an argument or a return may share, and whether it is written to.

use std::fmt;

/// A set of alias names: `a`, `a|b`, `*` (anything), or empty.
///
/// Kept as its canonical text (sorted, `|` between), so that equality and hash are those of the set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AliasSet(String);

impl AliasSet {
    /// The name of the set that may alias anything.
    pub const WILDCARD: &'static str = "*";

    /// The set of these names.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        Self(names.join("|"))
    }

    pub(crate) fn one(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The names, sorted. A fresh set, from a bare `!`, has the name `$0`, `$1`, …
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('|').filter(|name| !name.is_empty())
    }

    /// Whether there is no name in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `*` is in it.
    pub fn is_wildcard(&self) -> bool {
        self.contains(Self::WILDCARD)
    }

    /// Whether `name` is in it.
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
/// For a list it speaks of the container, and `contained` of the elements: `Tensor(a!)[]` has an empty `before`, is
/// written to, and contains `(a!)`.
///
/// PyTorch: `c10::AliasInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AliasInfo {
    /// The sets it is in before the call.
    pub before: AliasSet,
    /// The sets it is in after the call; the same as `before` unless `->` says otherwise.
    pub after: AliasSet,
    /// Whether the call writes to it.
    pub is_write: bool,
    /// For a list: what is known of its elements. One entry, or none.
    pub contained: Vec<AliasInfo>,
}

impl AliasInfo {
    /// What a list's annotation becomes out of that of its elements and, if there is one, its own.
    pub(crate) fn of_list(container: Option<Box<Self>>, element: Option<Box<Self>>) -> Option<Box<Self>> {
        let Some(element) = element else { return container };
        let mut list =
            container.unwrap_or_else(|| Box::new(Self { is_write: element.is_write, ..Self::default() }));
        list.contained.push(*element);
        Some(list)
    }

    /// Whether this is the shorthand `!`: a set of its own, written to.
    pub(crate) fn is_fresh(&self) -> bool {
        self.before.0.starts_with('$')
    }
}
