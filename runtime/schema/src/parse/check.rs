//! Semantic checks: what a declaration may not say although it can be parsed.

use super::Parser;
use super::default::{DTYPES, example};
use crate::default::DefaultValue;
use crate::schema::{Argument, Mode};
use crate::token::Span;
use crate::types::Type;

/// The custom classes of an unmodified PyTorch, as `namespace.Name`. There is no way yet to register more.
const CLASSES: [&str; 25] = [
    "c10d.ProcessGroup",
    "c10d.ReduceOp",
    "c10d.Store",
    "c10d.SymmetricMemory",
    "c10d.Work",
    "cuda.Event",
    "cuda.Stream",
    "dist_rpc.WorkerInfo",
    "mkldnn.ConvOpContext",
    "mkldnn.ConvTransposeOpContext",
    "mkldnn.LinearOpContext",
    "profiler._RecordFunction",
    "profiling.InstructionStats",
    "profiling.SourceRef",
    "profiling.SourceStats",
    "profiling._ScriptProfile",
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

impl Parser<'_> {
    /// Checks the `*` at `span`; `earlier` is the one before it.
    pub(super) fn check_star(&mut self, earlier: Option<Span>, span: Span) {
        if earlier.is_some() && self.mode == Mode::Strict {
            self.problem(span, "a second `*`", "one `*` makes all that follow keyword-only");
        }
    }

    /// Checks that need all arguments.
    pub(super) fn check_arguments(
        &mut self,
        arguments: &[Argument],
        star: Option<Span>,
        vararg: Option<Span>,
    ) {
        let with_default = arguments.iter().find(|argument| argument.default.is_some());
        if let (Some(vararg), Some(argument)) = (vararg, with_default) {
            let message = format!("`{}` has a default although `...` follows", argument.name);
            self.problem(vararg, message, "leave out the default, or the `...`");
        }
        let is_last = arguments.last().is_none_or(|argument| !argument.kwarg_only);
        if let Some(star) = star.filter(|_| is_last && self.mode == Mode::Strict) {
            self.problem(star, "no argument follows `*`", "leave it out");
        }
    }

    /// Checks that no two arguments, and no two returns, have the same name.
    pub(super) fn check_name<'n>(
        &mut self,
        name: &str,
        span: Span,
        mut earlier: impl Iterator<Item = &'n str>,
        what: &str,
    ) {
        if self.mode == Mode::Strict && earlier.any(|other| other == name) {
            let help = format!("every {what} needs a name of its own");
            self.problem(span, format!("two {what}s are called `{name}`"), help);
        }
    }

    /// Checks that positional arguments after one with a default have a default too. This looks at the last of
    /// `arguments`, whose name is at `span`. PyTorch makes an exception for lists.
    pub(super) fn check_order(&mut self, arguments: &[Argument], span: Span) {
        let Some((argument, earlier)) = arguments.split_last() else { return };
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

    /// Checks that the default, which starts at `start`, is of a kind that the type can hold.
    pub(super) fn check_default(&mut self, ty: &Type, value: &DefaultValue, start: Span) {
        if self.mode == Mode::PyTorch || holds(ty, value) {
            return;
        }
        let (message, help) = match value {
            DefaultValue::None => (
                format!("the default `None` for type `{ty}`, which is not optional"),
                format!("write `{ty}?`"),
            ),
            DefaultValue::Int(number) if *ty.without_optional() == Type::ScalarType => {
                (format!("no dtype has the number {number}"), example(ty))
            }
            value => (format!("{} as the default of type `{ty}`", value.describe()), example(ty)),
        };
        self.problem(self.since(start), message, help);
    }

    /// Checks that the class, whose name starts at `start`, exists.
    pub(super) fn check_class(&mut self, namespace: &str, class: &str, start: Span) {
        let is_known = CLASSES.iter().any(|known| known.split_once('.') == Some((namespace, class)));
        if self.mode == Mode::Strict && !is_known {
            let message = format!("unknown custom class `{namespace}.{class}`");
            self.problem(self.since(start), message, "only the classes of PyTorch itself can be named");
        }
    }
}

/// Whether a value of type `ty` may be `value`. Elements of lists were checked before.
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
