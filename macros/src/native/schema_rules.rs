//! Rules for the schema of an entry: conventions by which a schema shows the kind of its operator.

use torch_library_schema::{Argument, Return, Type};

use super::func::{Func, Kind, is_scratch};

/// A broken rule, and the word in the schema that breaks it.
pub(crate) struct Broken {
    pub(crate) message: String,
    /// The name of an argument, or of the operator if no argument is at fault.
    pub(crate) argument: Option<String>,
}

type Rule = fn(&Func) -> Option<Broken>;

/// The rules in the order in which they are checked; the first broken one is reported.
const RULES: [Rule; 13] = [
    annotations,
    out_is_last,
    one_set_of_options,
    before_self,
    keywords,
    in_place_and_out,
    functional_overload,
    one_kind_of_returns,
    written_and_returned,
    returns_of_arguments,
    out_returns,
    in_place_returns,
    options_of_factories,
];

/// The first rule that a schema breaks.
pub(crate) fn check(func: &Func) -> Result<(), Broken> {
    RULES.iter().find_map(|rule| rule(func)).map_or(Ok(()), Err)
}

fn broken(message: impl Into<String>) -> Option<Broken> {
    Some(Broken { message: message.into(), argument: None })
}

fn broken_at(argument: &Argument, message: impl Into<String>) -> Option<Broken> {
    Some(Broken { message: message.into(), argument: Some(argument.name.clone()) })
}

fn is_written(ret: &Return) -> bool {
    Func::annotation(ret.alias.as_deref()).is_some_and(|alias| alias.is_write)
}

fn annotations(func: &Func) -> Option<Broken> {
    let aliases =
        func.schema.arguments.iter().map(|argument| (Some(argument), &argument.alias, &argument.ty));
    let returns = func.schema.returns.iter().map(|ret| (None, &ret.alias, &ret.ty));
    for (argument, alias, ty) in aliases.chain(returns) {
        let Some(alias) = Func::annotation(alias.as_deref()) else { continue };
        let say = |message: String| match argument {
            Some(argument) => broken_at(argument, message),
            None => broken(message),
        };
        let inner = ty.without_optional();
        if *inner != Type::Tensor && *ty != Type::List(Box::new(Type::Tensor)) {
            return say(format!(
                "an alias annotation belongs on `Tensor`, `Tensor?` or `Tensor[]`, not on `{ty}`"
            ));
        }
        let mut names = alias.before.names().chain(alias.after.names());
        if let Some(long) =
            names.find(|name| *name != "*" && (name.len() != 1 || !name.as_bytes()[0].is_ascii_lowercase()))
        {
            return say(format!("the name of an alias set is one lower-case letter, not `{long}`"));
        }
        if alias.is_write && alias.before.names().count() > 1 {
            return say(format!(
                "an argument that is written to is in one alias set, not in `{}`",
                alias.before
            ));
        }
        if alias.before.names().count() > 1 && alias.after.names().count() > 1 && alias.before != alias.after
        {
            return say("several alias sets before the call cannot be matched with several others after it"
                .to_owned());
        }
    }
    None
}

fn out_is_last(func: &Func) -> Option<Broken> {
    let argument = func.out().iter().find(|argument| !argument.is_mutable())?;
    broken_at(
        argument,
        format!("`{}` is not written to, so it must come before the `out` arguments", argument.name),
    )
}

fn one_set_of_options(func: &Func) -> Option<Broken> {
    let options = func.tensor_options()?;
    let again = (options.end..func.inputs().len()).find(|&at| func.are_options(at))?;
    broken_at(&func.inputs()[again], "`dtype`, `layout`, `device` and `pin_memory` can be given only once")
}

fn before_self(func: &Func) -> Option<Broken> {
    let written = func.positional()[..func.this()?].iter().find(|argument| argument.is_mutable())?;
    broken_at(written, format!("`{}` is written to, so it must come after `self`", written.name))
}

/// Python keywords that cannot be argument names, among the names that schemas allow.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// PyTorch's own exceptions, which are older than the rule.
const KEYWORDS_ALLOWED: [&str; 3] = ["_has_compatible_shallow_copy_type", "random_.from", "uniform_"];

