//! What a declaration may not say although it can be read: the checks of meaning.

use super::default::{DTYPES, example};
use super::{Parser, Result};
use crate::default::DefaultValue;
use crate::error::SchemaError;
use crate::schema::{Argument, Mode};
use crate::token::Span;
use crate::types::Type;
use std::ops::Range;

/// The custom classes of a stock PyTorch that schemas name, as `namespace.Name`. There is no way yet to register more.
const CLASSES: [&str; 17] = [
    "c10d.ProcessGroup",
    "c10d.ReduceOp",
    "c10d.Store",
    "c10d.SymmetricMemory",
    "c10d.Work",
    "mkldnn.ConvOpContext",
    "mkldnn.ConvTransposeOpContext",
    "mkldnn.LinearOpContext",
    "quantized.Conv2dPackedParamsBase",
    "quantized.Conv3dPackedParamsBase",
    "quantized.EmbeddingPackedParamsBase",
    "quantized.LinearPackedParamsBase",
    "rnn.CellParamsBase",
    "sparse.LinearPackedParamsBase",
    "xnnpack.Conv2dOpContext",
    "xnnpack.LinearOpContext",
    "xnnpack.TransposeConv2dOpContext",
];

impl Parser<'_, '_> {
    /// Notes a mistake of meaning and goes on.
    #[cold]
    pub(super) fn problem(&mut self, span: Range<usize>, message: String, help: String) {
        self.problems.push(SchemaError::new(message, span).with_help(help));
    }

    /// The `*` at `span`, where `earlier` is the one before it.
    pub(super) fn check_star(&mut self, earlier: Option<Span>, span: Span) {
        if earlier.is_some() && self.mode == Mode::Strict {
            self.problem(
                span.into(),
                "a second `*`".to_owned(),
                "one `*` makes all that follow keyword-only".to_owned(),
            );
        }
    }

    /// What can only be said once all arguments are known.
    pub(super) fn check_arguments(
        &mut self,
        arguments: &[Argument],
        star: Option<Span>,
        vararg: Option<Span>,
    ) -> Result<()> {
        if let Some(vararg) = vararg
            && let Some(argument) = arguments.iter().find(|argument| argument.default.is_some())
        {
            let message = format!("`{}` has a default although `...` follows", argument.name);
            let error = SchemaError::new(message, vararg.into());
            return Err(error.with_help("leave out the default, or the `...`"));
        }
        let is_last = arguments.last().is_none_or(|argument| !argument.kwarg_only);
        if let Some(star) = star.filter(|_| is_last && self.mode == Mode::Strict) {
            self.problem(star.into(), "no argument follows `*`".to_owned(), "leave it out".to_owned());
        }
        Ok(())
    }

    /// No two arguments, and no two returns, share a name.
    pub(super) fn check_name<'n>(
        &mut self,
        name: &str,
        span: Range<usize>,
        mut earlier: impl Iterator<Item = &'n str>,
        what: &str,
    ) {
        if self.mode == Mode::Strict && earlier.any(|other| other == name) {
            let help = format!("every {what} needs a name of its own");
            self.problem(span, format!("two {what}s are called `{name}`"), help);
        }
    }

    /// After a default, positional arguments have one too. PyTorch lets lists pass.
    pub(super) fn check_order(&mut self, argument: &Argument, earlier: &[Argument], span: Range<usize>) {
        if argument.default.is_some() || argument.kwarg_only || matches!(argument.ty, Type::List(_)) {
            return;
        }
        if let Some(before) = earlier.iter().find(|earlier| earlier.default.is_some()) {
            let message =
                format!("`{}` has no default, but `{}` before it has one", argument.name, before.name);
            let help = format!("give `{}` a default too, or put `*` before it", argument.name);
            self.problem(span, message, help);
        }
    }

    /// The default is of a kind that the type holds.
    pub(super) fn check_default(&mut self, ty: &Type, value: &DefaultValue, span: Range<usize>) {
        if self.mode == Mode::PyTorch || holds(ty, value) {
            return;
        }
        let message = match value {
            DefaultValue::None => format!("the default `None` for a `{ty}`, which is not optional"),
            DefaultValue::Int(number) if *ty.without_optional() == Type::ScalarType => {
                format!("no dtype has the number {number}")
            }
            value => format!("a default of kind {} for a `{ty}`", value.kind()),
        };
        let help = match value {
            DefaultValue::None => format!("write `{ty}?`"),
            _ => example(ty),
        };
        self.problem(span, message, help);
    }

    /// The class is one that exists.
    pub(super) fn check_class(&mut self, namespace: &str, class: &str, start: usize) {
        let is_known = CLASSES.iter().any(|known| known.split_once('.') == Some((namespace, class)));
        if self.mode == Mode::Strict && !is_known {
            let message = format!("unknown custom class `{namespace}.{class}`");
            self.problem(
                self.since(start),
                message,
                "only the classes of PyTorch itself can be named".to_owned(),
            );
        }
    }
}

/// Whether a value of type `ty` may be `value`. Elements of lists have been looked at before.
fn holds(ty: &Type, value: &DefaultValue) -> bool {
    match (ty, value) {
        (Type::Optional(_), DefaultValue::None) => true,
        (Type::Optional(inner), value) => match (&**inner, value) {
            (Type::Any | Type::Scalar, DefaultValue::List(_)) => false,
            (Type::Any | Type::SymBool, DefaultValue::Bool(_))
            | (Type::Any | Type::Device, DefaultValue::Str(_)) => true,
            (Type::Any | Type::Complex, DefaultValue::Int(_) | DefaultValue::Double(_)) => true,
            (Type::Any, DefaultValue::Complex { .. }) => true,
            (inner, value) => holds(inner, value),
        },
        (Type::ScalarType, DefaultValue::Int(number)) => {
            usize::try_from(*number).is_ok_and(|number| number < DTYPES.len())
        }
        (
            Type::Int | Type::SymInt | Type::Float | Type::Scalar | Type::Layout | Type::MemoryFormat,
            DefaultValue::Int(_),
        )
        | (Type::Float | Type::Scalar, DefaultValue::Double(_))
        | (Type::Complex | Type::Scalar, DefaultValue::Complex { .. })
        | (Type::Bool | Type::Scalar, DefaultValue::Bool(_))
        | (Type::Str, DefaultValue::Str(_))
        | (Type::Device, DefaultValue::Device(_))
        | (Type::List(_), DefaultValue::List(_)) => true,
        _ => false,
    }
}
