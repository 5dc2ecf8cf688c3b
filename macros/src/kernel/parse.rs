//! Parses the arguments of `#[torch_impl]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Ident, LitStr, Path, Token, token};
use torch_library_schema::edit_distance;

use crate::errors::expected;
use crate::key::{self, Key};

/// The arguments: `aten, CPU`; `aten::add_Tensor, CPU, Meta, override`; `aten, "add.Tensor", CPU, boxed`.
pub(super) struct Arguments {
    /// The namespace's module, or the operator's.
    pub(super) path: Path,
    /// The options after the path, or the error in them.
    pub(super) options: syn::Result<Options>,
}

/// What follows the path. On a function of a block the options stand alone, without keys.
#[derive(Default)]
pub(super) struct Options {
    /// The operator's name as a string, such as `"add.Tensor"`.
    pub(super) name: Option<LitStr>,
    pub(super) keys: Vec<Key>,
    /// Whether `override` is given.
    pub(super) overrides: bool,
    pub(super) form: Form,
    /// `helper`: a function of a block that is not a kernel.
    pub(super) is_helper: bool,
}

/// The kind of kernel.
#[derive(Clone, Copy, Default)]
pub(super) enum Form {
    /// A function with the types of the schema.
    #[default]
    Typed,
    /// `boxed`: a function that takes the stack.
    Boxed(Span),
    /// `fallthrough`: no function at all.
    Fallthrough,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const USAGE: &str = "expected `#[torch_impl(NAMESPACE, KEY)]`, as in `#[torch_impl(aten, CPU)]`";
        if let Some(quoted) = quoted(input) {
            return quoted;
        }
        let mut path =
            input.call(Path::parse_mod_style).map_err(|_| expected(input, Span::call_site(), USAGE))?;
        if input.peek(Token![.]) {
            let error = dotted(&mut path, input)?;
            return Ok(Arguments { path, options: Err(error) });
        }
        let options = Options::parse_behind(&path, input);
        if options.is_err() {
            if path.get_ident().is_some_and(is_like_a_key) {
                return Err(syn::Error::new_spanned(&path, USAGE));
            }
            input.parse::<TokenStream>()?;
        }
        Ok(Arguments { path, options })
    }
}

