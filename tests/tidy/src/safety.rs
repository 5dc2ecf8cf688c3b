//! Checks the documentation of `unsafe`: each `unsafe` function lists its requirements under `# Safety`, and each call argues
//! for them in place, instead of pointing elsewhere.

use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, ImplItem, ItemFn, ItemImpl, Lit, Meta, Safety, Signature, TraitItemFn};

use crate::Result;

/// Phrases that point elsewhere instead of saying how an obligation is met.
const ELSEWHERE: [&str; 4] = ["as above", "here and below", "by contract", "passed on"];

/// Finds the `unsafe` functions of a file without such a list, and safety comments with these phrases. For trait methods, the
/// list belongs to the trait.
///
/// # Errors
/// The text is not Rust.
pub fn problems(name: &Path, text: &str) -> Result<Vec<String>> {
    let file = syn::parse_file(text).map_err(|error| format!("{}: {error}", name.display()))?;
    let mut unlisted = Unlisted { name, found: Vec::new() };
    unlisted.visit_file(&file);
    unlisted.found.extend(text.lines().enumerate().filter_map(|(index, line)| {
        let (_, argument) = line.split_once("// SAFETY: ")?;
        let words = ELSEWHERE.iter().find(|words| argument.contains(**words))?;
        Some(format!("{}:{}: `{words}` is no argument: say what discharges what", name.display(), index + 1))
    }));
    Ok(unlisted.found)
}

struct Unlisted<'n> {
    name: &'n Path,
    found: Vec<String>,
}

impl Unlisted<'_> {
    fn check(&mut self, signature: &Signature, attributes: &[Attribute]) {
        if matches!(signature.safety, Safety::Unsafe(_)) && !has_list(attributes) {
            let (name, line) = (self.name.display(), signature.ident.span().start().line);
            self.found.push(format!(
                "{name}:{line}: `{}` is unsafe, and lists nothing under `# Safety`",
                signature.ident
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Unlisted<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.check(&function.sig, &function.attrs);
        visit::visit_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        self.check(&function.sig, &function.attrs);
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        for item in block.items.iter().filter(|_| block.trait_.is_none()) {
            if let ImplItem::Fn(function) = item {
                self.check(&function.sig, &function.attrs);
            }
        }
        visit::visit_item_impl(self, block);
    }
}

/// Whether a list follows the line `# Safety`.
fn has_list(attributes: &[Attribute]) -> bool {
    let lines: Vec<String> = attributes.iter().filter_map(documentation).collect();
    let lines = lines.iter().flat_map(|text| text.lines()).map(str::trim);
    let mut behind = lines.skip_while(|line| *line != "# Safety").skip(1);
    behind.any(|line| line.starts_with("- ") || line.starts_with("* "))
}

fn documentation(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
