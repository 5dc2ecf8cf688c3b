//! Subtyping: which type may be used where another is expected.

use super::Type;
use super::union::NUMBERS;

impl Type {
    /// Whether every value of this type is one of `other`.
    ///
    /// Everything is an `Any`; `T` and `None` are a `T?`; `int`, `float` and `complex` are a `Scalar`; tuples and
    /// futures are covariant; lists, dicts and remote references have no subtypes but themselves.
    ///
    /// PyTorch: `Type::isSubtypeOf`. Use [`fake`](Self::fake) types for PyTorch's answer about schemas.
    pub fn is_subtype_of(&self, other: &Type) -> bool {
        if self == other || *other == Type::Any {
            return true;
        }
        match (self, other) {
            // As in PyTorch, one member of the other must take a whole union.
            (Type::Optional(inner), Type::Union(members)) if matches!(**inner, Type::Union(_)) => {
                members.contains(&Type::None) && members.iter().any(|member| inner.is_subtype_of(member))
            }
            (Type::Optional(inner), _) if Type::None.is_subtype_of(other) => inner.is_subtype_of(other),
            (Type::Scalar, Type::Union(_)) => NUMBERS.iter().all(|number| number.is_subtype_of(other)),
            (Type::Union(members), _) => members.iter().all(|member| member.is_subtype_of(other)),
            (_, Type::Optional(inner)) => *self == Type::None || self.is_subtype_of(inner),
            (_, Type::Union(members)) => members.iter().any(|member| self.is_subtype_of(member)),
            (Type::Int | Type::Float | Type::Complex, Type::Scalar) | (Type::Class(_), Type::AnyClass) => {
                true
            }
            (Type::Tuple(members), Type::Tuple(others)) => {
                members.len() == others.len()
                    && members.iter().zip(others).all(|(member, other)| member.is_subtype_of(other))
            }
            (Type::Future(inner), Type::Future(other)) | (Type::Await(inner), Type::Await(other)) => {
                inner.is_subtype_of(other)
            }
            _ => false,
        }
    }
}
