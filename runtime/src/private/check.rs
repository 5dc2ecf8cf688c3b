//! Checks of what a macro was given, for rustc: functions that are never called, and constants.

use crate::value::FromValue;

/// An argument with the lifetime of a value on the stack.
pub fn lent<'v, T: FromValue<'v>>() -> T {
    never_called()
}

/// A return that is no argument.
pub fn owned<T: 'static>() -> T {
    never_called()
}

fn never_called<T>() -> T {
    unreachable!("only the types of this call matter")
}

/// Whether no argument is returned twice.
pub const fn are_distinct(returned: &[Option<usize>]) -> bool {
    let mut at = 0;
    while at < returned.len() {
        let mut before = 0;
        while before < at {
            if let (Some(one), Some(other)) = (returned[before], returned[at])
                && one == other
            {
                return false;
            }
            before += 1;
        }
        at += 1;
    }
    true
}

/// Whether a text may be part of a linker symbol, and of the assembly that defines it.
pub const fn is_symbol(text: &str) -> bool {
    let (text, mut at) = (text.as_bytes(), 0);
    while at < text.len() && (text[at].is_ascii_alphanumeric() || text[at] == b'_' || text[at] == b'.') {
        at += 1;
    }
    at == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_returned_once() {
        for (returned, expected) in [
            (&[][..], true),
            (&[None, None], true),
            (&[Some(1), None, Some(0)], true),
            (&[Some(1), None, Some(1)], false),
        ] {
            assert_eq!(are_distinct(returned), expected, "{returned:?}");
        }
    }

    #[test]
    fn a_symbol_has_no_character_that_assembly_reads_as_more_than_a_name() {
        assert!(is_symbol("aten.add_Tensor"));
        for text in ["aten add", "aten.add\n.globl main", "a\"b", "a,b", "a\\b", "\u{e9}"] {
            assert!(!is_symbol(text), "{text:?}");
        }
    }
}
