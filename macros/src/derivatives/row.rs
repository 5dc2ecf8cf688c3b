//! A row: an operator and its derivative.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Expr};
use torch_library_schema::Type;

use super::ambiguous;
use super::formula::{Formula, argument, result_name};
use super::parse::{Clause, ParsedRow, Rule};
use crate::errors::Errors;
use crate::library::{Declaration, Operator, Returned, SchemaTokens};

pub(super) struct Row {
    pub(super) operator: Operator,
    pub(super) cfgs: Vec<Attribute>,
    /// The node's name, such as `MulBackward0`.
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Whether the operator writes sizes and strides but no elements, so that the base of a view does not change.
    pub(super) inplace_view: bool,
    /// The condition on arguments under which the results have gradients; `None` if they always have.
    pub(super) condition: Option<Formula>,
    /// `None` if no result has a gradient.
    pub(super) derivative: Option<Derivative>,
    /// Whether it is the in-place form of the row before it, whose formulas it shares.
    pub(super) is_second: bool,
}

/// What an operator does to its first argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only reads.
    Functional,
    /// Its results are views of this argument.
    View(usize),
    /// It writes to this argument, and returns it.
    InPlace(usize),
}

pub(super) struct Derivative {
    pub(super) formulas: Vec<(Vec<usize>, Formula)>,
    /// Which results have gradients.
    pub(super) differentiable: Vec<usize>,
    /// The arguments that cannot require grad.
    pub(super) refused: Vec<usize>,
}

impl Derivative {
    /// The arguments that gradients flow to, in the order of the formulas.
    pub(super) fn inputs(&self) -> impl Iterator<Item = usize> {
        self.formulas.iter().flat_map(|(arguments, _)| arguments.iter().copied())
    }
}

impl Row {
    /// One row, or two for `#[in_place]`; none after a mistake.
    pub(super) fn all(mut parsed: ParsedRow, errors: &mut Errors) -> Vec<Self> {
        let in_place = take(&mut parsed.attributes, "in_place");
        let second = in_place.then(|| in_place_schema(&parsed.schema));
        let schema = std::mem::take(&mut parsed.schema);
        let mut rows: Vec<Row> = Row::new(&parsed, schema, errors).into_iter().collect();
        if !rows.is_empty() {
            let second = second.and_then(|schema| Row::new(&parsed, schema, errors));
            rows.extend(second.map(|row| Row { is_second: true, ..row }));
        }
        rows
    }

    fn new(parsed: &ParsedRow, schema: Vec<TokenTree>, errors: &mut Errors) -> Option<Self> {
        let cfgs: Vec<_> =
            parsed.attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect();
        let mut others = parsed.attributes.clone();
        let inplace_view = take(&mut others, "inplace_view");
        let condition = take_condition(&mut others, errors)?;
        for attribute in &others {
            if !attribute.path().is_ident("cfg") && !attribute.path().is_ident("doc") {
                errors.at(
                    attribute,
                    "expected `#[in_place]`, `#[inplace_view]`, `#[differentiable_if(…)]` or `#[cfg(…)]`",
                );
            }
        }
        let declaration = Declaration { attributes: cfgs.clone(), schema: SchemaTokens::Tokens(schema) };
        let operator = Operator::new(declaration, false, errors)?;
        let kind = errors.ok(kind(&operator))?;
        let derivative = match &parsed.clauses {
            Some(clauses) => Some(derivative(&operator, kind, clauses, errors)?),
            None => None,
        };
        let name = parsed.name.as_ref().map_or_else(|| default_name(&operator), Ident::to_string);
        let condition = condition.map(|condition| Formula::new(&operator, condition.to_token_stream()));
        Some(Row { operator, cfgs, name, kind, inplace_view, condition, derivative, is_second: false })
    }
}

/// Removes an attribute, and returns whether it was there.
fn take(attributes: &mut Vec<Attribute>, name: &str) -> bool {
    let before = attributes.len();
    attributes.retain(|attribute| !attribute.path().is_ident(name));
    attributes.len() < before
}

