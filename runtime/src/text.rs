//! Texts in constants, where `==` cannot be used.

/// Whether two texts are the same.
pub const fn are_same(first: &str, other: &str) -> bool {
    let (first, other) = (first.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < first.len() && at < other.len() && first[at] == other[at] {
        at += 1;
    }
    at == first.len() && at == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_the_same_if_each_letter_is() {
        let texts = ["", "a", "b", "ab", "abc"];
        for (first, other) in texts.iter().flat_map(|first| texts.map(|other| (*first, other))) {
            assert_eq!(are_same(first, other), first == other, "{first:?} and {other:?}");
        }
    }
}
