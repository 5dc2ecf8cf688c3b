//! Parts of schemas that no user wrote.

use torch_library_schema::{AliasInfo, AliasSet, Type};

/// `(a!)`, on the elements of a list.
pub(crate) fn written(name: &str, ty: &Type) -> Box<AliasInfo> {
    let set = AliasSet::new([name]);
    let alias = AliasInfo { before: set.clone(), after: set, is_write: true, contained: Vec::new() };
    Box::new(match ty {
        Type::List(_) => AliasInfo { is_write: true, contained: vec![alias], ..AliasInfo::default() },
        _ => alias,
    })
}
