//! Structured operators: one kernel, which writes to `out`, and one meta function, which describes the results. The
//! kernels of all variants are derived from these two.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::call::{Shape, lend, look, shape, tuple};
use super::kernels::Kernel;
use super::{Expansion, Members};
use crate::library::model::{Argument, Operator, Returned};
use crate::native::entry::Entry;
use crate::native::func::Kind;
use crate::native::keys;

/// The key for backends that have a kernel only for `out`.
const BY_OUT: &str = "CompositeExplicitAutogradNonFunctional";

/// A structured operator.
struct Structured<'a> {
    /// The entry of the `out` variant, and its operator.
    entry: &'a Entry,
    out: &'a Operator,
    /// The meta function, which makes a tensor on `meta` for each result.
    meta: TokenStream,
    /// Variables for the meta function's results: `meta_0`, ….
    metas: Vec<Ident>,
    /// The functional and in-place variants.
    delegates: Vec<(Kind, &'a Operator)>,
}

impl Expansion<'_> {
    /// The kernels of all variants, for the keys in the table and for Meta.
    pub(super) fn structured<'m>(&self, entry: &'m Entry, members: &'m Members<'_>) -> Vec<Kernel<'m>> {
        let Some(structured) = self.variants(entry, members) else { return Vec::new() };
        let is_own = |key: &&'static str| keys::STRUCTURED.contains(key);
        let mut kernels = Vec::new();
        for line in &entry.dispatch {
            let keys: Vec<_> = line.keys.iter().copied().filter(is_own).collect();
            if !keys.is_empty() {
                let (call, function) = (self.function(&line.kernel, members.namespace), line.kernel.clone());
                let (several, single): (Vec<_>, Vec<_>) =
                    keys.into_iter().partition(|key| entry.device_check && keys::has_several_devices(key));
                for (keys, device_check) in [(several, true), (single, false)] {
                    let bodies = structured.bodies(&call);
                    kernels.extend(bodies.into_iter().filter(|_| !keys.is_empty()).map(
                        |(operator, body)| Kernel {
                            operator,
                            keys: keys.clone(),
                            function: function.clone(),
                            body,
                            spot: line.spot,
                            device_check,
                        },
                    ));
                }
            }
        }
        if kernels.is_empty() {
            return kernels;
        }
        let out = &structured.out.ident;
        let by_out = structured.bodies(&quote!(super::#out::call));
        let by_out = by_out.into_iter().skip(1).map(|(operator, body)| (operator, body, BY_OUT));
        let meta = structured.meta_bodies().into_iter().map(|(operator, body)| (operator, body, "Meta"));
        kernels.extend(meta.chain(by_out).filter(|(.., key)| !entry.has_key(key)).map(
            |(operator, body, key)| {
                let function = format!("generated from {}", entry.func.name);
                Kernel { operator, keys: vec![key], function, body, spot: entry.spot, device_check: false }
            },
        ));
        kernels
    }

    fn variants<'m>(&self, entry: &'m Entry, members: &'m Members<'_>) -> Option<Structured<'m>> {
        let out = members.operators.get(&entry.func.name.to_string())?;
        let is_delegate = |other: &&&Entry| {
            other.structured_delegate.as_ref().is_some_and(|(name, _)| *name == entry.func.name)
        };
        let delegates = members.entries.iter().filter(is_delegate);
        let delegates: Vec<_> = delegates
            .filter_map(|other| Some((*other, members.operators.get(&other.func.name.to_string())?)))
            .collect();
        let (functional, _) = delegates.iter().find(|(other, _)| other.func.kind() == Kind::Functional)?;
        let meta = format!("{}_meta", functional.default_kernel());
        let metas = (0..functional.func.schema.returns.len()).map(|at| format_ident!("meta_{at}")).collect();
        Some(Structured {
            entry,
            out,
            meta: self.function(&meta, members.namespace),
            metas,
            delegates: delegates.iter().map(|(other, operator)| (other.func.kind(), *operator)).collect(),
        })
    }
}

impl<'a> Structured<'a> {
    fn inputs(&self) -> usize {
        self.entry.func.inputs().len()
    }

