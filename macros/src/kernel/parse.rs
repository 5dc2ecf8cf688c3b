//! The tokens of `#[torch_impl]`.

use proc_macro2::{Group, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitStr, Path, Signature, Token, Visibility};

/// `aten, CPU` · `aten::add_Tensor, CPU, Meta` · `aten, "add.Tensor", CPU, override`
pub(crate) struct Arguments {
    /// The namespace's module, or the operator's.
    pub(crate) path: Path,
    /// `"add.Tensor"`
    pub(crate) name: Option<LitStr>,
    pub(crate) keys: Vec<Ident>,
    pub(crate) overrides: bool,
    pub(crate) boxed: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const USAGE: &str = "expected `#[torch_impl(NAMESPACE, KEY)]`, as in `#[torch_impl(aten, CPU)]`";
        if input.is_empty() {
            return Err(syn::Error::new(Span::call_site(), USAGE));
        }
        let path = input.call(Path::parse_mod_style).map_err(|error| syn::Error::new(error.span(), USAGE))?;
        let mut arguments = Arguments { path, name: None, keys: Vec::new(), overrides: false, boxed: false };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            arguments.parse_next(input)?;
        }
        if arguments.keys.is_empty() {
            let message = "expected a dispatch key, as in `#[torch_impl(aten, CPU)]`";
            return Err(syn::Error::new_spanned(&arguments.path, message));
        }
        Ok(arguments)
    }
}

impl Arguments {
    fn parse_next(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if input.peek(Token![override]) {
            input.parse::<Token![override]>()?;
            self.overrides = true;
        } else if input.peek(LitStr) {
            let name: LitStr = input.parse()?;
            if self.name.is_some() {
                return Err(syn::Error::new(
                    name.span(),
                    "a kernel implements one operator: this is a second name",
                ));
            }
            self.name = Some(name);
        } else if input.peek(Ident) {
            let word: Ident = input.parse()?;
            if word == "boxed" {
                self.boxed = true;
            } else if self.keys.contains(&word) {
                return Err(syn::Error::new(word.span(), format!("the key {word} is named twice")));
            } else {
                self.keys.push(word);
            }
        } else {
            return Err(
                input.error("expected a dispatch key, an operator's name as a string, `override` or `boxed`")
            );
        }
        Ok(())
    }
}

/// What the attribute stands on.
pub(crate) enum Item {
    Function(Function),
    Module(Module),
}

/// A function whose body is not looked at, so that a mistake in the body stays the body's.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: Group,
}

/// A module of kernels.
pub(crate) struct Module {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) keyword: Token![mod],
    pub(crate) ident: Ident,
    pub(crate) items: Vec<ModuleItem>,
}

/// An item of such a module: each function is a kernel, the rest is passed on.
pub(crate) enum ModuleItem {
    Kernel(Function),
    Other(Box<syn::Item>),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        if ahead.peek(Token![mod]) {
            return Ok(Item::Module(input.parse()?));
        }
        if is_function(&ahead) {
            return Ok(Item::Function(input.parse()?));
        }
        let tokens: TokenStream = input.parse()?;
        Err(syn::Error::new_spanned(
            tokens,
            "`#[torch_impl]` stands on a function, or on a module of functions",
        ))
    }
}

/// Whether a function follows, after its attributes and visibility.
fn is_function(input: ParseStream<'_>) -> bool {
    input.fork().parse::<Signature>().is_ok()
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Function {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            body: input.parse()?,
        })
    }
}

impl Parse for Module {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let keyword = input.parse()?;
        let ident = input.parse()?;
        if input.peek(Token![;]) {
            return Err(input.error("a module of kernels stands here with its body: `mod cpu { … }`"));
        }
        let body;
        syn::braced!(body in input);
        attributes.extend(body.call(Attribute::parse_inner)?);
        let mut items = Vec::new();
        while !body.is_empty() {
            items.push(body.parse()?);
        }
        Ok(Module { attributes, visibility, keyword, ident, items })
    }
}

impl Parse for ModuleItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        if is_function(&ahead) {
            return Ok(ModuleItem::Kernel(input.parse()?));
        }
        Ok(ModuleItem::Other(Box::new(input.parse()?)))
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Function { attributes, visibility, signature, body } = self;
        tokens.extend(quote!(#(#attributes)* #visibility #signature #body));
    }
}
