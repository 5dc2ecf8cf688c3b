//! Types, with the alias annotations that stand inside of them.

use super::{Parser, Result};
use crate::alias::AliasInfo;
use crate::error::SchemaError;
use crate::literal;
use crate::schema::Mode;
use crate::token::TokenKind;
use crate::types::{Type, optional, union};
use std::ops::Range;

/// How deep types may nest. Deeper ones would cost stack wherever a type is walked.
const MAX_DEPTH: usize = 256;

/// The longest list that `T[N]` may ask for: `T[N] x=0` stores `N` values.
const MAX_SIZE: i64 = i32::MAX as i64;

/// A type as an argument has it.
pub(super) struct Annotated {
    pub(super) ty: Type,
    pub(super) size: Option<i64>,
    pub(super) alias: Option<AliasInfo>,
}

impl Parser<'_, '_> {
    /// A type at the top of an argument or return, where alone `T[N]` and `T[N]?` may stand.
    pub(super) fn sized_type(&mut self) -> Result<Annotated> {
        let (element, alias) = self.annotated_type()?;
        if !self.eat(b'[') {
            return Ok(Annotated { ty: element, size: None, alias });
        }
        let size = self.list_size()?;
        self.expect(b']')?;
        let alias = AliasInfo::of_list(self.alias_info()?, alias);
        let mut ty = Type::List(Box::new(element));
        if self.eat(b'?') {
            ty = Type::Optional(Box::new(ty));
        }
        Ok(Annotated { ty, size: Some(size), alias })
    }

    /// A real type and its annotation: a base, then any number of `[]`, `[](a)` and `?`.
    fn annotated_type(&mut self) -> Result<(Type, Option<AliasInfo>)> {
        let start = self.at;
        self.depth += 1;
        let outer_depth = self.depth;
        self.check_depth(start)?;
        let (mut ty, mut alias) = self.base_type()?;
        loop {
            if self.is_list_suffix() {
                self.at += 2;
                ty = Type::List(Box::new(ty));
                alias = AliasInfo::of_list(self.alias_info()?, alias);
                self.depth += 1;
                self.check_depth(start)?;
            } else if self.eat(b'?') {
                let inner = ty.to_string();
                ty = optional(ty).ok_or_else(|| {
                    let error = SchemaError::new(format!("`{inner}?` is no type"), self.since(start));
                    error.with_help(format!("write `{inner}`, which has no other value than `None`"))
                })?;
            } else {
                self.depth = outer_depth - 1;
                return Ok((ty, alias));
            }
        }
    }

    fn is_list_suffix(&self) -> bool {
        self.peek() == TokenKind::Punct(b'[')
            && self.tokens.get(self.at + 1).is_some_and(|token| token.kind == TokenKind::Punct(b']'))
    }

    fn check_depth(&self, start: usize) -> Result<()> {
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        let error =
            SchemaError::new(format!("a type is nested more than {MAX_DEPTH} deep"), self.since(start));
        Err(error.with_help("use a flatter type"))
    }

    fn base_type(&mut self) -> Result<(Type, Option<AliasInfo>)> {
        let start = self.at;
        if self.peek() == TokenKind::Punct(b'(') {
            return Ok((Type::Tuple(self.inner_types("a tuple")?), None));
        }
        let word = match self.tokens.get(self.at) {
            Some(token) if token.kind == TokenKind::Ident => &*token.text,
            _ => return Err(self.unexpected("a type")),
        };
        let ty = match word {
            "Future" => return Ok((Type::Future(self.one_inner_type("a Future")?), None)),
            "Await" => return Ok((Type::Await(self.one_inner_type("an Await")?), None)),
            "RRef" => return Ok((Type::RRef(self.one_inner_type("an RRef")?), None)),
            "__torch__" => return Ok((self.class_type()?, None)),
            "Dict" => self.dict_type()?,
            "Union" => self.union_type()?,
            _ => match Type::named(word) {
                Some(ty) => {
                    self.at += 1;
                    ty
                }
                None => {
                    self.name("a type")?;
                    self.unknown_type(word, start)?
                }
            },
        };
        Ok((ty, self.alias_info()?))
    }

    /// `(T, T)`; the types inside are fake ones and carry no alias information.
    fn inner_types(&mut self, container: &str) -> Result<Vec<Type>> {
        let mut types = Vec::new();
        self.expect(b'(')?;
        if !self.eat(b')') {
            types.push(self.inner_type(container)?);
            while self.eat(b',') {
                types.push(self.inner_type(container)?);
            }
            self.close(&format!("a type of {container}"))?;
        }
        Ok(types)
    }

    fn one_inner_type(&mut self, container: &str) -> Result<Box<Type>> {
        self.at += 1;
        self.expect(b'(')?;
        let inner = self.inner_type(container)?;
        self.expect(b')')?;
        Ok(Box::new(inner))
    }

    fn inner_type(&mut self, container: &str) -> Result<Type> {
        let start = self.at;
        let (ty, alias) = self.annotated_type()?;
        if alias.is_some() && self.mode == Mode::Strict {
            self.problem(
                self.since(start),
                format!("an alias annotation inside of {container} says nothing"),
                "leave it out: PyTorch drops it".to_owned(),
            );
        }
        Ok(ty.fake())
    }

