//! The parser, from tokens to a schema.

mod alias;
mod check;
mod default;
mod similar;
mod types;

pub(crate) use default::word_of;

use crate::error::{SchemaError, visible};
use crate::name::OperatorName;
use crate::schema::{Argument, Mode, Return, Schema};
use crate::token::lexer::{Lexeme, Lexer};
use crate::token::{Span, Token, TokenKind};
use types::Annotated;

/// A syntax error was recorded, and parsing stops.
struct Stop;

type Result<T> = std::result::Result<T, Stop>;

type Parsed<T> = std::result::Result<T, SchemaError>;

/// The maximum number of bytes of a text: far more than an operator's schema has.
const MAX_LENGTH: usize = 64 * 1024;
/// The maximum number of arguments, of returns, of members of all tuples and `Union`s together, and of names in alias
/// sets: far more than an operator may have, and few enough for pairwise comparisons.
const MAX_ITEMS: usize = 256;
/// The maximum number of mistakes that are reported at once.
const MAX_PROBLEMS: usize = 16;

/// A recursive-descent parser with one token of lookahead (two at `[`).
///
/// Mistakes are recorded as they are found. After a semantic error (such as a duplicate argument name) the parser goes
/// on, after a syntax error it stops.
struct Parser<'t> {
    source: Source<'t>,
    /// The token to read next, and the one after it if it was looked at.
    next: Lexeme<'t>,
    after: Option<Lexeme<'t>>,
    /// The number of tokens that were read, and the end of the last one.
    read: usize,
    end: usize,
    mode: Mode,
    problems: Vec<SchemaError>,
    /// The number of anonymous alias sets (`Tensor!`) so far.
    fresh_sets: usize,
    /// The number of members of tuples and `Union`s so far, not counting the first of each.
    members: usize,
    /// The number of names in alias sets so far.
    alias_names: usize,
    /// The nesting depth of the present type.
    depth: usize,
    /// The alias sets that the arguments name, which returns may refer to.
    declared_sets: Vec<&'t str>,
    in_returns: bool,
}

/// The source of tokens.
enum Source<'t> {
    Text(Lexer<'t>),
    Tokens(&'t [Token<'t>]),
}

impl<'t> Source<'t> {
    /// Replaces `lexeme`, the previous token, by the next one.
    #[inline]
    fn read(&mut self, lexeme: &mut Lexeme<'t>) {
        match self {
            Source::Text(lexer) => lexer.read(lexeme),
            Source::Tokens([first, rest @ ..]) => {
                *self = Source::Tokens(rest);
                *lexeme = Lexeme { kind: first.kind, text: &first.text, span: first.span };
            }
            Source::Tokens([]) => *lexeme = Lexeme::end(lexeme.span.end),
        }
    }
}

impl OperatorName {
    /// Parses a name. A full schema is an error.
    ///
    /// # Errors
    ///
    /// `text` is not a name, or the overload is reserved by PyTorch (`default`, `__…`).
    pub fn parse(text: &str) -> Parsed<Self> {
        Parser::of_text(text, Mode::PyTorch)?.run(|parser| {
            let name = parser.operator_name()?;
            if parser.peek() == TokenKind::OpenParen {
                let help = "leave out the arguments and returns";
                return Err(parser.fail(
                    parser.here(),
                    "expected an operator name, found a full schema",
                    help,
                ));
            }
            parser.end()?;
            Ok(name)
        })
    }
}

impl Schema {
    /// Parses a schema.
    ///
    /// # Errors
    ///
    /// The mistakes, with their positions as byte offsets in `text`.
    pub fn parse(text: &str, mode: Mode) -> Parsed<Schema> {
        Parser::of_text(text, mode)?.run(Parser::only_schema)
    }

    /// Parses a schema, or only an operator name.
    ///
    /// # Errors
    ///
    /// The errors of [`parse`](Self::parse).
    pub fn parse_or_name(text: &str, mode: Mode) -> Parsed<std::result::Result<Schema, OperatorName>> {
        Parser::of_text(text, mode)?.run(|parser| {
            let name = parser.operator_name()?;
            let parsed = match parser.peek() {
                TokenKind::OpenParen => Ok(parser.signature(name)?),
                _ => Err(name),
            };
            parser.end()?;
            Ok(parsed)
        })
    }

