//! The parser: tokens in, schema out.

mod alias;
mod check;
mod default;
mod types;

use crate::error::SchemaError;
use crate::lexer::lex;
use crate::name::OperatorName;
use crate::schema::{Argument, Mode, Return, Schema};
use crate::token::{Span, Token, TokenKind};

type Result<T> = std::result::Result<T, SchemaError>;

/// Words that PyTorch's lexer keeps for itself.
const RESERVED: [&str; 28] = [
    "def", "if", "else", "elif", "while", "return", "is", "True", "False", "None", "and", "or", "not",
    "global", "for", "in", "raise", "assert", "break", "continue", "del", "pass", "class", "import", "with",
    "as", "Ellipsis", "NoneType",
];

/// A recursive-descent parser over a slice of tokens, one token of lookahead (two before `[`).
pub(crate) struct Parser<'t, 's> {
    tokens: &'t [Token<'s>],
    at: usize,
    mode: Mode,
    /// Mistakes of meaning found so far; a mistake of grammar is returned at once.
    problems: Vec<SchemaError>,
    /// How many anonymous alias sets (`Tensor!`) there were.
    fresh_sets: usize,
    /// How deep the type at hand is nested.
    depth: usize,
    /// The alias sets that the arguments name, for the returns to refer to.
    declared_sets: Vec<&'t str>,
    in_returns: bool,
}

