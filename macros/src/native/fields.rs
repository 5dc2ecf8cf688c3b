//! Reads the fields of an entry by name, each with its type. Fields left over at the end are unknown.

use torch_library_schema::{Schema, TAGS};

use super::func::Func;
use super::keys;
use super::name::Name;
use super::text::{Mistake, Spot};
use super::yaml::{Content, Node};

/// A line of the dispatch table: `CPU, CUDA: add_kernel`.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub(crate) keys: Vec<&'static str>,
    /// The kernel's name: `add_kernel` or `fast::add_kernel`.
    pub(crate) kernel: String,
    /// The place of the kernel's name.
    pub(crate) spot: Spot,
}

/// Fields that matter to tools but not to the dispatcher.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) python_module: Option<String>,
    pub(crate) category_override: Option<String>,
    pub(crate) structured_inherits: Option<String>,
    pub(crate) precomputed: Vec<String>,
    pub(crate) ufunc_inner_loop: Vec<(String, String)>,
    pub(crate) cpp_no_default_args: Vec<String>,
    pub(crate) manual_kernel_registration: bool,
    pub(crate) use_const_ref_for_mutable_tensors: bool,
}

/// The fields of an entry that have not been taken yet.
pub(super) struct Fields<'n> {
    left: Vec<&'n (Node, Node)>,
}

/// All known fields, for the message about an unknown one.
const FIELDS: [&str; 18] = [
    "func",
    "variants",
    "dispatch",
    "tags",
    "device_check",
    "device_guard",
    "python_module",
    "structured",
    "structured_delegate",
    "structured_inherits",
    "precomputed",
    "autogen",
    "manual_cpp_binding",
    "manual_kernel_registration",
    "cpp_no_default_args",
    "category_override",
    "use_const_ref_for_mutable_tensors",
    "ufunc_inner_loop",
];

impl<'n> Fields<'n> {
    pub(super) fn new(node: &'n Node) -> Result<Self, Mistake> {
        let pairs = node.as_map()?;
        Ok(Fields { left: pairs.iter().collect() })
    }

