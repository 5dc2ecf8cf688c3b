//! The canonical spelling of a schema: PyTorch's generator compares the parsed and printed schema with the original.

/// A schema with spaces where PyTorch's generator prints them: after commas, around `->`, between a type and a name,
/// but not in list and string literals, which it leaves alone. A single return has no parentheses.
pub(crate) fn spelled(schema: &str) -> String {
    let (mut out, mut lists, mut had_space) = (String::with_capacity(schema.len()), 0, false);
    let mut letters = schema.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            _ if letter.is_whitespace() => {
                had_space = true;
                continue;
            }
            '-' if letters.next_if_eq(&'>').is_some() => out.push_str(" -> "),
            '\'' | '"' => text(letter, &mut letters, &mut out),
            ',' if lists == 0 => out.push_str(", "),
            _ => {
                lists += i32::from(letter == '[') - i32::from(letter == ']');
                let starts_name = |before: char| had_space && is_of_word(before) || ")]?".contains(before);
                if is_of_word(letter) && out.chars().next_back().is_some_and(starts_name) {
                    out.push(' ');
                }
                out.push(letter);
            }
        }
        had_space = false;
    }
    match out.rsplit_once(") -> (") {
        Some((call, one)) if one.len() > 1 && !one.contains(", ") => {
            format!("{call}) -> {}", one.strip_suffix(')').unwrap_or(one))
        }
        _ => out,
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Copies a string literal, whose opening quote has been read.
fn text(quote: char, letters: &mut impl Iterator<Item = char>, out: &mut String) {
    out.push(quote);
    let mut is_escaped = false;
    for letter in letters {
        out.push(letter);
        if letter == quote && !is_escaped {
            return;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
}

#[cfg(test)]
mod tests {
    use super::spelled;

    #[test]
    fn spaces_stand_where_the_generator_prints_them() {
        for (written, right) in [
            ("f (Tensor self)->Tensor", "f(Tensor self) -> Tensor"),
            (
                "f(Tensor  self,int[2] d=[0, 1] , * , str s='a , b') -> ( )",
                "f(Tensor self, int[2] d=[0,1], *, str s='a , b') -> ()",
            ),
            (
                "f . out(Tensor(a->*)self, Tensor ? [ ]x) -> Tensor ( a ) [ ]",
                "f.out(Tensor(a -> *) self, Tensor?[] x) -> Tensor(a)[]",
            ),
            ("f_(Tensor(a !) self) -> (Tensor(a!))", "f_(Tensor(a!) self) -> Tensor(a!)"),
        ] {
            assert_eq!(spelled(written), right);
            assert_eq!(spelled(right), right);
        }
    }
}
