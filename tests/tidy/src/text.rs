//! Checks that files are easy to read: the first line says what a file is for; lines, functions and files are short.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::Result;

/// The maximum width of a line. Rustfmt wraps code at less, but leaves comments and macro arguments alone.
pub const WIDTH: usize = 120;
/// The maximum number of lines of a file.
pub const FILE: usize = 600;
/// The maximum number of lines of a function's body, without blank lines and comments, as clippy counts them.
pub const FUNCTION: usize = 60;
/// The comment by which a longer file gives its reason, on the same line.
pub const LONG_FILE: &str = "// Longer than 600 lines: ";

/// The Rust files in a folder and its subfolders, sorted.
///
/// # Errors
/// A folder cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The problems of a file.
///
/// # Errors
/// The text is not Rust.
pub fn problems(name: &Path, text: &str) -> Result<Vec<String>> {
    let name = name.display();
    let tokens = TokenStream::from_str(text).map_err(|error| {
        let line = error.span().start().line;
        format!("{name}:{line}: {error}")
    })?;
    let mut found = Vec::new();
    if !text.lines().next().is_some_and(|line| line.starts_with("//! ")) {
        found.push(format!("{name}:1: the first line is to say what the file is for, behind `//!`"));
    }
    let lines = text.lines().count();
    if lines > FILE && !has_reason(text) {
        found.push(format!("{name}: {lines} lines, and no line `{LONG_FILE}…` that says why not {FILE}"));
    }
    let quoted = lines_of_long_strings(&tokens);
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        let width = line.chars().count();
        if width > WIDTH && !is_table_row(line) && !quoted.contains(&number) {
            found.push(format!("{name}:{number}: {width} columns, at most {WIDTH}"));
        }
    }
    for Function { function, line, lines } in long_functions(tokens) {
        found.push(format!(
            "{name}:{line}: `{function}` has {lines} lines of code, at most {FUNCTION} without a reason"
        ));
    }
    Ok(found)
}

fn has_reason(text: &str) -> bool {
    text.lines().any(|line| line.strip_prefix(LONG_FILE).is_some_and(|reason| !reason.trim().is_empty()))
}

/// Whether the line is a row of a table in documentation, which Markdown cannot wrap.
fn is_table_row(line: &str) -> bool {
    let line = line.trim_start();
    line.strip_prefix("///")
        .or_else(|| line.strip_prefix("//!"))
        .is_some_and(|text| text.trim_start().starts_with('|'))
}

/// The lines of multi-line literals, and lines with nothing but a literal: these cannot be wrapped.
fn lines_of_long_strings(tokens: &TokenStream) -> BTreeSet<usize> {
    let mut literals = Vec::new();
    let mut others = BTreeSet::new();
    collect_literals(tokens.clone(), &mut literals, &mut others);
    let alone = |line: &usize| !others.contains(line);
    literals.into_iter().flatten().filter(alone).collect()
}

fn collect_literals(
    tokens: TokenStream,
    literals: &mut Vec<std::ops::RangeInclusive<usize>>,
    others: &mut BTreeSet<usize>,
) {
    for token in tokens {
        let (first, last) = (token.span().start().line, token.span().end().line);
        match token {
            TokenTree::Literal(_) => literals.push(first..=last),
            TokenTree::Punct(mark) if matches!(mark.as_char(), ',' | ';') => {}
            TokenTree::Group(group) => {
                others.insert(first);
                collect_literals(group.stream(), literals, others);
            }
            _ => _ = others.insert(first),
        }
    }
}

struct Function {
    function: String,
    line: usize,
    lines: usize,
}

/// The functions that are too long without a reason, including those in macros.
fn long_functions(tokens: TokenStream) -> Vec<Function> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    let mut has_reason = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Bracket && is_mark(&tokens, at, '#') =>
            {
                has_reason |= is_reason(&group.stream().to_string());
            }
            TokenTree::Group(group) => {
                found.extend(long_functions(group.stream()));
                has_reason &= group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => has_reason = false,
            TokenTree::Ident(word) if word == "fn" && !has_reason => {
                found.extend(long_function(&tokens[at..]))
            }
            _ => {}
        }
    }
    found
}

/// Whether this punctuation mark precedes the token.
fn is_mark(tokens: &[TokenTree], at: usize, mark: char) -> bool {
    at > 0 && matches!(&tokens[at - 1], TokenTree::Punct(other) if other.as_char() == mark)
}

/// Whether an attribute gives the reason why a function is long.
fn is_reason(attribute: &str) -> bool {
    attribute.contains("too_many_lines") && attribute.contains("reason")
}

/// The function that begins with these tokens, if it is too long.
fn long_function(tokens: &[TokenTree]) -> Option<Function> {
    let TokenTree::Ident(name) = tokens.get(1)? else { return None };
    let is_end = |token: &&TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        _ => false,
    };
    let TokenTree::Group(body) = tokens.iter().find(is_end)? else { return None };
    let mut lines = BTreeSet::new();
    collect_lines(body.stream(), &mut lines);
    let line = name.span().start().line;
    (lines.len() > FUNCTION).then(|| Function { function: name.to_string(), line, lines: lines.len() })
}

/// The lines that have tokens: no blank lines and comments, but documentation counts.
fn collect_lines(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    for token in tokens {
        lines.extend([token.span().start().line, token.span().end().line]);
        match token {
            TokenTree::Group(group) => collect_lines(group.stream(), lines),
            other => lines.extend(other.span().start().line..=other.span().end().line),
        }
    }
}
