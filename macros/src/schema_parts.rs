//! Parts of generated schemas.

use torch_library_schema::{AliasInfo, AliasSet, Type};

/// The alias annotation `(a!)`; for a list, on its elements.
pub(crate) fn written(name: &str, ty: &Type) -> Box<AliasInfo> {
    let set = AliasSet::new([name]);
    let alias = AliasInfo { before: set.clone(), after: set, is_write: true, contained: Vec::new() };
    Box::new(match ty {
        Type::List(_) => AliasInfo { is_write: true, contained: vec![alias], ..AliasInfo::default() },
        _ => alias,
    })
}
