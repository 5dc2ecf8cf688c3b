//! Compatibility of schemas: whether one schema may replace another.

use crate::default::DefaultValue;
use crate::schema::{Argument, Return, Schema};
use std::fmt;

/// Why a schema cannot replace another; each reason names the argument or return that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatibility {
    /// The reasons, at least one.
    pub reasons: Vec<String>,
}

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reasons.join("; "))
    }
}

impl std::error::Error for Incompatibility {}

/// Collects reasons, so that all of them are reported at once.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Reasons {
    fn require(&mut self, holds: bool, reason: impl FnOnce() -> String) {
        if !holds {
            self.0.push(reason());
        }
    }

    fn finish(self) -> Result<(), Incompatibility> {
        if self.0.is_empty() { Ok(()) } else { Err(Incompatibility { reasons: self.0 }) }
    }
}

/// The direction in which arguments are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// Old callers use the new schema.
    Backward,
    /// New callers use the old schema.
    Forward,
}

impl Schema {
    /// Checks that every call that fits `old` also fits this schema and gets the returns that it expects.
    ///
    /// Arguments may accept more and returns may be narrower; new arguments come after the old ones (but before `out`
    /// arguments) and have defaults; a keyword-only argument may become positional; old defaults stay the same.
    ///
    /// PyTorch: `FunctionSchema::isBackwardCompatibleWith`.
    ///
    /// # Errors
    ///
    /// All reasons why it does not.
    ///
    /// ```
    /// use torch_library_schema::{Mode, Schema};
    ///
    /// let old = Schema::parse("f(Tensor x, int n=1) -> Tensor", Mode::Strict)?;
    /// let new = Schema::parse("f(Tensor x, int n=2, *, int m) -> Tensor", Mode::Strict)?;
    /// assert_eq!(
    ///     new.check_backward_compatible_with(&old).unwrap_err().reasons,
    ///     ["the default of argument `n` was `1` and is `2`", "the new argument `m` has no default"],
    /// );
    /// # Ok::<(), torch_library_schema::SchemaError>(())
    /// ```
    pub fn check_backward_compatible_with(&self, old: &Schema) -> Result<(), Incompatibility> {
        let mut reasons = Reasons::default();
        self.compare_heads(old, &mut reasons);
        let (new_inputs, new_outs) = self.split_outs();
        let (old_inputs, old_outs) = old.split_outs();
        for (new, old) in self.returns.iter().zip(&old.returns) {
            compare_returns(new, old, Direction::Backward, &mut reasons);
        }
        for (index, old) in old_inputs.iter().enumerate() {
            match new_inputs.get(index) {
                Some(new) => compare_arguments(new, old, Direction::Backward, &mut reasons),
                None => reasons.0.push(format!("argument `{}` is gone", old.name)),
            }
        }
        for new in new_inputs.iter().skip(old_inputs.len()) {
            reasons
                .require(new.default.is_some(), || format!("the new argument `{}` has no default", new.name));
        }
        for (index, old) in old_outs.iter().enumerate() {
            match new_outs.get(index) {
                Some(new) => compare_arguments(new, old, Direction::Backward, &mut reasons),
                None => reasons.0.push(format!("out argument `{}` is gone", old.name)),
            }
        }
        for new in new_outs.iter().skip(old_outs.len()) {
            reasons.0.push(format!("the out argument `{}` is new", new.name));
        }
        reasons.finish()
    }

    /// Checks that a call written for this schema can still be served by `old`, if arguments that are left at their
    /// defaults are not passed on.
    ///
    /// PyTorch: `FunctionSchema::isForwardCompatibleWith`, which does not compare returns.
    ///
    /// # Errors
    ///
    /// All reasons why it cannot.
    pub fn check_forward_compatible_with(&self, old: &Schema) -> Result<(), Incompatibility> {
        let mut reasons = Reasons::default();
        self.compare_heads(old, &mut reasons);
        let (new_inputs, new_outs) = self.split_outs();
        let (old_inputs, old_outs) = old.split_outs();
        for (new, old) in self.returns.iter().zip(&old.returns) {
            compare_returns(new, old, Direction::Forward, &mut reasons);
        }
        let (new_count, old_count) = (new_outs.len(), old_outs.len());
        reasons.require(new_count == old_count, || {
            format!("it had {old_count} out arguments and has {new_count}")
        });
        for (new, old) in new_inputs.iter().zip(old_inputs) {
            compare_arguments(new, old, Direction::Forward, &mut reasons);
        }
        for new in new_inputs.iter().skip(old_inputs.len()) {
            match &new.default {
                None => reasons.0.push(format!("the new argument `{}` has no default", new.name)),
                Some(DefaultValue::List(_)) => {
                    reasons.0.push(format!("the new argument `{}` has a list as its default", new.name));
                }
                Some(_) => {}
            }
        }
        for (new, old) in new_outs.iter().zip(old_outs) {
            compare_arguments(new, old, Direction::Forward, &mut reasons);
        }
        reasons.finish()
    }

