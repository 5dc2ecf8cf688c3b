//! Writes JSON for Python; JSON strings in ASCII are Python string literals as well.

use std::fmt::Write;

/// Builds JSON from values that are JSON already.
pub(crate) enum Json {}

impl Json {
    pub(crate) fn object<'k>(members: impl IntoIterator<Item = (&'k str, String)>) -> String {
        let mut text = String::with_capacity(256);
        for (name, value) in members {
            text.push(if text.is_empty() { '{' } else { ',' });
            text.push_str(&json_string(name));
            text.push(':');
            text.push_str(&value);
        }
        text.push_str(if text.is_empty() { "{}" } else { "}" });
        text
    }

    pub(crate) fn list(elements: impl IntoIterator<Item = String>) -> String {
        let mut text = String::new();
        for element in elements {
            text.push(if text.is_empty() { '[' } else { ',' });
            text.push_str(&element);
        }
        text.push_str(if text.is_empty() { "[]" } else { "]" });
        text
    }
}

/// A quoted JSON string that contains only ASCII characters.
pub(crate) fn json_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
        quoted.push_str(text);
        quoted.push('"');
        return quoted;
    }
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