    pub(super) fn take(&mut self, name: &str) -> Option<&'n Node> {
        let at = self.left.iter().position(|(key, _)| key.text() == Some(name))?;
        Some(&self.left.remove(at).1)
    }

    /// Fails if fields are left over.
    pub(super) fn finish(self) -> Result<(), Mistake> {
        match self.left.first() {
            None => Ok(()),
            Some((key, _)) => {
                let (name, known) = (key.text().unwrap_or(key.kind()), FIELDS.join(", "));
                Err(key.spot.mistake(format!("unknown field `{name}`, expected one of {known}")))
            }
        }
    }

    pub(super) fn flag(&mut self, name: &str, default: bool) -> Result<bool, Mistake> {
        self.take(name).map_or(Ok(default), Node::as_bool)
    }

    fn word(&mut self, name: &str) -> Result<Option<String>, Mistake> {
        self.take(name).map(|node| node.as_text().map(str::to_owned)).transpose()
    }

    /// Takes `variants: function, method`.
    pub(super) fn variants(&mut self) -> Result<(bool, bool), Mistake> {
        let Some(node) = self.take("variants") else { return Ok((true, false)) };
        let (mut is_function, mut is_method) = (false, false);
        for variant in node.as_text()?.split(',').map(str::trim) {
            match variant {
                "function" => is_function = true,
                "method" => is_method = true,
                _ => {
                    let message =
                        format!("unknown variant `{variant}`, expected `function`, `method` or both");
                    return Err(node.spot.mistake(message));
                }
            }
        }
        Ok((is_function, is_method))
    }

    pub(super) fn device_check(&mut self) -> Result<bool, Mistake> {
        let Some(node) = self.take("device_check") else { return Ok(true) };
        match node.as_text()? {
            "ExactSame" => Ok(true),
            "NoCheck" => Ok(false),
            other => Err(node
                .spot
                .mistake(format!("unknown device check `{other}`, expected `NoCheck` or `ExactSame`"))),
        }
    }

    /// Takes `tags: pointwise` or `tags: [core, pointwise]`.
    pub(super) fn tags(&mut self, namespace: &str, func: &Func) -> Result<Vec<String>, Mistake> {
        let nodes = self.take("tags").map(|node| match &node.content {
            Content::List(items) => Ok(items.iter().collect()),
            Content::Text { .. } => Ok(vec![node]),
            Content::Map(_) => Err(node.spot.mistake("expected a tag or a list of tags, found a mapping")),
        });
        let mut tags = Vec::new();
        for node in nodes.transpose()?.unwrap_or_default() {
            let tag = node.as_text()?;
            if !TAGS.contains(&tag) {
                return Err(node
                    .spot
                    .mistake(format!("unknown tag `{tag}`, expected one of {}", TAGS.join(", "))));
            }
            tags.push(tag.to_owned());
        }
        Ok(with_implied_tags(tags, namespace, func))
    }

    /// Takes `dispatch:` with lines `CPU, CUDA: kernel`; with `{}`, nothing is registered.
    pub(super) fn dispatch(&mut self) -> Result<Option<(Vec<Dispatch>, Spot)>, Mistake> {
        let Some(node) = self.take("dispatch") else { return Ok(None) };
        let mut table = Vec::new();
        for (key, kernel) in node.as_map()? {
            let mut keys = Vec::new();
            for name in key.as_text()?.split(',') {
                keys.push(keys::parse(name.trim()).map_err(|message| key.spot.mistake(message))?);
            }
            let path = kernel.as_text()?;
            check_path(path).map_err(|message| kernel.spot.mistake(message))?;
            table.push(Dispatch { keys, kernel: path.to_owned(), spot: kernel.spot });
        }
        Ok(Some((table, node.spot)))
    }

    /// Takes `autogen: add, add.out`.
    pub(super) fn autogen(&mut self) -> Result<Vec<(Name, Spot)>, Mistake> {
        let Some(node) = self.take("autogen") else { return Ok(Vec::new()) };
        let names = node.as_text()?.split(',').map(str::trim).filter(|name| !name.is_empty());
        names
            .map(|name| {
                Name::parse(name).map(|name| (name, node.spot)).map_err(|message| node.spot.mistake(message))
            })
            .collect()
    }

    pub(super) fn delegate(&mut self) -> Result<Option<(Name, Spot)>, Mistake> {
        let Some(node) = self.take("structured_delegate") else { return Ok(None) };
        let name = Name::parse(node.as_text()?).map_err(|message| node.spot.mistake(message))?;
        Ok(Some((name, node.spot)))
    }

    pub(super) fn kept(&mut self, structured: bool) -> Result<Kept, Mistake> {
        let inherits = self.take("structured_inherits");
        let inherits = inherits.map(|node| match node.as_text()? {
            path if path.contains("::") => {
                Err(node.spot.mistake(format!("expected a name, without a namespace: `{path}`")))
            }
            name => Ok(name.to_owned()),
        });
        Ok(Kept {
            python_module: self.word("python_module")?,
            category_override: self.word("category_override")?,
            structured_inherits: inherits.transpose()?,
            precomputed: self.precomputed(structured)?,
            ufunc_inner_loop: self.ufunc()?,
            cpp_no_default_args: self.list("cpp_no_default_args")?,
            manual_kernel_registration: self.flag("manual_kernel_registration", false)?,
            use_const_ref_for_mutable_tensors: self.flag("use_const_ref_for_mutable_tensors", false)?,
        })
    }

    fn list(&mut self, name: &str) -> Result<Vec<String>, Mistake> {
        let Some(node) = self.take(name) else { return Ok(Vec::new()) };
        node.as_list()?.iter().map(|item| item.as_text().map(str::to_owned)).collect()
    }

    /// Takes lines such as `dim -> int dim, int valid`; the last one may be just `int extra`.
    fn precomputed(&mut self, structured: bool) -> Result<Vec<String>, Mistake> {
        let Some(node) = self.take("precomputed") else { return Ok(Vec::new()) };
        if !structured {
            return Err(node.spot.mistake("`precomputed` is for structured kernels: add `structured: True`"));
        }
        let items = node.as_list()?;
        let mut lines = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let line = item.as_text()?;
            let arguments = match line.split_once(" -> ") {
                Some((name, _)) if name.trim().contains(' ') => {
                    return Err(item
                        .spot
                        .mistake(format!("expected the name of one argument before `->`: `{name}`")));
                }
                Some((_, arguments)) => arguments,
                None if at + 1 == items.len() => line,
                None => {
                    return Err(item.spot.mistake("arguments that replace no other belong in the last line"));
                }
            };
            for argument in arguments.split(',').map(str::trim) {
                let name = argument.split_once(' ').map_or("", |(_, name)| name);
                if name.is_empty() || name == name.to_uppercase() {
                    let message =
                        format!("expected a type and a name that is not all capitals: `{argument}`");
                    return Err(item.spot.mistake(message));
                }
            }
            lines.push(line.to_owned());
        }
        Ok(lines)
    }

    /// Takes `Generic: add (AllAndComplex, Half)`; plain text stands for `Generic`.
    fn ufunc(&mut self) -> Result<Vec<(String, String)>, Mistake> {
        const KEYS: [&str; 7] = [
            "CUDAFunctor",
            "CUDAFunctorOnOther",
            "CUDAFunctorOnSelf",
            "CPUScalar",
            "CPUVector",
            "ScalarOnly",
            "Generic",
        ];
        let Some(node) = self.take("ufunc_inner_loop") else { return Ok(Vec::new()) };
        let check = |node: &Node| {
            let text = node.as_text()?;
            let dtypes = text.split_once(' ').and_then(|(_, list)| list.strip_prefix('(')?.strip_suffix(')'));
            let Some(dtypes) = dtypes else {
                return Err(node
                    .spot
                    .mistake("expected a function and its dtypes, as in `add (All, BFloat16)`"));
            };
            match dtypes.split(',').map(str::trim).find(|dtype| !DTYPES.contains(dtype)) {
                Some(dtype) => Err(node.spot.mistake(format!("unknown dtype `{dtype}`"))),
                None => Ok(text.to_owned()),
            }
        };
        match &node.content {
            Content::Map(lines) => lines
                .iter()
                .map(|(key, value)| {
                    let name = key.as_text()?;
                    if !KEYS.contains(&name) {
                        let message = format!("unknown loop `{name}`, expected one of {}", KEYS.join(", "));
                        return Err(key.spot.mistake(message));
                    }
                    Ok((name.to_owned(), check(value)?))
                })
                .collect(),
            Content::Text { .. } => Ok(vec![("Generic".to_owned(), check(node)?)]),
            Content::List(_) => Err(node.spot.mistake("expected a string or a mapping, found a list")),
        }
    }
}

