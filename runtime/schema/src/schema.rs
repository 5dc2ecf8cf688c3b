//! Schemas with their arguments and returns, and simple queries.

use crate::alias::AliasInfo;
use crate::default::DefaultValue;
use crate::name::OperatorName;
use crate::types::Type;

/// The strictness of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// What a declaration may say. Refuses what PyTorch reads but drops, guesses or never checks: duplicate names,
    /// defaults of the wrong kind, alias sets of a return that no argument declares, type variables, stray `*`, …
    Strict,
    /// Everything that PyTorch reads, as its own library needs.
    PyTorch,
}

/// The signature of an operator.
///
/// [`Display`](std::fmt::Display) writes the canonical text; in both modes parsing it gives the same schema again.
///
/// PyTorch: `c10::FunctionSchema`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schema {
    /// The name of the operator.
    pub name: OperatorName,
    /// The arguments, positional ones first.
    pub arguments: Vec<Argument>,
    /// The returns.
    pub returns: Vec<Return>,
    /// Whether any further arguments may follow (`...`).
    pub is_vararg: bool,
    /// Whether any further returns may follow (`...`).
    pub is_varret: bool,
}

/// An argument of a [`Schema`].
///
/// PyTorch: `c10::Argument`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    /// The name.
    pub name: String,
    /// The real type: `SymInt[]`, not `int[]`.
    pub ty: Type,
    /// The `N` of `T[N]`.
    pub size: Option<i64>,
    /// The value if the argument is left out.
    pub default: Option<DefaultValue>,
    /// Whether it comes after `*` and is passed only by name.
    pub kwarg_only: bool,
    /// The alias annotation: what it may share, and whether it is written to.
    pub alias: Option<Box<AliasInfo>>,
}

/// A return of a [`Schema`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Return {
    /// The name, if there is one.
    pub name: Option<String>,
    /// The real type.
    pub ty: Type,
    /// The `N` of `T[N]`.
    pub size: Option<i64>,
    /// The alias annotation: what it may share.
    pub alias: Option<Box<AliasInfo>>,
}

impl Schema {
    /// The position of the argument with this name.
    pub fn argument_index(&self, name: &str) -> Option<usize> {
        self.arguments.iter().position(|argument| argument.name == name)
    }

    /// Whether any argument is written to.
    pub fn is_mutable(&self) -> bool {
        self.arguments.iter().any(Argument::is_mutable)
    }

    /// Whether the argument at `index` is written to; `None` if there is none.
    pub fn is_mutable_argument(&self, index: usize) -> Option<bool> {
        self.arguments.get(index).map(Argument::is_mutable)
    }

    /// Whether any argument or return has an alias annotation.
    pub fn has_alias_info(&self) -> bool {
        self.arguments.iter().any(|argument| argument.alias.is_some())
            || self.returns.iter().any(|ret| ret.alias.is_some())
    }

    /// The position of the argument that a return is: an argument of the same type that is written to, with the same
    /// alias set. `None` for a return that is new or a view.
    pub fn returned_argument(&self, index: usize) -> Option<usize> {
        let ret = self.returns.get(index)?;
        let alias = ret.alias.as_ref().filter(|alias| alias.is_write)?;
        let is_source = |argument: &Argument| argument.alias.as_ref() == Some(alias) && argument.ty == ret.ty;
        self.arguments.iter().position(is_source)
    }
}

impl Argument {
    /// Whether the argument is written to.
    pub fn is_mutable(&self) -> bool {
        self.alias.as_ref().is_some_and(|alias| alias.is_write)
    }

    /// Whether it is an `out` argument: written to, and passed only by name.
    pub fn is_out(&self) -> bool {
        self.kwarg_only && self.is_mutable()
    }
}