fn keywords(func: &Func) -> Option<Broken> {
    let keyword = func.schema.arguments.iter().find(|argument| KEYWORDS.contains(&&*argument.name))?;
    if keyword.name == "from" && KEYWORDS_ALLOWED.contains(&&*func.name.to_string()) {
        return None;
    }
    broken_at(
        keyword,
        format!("`{}` is a keyword of Python, so no argument can have that name", keyword.name),
    )
}

fn in_place_and_out(func: &Func) -> Option<Broken> {
    let out = func.out().first().filter(|_| func.name.in_place)?;
    broken_at(
        out,
        format!("`{}` is in place by its name, but has the `out` argument `{}`", func.name, out.name),
    )
}

fn functional_overload(func: &Func) -> Option<Broken> {
    if !func.name.overload.contains("functional") || func.kind() == Kind::Functional {
        return None;
    }
    broken("overloads with `functional` in them are reserved for operators that write to nothing")
}

fn one_kind_of_returns(func: &Func) -> Option<Broken> {
    let written = func.schema.returns.iter().filter(|ret| is_written(ret)).count();
    if written == 0 || written == func.schema.returns.len() {
        return None;
    }
    broken("either all returns are arguments that were written to, or none is: leave out the arguments")
}

fn written_and_returned(func: &Func) -> Option<Broken> {
    let positional = func.behind_self().iter();
    let argument = positional
        .filter(|argument| argument.is_mutable())
        .find(|argument| func.returned_at(argument).is_some())?;
    let message = format!(
        "`{}` is written to and returned: only `self` of an in-place operator and `out` arguments, after `*`, can be \
         both",
        argument.name
    );
    broken_at(argument, message)
}

fn returns_of_arguments(func: &Func) -> Option<Broken> {
    let this = func.this().map(|this| &func.positional()[this]);
    let sources: Vec<_> = this.into_iter().chain(func.out()).collect();
    let is_source = |ret: &&Return| {
        let annotation = Func::annotation(ret.alias.as_deref());
        sources.iter().any(|argument| Func::annotation(argument.alias.as_deref()) == annotation)
    };
    func.schema.returns.iter().filter(|ret| is_written(ret)).find(|ret| !is_source(ret))?;
    broken("a return that was written to must be `self` or an `out` argument: do those come after `*`?")
}

fn out_returns(func: &Func) -> Option<Broken> {
    let first = func.out().first()?;
    if func.out().iter().any(|argument| argument.ty != Type::Tensor) {
        let is_empty = func.schema.returns.is_empty();
        let message = "`out` arguments that are lists are not returned: write `-> ()`";
        return if is_empty { None } else { broken_at(first, message) };
    }
    let outs: Vec<_> = func.out().iter().filter(|argument| !is_scratch(argument)).collect();
    if outs.len() != func.schema.returns.len() {
        let message = format!(
            "each `out` argument must be returned, in order: expected {} returns, found {}",
            outs.len(),
            func.schema.returns.len()
        );
        return broken_at(first, message);
    }
    let pairs = outs.into_iter().zip(&func.schema.returns);
    let (argument, _) = pairs.clone().find(|(argument, ret)| {
        Func::annotation(argument.alias.as_deref()) != Func::annotation(ret.alias.as_deref())
    })?;
    broken_at(
        argument,
        format!("`{}` and the return at its position must have the same alias set", argument.name),
    )
}

fn in_place_returns(func: &Func) -> Option<Broken> {
    if !func.name.in_place {
        return None;
    }
    let Some(this) = func.this().map(|this| &func.positional()[this]).filter(|this| this.is_mutable()) else {
        return broken(format!("`{}` is in place by its name: it must take `Tensor(a!) self`", func.name));
    };
    let returns = &func.schema.returns[..];
    match returns {
        [only] if this.ty == Type::Tensor && only.alias == this.alias => None,
        [] if this.ty != Type::Tensor => None,
        _ if this.ty == Type::Tensor => {
            broken(format!("`{}` is in place: it must return `self`, once", func.name))
        }
        _ => broken(format!("`{}` is in place on a list: it must return nothing", func.name)),
    }
}

fn options_of_factories(func: &Func) -> Option<Broken> {
    let options = func.tensor_options().filter(|_| func.kind() != Kind::Functional)?;
    let message = "`dtype`, `layout`, `device` and `pin_memory` together are for operators that make a tensor, \
                   and this one writes to an argument";
    broken_at(&func.inputs()[options.start], message)
}
