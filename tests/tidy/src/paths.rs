//! The paths that a piece of code names, both in items parsed by rustc and in the arguments of macros.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, UseTree};

/// A path as it is written, and its line.
pub(crate) struct Named {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
}

/// Whether an item exists only in tests.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        meta => meta.path().is_ident("test"),
    })
}

/// The paths that a `use` imports, each with the name that it defines; `*` for globs.
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

/// Collects the paths that the visited code names. It does not enter modules, which are visited by themselves, nor tests.
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
    /// Collects paths in unparsed tokens. `$crate::x` does not count: it names an item of the crate whose macro this is.
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

    /// Collects the path that begins here or, if it ends in a group, each path in the group; returns the end position.
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

/// Whether the tokens at this position are `::`.
fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    colon(at) && colon(at + 1)
}

/// The position after the path that begins here: after its last name, or after a `::` that a non-name follows.
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
