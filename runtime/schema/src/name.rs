//! The name of an operator: `ns::name.overload`.

use std::fmt;

/// `namespace::name.overload`, where the namespace may be missing and the overload empty.
///
/// PyTorch: `c10::OperatorName`, which keeps namespace and name in one string.
///
/// ```
/// use torch_library_schema::OperatorName;
///
/// let name = OperatorName::parse("aten::add.Tensor")?;
/// assert_eq!((name.namespace.as_deref(), &*name.name, &*name.overload), (Some("aten"), "add", "Tensor"));
/// assert_eq!(name.to_string(), "aten::add.Tensor");
/// # Ok::<(), torch_library_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperatorName {
    /// The part before `::`, if there is one.
    pub namespace: Option<String>,
    /// The name without namespace and overload.
    pub name: String,
    /// The part after the point; empty for the overload that PyTorch shows as `.default`.
    pub overload: String,
}

impl OperatorName {
    /// `namespace::name`, without the overload.
    pub fn qualified(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}::{}", self.name),
            None => self.name.clone(),
        }
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}::")?;
        }
        f.write_str(&self.name)?;
        if !self.overload.is_empty() {
            write!(f, ".{}", self.overload)?;
        }
        Ok(())
    }
}