/// Removes `#[differentiable_if(dtype.is_none())]` and returns its condition; `None` after a mistake.
fn take_condition(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Option<Expr>> {
    let Some(at) = attributes.iter().position(|attribute| attribute.path().is_ident("differentiable_if"))
    else {
        return Some(None);
    };
    errors.ok(attributes.remove(at).parse_args()).map(Some)
}

/// Turns `mul.Tensor(Tensor self, …) -> Tensor` into `mul_.Tensor(Tensor(a!) self, …) -> Tensor(a!)`.
fn in_place_schema(schema: &[TokenTree]) -> Vec<TokenTree> {
    let mut tokens = Vec::with_capacity(schema.len() + 1);
    let mark = |ident: &Ident| {
        let span = ident.span();
        quote::quote_spanned!(span=> #ident(a!))
    };
    for (index, token) in schema.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if index == 0 => {
                tokens.push(Ident::new(&format!("{}_", name.unraw()), name.span()).into());
            }
            TokenTree::Ident(result) if index + 1 == schema.len() => tokens.extend(mark(result)),
            TokenTree::Group(arguments) => {
                let mut inner = arguments.stream().into_iter();
                let first = match inner.next() {
                    Some(TokenTree::Ident(ty)) => mark(&ty),
                    other => other.into_token_stream(),
                };
                let rest: TokenStream = inner.collect();
                let mut group = Group::new(arguments.delimiter(), quote!(#first #rest));
                group.set_span(arguments.span());
                tokens.push(group.into());
            }
            other => tokens.push(other.clone()),
        }
    }
    tokens
}

/// Derives the kind from the schema's alias annotations.
fn kind(operator: &Operator) -> syn::Result<Kind> {
    let schema = &operator.schema;
    let written: Vec<usize> =
        (0..schema.arguments.len()).filter(|i| schema.arguments[*i].is_mutable()).collect();
    match written[..] {
        [] => {}
        [argument] if schema.arguments[argument].ty == Type::Tensor && returns_only(operator, argument) => {
            return Ok(Kind::InPlace(argument));
        }
        _ => {
            let message = "only an operator that writes to one tensor and returns it can have formulas";
            return Err(operator.place.error(message));
        }
    }
    let is_view = schema.returns.iter().any(|ret| ret.alias.is_some() || has_alias(&ret.ty));
    let source = schema.arguments.iter().position(|argument| argument.alias.is_some());
    Ok(match source {
        Some(source) if is_view => Kind::View(source),
        _ => Kind::Functional,
    })
}

/// Whether the result is this argument. The history of a new tensor would say nothing of what was written.
fn returns_only(operator: &Operator, argument: usize) -> bool {
    matches!(&operator.returns[..], [one] if matches!(one.value, Returned::Argument(source) if source == argument))
}

fn has_alias(ty: &Type) -> bool {
    matches!(ty, Type::List(_)) // a list's annotation belongs to its elements
}

/// Reads the clauses of a row, and checks that they fit the operator.
fn derivative(
    operator: &Operator,
    kind: Kind,
    clauses: &[Clause],
    errors: &mut Errors,
) -> Option<Derivative> {
    let (mut formulas, mut refused) = (Vec::new(), Vec::new());
    let mut targets = Targets::of(operator);
    for clause in clauses {
        let arguments = targets.of_clause(operator, clause, errors);
        match &clause.rule {
            Rule::Formula(formula) => {
                formulas.push((arguments, Formula::new(operator, formula.to_token_stream())));
            }
            Rule::NonDifferentiable => {}
            Rule::CannotRequireGrad => refused.extend(arguments),
        }
    }
    let Targets { has_clause, differentiable, mut is_right } = targets;
    is_right &= check_complete(operator, &has_clause, errors);
    is_right &= check_results(operator, &differentiable, !formulas.is_empty(), errors);
    if let Kind::InPlace(written) = kind {
        let has_formula = formulas.iter().any(|(arguments, _)| arguments.contains(&written));
        if !has_formula && is_right {
            errors.push(operator.place.error("the argument that is written to needs a formula"));
            is_right = false;
        }
    }
    is_right &= ambiguous::check(operator, formulas.iter().map(|(_, formula)| formula), errors);
    is_right.then_some(Derivative { formulas, differentiable, refused })
}

/// The arguments and results that the clauses of a row are for.
struct Targets {
    /// For each argument: whether a clause names it.
    has_clause: Vec<bool>,
    /// The indices of the results that have gradients.
    differentiable: Vec<usize>,
    /// Whether no clause has a mistake.
    is_right: bool,
}

impl Targets {
    /// Before any clause is read: all results that are tensors have gradients.
    fn of(operator: &Operator) -> Self {
        let returns = &operator.schema.returns;
        Targets {
            has_clause: vec![false; operator.arguments.len()],
            differentiable: (0..returns.len()).filter(|i| is_tensors(&returns[*i].ty)).collect(),
            is_right: true,
        }
    }

    /// Takes in a clause, and returns the indices of its arguments.
    fn of_clause(&mut self, operator: &Operator, clause: &Clause, errors: &mut Errors) -> Vec<usize> {
        let mut arguments = Vec::new();
        for target in &clause.targets {
            let name = target.to_string();
            let result = (0..operator.schema.returns.len()).find(|i| result_name(operator, *i) == name);
            let mistake = match (argument(operator, &name), result) {
                (Some(index), _) if !is_tensors(&operator.schema.arguments[index].ty) => {
                    format!("`{name}` is not a tensor, so it has no gradient")
                }
                (Some(index), _) if is_list(operator, index) && clause.is_shared_formula() => {
                    self.has_clause[index] = true;
                    format!("`{name}` is a list: it has a formula of its own, whose value is a `Vec`")
                }
                (Some(index), _) if self.has_clause[index] => format!("`{name}` has a formula already"),
                (Some(index), _) => {
                    self.has_clause[index] = true;
                    arguments.push(index);
                    continue;
                }
                (None, Some(result)) if matches!(clause.rule, Rule::NonDifferentiable) => {
                    self.differentiable.retain(|index| *index != result);
                    continue;
                }
                _ => unknown(operator, &name),
            };
            errors.at(target, mistake);
            self.is_right = false;
        }
        arguments
    }
}

/// Checks that each tensor argument has a clause.
fn check_complete(operator: &Operator, has_clause: &[bool], errors: &mut Errors) -> bool {
    let mut is_right = true;
    for (argument, has_clause) in operator.schema.arguments.iter().zip(has_clause) {
        if is_tensors(&argument.ty) && !has_clause {
            let message = format!(
                "what is the derivative with respect to `{0}`? Write `{0} => FORMULA`, or `{0} => non_differentiable`",
                argument.name
            );
            errors.push(operator.place.error(message));
            is_right = false;
        }
    }
    is_right
}

/// Checks that gradients can flow from the results, and that there is one if there are formulas.
fn check_results(
    operator: &Operator,
    differentiable: &[usize],
    has_formulas: bool,
    errors: &mut Errors,
) -> bool {
    let mut is_right = true;
    for index in differentiable {
        is_right &= errors.ok(check_result(operator, *index)).is_some();
    }
    if differentiable.is_empty() && has_formulas {
        let message = format!(
            "no result of `{}` has a gradient, so there is nothing that a formula could use: write \
             `as non_differentiable;` instead of the formulas",
            operator.schema.name
        );
        errors.push(operator.place.error(message));
        is_right = false;
    }
    is_right
}

/// Checks that gradients can flow from a result: from a tensor or a list of tensors.
fn check_result(operator: &Operator, index: usize) -> syn::Result<()> {
    let ty = &operator.schema.returns[index].ty;
    match ty {
        Type::Tensor => Ok(()),
        Type::List(element) if **element == Type::Tensor => Ok(()),
        ty => {
            let instead = match operator.schema.returns.len() {
                1 => "`as non_differentiable;` instead of the formulas".to_owned(),
                _ => format!("`{} => non_differentiable`", result_name(operator, index)),
            };
            let message = format!("not supported yet: gradients of a result of type {ty}; write {instead}");
            Err(operator.returns[index].place.error(message))
        }
    }
}

fn is_list(operator: &Operator, argument: usize) -> bool {
    matches!(operator.schema.arguments[argument].ty, Type::List(_))
}

fn unknown(operator: &Operator, name: &str) -> String {
    let tensors = operator.schema.arguments.iter().filter(|argument| is_tensors(&argument.ty));
    let names: Vec<_> = tensors.map(|argument| format!("`{}`", argument.name)).collect();
    format!("`{}` has no argument `{name}`; its tensors are {}", operator.schema.name, names.join(", "))
}

/// Whether gradients can flow to or from values of a type.
pub(super) fn is_tensors(ty: &Type) -> bool {
    match ty {
        Type::Tensor => true,
        Type::Optional(inner) | Type::List(inner) => is_tensors(inner),
        _ => false,
    }
}

/// The default node name: `MyOpBackward0` for `my_op.Scalar`.
fn default_name(operator: &Operator) -> String {
    let words = operator.schema.name.name.split('_').map(|word| {
        let mut letters = word.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect::<String>())
            .unwrap_or_default()
    });
    words.chain(["Backward0".to_owned()]).collect()
}
