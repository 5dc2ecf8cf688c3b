//! The items that the attributes apply to: a function, or a module of functions.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, Signature, Token, Visibility};

use crate::lints;

/// The item under `#[torch_impl]`.
pub(super) enum Item {
    Function(Box<Function>),
    Module(Module),
    /// `mod cpu;`, which rustc itself rejects under any attribute macro.
    File(Ident),
}

/// A function whose body is not parsed, so that rustc reports mistakes in the body by itself.
pub(super) struct Function {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) signature: Signature,
    pub(super) body: Body,
}

/// `{ … }`, or `;` for a fallthrough kernel.
pub(super) enum Body {
    Block(Group),
    Semicolon(Span),
}

/// A module of kernels.
pub(super) struct Module {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) keyword: Token![mod],
    pub(super) ident: Ident,
    pub(super) inner_attributes: Vec<Attribute>,
    pub(super) items: Vec<ModuleItem>,
}

/// An item of such a module: each function is a kernel, other items are passed through.
pub(super) enum ModuleItem {
    Kernel(Box<Function>),
    Other(Box<syn::Item>),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        if ahead.peek(Token![mod]) {
            let is_file = ahead.peek3(Token![;]);
            if is_file {
                ahead.parse::<Token![mod]>()?;
                let ident = ahead.parse()?;
                input.parse::<TokenStream>()?;
                return Ok(Item::File(ident));
            }
            return Ok(Item::Module(input.parse()?));
        }
        if is_function(&ahead) {
            return Ok(Item::Function(input.parse()?));
        }
        let tokens: TokenStream = input.parse()?;
        let message = "`#[torch_impl]` belongs on a function, or on a module of functions";
        Err(syn::Error::new_spanned(tokens, message))
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

impl Parse for Body {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![;]) {
            return Ok(Body::Semicolon(input.parse::<Token![;]>()?.span()));
        }
        input.parse().map(Body::Block)
    }
}

impl Parse for Module {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let keyword = input.parse()?;
        let ident = input.parse()?;
        let body;
        syn::braced!(body in input);
        let inner_attributes = body.call(Attribute::parse_inner)?;
        let mut items = Vec::new();
        while !body.is_empty() {
            items.push(body.parse()?);
        }
        Ok(Module { attributes, visibility, keyword, ident, inner_attributes, items })
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

impl Module {
    /// The place of a macro call among the items, whose functions would not be seen.
    pub(super) fn unseen(&self) -> Option<Span> {
        self.items.iter().find_map(|item| match item {
            ModuleItem::Other(item) => match &**item {
                syn::Item::Macro(call) if !call.mac.path.is_ident("macro_rules") => {
                    Some(call.mac.path.span())
                }
                _ => None,
            },
            ModuleItem::Kernel(_) => None,
        })
    }
}

impl Function {
    /// The function's `#[cfg]` attributes.
    pub(super) fn cfgs(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"))
    }

    /// The function as the user wrote it; nothing for a fallthrough, which has no body.
    pub(super) fn as_written(&self) -> TokenStream {
        let Function { attributes, visibility, signature, body } = self;
        match body {
            // Its name, arguments and `Result` are dictated by the schema, so lints about them are off.
            Body::Block(body) => {
                let (ident, inputs) = (&signature.ident, &signature.inputs);
                let names = inputs.iter().filter_map(|input| match input {
                    syn::FnArg::Typed(input) => Some(&input.pat),
                    syn::FnArg::Receiver(_) => None,
                });
                let names = lints::names_in(quote!(#ident #(#names)*));
                quote! {
                    #names
                    #[allow(clippy::too_many_arguments, clippy::type_complexity, clippy::unnecessary_wraps)]
                    #(#attributes)* #visibility #signature #body
                }
            }
            Body::Semicolon(_) => quote!(),
        }
    }

    /// Whether it is `fn name();`.
    pub(super) fn is_name_alone(&self) -> bool {
        matches!(self.body, Body::Semicolon(_))
            && self.signature.inputs.is_empty()
            && matches!(self.signature.output, syn::ReturnType::Default)
    }

    /// The span of the body.
    pub(super) fn body_span(&self) -> Span {
        match &self.body {
            Body::Block(body) if body.delimiter() == Delimiter::Brace => body.span_open(),
            Body::Block(body) => body.span(),
            Body::Semicolon(span) => *span,
        }
    }
}

impl ToTokens for ModuleItem {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            ModuleItem::Kernel(function) => function.as_written().to_tokens(tokens),
            ModuleItem::Other(item) => item.to_tokens(tokens),
        }
    }
}
