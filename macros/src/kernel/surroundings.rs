//! What stands around an item. A macro sees its item alone: in an `impl`, rustc would report each item that registers a
//! function as one that cannot be there. The file tells, whose braces are enough to follow.

use proc_macro2::Span;

/// What an item stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// An `impl` or a `trait`, by its keyword.
    Associated(&'static str),
    /// A function's body.
    Function,
    /// A module, as far as one can see.
    Module,
}

/// What the item at this place stands in; a module, where there is no file.
pub(super) fn around(place: Span) -> Around {
    let place = place.unwrap();
    if place.column() == 1 {
        return Around::Module; // rustfmt indents what is in something
    }
    let text = place.local_file().and_then(|file| std::fs::read_to_string(file).ok());
    text.and_then(|text| in_text(&text, place.line(), place.column())).unwrap_or(Around::Module)
}

/// What the character in this line and column stands in, which count from 1.
fn in_text(text: &str, line: usize, column: usize) -> Option<Around> {
    let mut before = text.split_inclusive('\n');
    let lines: usize = before.by_ref().take(line - 1).map(str::len).sum();
    let end = lines + before.next()?.char_indices().nth(column - 1)?.0;
    let mut scan = Scan { rest: &text[..end], head: String::new(), open: Vec::new() };
    while scan.step() {}
    let innermost = scan.open.pop()?;
    // Blocks and calls of macros stand in functions, and only directly in an `impl` is an item a part of it.
    let outer = || scan.open.iter().rev().copied().flatten().next();
    innermost.or_else(|| outer().filter(|around| *around == Around::Function))
}

/// The state of a scan.
struct Scan<'t> {
    rest: &'t str,
    /// The code since the last brace or semicolon.
    head: String,
    /// The item of each open brace; `None` for other blocks.
    open: Vec<Option<Around>>,
}

impl Scan<'_> {
    /// Skips a token, or a character of one; false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else { return false };
        let length = comment(self.rest).or_else(|| literal(self.rest)).unwrap_or_else(|| {
            match first {
                '{' => self.open.push(item(&self.head)),
                '}' => drop(self.open.pop()),
                _ => {}
            }
            if matches!(first, '{' | '}' | ';') {
                self.head.clear()
            } else {
                self.head.push(first)
            }
            first.len_utf8()
        });
        self.rest = self.rest.get(length..).unwrap_or_default();
        true
    }
}

/// The item that starts like this, after attributes and what may precede the keyword.
fn item(head: &str) -> Option<Around> {
    let mut head = head.trim_start();
    while head.starts_with("#[") {
        head = head.get(closing(head)..)?.trim_start();
    }
    const BEFORE: [&str; 9] =
        ["pub", "crate", "super", "self", "unsafe", "default", "auto", "const", "async"];
    let words = head.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let first = words.filter(|word| !word.is_empty()).find(|word| !BEFORE.contains(word))?;
    Some(match first {
        "impl" => Around::Associated("impl"),
        "trait" => Around::Associated("trait"),
        "fn" => Around::Function,
        "mod" => Around::Module,
        _ => return None,
    })
}

/// The length of an attribute, to its closing bracket.
fn closing(head: &str) -> usize {
    let mut depth = 0;
    for (at, letter) in head.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' if depth == 1 => return at + 1,
            ']' => depth -= 1,
            _ => {}
        }
    }
    head.len()
}

/// The length of the comment that the text starts with, if it does.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let mut rest = text.strip_prefix("/*")?;
    let mut depth = 1;
    while depth > 0 && !rest.is_empty() {
        let step = match rest.as_bytes() {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (rest.chars().next().map_or(1, char::len_utf8), 0),
        };
        (rest, depth) = (&rest[step.0..], depth + step.1);
    }
    Some(text.len() - rest.len())
}

/// The length of the string or character that the text starts with, if it does. The letters before a string, as in
/// `br"…"`, are part of the code, except that `r` makes it a raw one.
fn literal(text: &str) -> Option<usize> {
    let raw = text.strip_prefix('r').map(|rest| (rest, rest.len() - rest.trim_start_matches('#').len()));
    if let Some((rest, hashes)) = raw
        && rest[hashes..].starts_with('"')
    {
        let end = format!("\"{}", "#".repeat(hashes));
        let inside = &rest[hashes + 1..];
        return Some(inside.find(&end).map_or(text.len(), |at| 2 + hashes + at + end.len()));
    }
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let is_lifetime = quote == '\'' && !text[1..].starts_with('\\') && text.chars().nth(2) != Some('\'');
    if is_lifetime {
        return Some(1);
    }
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            letter if letter == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer for the place of `HERE`.
    fn of(text: &str) -> Option<Around> {
        let before = &text[..text.find("HERE").unwrap()];
        let line = before.matches('\n').count() + 1;
        in_text(text, line, before.rsplit('\n').next().unwrap().chars().count() + 1)
    }

    #[test]
    fn items_in_an_impl_or_a_trait_are_found() {
        let [of_impl, of_trait] = ["impl", "trait"].map(|keyword| Some(Around::Associated(keyword)));
        assert_eq!(of("impl Foo { HERE fn f() {} }"), of_impl);
        assert_eq!(of("struct Foo;\n#[x([])] unsafe impl<T> Foo<T>\nwhere T: A\n{\n    HERE"), of_impl);
        assert_eq!(of("pub(crate) trait Foo {\n const N: &str = \"}\"; fn g() { { } }\n HERE"), of_trait);
        assert_eq!(
            of("impl Foo { /* } /* } */ */ // }\n fn g(c: char) -> bool { c == '}' }\n HERE"),
            of_impl
        );
        assert_eq!(of("impl Foo { fn g<'a>(x: &'a str) { x == r#\"}\"\"# || x == '\\''; } HERE"), of_impl);
    }

    #[test]
    fn items_elsewhere_are_not() {
        assert_eq!(of("mod cpu {\n    HERE"), Some(Around::Module));
        assert_eq!(of("impl Foo { }\nmod m { HERE"), Some(Around::Module));
        assert_eq!(of("fn f() { mod m { HERE"), Some(Around::Module));
        assert_eq!(of("impl Foo { const fn g() { HERE"), Some(Around::Function));
        assert_eq!(of("fn main() -> impl Sized { if x { HERE"), Some(Around::Function));
        assert_eq!(of("mod r#impl { HERE"), Some(Around::Module));
        assert_eq!(of("macro_rules! m { () => { HERE"), None);
        assert_eq!(of("impl A { x! { HERE"), None);
        assert_eq!(of("// impl {\nmod m { HERE"), Some(Around::Module));
    }
}