    /// Parses a schema from all of `tokens`.
    ///
    /// # Errors
    ///
    /// The errors of [`parse`](Self::parse), with positions in the spans of the tokens.
    pub fn parse_tokens(tokens: &[Token<'_>], mode: Mode) -> Parsed<Schema> {
        Parser::new(Source::Tokens(tokens), mode).run(Parser::only_schema)
    }

    /// Parses a schema at the start of `tokens`, and returns how many it used. The tokens after it are not looked at.
    pub fn parse_prefix(tokens: &[Token<'_>], mode: Mode) -> (Parsed<Schema>, usize) {
        let mut parser = Parser::new(Source::Tokens(tokens), mode);
        let schema = parser.run(Parser::schema);
        (schema, parser.read)
    }
}

impl<'t> Parser<'t> {
    fn of_text(text: &'t str, mode: Mode) -> Parsed<Self> {
        if text.len() <= MAX_LENGTH {
            return Ok(Self::new(Source::Text(Lexer::new(text)), mode));
        }
        let message = format!("the text has {} bytes, and a schema at most {MAX_LENGTH}", text.len());
        Err(SchemaError::new(message, Span { start: 0, end: 0 }))
    }

    fn new(mut source: Source<'t>, mode: Mode) -> Self {
        let mut next = Lexeme::end(0);
        source.read(&mut next);
        Self {
            source,
            next,
            after: None,
            read: 0,
            end: 0,
            mode,
            problems: Vec::new(),
            fresh_sets: 0,
            members: 0,
            alias_names: 0,
            depth: 0,
            declared_sets: Vec::new(),
            in_returns: false,
        }
    }

    /// The result of `parse`, or all mistakes that it recorded.
    fn run<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Parsed<T> {
        let parsed = parse(self);
        match parsed {
            Ok(parsed) if self.problems.is_empty() => Ok(parsed),
            _ => Err(SchemaError::from_all(std::mem::take(&mut self.problems))),
        }
    }

    fn only_schema(&mut self) -> Result<Schema> {
        let schema = self.schema()?;
        self.end()?;
        Ok(schema)
    }

    /// Parses a schema, whatever follows it.
    fn schema(&mut self) -> Result<Schema> {
        let name = self.operator_name()?;
        match self.peek() {
            TokenKind::OpenParen => self.signature(name),
            TokenKind::End | TokenKind::Newline => {
                let help = format!("write `{name}(Tensor self) -> Tensor`");
                Err(self.fail(self.here(), "expected a full schema, found an operator name alone", help))
            }
            _ => Err(self.unexpected("`(` and the arguments")),
        }
    }

    /// Parses `[ns::]name[.overload]`.
    fn operator_name(&mut self) -> Result<OperatorName> {
        let mut name = self.name("an operator name")?.to_owned();
        let mut namespace = None;
        if self.eat(TokenKind::Colon) {
            self.expect(TokenKind::Colon)?;
            namespace = Some(std::mem::replace(&mut name, self.name("an operator name")?.to_owned()));
        }
        let mut overload = String::new();
        if self.eat(TokenKind::Dot) {
            let span = self.here();
            overload = self.name("an overload name")?.to_owned();
            if overload == "default" || overload.starts_with("__") {
                let help = "leave the overload out, or take a name that is not `default` or `__…`";
                self.problem(span, format!("`{overload}` cannot be the name of an overload"), help);
            }
        }
        Ok(OperatorName { namespace, name, overload })
    }

    /// Parses `(arguments) -> returns`.
    fn signature(&mut self, name: OperatorName) -> Result<Schema> {
        let (arguments, is_vararg) = self.arguments()?;
        if !self.eat(TokenKind::Arrow) {
            let help = "an operator without returns ends in `-> ()`";
            return Err(self.unexpected_with_help("`->` and the returns", help));
        }
        self.in_returns = true;
        let (returns, is_varret) = self.returns()?;
        Ok(Schema { name, arguments, returns, is_vararg, is_varret })
    }

    /// Parses `(T a, T b=1, *, T c)` or `(T a, ...)`.
    fn arguments(&mut self) -> Result<(Vec<Argument>, bool)> {
        let mut arguments = Vec::new();
        let mut star = None;
        let mut vararg = None;
        self.expect(TokenKind::OpenParen)?;
        if !self.eat(TokenKind::CloseParen) {
            loop {
                let span = self.here();
                if vararg.is_some() {
                    return Err(self.fail(span, "`...` must be the last argument", "move it to the end"));
                } else if self.eat(TokenKind::Star) {
                    self.check_star(star.replace(span), span);
                    self.star_alone()?;
                } else if self.eat(TokenKind::Dots) {
                    vararg = Some(span);
                } else {
                    self.limit(arguments.len(), "arguments")?;
                    self.argument(star.is_some(), &mut arguments)?;
                }
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
            self.close("an argument")?;
        }
        self.check_arguments(&arguments, star, vararg);
        Ok((arguments, vararg.is_some()))
    }

    /// Stops at what follows a `*` in Python: `*args`, `**kwargs`.
    fn star_alone(&mut self) -> Result<()> {
        if !matches!(self.peek(), TokenKind::Star | TokenKind::Ident) {
            return Ok(());
        }
        let help = "write `*, Type name`; `...` at the end stands for any number of arguments";
        Err(self.unexpected_with_help("`,` after `*`, behind which all arguments are passed by name", help))
    }

    /// Parses `T`, `T name`, `(T, T)`, `()`, `...` or `(T, ...)`.
    fn returns(&mut self) -> Result<(Vec<Return>, bool)> {
        if self.eat(TokenKind::Dots) {
            return Ok((Vec::new(), true));
        }
        if !self.eat(TokenKind::OpenParen) {
            let mut only = Vec::with_capacity(1);
            self.one_return(&mut only)?;
            return Ok((only, false));
        }
        let mut returns = Vec::new();
        let mut is_varret = false;
        if !self.eat(TokenKind::CloseParen) {
            loop {
                if is_varret {
                    return Err(self.fail(
                        self.here(),
                        "`...` must be the last return",
                        "move it to the end",
                    ));
                } else if self.eat(TokenKind::Dots) {
                    is_varret = true;
                } else {
                    self.limit(returns.len(), "returns")?;
                    self.one_return(&mut returns)?;
                }
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
            self.close("a return")?;
        }
        Ok((returns, is_varret))
    }

    /// Stops before an item beyond the limit is read and compared with all others.
    fn limit(&mut self, count: usize, what: &str) -> Result<()> {
        if count < MAX_ITEMS {
            return Ok(());
        }
        let message = format!("more than {MAX_ITEMS} {what}");
        Err(self.fail(self.here(), message, "an operator that takes so much takes a list"))
    }

    /// Parses and adds one argument: `T name` or `T name=default`.
    fn argument(&mut self, kwarg_only: bool, arguments: &mut Vec<Argument>) -> Result<()> {
        let Annotated { ty, size, alias } = self.sized_type()?;
        let span = self.here();
        let name = match self.peek() {
            TokenKind::Ident => self.name("an argument name")?.to_owned(),
            _ => {
                let help = "an argument is a type, then a name: `Tensor self`";
                return Err(self.unexpected_with_help("an argument name", help));
            }
        };
        self.check_name(&name, span, arguments.iter().map(|argument| &*argument.name), "argument");
        let mut default = None;
        if self.eat(TokenKind::Equals) {
            let start = self.here();
            let value = self.default_value(&ty, size)?;
            self.check_default(&ty, &value, start);
            default = Some(value);
        }
        arguments.push(Argument { name, ty, size, default, kwarg_only, alias });
        self.check_order(arguments, span);
        Ok(())
    }

    /// Parses and adds one return: `T` or `T name`.
    fn one_return(&mut self, returns: &mut Vec<Return>) -> Result<()> {
        let Annotated { ty, size, alias } = self.sized_type()?;
        let span = self.here();
        let mut name = None;
        if self.word().is_some_and(|word| !is_reserved(word)) {
            let text = self.name("a return name")?;
            self.check_name(text, span, returns.iter().filter_map(|ret| ret.name.as_deref()), "return");
            name = Some(text.to_owned());
        }
        returns.push(Return { name, ty, size, alias });
        Ok(())
    }

    /// Parses a word that is not reserved.
    fn name(&mut self, what: &str) -> Result<&'t str> {
        match self.word() {
            Some(word) if !is_reserved(word) => {
                self.advance();
                Ok(word)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Reads up to and including the closing parenthesis of a list.
    fn close(&mut self, what: &str) -> Result<()> {
        let expected = format!("`,` or `)` after {what}");
        match self.peek() {
            TokenKind::CloseParen => {
                self.advance();
                Ok(())
            }
            TokenKind::Bang => {
                Err(self
                    .unexpected_with_help(&expected, "an annotation belongs to the type: `Tensor(a!) self`"))
            }
            _ => Err(self.unexpected(&expected)),
        }
    }

    fn end(&mut self) -> Result<()> {
        self.eat(TokenKind::Newline);
        match self.peek() {
            TokenKind::End => Ok(()),
            TokenKind::Comma => {
                let help = "several returns are in parentheses: `-> (Tensor, int)`";
                Err(self.unexpected_with_help("the end of the schema", help))
            }
            _ => Err(self.unexpected("the end of the schema")),
        }
    }

    fn peek(&self) -> TokenKind {
        self.next.kind
    }

    /// The kind of the token after the next one.
    fn peek_after(&mut self) -> TokenKind {
        let after = self.after.get_or_insert_with(|| {
            let mut after = self.next;
            self.source.read(&mut after);
            after
        });
        after.kind
    }

    #[inline]
    fn advance(&mut self) {
        self.end = self.next.span.end;
        self.read += 1;
        match self.after.take() {
            Some(after) => self.next = after,
            None => self.source.read(&mut self.next),
        }
    }

    /// The next token, if it is a word.
    fn word(&self) -> Option<&'t str> {
        (self.peek() == TokenKind::Ident).then_some(self.next.text)
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, kind: TokenKind) -> Result<()> {
        if self.eat(kind) { Ok(()) } else { Err(self.unexpected(&format!("`{}`", kind.sign()))) }
    }

    /// The span of the next token.
    fn here(&self) -> Span {
        self.next.span
    }

    /// The span of everything that was read since `start` was the next token.
    fn since(&self, start: Span) -> Span {
        Span { start: start.start, end: self.end.max(start.start) }
    }

    /// Records a semantic error; the parser goes on.
    #[cold]
    fn problem(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(SchemaError::new(message, span).with_help(help));
        }
    }

    /// Records a syntax error; the parser stops.
    #[cold]
    fn fail(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Stop {
        self.problems.push(SchemaError::new(message, span).with_help(help));
        Stop
    }

    /// Records the error "expected `what`, found the next token".
    #[cold]
    fn unexpected(&mut self, what: &str) -> Stop {
        let text = self.next.text;
        let found = match self.peek() {
            TokenKind::End => "the end".to_owned(),
            TokenKind::Newline => "a line break".to_owned(),
            TokenKind::Invalid if matches!(text, "\"" | "'") => {
                "a string without its closing quote".to_owned()
            }
            TokenKind::Ident if is_reserved(text) => format!("the reserved word `{text}`"),
            _ => format!("`{}`", visible(text)),
        };
        self.problems.push(SchemaError::new(format!("expected {what}, found {found}"), self.here()));
        Stop
    }

    #[cold]
    fn unexpected_with_help(&mut self, what: &str, help: impl Into<String>) -> Stop {
        let stop = self.unexpected(what);
        if let Some(problem) = self.problems.last_mut() {
            *problem = problem.clone().with_help(help);
        }
        stop
    }
}

/// Whether the word is reserved in PyTorch's lexer.
fn is_reserved(word: &str) -> bool {
    // Names are frequent and reserved words rare, so the first letter is tested first.
    match word.bytes().next().unwrap_or_default() {
        b'a' => matches!(word, "and" | "as" | "assert"),
        b'b' => word == "break",
        b'c' => matches!(word, "class" | "continue"),
        b'd' => matches!(word, "def" | "del"),
        b'e' => matches!(word, "else" | "elif"),
        b'f' => word == "for",
        b'g' => word == "global",
        b'i' => matches!(word, "if" | "in" | "is" | "import"),
        b'n' => word == "not",
        b'o' => word == "or",
        b'p' => word == "pass",
        b'r' => matches!(word, "raise" | "return"),
        b'w' => matches!(word, "while" | "with"),
        b'E' => word == "Ellipsis",
        b'F' => word == "False",
        b'N' => matches!(word, "None" | "NoneType"),
        b'T' => word == "True",
        _ => false,
    }
}
