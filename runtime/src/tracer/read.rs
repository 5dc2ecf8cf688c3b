//! Parses a graph from its text.

use std::collections::HashMap;
use std::str::FromStr;

use torch_library_schema::{Schema, Type};

use crate::dtype::element::Complex64;
use crate::dtype::{DType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::registry::Dispatcher;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{bail, ensure, match_dtype};

use super::argument::{Argument, Id, Output};
use super::graph::{Graph, Node, TensorType};

impl FromStr for Graph {
    type Err = Error;

    /// Parses the text that [`Display`](std::fmt::Display) writes.
    ///
    /// # Errors
    /// The text is not a graph, with the line; an operator that this program does not have; arguments that do not fit.
    fn from_str(text: &str) -> Result<Graph> {
        let mut reader = Reader { text, at: 0, graph: Graph::default(), ids: HashMap::new() };
        match reader.graph() {
            Ok(()) => Ok(reader.graph),
            Err(error) => {
                let line = text[..reader.at].matches('\n').count() + 1;
                Err(error.context(format_args!("line {line} of the graph")))
            }
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    graph: Graph,
    /// The value of each name in the text.
    ids: HashMap<&'t str, Id>,
}

/// A literal, before the schema determines its type.
enum Literal<'t> {
    Name(&'t str),
    Number(Scalar),
    Text(String),
    Word(&'t str),
    List(Vec<Literal<'t>>),
}

/// Tokens.
impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, what: &str) -> bool {
        self.skip_space();
        let is_next = self.rest().starts_with(what);
        self.at += if is_next { what.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, what: &str) -> Result<()> {
        if self.take(what) { Ok(()) } else { Err(self.unexpected(format_args!("`{what}`"))) }
    }

    fn unexpected(&self, wanted: impl std::fmt::Display) -> Error {
        let found: String = self.rest().lines().next().unwrap_or_default().chars().take(30).collect();
        Error::new(ErrorKind::Argument, format!("expected {wanted}, found `{found}`"))
    }

    /// Takes a keyword, unless it is only the beginning of a longer word, such as the name of an operator.
    fn take_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let is_next = self.rest().strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_of_word));
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    /// The longest run of characters for which `belongs` holds.
    fn run(&mut self, belongs: impl Fn(char) -> bool) -> Result<&'t str> {
        self.skip_space();
        let rest = self.rest();
        let len = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        if len == 0 {
            return Err(self.unexpected("a word"));
        }
        self.at += len;
        Ok(&rest[..len])
    }

    fn word(&mut self) -> Result<&'t str> {
        self.run(is_of_word)
    }

    fn name(&mut self) -> Result<&'t str> {
        self.expect("%")?;
        self.run(|c| c.is_alphanumeric() || c == '_')
    }

    /// The elements up to a closing bracket.
    fn list<T>(&mut self, close: &str, mut element: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut list = Vec::new();
        while !self.take(close) {
            if !list.is_empty() {
                self.expect(",")?;
            }
            list.push(element(self)?);
        }
        Ok(list)
    }

    fn literal(&mut self) -> Result<Literal<'t>> {
        self.skip_space();
        match self.rest().chars().next() {
            Some('%') => Ok(Literal::Name(self.name()?)),
            Some('"') => self.quoted().map(Literal::Text),
            Some('[') => {
                self.expect("[")?;
                self.list("]", Self::element).map(Literal::List)
            }
            _ if self.take("complex(") => {
                let parts = self.list(")", |reader| Ok(reader.word()?.parse::<f64>()))?;
                match parts[..] {
                    [Ok(re), Ok(im)] => Ok(Literal::Number(Scalar::Complex(Complex64::new(re, im)))),
                    _ => Err(self.unexpected("two numbers")),
                }
            }
            _ => self.word().map(number_or_word),
        }
    }

    /// An element of a list. Nested lists are refused: no argument takes one, and their parsing could exhaust the
    /// stack.
    fn element(&mut self) -> Result<Literal<'t>> {
        self.skip_space();
        if self.rest().starts_with('[') {
            Err(self.unexpected("an element that is not a list"))
        } else {
            self.literal()
        }
    }

    fn quoted(&mut self) -> Result<String> {
        self.expect("\"")?;
        let mut text = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                bail!(Argument, "a string has no closing quote")
            };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(text),
                '\\' => text.push(self.escaped()?),
                c => text.push(c),
            }
        }
    }

    /// The character for an escape sequence, as Rust's `{:?}` writes it.
    fn escaped(&mut self) -> Result<char> {
        let Some(c) = self.rest().chars().next() else { bail!(Argument, "a string has no closing quote") };
        self.at += c.len_utf8();
        Ok(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            'u' => {
                self.expect("{")?;
                let code = self.run(|c| c.is_ascii_hexdigit())?;
                self.expect("}")?;
                let code = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
                code.ok_or_else(|| self.unexpected("the number of a character"))?
            }
            other => other,
        })
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_:.+-".contains(c)
}

