//! Converts the arguments of a call, some by position and some by name, to one value per argument of the schema.

use crate::default::DefaultValue;
use crate::schema::{Argument, Schema};
use crate::types::Type;
use std::fmt;

/// A value that can be passed to an operator: what [`Schema::normalize`] needs to know about it.
pub trait Value: Sized {
    /// The value of a default of `argument`.
    fn of_default(default: &DefaultValue, argument: &Argument) -> Self;

    /// Whether it may be passed for an argument of type `ty`. An empty dict may be passed for every `Dict`.
    fn is_a(&self, ty: &Type) -> bool;

    /// The name of its type, for messages: `int`, `Tensor[]`.
    fn type_name(&self) -> String;
}

/// The error for arguments of a call that do not fit a schema. Its text has the operator, the argument and the
/// declaration.
///
/// PyTorch: the errors of `FunctionSchema::checkAndNormalizeInputs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// What is wrong.
    pub kind: ArgumentErrorKind,
    /// The operator, with its declaration.
    pub declaration: String,
}

/// What is wrong with an argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentErrorKind {
    /// More values by position than there are positional arguments.
    TooMany {
        /// The number of positional arguments.
        expected: usize,
        /// The number of values that were passed.
        received: usize,
    },
    /// A value of the wrong type.
    WrongType {
        /// The argument.
        argument: String,
        /// Its type.
        expected: String,
        /// The type of the value.
        found: String,
        /// Its position, from 0, if it was passed by position; messages count from 1.
        position: Option<usize>,
    },
    /// No value for an argument without a default.
    Missing {
        /// The argument.
        argument: String,
    },
    /// A name that no argument has.
    Unknown {
        /// The name.
        argument: String,
    },
    /// An argument that was passed both by position and by name, or twice by name.
    Twice {
        /// The argument.
        argument: String,
    },
}

impl fmt::Display for ArgumentErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentErrorKind::TooMany { expected, received } => {
                let s = if *expected == 1 { "" } else { "s" };
                write!(f, "expected at most {expected} positional argument{s}, received {received}")
            }
            ArgumentErrorKind::WrongType { argument, expected, found, position } => {
                f.write_str("argument ")?;
                if let Some(position) = position {
                    write!(f, "{} ", position + 1)?;
                }
                write!(f, "`{argument}` is of type `{expected}`, received `{found}`")
            }
            ArgumentErrorKind::Missing { argument } => write!(f, "argument `{argument}` is missing"),
            ArgumentErrorKind::Unknown { argument } => write!(f, "there is no argument `{argument}`"),
            ArgumentErrorKind::Twice { argument } => write!(f, "argument `{argument}` is given twice"),
        }
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; the declaration is `{}`", self.kind, self.declaration)
    }
}

impl std::error::Error for ArgumentError {}

impl Schema {
    /// One value for each argument: those passed by position, those passed by name, and defaults. For a schema with
    /// `...` any further values follow.
    ///
    /// # Errors
    ///
    /// Too many values, a value of a wrong type, a missing value, an unknown name, an argument that is passed twice.
    ///
    /// ```
    /// use torch_library_schema::{Argument, DefaultValue, Mode, Schema, Type, Value};
    ///
    /// #[derive(Debug, PartialEq)]
    /// struct Int(i64);
    ///
    /// impl Value for Int {
    ///     fn of_default(default: &DefaultValue, _: &Argument) -> Self {
    ///         let DefaultValue::Int(value) = default else { panic!() };
    ///         Int(*value)
    ///     }
    ///     fn is_a(&self, ty: &Type) -> bool {
    ///         *ty == Type::Int
    ///     }
    ///     fn type_name(&self) -> String {
    ///         "int".to_owned()
    ///     }
    /// }
    ///
    /// let schema = Schema::parse("f(int a, int b=2, *, int c=3) -> ()", Mode::Strict)?;
    /// assert_eq!(schema.normalize(vec![Int(1)], [("c", Int(5))]).unwrap(), [Int(1), Int(2), Int(5)]);
    /// assert_eq!(
    ///     schema.normalize::<Int>(vec![], [("d", Int(5))]).unwrap_err().to_string(),
    ///     "there is no argument `d`; the declaration is `f(int a, int b=2, *, int c=3) -> ()`",
    /// );
    /// # Ok::<(), torch_library_schema::SchemaError>(())
    /// ```
    pub fn normalize<'n, V: Value>(
        &self,
        positional: Vec<V>,
        named: impl IntoIterator<Item = (&'n str, V)>,
    ) -> Result<Vec<V>, ArgumentError> {
        let (given, further) = self.place_values(positional, named)?;
        let mut values = Vec::with_capacity(given.len() + further.len());
        for (argument, value) in self.arguments.iter().zip(given) {
            values.push(match (value, &argument.default) {
                (Some(value), _) => value,
                (None, Some(default)) => V::of_default(default, argument),
                (None, None) => {
                    return Err(self.wrong(ArgumentErrorKind::Missing { argument: argument.name.clone() }));
                }
            });
        }
        values.extend(further);
        Ok(values)
    }

    /// The given values, each at the position of its argument, and the values beyond the arguments.
    fn place_values<'n, V: Value>(
        &self,
        mut positional: Vec<V>,
        named: impl IntoIterator<Item = (&'n str, V)>,
    ) -> Result<(Vec<Option<V>>, Vec<V>), ArgumentError> {
        let expected = self.arguments.iter().filter(|argument| !argument.kwarg_only).count();
        let received = positional.len();
        if received > expected && !self.is_vararg {
            return Err(self.wrong(ArgumentErrorKind::TooMany { expected, received }));
        }
        let further = positional.split_off(received.min(expected));
        let mut given: Vec<Option<V>> = Vec::with_capacity(self.arguments.len());
        for (position, (value, argument)) in positional.into_iter().zip(&self.arguments).enumerate() {
            given.push(Some(self.checked(value, argument, Some(position))?));
        }
        given.resize_with(self.arguments.len(), || None);
        for (name, value) in named {
            let Some(index) = self.argument_index(name) else {
                return Err(self.wrong(ArgumentErrorKind::Unknown { argument: name.to_owned() }));
            };
            if given[index].is_some() {
                return Err(self.wrong(ArgumentErrorKind::Twice { argument: name.to_owned() }));
            }
            given[index] = Some(self.checked(value, &self.arguments[index], None)?);
        }
        Ok((given, further))
    }

    fn checked<V: Value>(
        &self,
        value: V,
        argument: &Argument,
        position: Option<usize>,
    ) -> Result<V, ArgumentError> {
        if value.is_a(&argument.ty) {
            return Ok(value);
        }
        Err(self.wrong(ArgumentErrorKind::WrongType {
            argument: argument.name.clone(),
            expected: argument.ty.to_string(),
            found: value.type_name(),
            position,
        }))
    }

    #[cold]
    fn wrong(&self, kind: ArgumentErrorKind) -> ArgumentError {
        ArgumentError { kind, declaration: self.to_string() }
    }
}
