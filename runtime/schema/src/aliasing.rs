//! Which arguments and returns may share storage, according to a schema's annotations.

use crate::alias::AliasInfo;
use crate::schema::Schema;
use crate::types::Type;

/// One argument or one return of a schema, by position.
///
/// PyTorch: `c10::SchemaArgument`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemaArgument {
    /// The argument at this position.
    Input(usize),
    /// The return at this position.
    Output(usize),
}

/// These queries return `None` if there is no argument or return at a position.
///
/// ```
/// use torch_library_schema::{Mode, Schema, SchemaArgument::{Input, Output}};
///
/// let split = "split(Tensor(a -> *) self, int size, Tensor other) -> Tensor(a)[]";
/// let split = Schema::parse(split, Mode::Strict)?;
/// assert_eq!(split.is_aliasing(Input(0)), Some(true));
/// assert_eq!(split.may_alias(Input(0), Input(2)), Some(false));
/// assert_eq!(split.may_contain_alias(Output(0), Input(0)), Some(true));
/// assert_eq!(split.is_aliasing(Input(3)), None);
/// # Ok::<(), torch_library_schema::SchemaError>(())
/// ```
impl Schema {
    /// Whether the argument or return has an alias annotation.
    ///
    /// PyTorch: `SchemaInfo::is_aliasing`.
    pub fn is_aliasing(&self, place: SchemaArgument) -> Option<bool> {
        self.place(place).map(|(_, alias)| alias.is_some())
    }

    /// Whether the two may be the same object after the call: their types allow it, and they share an alias set.
    ///
    /// PyTorch: `FunctionSchema::may_alias`.
    pub fn may_alias(&self, left: SchemaArgument, right: SchemaArgument) -> Option<bool> {
        let (left_type, left_alias) = self.place(left)?;
        let (right_type, right_alias) = self.place(right)?;
        let share_set =
            left_alias.zip(right_alias).is_some_and(|(left, right)| left.after.intersects(&right.after));
        Some(share_set && share_type(&mutable_types(left_type), &mutable_types(right_type)))
    }

    /// Whether `left` and `right` may be the same object, or either may contain an object that the other is or
    /// contains. Unlike [`may_alias`](Self::may_alias) this looks into containers, judging only by their types.
    ///
    /// PyTorch: `FunctionSchema::may_contain_alias`.
    pub fn may_contain_alias(&self, left: SchemaArgument, right: SchemaArgument) -> Option<bool> {
        let may_left_be_inside = self.escapes_into(left, right)?;
        Some(may_left_be_inside || self.may_contain(left, right)?)
    }

    /// Like [`may_contain_alias`](Self::may_contain_alias), in one direction: whether `container` may contain
    /// `element`.
    pub fn may_contain(&self, container: SchemaArgument, element: SchemaArgument) -> Option<bool> {
        let contents = |place| self.place(place).map(|(ty, _)| contained_types(&mutable_types(ty)));
        let share_contents = share_type(&contents(container)?, &contents(element)?);
        Some(share_contents || self.may_alias(container, element)? || self.escapes_into(element, container)?)
    }

    /// Whether `value` goes into the wildcard set (`-> *`) and has a type that `container` can hold.
    fn escapes_into(&self, value: SchemaArgument, container: SchemaArgument) -> Option<bool> {
        let (ty, alias) = self.place(value)?;
        let contents = contained_types(&mutable_types(self.place(container)?.0));
        let is_wildcard = alias.is_some_and(|alias| alias.after.is_wildcard());
        Some(is_wildcard && share_type(&mutable_types(ty), &contents))
    }

    fn place(&self, place: SchemaArgument) -> Option<(&Type, Option<&AliasInfo>)> {
        match place {
            SchemaArgument::Input(index) => {
                self.arguments.get(index).map(|argument| (&argument.ty, argument.alias.as_deref()))
            }
            SchemaArgument::Output(index) => {
                self.returns.get(index).map(|ret| (&ret.ty, ret.alias.as_deref()))
            }
        }
    }
}

/// The types of shareable objects (tensors and containers) that a value of type `ty` may be.
fn mutable_types(ty: &Type) -> Vec<Type> {
    match ty {
        Type::Tensor | Type::List(_) | Type::Dict(..) | Type::Class(_) | Type::Any => vec![ty.fake()],
        Type::Optional(inner) => mutable_types(inner),
        Type::Union(members) => members.iter().flat_map(mutable_types).collect(),
        Type::Tuple(members) => match members.iter().flat_map(mutable_types).collect::<Vec<_>>() {
            shared if shared.is_empty() => Vec::new(),
            shared => vec![Type::Tuple(shared)],
        },
        _ => Vec::new(),
    }
}

/// All types inside these, at any depth.
fn contained_types(types: &[Type]) -> Vec<Type> {
    let mut contained = Vec::new();
    for ty in types {
        let inside: Vec<Type> = match ty {
            Type::List(inner)
            | Type::Optional(inner)
            | Type::Future(inner)
            | Type::Await(inner)
            | Type::RRef(inner) => {
                vec![(**inner).clone()]
            }
            Type::Dict(key, value) => vec![(**key).clone(), (**value).clone()],
            Type::Tuple(members) | Type::Union(members) => members.clone(),
            _ => continue,
        };
        contained.extend(contained_types(&inside));
        contained.extend(inside);
    }
    contained
}

fn share_type(left: &[Type], right: &[Type]) -> bool {
    left.iter().any(|ty| right.contains(ty))
}