fn number_or_word(word: &str) -> Literal<'_> {
    match word {
        "true" => Literal::Number(Scalar::Bool(true)),
        "false" => Literal::Number(Scalar::Bool(false)),
        _ => match (word.parse::<i64>(), word.parse::<f64>()) {
            (Ok(number), _) => Literal::Number(Scalar::Int(number)),
            (_, Ok(number)) => Literal::Number(Scalar::Float(number)),
            _ => Literal::Word(word),
        },
    }
}

/// Lines.
impl<'t> Reader<'t> {
    fn graph(&mut self) -> Result<()> {
        self.expect("graph(")?;
        self.graph.inputs = self.list(")", Self::definition)?;
        self.expect("{")?;
        while !self.take_word("return") {
            self.line()?;
        }
        while !self.take("}") {
            if !self.graph.outputs.is_empty() {
                self.expect(",")?;
            }
            let name = self.name()?;
            let id = self.id(name)?;
            self.graph.outputs.push(id);
        }
        self.skip_space();
        if self.rest().is_empty() { Ok(()) } else { Err(self.unexpected("the end")) }
    }

    /// Parses a definition such as `%3: float32[2, 3]`.
    fn definition(&mut self) -> Result<Id> {
        let name = self.name()?;
        self.expect(":")?;
        let dtype: DType = self.run(|c| c.is_alphanumeric() || c == '_')?.parse()?;
        self.expect("[")?;
        let sizes = self.list("]", |reader| match reader.word()?.parse() {
            Ok(size) => Ok(size),
            Err(_) => Err(reader.unexpected("a size")),
        })?;
        let id = self.graph.add_value(TensorType { dtype, sizes });
        ensure!(self.ids.insert(name, id).is_none(), Argument, "%{name} is defined twice");
        Ok(id)
    }

    fn id(&self, name: &str) -> Result<Id> {
        match self.ids.get(name) {
            Some(id) => Ok(*id),
            None => bail!(Argument, "%{name} is used before it is defined"),
        }
    }

    fn line(&mut self) -> Result<()> {
        // The call follows the values that it defines, and its schema says what these may be.
        let mut outputs = Vec::new();
        while let Some(output) = self.output()? {
            outputs.push(output);
            if self.take("=") {
                break;
            }
            self.expect(",")?;
        }
        if let [Output::Tensor(id)] = outputs[..]
            && self.take_word("constant")
        {
            return self.constant(id);
        }
        let operator = Dispatcher::global().find(self.word()?)?;
        self.expect("(")?;
        let written = self.list(")", |reader| {
            let name = reader.run(|c| c.is_alphanumeric() || c == '_')?;
            reader.expect("=")?;
            Ok((name, reader.literal()?))
        })?;
        let arguments = self.arguments(operator.schema()?, written)?;
        self.graph.nodes.push(Node { operator, arguments, outputs });
        Ok(())
    }

    /// What a call defines, if there is anything in front of its operator.
    fn output(&mut self) -> Result<Option<Output>> {
        if self.take_word("none") {
            return Ok(Some(Output::None));
        }
        Ok(match self.rest().chars().next() {
            Some('[') => {
                self.expect("[")?;
                Some(Output::Tensors(self.list("]", Self::definition)?))
            }
            Some('%') => Some(Output::Tensor(self.definition()?)),
            _ => None,
        })
    }

