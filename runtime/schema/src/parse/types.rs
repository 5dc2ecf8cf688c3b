//! Types, with the alias annotations inside them.

use super::similar::{COMMON_TYPES, similar_type};
use super::{Parser, Result, Stop};
use crate::alias::AliasInfo;
use crate::literal;
use crate::schema::Mode;
use crate::token::{Span, TokenKind};
use crate::types::{Type, optional, union};

/// The maximum nesting depth of types. Deeper ones would need too much stack wherever a type is traversed.
const MAX_DEPTH: usize = 256;

/// The largest `N` of `T[N]`, as in PyTorch.
const MAX_SIZE: i64 = i32::MAX as i64;

/// The type of an argument.
pub(super) struct Annotated {
    pub(super) ty: Type,
    pub(super) size: Option<i64>,
    pub(super) alias: Option<Box<AliasInfo>>,
}

impl Parser<'_> {
    /// Parses a type at the top level of an argument or return, the only place for `T[N]` and `T[N]?`.
    pub(super) fn sized_type(&mut self) -> Result<Annotated> {
        let (element, alias) = self.annotated_type()?;
        if !self.eat(TokenKind::OpenBracket) {
            return Ok(Annotated { ty: element, size: None, alias });
        }
        let size = self.list_size()?;
        self.expect(TokenKind::CloseBracket)?;
        let alias = AliasInfo::of_list(self.alias_info()?, alias);
        let mut ty = Type::List(Box::new(element));
        if self.eat(TokenKind::Question) {
            ty = Type::Optional(Box::new(ty));
        }
        Ok(Annotated { ty, size: Some(size), alias })
    }

    /// Parses a real type and its annotation: a base type, then any number of `[]`, `[](a)` and `?`.
    fn annotated_type(&mut self) -> Result<(Type, Option<Box<AliasInfo>>)> {
        let start = self.here();
        let outer_depth = self.depth;
        self.deepen(start)?;
        let (mut ty, mut alias) = self.base_type()?;
        loop {
            if self.is_list_suffix() {
                self.advance();
                self.advance();
                self.deepen(start)?;
                ty = Type::List(Box::new(ty));
                alias = AliasInfo::of_list(self.alias_info()?, alias);
            } else if self.eat(TokenKind::Question) {
                ty = match optional(ty) {
                    Some(ty) => ty,
                    None => return Err(self.fail(self.since(start), "`None?` is no type", "write `None`")),
                };
            } else {
                self.depth = outer_depth;
                return Ok((ty, alias));
            }
        }
    }

    fn is_list_suffix(&mut self) -> bool {
        self.peek() == TokenKind::OpenBracket && self.peek_after() == TokenKind::CloseBracket
    }

    fn deepen(&mut self, start: Span) -> Result<()> {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("a type is nested more than {MAX_DEPTH} deep");
        Err(self.fail(self.since(start), message, "use a flatter type"))
    }

    fn base_type(&mut self) -> Result<(Type, Option<Box<AliasInfo>>)> {
        if self.peek() == TokenKind::OpenParen {
            return Ok((Type::Tuple(self.tuple_members()?), None));
        }
        let Some(word) = self.word() else { return Err(self.no_type()) };
        let start = self.here();
        if let Some(ty) = Type::named(word) {
            self.advance();
            return Ok((ty, self.alias_info()?));
        }
        self.name("a type")?;
        let ty = match word {
            // These types take no annotation.
            "Future" => return Ok((Type::Future(self.parameter("a Future")?), None)),
            "Await" => return Ok((Type::Await(self.parameter("an Await")?), None)),
            "RRef" => return Ok((Type::RRef(self.parameter("an RRef")?), None)),
            "__torch__" => return Ok((self.class_type(start)?, None)),
            "Dict" => self.dict_type()?,
            "Union" => self.union_type(start)?,
            _ => self.unknown_type(word, start)?,
        };
        Ok((ty, self.alias_info()?))
    }

    /// Parses `(T, T)`.
    fn tuple_members(&mut self) -> Result<Vec<Type>> {
        let mut members = Vec::new();
        self.expect(TokenKind::OpenParen)?;
        if !self.eat(TokenKind::CloseParen) {
            members.push(self.inner_type("a tuple")?);
            while self.eat(TokenKind::Comma) {
                self.count_member()?;
                members.push(self.inner_type("a tuple")?);
            }
            self.close("a type of a tuple")?;
        }
        Ok(members)
    }

    /// Counts a member of a tuple or `Union`, over the whole schema, since members of nested unions become one list.
    fn count_member(&mut self) -> Result<()> {
        self.members += 1;
        self.limit(self.members, "members of tuples and Unions")
    }

    /// Parses `(T)`.
    fn parameter(&mut self, container: &str) -> Result<Box<Type>> {
        self.expect(TokenKind::OpenParen)?;
        let inner = self.inner_type(container)?;
        self.expect(TokenKind::CloseParen)?;
        Ok(Box::new(inner))
    }

    /// Parses a type inside another: it becomes the fake type without annotations, since PyTorch drops them there.
    fn inner_type(&mut self, container: &str) -> Result<Type> {
        let start = self.here();
        let fresh_sets = self.fresh_sets;
        let (ty, alias) = self.annotated_type()?;
        if alias.is_some() {
            self.fresh_sets = fresh_sets;
            if self.mode == Mode::Strict {
                let message = format!("an alias annotation inside of {container} says nothing");
                self.problem(self.since(start), message, "leave it out");
            }
        }
        Ok(ty.fake())
    }

    /// Parses `(K, V)`.
    fn dict_type(&mut self) -> Result<Type> {
        self.expect(TokenKind::OpenParen)?;
        let start = self.here();
        let key = self.inner_type("a Dict")?;
        match key {
            Type::Any | Type::Int | Type::Bool | Type::Float | Type::Complex => {}
            Type::Str | Type::Tensor | Type::Device => {}
            _ => {
                let help = "a key is an int, float, complex, bool, str, Tensor, Device or Any";
                return Err(self.fail(
                    self.since(start),
                    format!("`{key}` cannot be the key of a Dict"),
                    help,
                ));
            }
        }
        self.expect(TokenKind::Comma)?;
        let value = self.inner_type("a Dict")?;
        self.expect(TokenKind::CloseParen)?;
        Ok(Type::Dict(Box::new(key), Box::new(value)))
    }

    /// Parses `(A, B)`.
    fn union_type(&mut self, start: Span) -> Result<Type> {
        self.expect(TokenKind::OpenParen)?;
        let mut members = vec![self.inner_type("a Union")?];
        while !self.eat(TokenKind::CloseParen) {
            self.expect(TokenKind::Comma)?;
            self.count_member()?;
            members.push(self.inner_type("a Union")?);
        }
        let help = "name the type that covers all of its members";
        union(members).ok_or_else(|| self.fail(self.since(start), "a Union of one type is no Union", help))
    }

    /// Parses `.torch.classes.ns.Name`.
    fn class_type(&mut self, start: Span) -> Result<Type> {
        for part in ["torch", "classes"] {
            self.expect(TokenKind::Dot)?;
            let span = self.here();
            if self.name("`torch.classes`")? != part {
                let help = "write `__torch__.torch.classes.ns.Name`";
                return Err(self.fail(
                    span,
                    format!("expected `{part}` in the name of a custom class"),
                    help,
                ));
            }
        }
        self.expect(TokenKind::Dot)?;
        let namespace = self.name("the namespace of a custom class")?;
        self.expect(TokenKind::Dot)?;
        let class = self.name("the name of a custom class")?;
        self.check_class(namespace, class, start);
        Ok(Type::Class(format!("__torch__.torch.classes.{namespace}.{class}")))
    }

    /// Handles a word that is not a type. PyTorch takes a lower-case one, points included, for a type variable.
    fn unknown_type(&mut self, word: &str, start: Span) -> Result<Type> {
        let mut name = word.to_owned();
        while self.eat(TokenKind::Dot) {
            name.extend([".", self.name("the rest of a type's name")?]);
        }
        if self.mode == Mode::PyTorch && name.starts_with(|c: char| c.is_ascii_lowercase()) {
            return Ok(Type::Var(name));
        }
        while self.peek() == TokenKind::Colon && self.peek_after() == TokenKind::Colon {
            self.advance();
            self.advance();
            name.extend(["::", self.name("the rest of a type's name")?]);
        }
        let is_name_first =
            matches!(self.peek(), TokenKind::Colon | TokenKind::Comma | TokenKind::CloseParen);
        let help = match similar_type(&name) {
            Some(known) => format!("write `{known}`"),
            None if is_name_first && !self.in_returns => {
                format!("an argument is a type, then a name: `Tensor {name}`")
            }
            None => COMMON_TYPES.to_owned(),
        };
        Err(self.fail(self.since(start), format!("unknown type `{name}`"), help))
    }

    /// The error where a type should begin, but no word does.
    #[cold]
    fn no_type(&mut self) -> Stop {
        let help = match self.next.text {
            "[" => "a list is written `T[]`, as in `Tensor[]`",
            "?" => "an optional is written `T?`, as in `Tensor?`",
            "&" => "write `Tensor` for any reference, and `Tensor(a!)` for a tensor that is written to",
            _ => return self.unexpected("a type"),
        };
        self.unexpected_with_help("a type", help)
    }

    /// Parses the `N` of `T[N]`.
    fn list_size(&mut self) -> Result<i64> {
        let start = self.here();
        let text = self.next.text;
        if !self.eat(TokenKind::Number) {
            return Err(self.unexpected_with_help("the length of a list", "write `int[]` or `int[2]`"));
        }
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        match literal::to_i64(text) {
            Some(size) if is_plain && size <= MAX_SIZE => Ok(size),
            // PyTorch reads the leading digits and keeps 32 bits of them.
            #[expect(clippy::cast_possible_truncation, reason = "so does PyTorch")]
            Some(size) if self.mode == Mode::PyTorch && size as i32 >= 0 => Ok(i64::from(size as i32)),
            _ => {
                let message = format!("`{text}` cannot be the length of a list");
                Err(self.fail(self.since(start), message, format!("write a whole number up to {MAX_SIZE}")))
            }
        }
    }
}
