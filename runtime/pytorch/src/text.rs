//! Texts for Python: JSON, whose strings are Python's as well.

use std::fmt::Write;

/// Writes JSON from parts that are JSON.
pub(crate) enum Json {}

impl Json {
    pub(crate) fn object<'k>(members: impl IntoIterator<Item = (&'k str, String)>) -> String {
        let members = members.into_iter().map(|(name, value)| format!("{}:{value}", json_string(name)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }

    pub(crate) fn list(elements: impl IntoIterator<Item = String>) -> String {
        format!("[{}]", elements.into_iter().collect::<Vec<_>>().join(","))
    }
}

/// A string in quotes, in letters of ASCII alone.
pub(crate) fn json_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for unit in text.encode_utf16() {
        match char::from_u32(u32::from(unit)) {
            Some(letter @ ('"' | '\\')) => quoted.extend(['\\', letter]),
            Some(letter @ ' '..='~') => quoted.push(letter),
            _ => _ = write!(quoted, "\\u{unit:04x}"),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_no_letter_that_ends_them() {
        assert_eq!(json_string("a \"b\" \\ \n é"), r#""a \"b\" \\ \u000a \u00e9""#);
        assert_eq!(Json::object([("a", Json::list(["1".to_owned(), json_string("x")]))]), r#"{"a":[1,"x"]}"#);
    }
}
