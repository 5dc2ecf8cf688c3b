//! Nested arguments and results: tuples, lists and dictionaries, as PyTorch's pytrees name them.

use serde::Deserialize;
use serde_json::Value;

use crate::LONGEST_DESCRIPTION;
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
    /// Another kind of node, by the name of its type: its children, with the names of its attributes, or with numbers
    /// if the archive has no names for them.
    Other(String, Vec<(String, Tree)>),
}

#[derive(Deserialize)]
struct Node {
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Mostly JSON in a string; that of a `defaultdict` is an object.
    #[serde(default)]
    context: Value,
    #[serde(default)]
    children_spec: Vec<Node>,
}

impl Tree {
    /// Parses the text in an archive.
    ///
    /// # Errors
    /// The text has another form; the paths of its values are too long.
    pub fn parse(text: &str) -> Result<Tree> {
        let (version, node): (u64, Node) =
            serde_json::from_str(text).map_err(|error| Error::of_json("the nesting of arguments", error))?;
        ensure!(
            version == VERSION,
            NotSupported,
            "the nesting of arguments is described in version {version}, expected {VERSION}"
        );
        let tree = Self::of(node)?;
        let length = tree.length_of_paths(0);
        ensure!(
            length <= LONGEST_DESCRIPTION,
            NotSupported,
            "the paths of {} arguments or results have {length} bytes together, at most {LONGEST_DESCRIPTION} are supported",
            tree.leaves()
        );
        Ok(tree)
    }

    /// The length of all paths together, or slightly more, where `before` bytes are in front of each.
    fn length_of_paths(&self, before: usize) -> usize {
        let of = |child: &Tree, key: usize| child.length_of_paths(before.saturating_add(key + "[]".len()));
        let add = |sum: usize, length: usize| sum.saturating_add(length);
        match self {
            Tree::Leaf => before,
            Tree::Tuple(children) | Tree::List(children) => {
                let places = children.len().to_string().len();
                children.iter().map(|child| of(child, places)).fold(0, add)
            }
            Tree::Dict(children) | Tree::Other(_, children) => {
                children.iter().map(|(key, child)| of(child, key.len())).fold(0, add)
            }
        }
    }

    fn of(node: Node) -> Result<Tree> {
        let Some(kind) = node.kind else { return Ok(Tree::Leaf) };
        let children = node.children_spec.into_iter().map(Self::of).collect::<Result<Vec<_>>>()?;
        let context = match node.context.as_str() {
            Some(text) => serde_json::from_str(text).unwrap_or_default(),
            None => node.context,
        };
        Ok(match kind.as_str() {
            "builtins.tuple" => Tree::Tuple(children),
            "builtins.list" => Tree::List(children),
            "builtins.dict" | "collections.OrderedDict" => Tree::Dict(named(&context, children)?),
            "collections.defaultdict" => Tree::Dict(named(&context["dict_context"], children)?),
            _ => {
                let names = attributes(&context, children.len());
                let names = names.unwrap_or_else(|| (0..children.len()).map(|n| n.to_string()).collect());
                Tree::Other(kind, names.into_iter().zip(children).collect())
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

    /// The path of each value in Python: `[0]`, `['logits']`, `.logits`.
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
                for (name, child) in children {
                    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
                    child.walk(
                        if is_number { format!("{path}[{name}]") } else { format!("{path}.{name}") },
                        paths,
                    );
                }
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
fn named(context: &Value, children: Vec<Tree>) -> Result<Vec<(String, Tree)>> {
    let keys = context.as_array().filter(|keys| keys.len() == children.len());
    let Some(keys) = keys else {
        bail!(Argument, "a dictionary of {} values does not have as many keys", children.len())
    };
    let names = keys.iter().map(|key| key.as_str().map_or_else(|| key.to_string(), |key| format!("'{key}'")));
    Ok(names.zip(children).collect())
}

/// The names of a node's attributes: the context is a list of them, `["logits"]`, or has such a list in front of other
/// things, `[["key_cache", "value_cache"], [null, null]]`.
fn attributes(context: &Value, count: usize) -> Option<Vec<String>> {
    let names = |list: &Value| -> Option<Vec<String>> {
        let list = list.as_array().filter(|list| list.len() == count)?;
        list.iter().map(|name| name.as_str().filter(|name| is_identifier(name)).map(str::to_owned)).collect()
    };
    names(context).or_else(|| names(context.as_array()?.first()?))
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
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

    /// The paths in a node with this type and context, a string of JSON or another value, and with two lists of one.
    fn paths(kind: &str, context: &serde_json::Value) -> Result<Vec<String>> {
        let list = format!(r#"{{"type": "builtins.list", "context": "null", "children_spec": [{LEAF}]}}"#);
        let node =
            format!(r#"{{"type": "{kind}", "context": {context}, "children_spec": [{list}, {list}]}}"#);
        Tree::parse(&format!("[1, {node}]")).map(|tree| tree.paths())
    }

    #[test]
    fn attributes_have_the_names_that_the_archive_has() {
        let text = |text: &str| Value::String(text.to_owned());
        let output = text(r#"["logits", "cache"]"#);
        assert_eq!(paths("transformers.ModelOutput", &output).unwrap(), [".logits[0]", ".cache[0]"]);
        let cache = text(r#"[["key_cache", "value_cache"], [null, null]]"#);
        assert_eq!(paths("transformers.DynamicCache", &cache).unwrap(), [".key_cache[0]", ".value_cache[0]"]);
        for context in [text("mod.Pair"), text("null"), text("[1, 2]"), text(r#"["a b", "c"]"#), Value::Null]
        {
            assert_eq!(paths("collections.namedtuple", &context).unwrap(), ["[0][0]", "[1][0]"], "{context}");
        }
        let counts = serde_json::json!({"default_factory_name": "list", "dict_context": ["a", "b"]});
        assert_eq!(paths("collections.defaultdict", &counts).unwrap(), ["['a'][0]", "['b'][0]"]);
        assert!(paths("collections.defaultdict", &Value::Null).is_err());
    }

    #[test]
    fn a_key_is_not_repeated_for_each_of_many_values() {
        let list =
            format!(r#"{{"type": "builtins.list", "children_spec": [{}]}}"#, vec![LEAF; 2000].join(", "));
        let tree = |length: usize| {
            let context = Value::String(format!(r#"["{}"]"#, "k".repeat(length)));
            let dict =
                format!(r#"{{"type": "builtins.dict", "context": {context}, "children_spec": [{list}]}}"#);
            Tree::parse(&format!("[1, {dict}]"))
        };
        assert_eq!(tree(100).unwrap().paths()[1999].len(), "['']".len() + 100 + "[1999]".len());
        let refusal = tree(100_000).unwrap_err().to_string();
        let expected = "the paths of 2000 arguments or results have 200020000 bytes together, at most 67108864 are supported";
        assert_eq!(refusal, expected);
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