    /// Whether a function with this schema can be called wherever one with `other` is expected: it takes at least those
    /// arguments and returns at most those values. If it is a method, the first argument is not compared.
    ///
    /// PyTorch: `FunctionSchema::isSubtypeOf`.
    pub fn is_subtype_of(&self, other: &Schema, as_method: bool) -> bool {
        let skip = usize::from(as_method);
        let mut arguments = self.arguments.iter().zip(&other.arguments).skip(skip);
        let mut returns = self.returns.iter().zip(&other.returns);
        self.arguments.len() == other.arguments.len()
            && self.returns.len() == other.returns.len()
            && arguments
                .all(|(own, other)| own.name == other.name && other.ty.fake().is_subtype_of(&own.ty.fake()))
            && returns
                .all(|(own, other)| own.name == other.name && own.ty.fake().is_subtype_of(&other.ty.fake()))
    }

    /// Compares what must always be equal.
    fn compare_heads(&self, old: &Schema, reasons: &mut Reasons) {
        reasons.require(self.name == old.name, || {
            format!("it was called `{}` and is called `{}`", old.name, self.name)
        });
        reasons
            .require(self.is_vararg == old.is_vararg, || "`...` after the arguments came or went".to_owned());
        reasons
            .require(self.is_varret == old.is_varret, || "`...` after the returns came or went".to_owned());
        let (new, old) = (self.returns.len(), old.returns.len());
        reasons.require(new == old, || format!("it returned {old} values and returns {new}"));
    }

    /// Splits the arguments before the first `out` argument.
    fn split_outs(&self) -> (&[Argument], &[Argument]) {
        let first = self.arguments.iter().position(Argument::is_out).unwrap_or(self.arguments.len());
        self.arguments.split_at(first)
    }
}

fn compare_returns(new: &Return, old: &Return, direction: Direction, reasons: &mut Reasons) {
    let same_rest = new.name == old.name && new.size == old.size && new.alias == old.alias;
    reasons
        .require(same_rest, || format!("the return `{old}` has another name, length or annotation: `{new}`"));
    let (given, expected) = match direction {
        Direction::Backward => (&new.ty, &old.ty),
        Direction::Forward => (&old.ty, &new.ty),
    };
    let fits = given.fake().is_subtype_of(&expected.fake());
    reasons.require(fits, || format!("it returned `{}` and returns `{}`", old.ty, new.ty));
}

fn compare_arguments(new: &Argument, old: &Argument, direction: Direction, reasons: &mut Reasons) {
    let name = &old.name;
    reasons.require(new.name == *name, || format!("argument `{name}` is now called `{}`", new.name));
    reasons.require(new.size == old.size, || format!("the length of argument `{name}` is another"));
    reasons
        .require(new.alias == old.alias, || format!("the alias annotation of argument `{name}` is another"));
    reasons.require(!new.kwarg_only || old.kwarg_only, || format!("argument `{name}` became keyword-only"));
    let (new_type, old_type) = (new.ty.fake(), old.ty.fake());
    let fits = match direction {
        Direction::Backward => old_type.is_subtype_of(&new_type),
        Direction::Forward => new_type.is_subtype_of(&old_type),
    };
    reasons.require(fits, || format!("argument `{name}` was a `{}` and is a `{}`", old.ty, new.ty));
    let shown = |argument: &Argument| {
        argument.to_string().split_once('=').map_or(String::new(), |(_, value)| value.to_owned())
    };
    match (&new.default, &old.default) {
        (Some(value), Some(before)) if !value.is_same(before) => {
            reasons.0.push(format!(
                "the default of argument `{name}` was `{}` and is `{}`",
                shown(old),
                shown(new)
            ));
        }
        (None, Some(_)) => reasons.0.push(format!("argument `{name}` lost its default")),
        (Some(_), None) if direction == Direction::Forward => {
            reasons.0.push(format!("argument `{name}` got a default, which old callees do not know"));
        }
        _ => {}
    }
}