    fn constant(&mut self, id: Id) -> Result<()> {
        let Literal::List(elements) = self.literal()? else {
            return Err(self.unexpected("the elements of a constant"));
        };
        let TensorType { dtype, sizes } = self.graph.values[id].clone();
        let tensor = match_dtype!(dtype, T => {
            let element = |literal: &Literal<'_>| match literal {
                Literal::Number(number) => element::<T>(*number),
                _ => Err(self.unexpected("only numbers in a constant")),
            };
            Tensor::from_vec(elements.iter().map(element).collect::<Result<Vec<T>>>()?, &sizes)?
        });
        self.graph.constants.push((id, tensor));
        Ok(())
    }

    fn arguments(&self, schema: &Schema, written: Vec<(&str, Literal<'_>)>) -> Result<Vec<Argument>> {
        for (at, (name, _)) in written.iter().enumerate() {
            ensure!(
                schema.argument_index(name).is_some(),
                Argument,
                "{} has no argument `{name}`\n  schema: {schema}",
                schema.name
            );
            ensure!(
                written[..at].iter().all(|(other, _)| other != name),
                Argument,
                "the argument `{name}` of {} is given more than once\n  schema: {schema}",
                schema.name
            );
        }
        let arguments = schema.arguments.iter().map(|argument| {
            let literal = written.iter().find(|(name, _)| *name == argument.name);
            let Some((_, literal)) = literal else {
                bail!(Argument, "{} is called without `{}`\n  schema: {schema}", schema.name, argument.name)
            };
            let fitted = self.argument(argument.ty.without_optional(), literal)?;
            let wrong = || format!("`{}` of {} must be {}", argument.name, schema.name, argument.ty);
            fitted.ok_or_else(|| Error::new(ErrorKind::Type, wrong()))
        });
        arguments.collect()
    }

    /// A literal as an argument of this type; `None` if it does not fit.
    fn argument(&self, ty: &Type, literal: &Literal<'_>) -> Result<Option<Argument>> {
        let optional_id = |literal: &Literal<'_>| match literal {
            Literal::Name(name) => self.id(name).map(Some),
            Literal::Word("none") => Ok(None),
            _ => Err(self.unexpected("only values in a list of tensors")),
        };
        Ok(Some(match (ty, literal) {
            (Type::Tensor, Literal::Name(name)) => Argument::Tensor(self.id(name)?),
            (Type::List(element), Literal::List(list)) if is_tensor(element) => {
                let ids = list.iter().map(optional_id).collect::<Result<Vec<_>>>()?;
                match **element {
                    Type::Tensor => match ids.into_iter().collect() {
                        Some(ids) => Argument::Tensors(ids),
                        None => return Ok(None),
                    },
                    _ => Argument::OptionalTensors(ids),
                }
            }
            (_, Literal::Word("none")) => Argument::Constant(Value::None),
            (ty, literal) => return Ok(constant(ty, literal).map(Argument::Constant)),
        }))
    }
}

fn is_tensor(ty: &Type) -> bool {
    *ty.without_optional() == Type::Tensor
}

/// A literal as a value of this type.
fn constant(ty: &Type, literal: &Literal<'_>) -> Option<Value<'static>> {
    Some(match (ty, literal) {
        (
            Type::Scalar | Type::Int | Type::SymInt | Type::Float | Type::Bool | Type::Complex,
            Literal::Number(number),
        ) => (*number).into(),
        (Type::Str, Literal::Text(text)) => text.clone().into(),
        (Type::ScalarType, Literal::Word(word)) => Value::DType(word.parse().ok()?),
        (Type::Layout, Literal::Word(word)) => Value::Layout(word.parse().ok()?),
        (Type::MemoryFormat, Literal::Word(word)) => Value::MemoryFormat(word.parse().ok()?),
        (Type::Device, Literal::Word(word)) => Value::Device(word.parse().ok()?),
        (Type::List(element), Literal::List(list)) => match **element {
            Type::Int | Type::SymInt => numbers::<i64>(list)?.into(),
            Type::Float => numbers::<f64>(list)?.into(),
            Type::Bool => numbers::<bool>(list)?.into(),
            Type::Scalar => list.iter().map(number).collect::<Option<Vec<Scalar>>>()?.into(),
            Type::Str => {
                let text = |literal: &Literal<'_>| match literal {
                    Literal::Text(text) => Some(text.clone()),
                    _ => None,
                };
                list.iter().map(text).collect::<Option<Vec<String>>>()?.into()
            }
            _ => return None,
        },
        _ => return None,
    })
}

fn number(literal: &Literal<'_>) -> Option<Scalar> {
    if let Literal::Number(number) = literal { Some(*number) } else { None }
}

fn numbers<T: Element>(list: &[Literal<'_>]) -> Option<Vec<T>> {
    list.iter().map(|literal| element(number(literal)?).ok()).collect()
}

/// A number as an element, from which it differs by no more than rounding.
///
/// # Errors
/// A number of a wider kind, such as 1.5 for an integer type, or out of the type's range.
fn element<T: Element>(number: Scalar) -> Result<T> {
    let dtype = T::DTYPE;
    let belongs = match number {
        Scalar::Bool(_) => dtype == DType::Bool,
        Scalar::Int(_) => dtype != DType::Bool,
        Scalar::Float(_) => dtype.is_floating_point() || dtype.is_complex(),
        Scalar::Complex(_) => dtype.is_complex(),
    };
    ensure!(belongs, Type, "{number} is not of the type {dtype}");
    number.to()
}