impl<'t, 's> Parser<'t, 's> {
    pub(crate) fn new(tokens: &'t [Token<'s>]) -> Self {
        Self {
            tokens,
            at: 0,
            mode: Mode::PyTorch,
            problems: Vec::new(),
            fresh_sets: 0,
            depth: 0,
            declared_sets: Vec::new(),
            in_returns: false,
        }
    }

    pub(crate) fn of_text<T>(text: &str, parse: impl FnOnce(Parser<'_, '_>) -> Result<T>) -> Result<T> {
        parse(Parser::new(&lex(text)))
    }

    pub(crate) fn in_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    pub(crate) fn consumed(&self) -> usize {
        self.at
    }

    pub(crate) fn only_name(mut self) -> Result<OperatorName> {
        let name = self.operator_name()?;
        if self.peek() == TokenKind::Punct(b'(') {
            let error = SchemaError::new("expected an operator name, found a full schema", self.span());
            return Err(error.with_help("leave out the arguments and returns"));
        }
        self.end()?;
        Ok(name)
    }

    pub(crate) fn only_schema(mut self) -> Result<Schema> {
        let schema = self.prefix()?;
        self.end()?;
        Ok(schema)
    }

    pub(crate) fn schema_or_name(mut self) -> Result<std::result::Result<Schema, OperatorName>> {
        let name = self.operator_name()?;
        let parsed = match self.peek() {
            TokenKind::Punct(b'(') => Ok(self.signature(name)?),
            _ => Err(name),
        };
        self.end()?;
        Ok(parsed)
    }

    /// One schema, whatever follows it.
    pub(crate) fn prefix(&mut self) -> Result<Schema> {
        let name = self.operator_name()?;
        if matches!(self.peek(), TokenKind::End | TokenKind::Newline) {
            let error = SchemaError::new("expected a full schema, found an operator name alone", self.span());
            return Err(error.with_help(format!("write `{name}(Tensor self) -> Tensor`")));
        }
        self.signature(name)
    }

    /// `[ns::]name[.overload]`
    fn operator_name(&mut self) -> Result<OperatorName> {
        let mut name = self.name("an operator name")?.to_owned();
        let mut namespace = None;
        if self.eat(b':') {
            self.expect(b':')?;
            namespace = Some(std::mem::replace(&mut name, self.name("an operator name")?.to_owned()));
        }
        let mut overload = String::new();
        if self.eat(b'.') {
            let span = self.span();
            overload = self.name("an overload name")?.to_owned();
            if overload == "default" || overload.starts_with("__") {
                let error = SchemaError::new(format!("`{overload}` cannot be the name of an overload"), span);
                return Err(
                    error.with_help("leave the overload out, or take a name that is not `default` or `__…`")
                );
            }
        }
        Ok(OperatorName { namespace, name, overload })
    }

    /// `(arguments) -> returns`, or every mistake in them.
    fn signature(&mut self, name: OperatorName) -> Result<Schema> {
        let parsed = self.arguments_and_returns(name);
        let mut problems = std::mem::take(&mut self.problems);
        match parsed {
            Ok(schema) => SchemaError::from_all(problems).map_or(Ok(schema), Err),
            Err(error) if problems.is_empty() => Err(error),
            Err(error) => {
                let fallback = error.clone();
                problems.push(error);
                Err(SchemaError::from_all(problems).unwrap_or(fallback))
            }
        }
    }

    fn arguments_and_returns(&mut self, name: OperatorName) -> Result<Schema> {
        let (arguments, is_vararg) = self.arguments()?;
        if self.peek() != TokenKind::Arrow {
            return Err(self
                .unexpected("`->` and the returns")
                .with_help("an operator without returns ends in `-> ()`"));
        }
        self.at += 1;
        self.in_returns = true;
        let (returns, is_varret) = self.returns()?;
        Ok(Schema { name, arguments, returns, is_vararg, is_varret })
    }

    /// `(T a, T b=1, *, T c)`, `(T a, ...)`
    fn arguments(&mut self) -> Result<(Vec<Argument>, bool)> {
        let mut arguments: Vec<Argument> = Vec::new();
        let mut vararg = None;
        let mut star: Option<Span> = None;
        self.expect(b'(')?;
        if !self.eat(b')') {
            loop {
                let span = self.here();
                if vararg.is_some() {
                    return Err(SchemaError::new("`...` must be the last argument", span.into()));
                } else if self.eat(b'*') {
                    self.check_star(star.replace(span), span);
                } else if self.eat_kind(TokenKind::Dots) {
                    vararg = Some(span);
                } else {
                    let argument = self.argument(star.is_some(), &arguments)?;
                    arguments.push(argument);
                }
                if !self.eat(b',') {
                    break;
                }
            }
            self.close("an argument")?;
        }
        self.check_arguments(&arguments, star, vararg)?;
        Ok((arguments, vararg.is_some()))
    }

    /// `T`, `T name`, `(T, T)`, `()`, `...`, `(T, ...)`
    fn returns(&mut self) -> Result<(Vec<Return>, bool)> {
        if self.eat_kind(TokenKind::Dots) {
            return Ok((Vec::new(), true));
        }
        if !self.eat(b'(') {
            return Ok((vec![self.one_return(&[])?], false));
        }
        let mut returns = Vec::new();
        let mut is_varret = false;
        if !self.eat(b')') {
            loop {
                if is_varret {
                    return Err(SchemaError::new("`...` must be the last return", self.span()));
                } else if self.eat_kind(TokenKind::Dots) {
                    is_varret = true;
                } else {
                    let ret = self.one_return(&returns)?;
                    returns.push(ret);
                }
                if !self.eat(b',') {
                    break;
                }
            }
            self.close("a return")?;
        }
        Ok((returns, is_varret))
    }

    fn close(&mut self, what: &str) -> Result<()> {
        if self.eat(b')') {
            return Ok(());
        }
        Err(self.unexpected(&format!("`,` or `)` after {what}")))
    }

    /// `T name`, `T name=default`
    fn argument(&mut self, kwarg_only: bool, earlier: &[Argument]) -> Result<Argument> {
        let annotated = self.sized_type()?;
        let span = self.span();
        let name = match self.peek() {
            TokenKind::Ident => self.name("an argument name")?.to_owned(),
            _ => {
                return Err(self
                    .unexpected("an argument name")
                    .with_help("an argument is a type, then a name: `Tensor self`"));
            }
        };
        self.check_name(&name, span.clone(), earlier.iter().map(|argument| &*argument.name), "argument");
        let types::Annotated { ty, size, alias } = annotated;
        let mut argument = Argument { name, ty, size, default: None, kwarg_only, alias: alias.map(Box::new) };
        if self.eat(b'=') {
            let start = self.at;
            let value = self.default_value(&argument.ty, size)?;
            self.check_default(&argument.ty, &value, self.since(start));
            argument.default = Some(value);
        }
        self.check_order(&argument, earlier, span);
        Ok(argument)
    }

    /// `T`, `T name`
    fn one_return(&mut self, earlier: &[Return]) -> Result<Return> {
        let types::Annotated { ty, size, alias } = self.sized_type()?;
        let span = self.span();
        let mut name = None;
        if self.peek() == TokenKind::Ident && !is_reserved(&self.tokens[self.at].text) {
            let text = self.name("a return name")?;
            self.check_name(text, span, earlier.iter().filter_map(|ret| ret.name.as_deref()), "return");
            name = Some(text.to_owned());
        }
        Ok(Return { name, ty, size, alias: alias.map(Box::new) })
    }

    /// An identifier that is not reserved.
    fn name(&mut self, what: &str) -> Result<&'t str> {
        match self.tokens.get(self.at) {
            Some(token) if token.kind == TokenKind::Ident && !is_reserved(&token.text) => {
                self.at += 1;
                Ok(&token.text)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn end(&mut self) -> Result<()> {
        self.eat_kind(TokenKind::Newline);
        match self.peek() {
            TokenKind::End => Ok(()),
            _ => Err(self.unexpected("the end of the schema")),
        }
    }

    fn peek(&self) -> TokenKind {
        self.tokens.get(self.at).map_or(TokenKind::End, |token| token.kind)
    }

    fn eat_kind(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        self.at += usize::from(found);
        found
    }

    fn eat(&mut self, sign: u8) -> bool {
        self.eat_kind(TokenKind::Punct(sign))
    }

    fn expect(&mut self, sign: u8) -> Result<()> {
        if self.eat(sign) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}`", char::from(sign))))
    }

    /// The place of the next token; past the last one at the end.
    fn here(&self) -> Span {
        match (self.tokens.get(self.at), self.tokens.last()) {
            (Some(token), _) => token.span,
            (None, Some(last)) => Span { start: last.span.end, end: last.span.end },
            (None, None) => Span::default(),
        }
    }

    fn span(&self) -> std::ops::Range<usize> {
        self.here().into()
    }

    /// The place of all tokens from `start` up to here.
    fn since(&self, start: usize) -> std::ops::Range<usize> {
        let last = self.tokens[start..self.at].last();
        let first = self.tokens.get(start).map_or(0, |token| token.span.start);
        first..last.map_or(first, |token| token.span.end)
    }

    /// "expected `what`, found the next token".
    #[cold]
    fn unexpected(&mut self, what: &str) -> SchemaError {
        let found = match (self.peek(), self.tokens.get(self.at)) {
            (TokenKind::End, _) | (_, None) => "the end".to_owned(),
            (TokenKind::Newline, _) => "a line break".to_owned(),
            (TokenKind::Invalid, Some(token)) if matches!(&*token.text, "\"" | "'") => {
                "a string without its closing quote".to_owned()
            }
            (TokenKind::Ident, Some(token)) if is_reserved(&token.text) => {
                format!("the reserved word `{}`", token.text)
            }
            (_, Some(token)) => format!("`{}`", token.text.escape_debug()),
        };
        SchemaError::new(format!("expected {what}, found {found}"), self.span())
    }
}

fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}
