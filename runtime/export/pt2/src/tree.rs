//! Nested arguments and results: tuples, lists and dictionaries, as PyTorch's pytrees name them.

use serde::Deserialize;

use crate::error::{Error, Result, bail, ensure};

/// The only existing version of the format.
const VERSION: u64 = 1;

/// The nesting of inputs or outputs; the leaves are numbered from left to right.
///
/// PyTorch: `torch.utils._pytree.TreeSpec`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tree {
    /// A single value.
    Leaf,
    /// A tuple.
    Tuple(Vec<Tree>),
    /// A list.
    List(Vec<Tree>),
    /// A dictionary: keys as Python prints them, with their values.
    Dict(Vec<(String, Tree)>),
    /// Another kind of node, by the name of its type: its children, with names if the type has any.
    Other(String, Vec<(String, Tree)>),
}

#[derive(Deserialize)]
struct Node {
    #[serde(rename = "type")]
    kind: Option<String>,
    context: Option<String>,
    #[serde(default)]
    children_spec: Vec<Node>,
}

impl Tree {
    /// Parses the text in an archive.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse(text: &str) -> Result<Tree> {
        let (version, node): (u64, Node) =
            serde_json::from_str(text).map_err(|error| Error::of_json("the nesting of arguments", error))?;
        ensure!(
            version == VERSION,
            NotSupported,
            "the nesting of arguments is described in version {version}, expected {VERSION}"
        );
        Self::of(node)
    }

    fn of(node: Node) -> Result<Tree> {
        let Some(kind) = node.kind else { return Ok(Tree::Leaf) };
        let children = node.children_spec.into_iter().map(Self::of).collect::<Result<Vec<_>>>()?;
        let context = node.context.as_deref().unwrap_or("null");
        Ok(match kind.as_str() {
            "builtins.tuple" => Tree::Tuple(children),
            "builtins.list" => Tree::List(children),
            "builtins.dict" => Tree::Dict(named(context, children)?),
            "collections.OrderedDict" => Tree::Dict(named(context, children)?),
            _ => {
                let children = match names(context) {
                    Some(names) if names.len() == children.len() => names.into_iter().zip(children).collect(),
                    _ => children
                        .into_iter()
                        .enumerate()
                        .map(|(place, child)| (place.to_string(), child))
                        .collect(),
                };
                Tree::Other(kind, children)
            }
        })
    }

    /// The number of values.
    ///
    /// ```
    /// use torch_library_pt2::tree::Tree;
    ///
    /// let tree = Tree::Tuple(vec![Tree::Leaf, Tree::List(vec![Tree::Leaf, Tree::Leaf])]);
    /// assert_eq!(tree.leaves(), 3);
    /// assert_eq!(tree.paths(), ["[0]", "[1][0]", "[1][1]"]);
    /// ```
    pub fn leaves(&self) -> usize {
        match self {
            Tree::Leaf => 1,
            Tree::Tuple(children) | Tree::List(children) => children.iter().map(Tree::leaves).sum(),
            Tree::Dict(children) | Tree::Other(_, children) => {
                children.iter().map(|(_, child)| child.leaves()).sum()
            }
        }
    }

    /// The path of each value in Python: `[0]`, `['logits']`.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.walk(String::new(), &mut paths);
        paths
    }

    fn walk(&self, path: String, paths: &mut Vec<String>) {
        match self {
            Tree::Leaf => paths.push(path),
            Tree::Tuple(children) | Tree::List(children) => {
                for (place, child) in children.iter().enumerate() {
                    child.walk(format!("{path}[{place}]"), paths);
                }
            }
            Tree::Dict(children) => {
                children.iter().for_each(|(key, child)| child.walk(format!("{path}[{key}]"), paths));
            }
            Tree::Other(_, children) => {
                children.iter().for_each(|(name, child)| child.walk(format!("{path}.{name}"), paths));
            }
        }
    }

    /// The paths of the children, with the names of the arguments that they are, for a program's `(arguments,
    /// keywords)`.
    pub fn arguments(&self, names: &[String]) -> Vec<String> {
        let (Tree::Tuple(pair), mut paths) = (self, Vec::new()) else { return self.paths() };
        let [Tree::Tuple(positional), Tree::Dict(keywords)] = pair.as_slice() else { return self.paths() };
        for (place, argument) in positional.iter().enumerate() {
            let name = names.get(place).cloned().unwrap_or_else(|| format!("arg{place}"));
            argument.walk(name, &mut paths);
        }
        for (key, argument) in keywords {
            argument.walk(key.trim_matches('\'').to_owned(), &mut paths);
        }
        paths
    }
}

/// The children with the keys from the context.
fn named(context: &str, children: Vec<Tree>) -> Result<Vec<(String, Tree)>> {
    let names = names(context).filter(|names| names.len() == children.len());
    let Some(names) = names else {
        bail!(Argument, "a dictionary of {} values does not have as many keys", children.len())
    };
    Ok(names.into_iter().zip(children).collect())
}

/// The keys in a context, as Python prints them.
fn names(context: &str) -> Option<Vec<String>> {
    let keys: Vec<serde_json::Value> = serde_json::from_str(context).ok()?;
    Some(
        keys.iter()
            .map(|key| key.as_str().map_or_else(|| key.to_string(), |key| format!("'{key}'")))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAF: &str = r#"{"type": null, "context": null, "children_spec": []}"#;

    #[test]
    fn nests_are_read() {
        let dict = format!(
            r#"{{"type": "builtins.dict", "context": "[\"a\", 2]", "children_spec": [{LEAF}, {LEAF}]}}"#
        );
        let list =
            format!(r#"{{"type": "builtins.list", "context": "null", "children_spec": [{dict}, {LEAF}]}}"#);
        let tree = Tree::parse(&format!("[1, {list}]")).unwrap();
        assert_eq!(tree.paths(), ["[0]['a']", "[0][2]", "[1]"]);
        assert_eq!(tree.leaves(), 3);
    }

    #[test]
    fn what_is_no_nest_is_refused() {
        let dict = format!(r#"{{"type": "builtins.dict", "context": "[]", "children_spec": [{LEAF}]}}"#);
        for text in ["", "[]", "[2, null]", "[1, {}", &format!("[2, {LEAF}]"), &format!("[1, {dict}]")] {
            assert!(Tree::parse(text).is_err(), "{text}");
        }
        let deep = r#"{"type": "builtins.list", "children_spec": ["#.repeat(10_000);
        assert!(Tree::parse(&format!("[1, {deep}")).is_err());
    }
}
