//! Unions and optionals, normalised to PyTorch's form.

use super::{Type, write_members};
use std::fmt;

/// The types that a `Scalar` stands for inside a union.
pub(super) const NUMBERS: [Type; 3] = [Type::Float, Type::Complex, Type::Int];

/// `inner?`. An optional of an optional is that optional; there is no optional of `None`.
pub(crate) fn optional(inner: Type) -> Option<Type> {
    match inner {
        Type::None => None,
        Type::Optional(_) => Some(inner),
        Type::Union(mut members) if members.contains(&Type::None) => {
            members.retain(|member| *member != Type::None);
            Some(Type::Optional(Box::new(Type::Union(members))))
        }
        inner => Some(Type::Optional(Box::new(inner))),
    }
}

/// `Union(members…)`: flat, without members that another one covers, sorted. With `None` and one other member it is an
/// optional; if only one member is left, it is not a union (`None`).
pub(crate) fn union(members: Vec<Type>) -> Option<Type> {
    let mut flat = Vec::new();
    members.into_iter().for_each(|member| flatten(member, &mut flat));
    let mut kept: Vec<Type> = Vec::new();
    for member in flat {
        if !kept.iter().any(|other| covers(other, &member)) {
            kept.retain(|other| !covers(&member, other));
            kept.push(member);
        }
    }
    if kept.len() < 2 {
        return None;
    }
    kept.sort_by_cached_key(|member| (member.kind(), member.to_string()));
    let others: Vec<&Type> = kept.iter().filter(|member| **member != Type::None).collect();
    match others[..] {
        [other] => optional(other.clone()),
        [Type::Float, Type::Complex, Type::Int] if kept.len() == 4 => optional(Type::Scalar),
        _ => Some(Type::Union(kept)),
    }
}

/// `None` stays beside `Any`, so that `Any?` remains distinct.
fn covers(wide: &Type, narrow: &Type) -> bool {
    narrow.is_subtype_of(wide) && (*narrow == Type::None) == (*wide == Type::None)
}

fn flatten(member: Type, flat: &mut Vec<Type>) {
    match member {
        Type::Union(members) => members.into_iter().for_each(|member| flatten(member, flat)),
        Type::Optional(inner) => {
            flatten(*inner, flat);
            flat.push(Type::None);
        }
        Type::Scalar => flat.extend(NUMBERS),
        member => flat.push(member),
    }
}

/// All three numbers together are printed as `Scalar`, as they were parsed.
pub(super) fn write(f: &mut fmt::Formatter<'_>, members: &[Type]) -> fmt::Result {
    if !NUMBERS.iter().all(|number| members.contains(number)) {
        return write_members(f, "Union", members);
    }
    let others = members.iter().filter(|member| !NUMBERS.contains(member)).cloned();
    write_members(f, "Union", &others.chain([Type::Scalar]).collect::<Vec<_>>())
}