/// The dtypes that a loop can be generated for, and the names of groups of dtypes.
const DTYPES: [&str; 24] = [
    "Byte",
    "Char",
    "Short",
    "Int",
    "Long",
    "Half",
    "Float",
    "Double",
    "ComplexHalf",
    "ComplexFloat",
    "ComplexDouble",
    "Bool",
    "BFloat16",
    "Float8_e5m2",
    "Float8_e5m2fnuz",
    "Float8_e4m3fn",
    "Float8_e4m3fnuz",
    "Float8_e8m0fnu",
    "Integral",
    "Floating",
    "Complex",
    "All",
    "AllAndComplex",
    "FloatingAndComplex",
];

/// Checks a kernel's name: a function, in at most three nested modules.
fn check_path(path: &str) -> Result<(), String> {
    let parts: Vec<_> = path.split("::").collect();
    let is_name =
        |part: &&str| Schema::parse(&format!("{part}() -> ()"), torch_library_schema::Mode::PyTorch).is_ok();
    if !parts.iter().all(is_name) {
        return Err(format!(
            "expected the name of a function, such as `add_cpu` or `fast::add_cpu`, found `{path}`"
        ));
    }
    if parts.len() > 4 {
        return Err(format!("a kernel is at most three modules deep: `{path}`"));
    }
    Ok(())
}

/// An entry's tags, with those that PyTorch adds.
pub(crate) fn with_implied_tags(mut tags: Vec<String>, namespace: &str, func: &Func) -> Vec<String> {
    let implied = [
        ("pt2_compliant_tag", namespace == "aten"),
        ("out", !func.out().is_empty()),
        ("inplace", func.name.in_place),
    ];
    for (tag, applies) in implied {
        if applies && !tags.iter().any(|own| own == tag) {
            tags.push(tag.to_owned());
        }
    }
    debug_assert!(tags.iter().all(|tag| TAGS.contains(&&**tag)));
    tags
}