    /// The kernel of each variant, the `out` variant first; `kernel` writes to `out`.
    fn bodies(&self, kernel: &TokenStream) -> Vec<(&'a Operator, TokenStream)> {
        let prepared = self.prepared();
        let arguments = self.out.arguments.iter().map(|argument| &argument.ident);
        let out = quote!(#prepared #kernel(#(#arguments),*));
        let others = self.delegates.iter().map(|(kind, operator)| {
            let body = match kind {
                Kind::InPlace => self.in_place(operator, Some(kernel)),
                _ => self.functional(operator, kernel),
            };
            (*operator, body)
        });
        std::iter::once((self.out, out)).chain(others).collect()
    }

    /// The kernels at Meta, which compute no elements.
    fn meta_bodies(&self) -> Vec<(&'a Operator, TokenStream)> {
        let prepared = self.prepared();
        let returned: Vec<_> = self
            .out
            .returns
            .iter()
            .filter_map(|ret| match ret.value {
                Returned::Argument(at) => {
                    let ident = &self.out.arguments[at].ident;
                    Some(quote!(#ident))
                }
                Returned::Owned(_) => None,
            })
            .collect();
        let returned = tuple(&returned);
        let out = quote!(#prepared ::core::result::Result::Ok(#returned));
        let others = self.delegates.iter().map(|(kind, operator)| {
            let body = match kind {
                Kind::InPlace => self.in_place(operator, None),
                _ => {
                    let (meta, arguments) = (&self.meta, operator.arguments.iter().map(look));
                    quote!(#meta(#(#arguments),*))
                }
            };
            (*operator, body)
        });
        std::iter::once((self.out, out)).chain(others).collect()
    }

    /// A call of the meta function.
    fn described(&self, operator: &Operator) -> TokenStream {
        let arguments = operator.arguments[..self.inputs()].iter().map(look);
        let names: Vec<_> = self.metas.iter().map(|name| quote!(#name)).collect();
        let (meta, names) = (&self.meta, tuple(&names));
        quote!(let #names = #meta(#(#arguments),*)?;)
    }

    /// A call of the meta function, after which the `out` arguments get the sizes and strides of its results.
    fn prepared(&self) -> TokenStream {
        let described = self.described(self.out);
        let outs = self.out.arguments[self.inputs()..].iter().zip(&self.metas).map(|(argument, meta)| {
            let (text, out) = (argument.ident.to_string(), lend(argument));
            quote!(__torch::derived::prepare_out(#text, #out, &#meta)?;)
        });
        quote!(#described #(#outs)*)
    }

    fn functional(&self, operator: &Operator, kernel: &TokenStream) -> TokenStream {
        let described = self.described(operator);
        let device = device(&operator.arguments);
        let outs: Vec<_> = (0..self.metas.len()).map(|at| format_ident!("out_{at}")).collect();
        let metas = &self.metas;
        let arguments = operator.arguments.iter().map(lend);
        let returned: Vec<_> = outs.iter().map(|out| quote!(#out)).collect();
        let returned = tuple(&returned);
        quote! {
            #described
            let device = #device;
            #(let mut #outs = __torch::derived::allocate(&#metas, device)?;)*
            let _ = #kernel(#(#arguments,)* #(&mut #outs),*)?;
            ::core::result::Result::Ok(#returned)
        }
    }

    fn in_place(&self, operator: &Operator, kernel: Option<&TokenStream>) -> TokenStream {
        let described = self.described(operator);
        let meta = &self.metas[0];
        let this = &operator.arguments[self.entry.func.this().unwrap_or_default()].ident;
        let arguments = operator.arguments.iter().map(|argument| match argument.ident == *this {
            true => quote!(&source),
            false => lend(argument),
        });
        let run = kernel.map(|kernel| {
            quote! {
                let source = #this.clone();
                let _ = #kernel(#(#arguments,)* &mut *#this)?;
            }
        });
        quote! {
            #described
            __torch::derived::check_in_place(&*#this, &#meta)?;
            #run
            ::core::result::Result::Ok(#this)
        }
    }
}

/// The device of the first tensor argument.
fn device(arguments: &[Argument]) -> TokenStream {
    let first = arguments.iter().find_map(|argument| {
        let value = look(argument);
        Some(match shape(&argument.ty)? {
            Shape::One => quote!(#value.device()),
            Shape::List => quote!(#value.first().map_or(__torch::Device::CPU, |tensor| tensor.device())),
            Shape::Optional => return None,
        })
    });
    first.unwrap_or_else(|| quote!(__torch::Device::CPU))
}
