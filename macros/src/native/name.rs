//! The names of operators: what is before and behind their base says what kind of operator it is.

use std::fmt;

/// `add`, `add_`, `__iand__`, `add_functional`, each with an overload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) base: String,
    /// `add_`
    pub(crate) in_place: bool,
    /// `__and__`
    pub(crate) dunder: bool,
    /// `add_functional`: what `autogen` makes of an operator that writes to arguments other than `self`.
    pub(crate) functional: bool,
    pub(crate) overload: String,
}

/// What Python writes as an operator with `=`: their in-place methods start with `__i`.
const AUGMENTED: [&str; 11] =
    ["add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or"];

impl Name {
    /// Takes a name apart.
    ///
    /// # Errors
    /// A reserved name.
    pub(crate) fn new(name: &str, overload: &str) -> Result<Self, String> {
        if name.ends_with("_out") {
            return Err(format!(
                "names that end with `_out` are reserved: write an overload, as `{}.out`",
                name.trim_end_matches("_out")
            ));
        }
        let dunder = name.strip_prefix("__").and_then(|name| name.strip_suffix("__"));
        let dunder = dunder.filter(|base| !base.is_empty() && !base.contains('_'));
        let (base, in_place) = match dunder {
            Some(base) => match base.strip_prefix('i') {
                Some(augmented) if AUGMENTED.contains(&augmented) => (augmented, true),
                Some(_) => {
                    return Err(format!("`__i…__` is an in-place operator of Python, `{name}` is none"));
                }
                None => (base, false),
            },
            None => name.strip_suffix('_').map_or((name, false), |base| (base, true)),
        };
        let (base, functional) = base.strip_suffix("_functional").map_or((base, false), |base| (base, true));
        if base.is_empty() {
            return Err(format!("`{name}` is no name"));
        }
        if functional && (in_place || dunder.is_some()) {
            return Err(
                "names that end with `_functional` are reserved for what writes to nothing".to_owned()
            );
        }
        let (base, overload) = (base.to_owned(), overload.to_owned());
        Ok(Name { base, in_place, dunder: dunder.is_some(), functional, overload })
    }

    /// From text, `add_.Tensor`.
    ///
    /// # Errors
    /// No name, or a reserved one.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let name = torch_library_schema::OperatorName::parse(text).map_err(|error| error.message)?;
        match name.namespace {
            None => Name::new(&name.name, &name.overload),
            Some(namespace) => {
                Err(format!("the namespace is that of the operator: leave out `{namespace}::`"))
            }
        }
    }

    /// The name without its overload.
    pub(crate) fn operator(&self) -> String {
        let Name { base, in_place, dunder, functional, .. } = self;
        match (dunder, in_place, functional) {
            (true, true, _) => format!("__i{base}__"),
            (true, false, _) => format!("__{base}__"),
            (false, true, _) => format!("{base}_"),
            (false, false, true) => format!("{base}_functional"),
            (false, false, false) => base.clone(),
        }
    }

    /// The plain name, with another overload.
    pub(crate) fn plain(&self, overload: String) -> Self {
        Name { in_place: false, functional: false, overload, ..self.clone() }
    }

    /// The overload of the variant with `out` arguments.
    pub(crate) fn out_overload(&self) -> String {
        if self.overload.is_empty() { "out".to_owned() } else { format!("{}_out", self.overload) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operator())?;
        if self.overload.is_empty() { Ok(()) } else { write!(f, ".{}", self.overload) }
    }
}
