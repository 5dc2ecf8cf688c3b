//! The paths that a piece of code names, whether rustc parses it as items or it is the argument of a macro.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, UseTree};

/// A path as it is written, and its line.
pub(crate) struct Named {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
}

/// Whether an item is there in tests only.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        meta => meta.path().is_ident("test"),
    })
}

/// The paths of a `use`, one for each name that it imports, with that name; `*` for all.
pub(crate) fn imports(tree: &UseTree) -> Vec<(String, Named)> {
    let mut found = Vec::new();
    collect_imports(tree, &mut Vec::new(), &mut found);
    found
}

fn collect_imports(tree: &UseTree, prefix: &mut Vec<String>, found: &mut Vec<(String, Named)>) {
    let mut leaf = |name: &str, last: &Ident| {
        let mut path = prefix.clone();
        match last == "self" && !path.is_empty() {
            true => {}
            false => path.push(last.to_string()),
        }
        let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name.to_owned() };
        found.push((name, Named { path, line: last.span().start().line }));
    };
    match tree {
        UseTree::Path(inner) => {
            prefix.push(inner.ident.to_string());
            collect_imports(&inner.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|item| collect_imports(item, prefix, found)),
        UseTree::Name(name) => leaf(&name.ident.to_string(), &name.ident),
        UseTree::Rename(rename) => leaf(&rename.rename.to_string(), &rename.ident),
        UseTree::Glob(glob) => {
            let line = glob.star_token.spans[0].start().line;
            found.push(("*".to_owned(), Named { path: prefix.clone(), line }));
        }
    }
}

/// Collects what the code that it visits names. It does not enter modules, which are visited on their own, nor tests.
#[derive(Default)]
pub(crate) struct Paths {
    pub(crate) found: Vec<Named>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes: &[Attribute] = match item {
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Macro(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Static(item) => &item.attrs,
            syn::Item::Const(item) => &item.attrs,
            _ => &[],
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.found.extend(imports(&item.tree).into_iter().map(|(_, named)| named));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.found.push(Named { path: segments, line: path.segments[0].ident.span().start().line });
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.visit_path(&called.path);
        self.tokens(called.tokens.clone(), &[]);
    }
}

impl Paths {
    /// Paths in tokens that nobody has parsed. `$crate::x` is not one: it is of the crate that calls the macro, whatever is below.
    fn tokens(&mut self, tokens: TokenStream, prefix: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => {
                    self.tokens(group.stream(), &[]);
                    at += 1;
                }
                TokenTree::Ident(first) if !after_dollar(&tokens, at) => {
                    at = self.path(&tokens, at, first, prefix)
                }
                TokenTree::Ident(_) => at = end_of_path(&tokens, at),
                _ => at += 1,
            }
        }
    }

    /// Takes the path that begins here, and each of those that a group at its end has; returns where it ends.
    fn path(&mut self, tokens: &[TokenTree], at: usize, first: &Ident, prefix: &[String]) -> usize {
        let end = end_of_path(tokens, at);
        let names = tokens[at..end].iter().filter_map(|token| match token {
            TokenTree::Ident(name) => Some(name.to_string()),
            _ => None,
        });
        let path: Vec<String> = prefix.iter().cloned().chain(names).filter(|name| name != "mut").collect();
        if let Some(TokenTree::Group(group)) = tokens.get(end)
            && group.delimiter() == Delimiter::Brace
            && is_separator(tokens, end.saturating_sub(2))
        {
            self.tokens(group.stream(), &path);
            return end + 1;
        }
        self.found.push(Named { path, line: first.span().start().line });
        end
    }
}

fn after_dollar(tokens: &[TokenTree], at: usize) -> bool {
    at > 0 && matches!(&tokens[at - 1], TokenTree::Punct(mark) if mark.as_char() == '$')
}

/// Whether `::` is here.
fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    colon(at) && colon(at + 1)
}

/// Behind the last name, or behind the `::` before what is not a name, of the path that begins here.
fn end_of_path(tokens: &[TokenTree], at: usize) -> usize {
    let mut end = at + 1;
    while is_separator(tokens, end) {
        end += 2;
        match tokens.get(end) {
            Some(TokenTree::Ident(_)) => end += 1,
            _ => break,
        }
    }
    end
}
