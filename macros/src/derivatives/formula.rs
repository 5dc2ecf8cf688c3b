//! Which arguments and results a formula names, and the formula in Rust.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use crate::library::Operator;

/// A formula as it is emitted.
pub(super) struct Formula {
    pub(super) tokens: TokenStream,
    /// Positions of the arguments whose value it needs.
    pub(super) values: BTreeSet<usize>,
    /// Positions of the arguments of which it needs only sizes, dtype and device.
    pub(super) metadata: BTreeSet<usize>,
    /// Positions of the results that it needs.
    pub(super) results: BTreeSet<usize>,
}

/// Methods that need only a tensor's metadata, not its elements.
const METADATA: [&str; 8] = ["sizes", "strides", "storage_offset", "dim", "numel", "size", "dtype", "device"];

/// Macros whose call never gives a value.
const DIVERGING: [&str; 5] = ["bail", "panic", "todo", "unimplemented", "unreachable"];

fn diverges(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    match &tokens[..] {
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
            diverges(last_statement(group.stream()))
        }
        [TokenTree::Ident(first), ..] if first == "return" => !tokens.iter().any(is_semicolon),
        [path @ .., TokenTree::Ident(name), TokenTree::Punct(bang), TokenTree::Group(_)] => {
            let is_path = path.iter().all(|token| match token {
                TokenTree::Ident(_) => true,
                TokenTree::Punct(punct) => punct.as_char() == ':',
                _ => false,
            });
            bang.as_char() == '!' && is_path && DIVERGING.iter().any(|diverging| name == diverging)
        }
        _ => false,
    }
}

/// The last statement of a block, or the expression at its end.
fn last_statement(block: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = block.into_iter().collect();
    while tokens.last().is_some_and(is_semicolon) {
        tokens.pop();
    }
    let is_block =
        |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let before = tokens.len().saturating_sub(1);
    let end = tokens[..before].iter().rposition(|token| is_semicolon(token) || is_block(token));
    tokens.split_off(end.map_or(0, |end| end + 1)).into_iter().collect()
}

fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';')
}

/// The name of a result in formulas.
pub(super) fn result_name(operator: &Operator, index: usize) -> String {
    let returns = &operator.schema.returns;
    match &returns[index].name {
        Some(name) => name.clone(),
        None if returns.len() == 1 => "result".into(),
        None => format!("result{index}"),
    }
}

impl Formula {
    pub(super) fn new(operator: &Operator, tokens: TokenStream) -> Self {
        let mut formula = Formula {
            tokens: TokenStream::new(),
            values: BTreeSet::new(),
            metadata: BTreeSet::new(),
            results: BTreeSet::new(),
        };
        formula.tokens = formula.scan(operator, tokens);
        // A saved value includes its metadata.
        formula.metadata.retain(|index| !formula.values.contains(index));
        formula
    }

    /// Whether the formula only returns an error, by a macro such as `bail!` or by `return`, alone or at the end of a
    /// block: it has no value then.
    pub(super) fn diverges(&self) -> bool {
        diverges(self.tokens.clone())
    }

    /// Collects the names, renames `self` to its name in Rust, and makes each name see the variable that it means.
    fn scan(&mut self, operator: &Operator, tokens: TokenStream) -> TokenStream {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut scanned = Vec::with_capacity(tokens.len());
        let mut index = 0;
        while index < tokens.len() {
            match &tokens[index] {
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), self.scan(operator, group.stream()));
                    inner.set_span(group.span());
                    scanned.push(TokenTree::Group(inner));
                }
                TokenTree::Ident(ident) if !is_member(&tokens[..index]) && !is_path(&tokens[index..]) => {
                    match metadata_of(operator, &tokens[index..]) {
                        Some((argument, name)) => {
                            self.metadata.insert(argument);
                            scanned.push(TokenTree::Ident(name));
                            index += 1; // skips the parentheses
                        }
                        None => scanned.push(TokenTree::Ident(self.name(operator, ident, &tokens[index..]))),
                    }
                }
                other => scanned.push(other.clone()),
            }
            index += 1;
        }
        scanned.into_iter().collect()
    }

    /// Collects one name.
    fn name(&mut self, operator: &Operator, ident: &Ident, rest: &[TokenTree]) -> Ident {
        let name = ident.to_string();
        if let Some(index) = argument(operator, &name) {
            let known = if asks_metadata(rest) { &mut self.metadata } else { &mut self.values };
            known.insert(index);
            return at(ident, operator.arguments[index].ident.clone());
        }
        let result = (0..operator.schema.returns.len()).find(|index| result_name(operator, *index) == name);
        self.results.extend(result);
        if result.is_some() || LOCALS.contains(&&*name) {
            return at(ident, Ident::new(&name, local_span(operator)));
        }
        ident.clone()
    }
}

/// The names that formulas have besides those of arguments and results.
const LOCALS: [&str; 3] = ["grad", "grads", "mask"];

/// Where the variables are declared that formulas have besides arguments.
pub(super) fn local_span(operator: &Operator) -> Span {
    operator.place.first
}

/// A variable at the place of the name that means it. The name may be from a macro and the schema from its caller: by
/// itself it would not see the variable then.
fn at(name: &Ident, mut variable: Ident) -> Ident {
    variable.set_span(name.span().resolved_at(variable.span()));
    variable
}

/// Finds an argument by its name in the schema or in Rust.
pub(super) fn argument(operator: &Operator, name: &str) -> Option<usize> {
    let arguments = operator.schema.arguments.iter().zip(&operator.arguments);
    arguments.into_iter().position(|(argument, rust)| argument.name == name || rust.ident == name)
}

/// `metadata(tensors)`: the metadata of an argument that is a list or optional.
fn metadata_of(operator: &Operator, tokens: &[TokenTree]) -> Option<(usize, Ident)> {
    let [TokenTree::Ident(word), TokenTree::Group(group), ..] = tokens else { return None };
    if word != "metadata" || group.delimiter() != Delimiter::Parenthesis {
        return None;
    }
    let mut inner = group.stream().into_iter();
    let (Some(TokenTree::Ident(name)), None) = (inner.next(), inner.next()) else { return None };
    let index = argument(operator, &name.to_string())?;
    Some((index, at(&name, operator.arguments[index].ident.clone())))
}

/// Whether an identifier after these tokens names a method or field.
fn is_member(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Punct(first), TokenTree::Punct(second)] => {
            second.as_char() == '.' && first.as_char() != '.'
                || second.as_char() == ':' && first.as_char() == ':'
        }
        [.., TokenTree::Punct(sign)] => sign.as_char() == '.',
        _ => false,
    }
}

/// Whether the tokens start with `name::…`.
fn is_path(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [_, TokenTree::Punct(first), TokenTree::Punct(second), ..]
        if first.as_char() == ':' && second.as_char() == ':')
}

/// Whether the tokens start with `name.sizes()` or another metadata method.
fn asks_metadata(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [_, TokenTree::Punct(dot), TokenTree::Ident(method), TokenTree::Group(_), ..]
        if dot.as_char() == '.' && METADATA.iter().any(|known| method == known))
}