/// The error for `ops::lift.out`; the path is shortened to that of the namespace, which may be correct.
///
/// # Errors
/// There is no namespace before the name, so there is nothing to look up.
fn dotted(path: &mut Path, input: ParseStream<'_>) -> syn::Result<syn::Error> {
    let written = path_text(path);
    input.parse::<Token![.]>()?;
    let overload = Ident::parse_any(input)?;
    input.parse::<TokenStream>()?;
    let name = path.segments.pop().map(|name| quote!(#name));
    path.segments.pop_punct();
    let message = match path.segments.is_empty() {
        false => format!("an overload is joined to its operator's name by `_`: write `{written}_{overload}`"),
        true => format!("expected a path, as in Rust: write `{written}::{overload}`"),
    };
    let tokens = quote!(#name #overload);
    let error = syn::Error::new_spanned(tokens, message);
    if path.segments.is_empty() { Err(error) } else { Ok(error) }
}

/// The error for a path in quotes, `"ops::add.Tensor"`: its namespace may be correct. None for other strings.
fn quoted(input: ParseStream<'_>) -> Option<syn::Result<Arguments>> {
    let text: LitStr = input.fork().parse().ok()?;
    let name = text.value();
    let parse = |path: &str| LitStr::new(path, text.span()).parse_with(Path::parse_mod_style).ok();
    let error = |message: String| syn::Error::new(text.span(), message);
    let (before, overload) = name.split_once('.').map_or((&*name, ""), |(before, after)| (before, after));
    let mut path = parse(before)?;
    if path.segments.len() < 2 {
        let message = match overload {
            "" => format!(
                "expected a namespace's module first, as a path without quotes: `{name}`, if it is one"
            ),
            _ => format!("the namespace comes first, as in `#[torch_impl(NAMESPACE, \"{name}\", CPU)]`"),
        };
        return Some(Err(error(message)));
    }
    input.parse::<TokenStream>().ok()?;
    path.segments.pop();
    path.segments.pop_punct();
    let overload = if overload.is_empty() { String::new() } else { format!("_{overload}") };
    let message = format!("a path is written without quotes: `{before}{overload}`");
    Some(Ok(Arguments { path, options: Err(error(message)) }))
}

/// A path as it is usually written.
fn path_text(path: &Path) -> String {
    let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let root = if path.leading_colon.is_some() { "::" } else { "" };
    format!("{root}{}", segments.join("::"))
}

impl Options {
    fn parse_behind(path: &Path, input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Options::default();
        while !input.is_empty() {
            comma(input)?;
            if !input.is_empty() {
                options.parse_next(input)?;
            }
        }
        if options.keys.is_empty() {
            let message =
                format!("expected a dispatch key after it, as in `#[torch_impl({}, CPU)]`", path_text(path));
            return Err(match &options.name {
                Some(name) => syn::Error::new(name.span(), message),
                None => syn::Error::new_spanned(path, message),
            });
        }
        Ok(options)
    }

    /// Parses the options of a function in a block, and rejects those that belong to the block.
    pub(super) fn parse_in_block(input: ParseStream<'_>) -> syn::Result<Self> {
        const USAGE: &str = "the namespace and the key are those of the block: on a function in it, \
                             expected the operator's name, as in `#[torch_impl(\"add.Tensor\")]`, \
                             `override`, `boxed` and `fallthrough`, or `helper` if it is not a kernel";
        let mut options = Options::default();
        if input.fork().parse::<Ident>().is_ok_and(|word| word == "helper") {
            input.parse::<Ident>()?;
            options.is_helper = true;
            return Ok(options);
        }
        while !input.is_empty() {
            let is_word = input.fork().parse::<Ident>().is_ok_and(|word| is_word(&word));
            if !is_word && !input.peek(Token![override]) && !input.peek(LitStr) {
                return Err(input.error(USAGE));
            }
            options.parse_next(input)?;
            if !input.is_empty() {
                comma(input)?;
            }
        }
        Ok(options)
    }

    fn parse_next(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if input.peek(Token![override]) {
            let word: Token![override] = input.parse()?;
            return match std::mem::replace(&mut self.overrides, true) {
                false => Ok(()),
                true => Err(syn::Error::new(word.span(), "`override` is given twice")),
            };
        }
        if let Some(error) = key::quoted(input) {
            return Err(error);
        }
        if input.peek(LitStr) {
            let name: LitStr = input.parse()?;
            let span = name.span();
            return match self.name.replace(name) {
                None => Ok(()),
                Some(_) => {
                    Err(syn::Error::new(span, "a kernel implements one operator: this is a second name"))
                }
            };
        }
        if let Ok(word) = input.fork().parse::<Ident>()
            && (is_word(&word) || !is_like_a_key(&word))
        {
            input.parse::<Ident>()?;
            if input.peek(Token![=]) && !is_word(&word) {
                let message = format!("{EXPECTED}: write the value alone, without `{word} =`");
                return Err(syn::Error::new(word.span(), message));
            }
            return self.word(&word);
        }
        if !input.peek(Ident) {
            let several = "; several keys follow one another, as in `CPU, CUDA`";
            let help = if input.peek(token::Bracket) || input.peek(token::Paren) { several } else { "" };
            return Err(input.error(format!("{EXPECTED}{help}")));
        }
        let key: Key = input.parse()?;
        if self.keys.contains(&key) {
            return Err(syn::Error::new(key.0.span(), format!("the key {} is given twice", key.0)));
        }
        self.keys.push(key);
        Ok(())
    }

    fn word(&mut self, word: &Ident) -> syn::Result<()> {
        if !is_word(word) {
            let text = word.to_string();
            let near = WORDS.into_iter().find(|known| edit_distance(&text, known) <= 2);
            let message = match key::in_other_letters(&text).or(near) {
                Some(meant) => format!("{EXPECTED}; did you mean `{meant}`?"),
                None => format!(
                    "{EXPECTED}; a third-party backend registers for `PrivateUse1`, whatever its name"
                ),
            };
            return Err(syn::Error::new(word.span(), message));
        }
        let form = if word == "boxed" { Form::Boxed(word.span()) } else { Form::Fallthrough };
        match std::mem::replace(&mut self.form, form) {
            Form::Typed => Ok(()),
            _ => Err(syn::Error::new(word.span(), "expected one of `boxed` and `fallthrough`, once")),
        }
    }
}

/// Parses the comma between two options.
fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    let message = match () {
        () if input.peek(Token![=]) => "expected `,`: `override`, `boxed` and `fallthrough` take no value",
        () if input.peek(Token![|]) || input.peek(Token![;]) || input.peek(Token![+]) => {
            "expected `,`, which separates the keys and the other options"
        }
        () => "expected `,`",
    };
    input.parse::<Option<Token![,]>>()?.map(drop).ok_or_else(|| input.error(message))
}

const EXPECTED: &str =
    "expected a dispatch key, an operator's name as a string, `override`, `boxed` or `fallthrough`";

/// The options that are words.
const WORDS: [&str; 3] = ["override", "boxed", "fallthrough"];

fn is_word(word: &Ident) -> bool {
    word == "boxed" || word == "fallthrough"
}

/// Whether the identifier looks like a dispatch key: these start with a capital letter.
fn is_like_a_key(word: &Ident) -> bool {
    word.to_string().starts_with(|first: char| first.is_ascii_uppercase())
}