    fn dict_type(&mut self) -> Result<Type> {
        self.at += 1;
        self.expect(b'(')?;
        let start = self.at;
        let key = self.inner_type("a Dict")?;
        let is_key = matches!(
            key,
            Type::Any
                | Type::Int
                | Type::Bool
                | Type::Float
                | Type::Complex
                | Type::Str
                | Type::Tensor
                | Type::Device
        );
        if !is_key {
            let error = SchemaError::new(format!("`{key}` cannot be the key of a Dict"), self.since(start));
            return Err(error.with_help("a key is an int, float, complex, bool, str, Tensor, Device or Any"));
        }
        self.expect(b',')?;
        let value = self.inner_type("a Dict")?;
        self.expect(b')')?;
        Ok(Type::Dict(Box::new(key), Box::new(value)))
    }

    fn union_type(&mut self) -> Result<Type> {
        let start = self.at;
        self.at += 1;
        self.expect(b'(')?;
        let mut members = vec![self.inner_type("a Union")?];
        while !self.eat(b')') {
            self.expect(b',')?;
            members.push(self.inner_type("a Union")?);
        }
        union(members).ok_or_else(|| {
            let error = SchemaError::new("a Union of one type is no Union", self.since(start));
            error.with_help("name the type that covers all of its members")
        })
    }

    /// `__torch__.torch.classes.ns.Name`
    fn class_type(&mut self) -> Result<Type> {
        let start = self.at;
        self.at += 1;
        for part in ["torch", "classes"] {
            self.expect(b'.')?;
            let span = self.span();
            if self.name("`torch.classes`")? != part {
                let error =
                    SchemaError::new(format!("expected `{part}` in the name of a custom class"), span);
                return Err(error.with_help("write `__torch__.torch.classes.ns.Name`"));
            }
        }
        self.expect(b'.')?;
        let namespace = self.name("the namespace of a custom class")?;
        self.expect(b'.')?;
        let class = self.name("the name of a custom class")?;
        self.check_class(namespace, class, start);
        Ok(Type::Class(format!("__torch__.torch.classes.{namespace}.{class}")))
    }

    /// A word that is no type. PyTorch takes a lower-case one, dots included, for a type variable.
    fn unknown_type(&mut self, word: &str, start: usize) -> Result<Type> {
        let mut name = word.to_owned();
        while self.eat(b'.') {
            name = format!("{name}.{}", self.name("the rest of a type's name")?);
        }
        let span = self.since(start);
        if self.mode == Mode::PyTorch && word.starts_with(|c: char| c.is_ascii_lowercase()) {
            return Ok(Type::Var(name));
        }
        Err(unknown_type_error(&name, span))
    }

    /// The `N` of `T[N]`.
    fn list_size(&mut self) -> Result<i64> {
        let span = self.span();
        let Some(token) = self.tokens.get(self.at).filter(|token| token.kind == TokenKind::Number) else {
            return Err(self.unexpected("the length of a list").with_help("write `int[]` or `int[2]`"));
        };
        self.at += 1;
        let size = literal::to_i64(&token.text);
        let is_plain = token.text.bytes().all(|byte| byte.is_ascii_digit());
        match size {
            Some(size) if is_plain && size <= MAX_SIZE => Ok(size),
            // PyTorch reads the leading digits and keeps 32 bits of them.
            #[expect(clippy::cast_possible_truncation, reason = "so does PyTorch")]
            Some(size) if self.mode == Mode::PyTorch => Ok(i64::from(size as i32)),
            _ => {
                let error =
                    SchemaError::new(format!("`{}` cannot be the length of a list", token.text), span);
                Err(error.with_help(format!("write a whole number up to {MAX_SIZE}")))
            }
        }
    }
}

/// Names that people write for a type, and the type.
const OTHER_NAMES: [(&str, &str); 14] = [
    ("double", "float"),
    ("int64_t", "SymInt` or `int"),
    ("long", "int"),
    ("string", "str"),
    ("number", "Scalar"),
    ("boolean", "bool"),
    ("dtype", "ScalarType"),
    ("SymFloat", "float"),
    ("List", "T[]"),
    ("Optional", "T?"),
    ("Tuple", "(A, B)"),
    ("TensorList", "Tensor[]"),
    ("IntArrayRef", "int[]"),
    ("torch.Tensor", "Tensor"),
];

/// Names to compare a misspelt one with.
const COMMON: [&str; 20] = [
    "Tensor",
    "int",
    "SymInt",
    "float",
    "complex",
    "bool",
    "str",
    "Scalar",
    "ScalarType",
    "Layout",
    "MemoryFormat",
    "Device",
    "Generator",
    "Stream",
    "Storage",
    "Any",
    "Dict",
    "Future",
    "Union",
    "SymBool",
];

#[cold]
fn unknown_type_error(name: &str, span: Range<usize>) -> SchemaError {
    let known = OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|&(_, known)| known);
    let near = || {
        let distances =
            COMMON.iter().map(|&known| (distance(&known.to_lowercase(), &name.to_lowercase()), known));
        distances
            .min()
            .filter(|&(distance, known)| distance <= known.len().div_ceil(4))
            .map(|(_, known)| known)
    };
    let help = match known.or_else(near) {
        Some(known) => format!("write `{known}`"),
        None => "common types are Tensor, SymInt, int, float, bool, str, Scalar, ScalarType, Device and Generator, with \
                 `T?` for an optional and `T[]` for a list"
            .to_owned(),
    };
    SchemaError::new(format!("unknown type `{name}`"), span).with_help(help)
}

/// How many letters to add, drop or change to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in b.bytes().enumerate() {
            let substitute = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
