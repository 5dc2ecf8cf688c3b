//! The syntax of numbers and strings: where they end, their values, and how they are printed.

/// The length of the number at the start of `bytes`: what C's `strtod` accepts, with an optional `j`; 0 if there is
/// none.
pub(crate) fn scan_number(bytes: &[u8]) -> usize {
    let length = match bytes {
        [b'0', b'x' | b'X', rest @ ..] => match scan_mantissa(rest, u8::is_ascii_hexdigit) {
            0 => 1,
            digits => 2 + digits + scan_exponent(&rest[digits..], b'p'),
        },
        _ => match scan_mantissa(bytes, u8::is_ascii_digit) {
            0 => 0,
            digits => digits + scan_exponent(&bytes[digits..], b'e'),
        },
    };
    if length > 0 && bytes.get(length) == Some(&b'j') { length + 1 } else { length }
}

fn scan_mantissa(bytes: &[u8], is_digit: fn(&u8) -> bool) -> usize {
    let count = |bytes: &[u8]| bytes.iter().take_while(|byte| is_digit(byte)).count();
    let whole = count(bytes);
    if bytes.get(whole) != Some(&b'.') {
        return whole;
    }
    let fraction = count(&bytes[whole + 1..]);
    if whole + fraction == 0 { 0 } else { whole + 1 + fraction }
}

fn scan_exponent(bytes: &[u8], letter: u8) -> usize {
    let Some(first) = bytes.first() else { return 0 };
    if first.to_ascii_lowercase() != letter {
        return 0;
    }
    let sign = usize::from(matches!(bytes.get(1), Some(b'+' | b'-')));
    match bytes[1 + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count() {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

/// The value of the longest number at the start of `text`, as C++'s `stod` reads it: decimal or hexadecimal, with a
/// sign. `None` if there is no number, or if it overflows or is too small to be a normal number.
pub(crate) fn to_f64(text: &str) -> Option<f64> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let number = &unsigned[..scan_number(unsigned.as_bytes())];
    let number = number.strip_suffix('j').unwrap_or(number);
    let value = match number.strip_prefix("0x").or_else(|| number.strip_prefix("0X")) {
        Some(hex) => hex_to_f64(hex),
        None => number.parse().ok()?,
    };
    let mantissa = number.bytes().take_while(|byte| !matches!(byte, b'e' | b'E' | b'p' | b'P'));
    let is_written_zero = mantissa.into_iter().all(|byte| !matches!(byte, b'1'..=b'9'));
    (value.is_normal() || (value == 0.0 && is_written_zero)).then_some(if negative { -value } else { value })
}

/// Parses hexadecimal floats as far as they occur: digits, a point, a binary exponent. Exact up to 53 bits.
fn hex_to_f64(hex: &str) -> f64 {
    let (mantissa, exponent) = hex.split_once(['p', 'P']).unwrap_or((hex, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = whole.chars().chain(fraction.chars()).filter_map(|c| c.to_digit(16));
    let value = digits.fold(0.0, |value, digit| value * 16.0 + f64::from(digit));
    let shift = exponent.parse::<i32>().unwrap_or(i32::MAX / 2).saturating_sub(4 * fraction.len() as i32);
    value * f64::powi(2.0, shift)
}

/// The value of the decimal digits at the start of `text`, as C++'s `stoll` reads it; `None` if there are none or too
/// many.
pub(crate) fn to_i64(text: &str) -> Option<i64> {
    let sign = usize::from(text.starts_with('-'));
    let digits = text.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
    text[..sign + digits].parse().ok()
}

/// The length of the string literal at the start of `bytes`, which is a quote; `None` if it is not closed.
pub(crate) fn scan_string(bytes: &[u8]) -> Option<usize> {
    let quote = quote_of(bytes);
    let mut at = quote.len();
    while at < bytes.len() {
        match bytes[at] {
            _ if bytes[at..].starts_with(quote) => return Some(at + quote.len()),
            b'\n' if quote.len() == 1 => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// The opening quote of a literal: one or three equal characters.
fn quote_of(bytes: &[u8]) -> &[u8] {
    match bytes {
        [a, b, c, ..] if a == b && b == c => &bytes[..3],
        _ => &bytes[..1],
    }
}

/// The bytes of a string literal (as delimited by [`scan_string`]).
///
/// # Errors
///
/// The offset of an escape that PyTorch does not support. It supports only `\\ \' \" \a \b \f \n \t \v`, an escaped
/// line break and three octal digits.
pub(crate) fn unquote(literal: &str) -> Result<Vec<u8>, usize> {
    let bytes = literal.as_bytes();
    let quote = quote_of(bytes).len();
    let mut rest = &bytes[quote..bytes.len() - quote];
    let mut value = Vec::with_capacity(rest.len());
    loop {
        let (byte, length) = match *rest {
            [] => return Ok(value),
            [b'\\', byte @ (b'\\' | b'\'' | b'"' | b'\n'), ..] => (byte, 2),
            [b'\\', b'a', ..] => (0x07, 2),
            [b'\\', b'b', ..] => (0x08, 2),
            [b'\\', b'f', ..] => (0x0c, 2),
            [b'\\', b'n', ..] => (b'\n', 2),
            [b'\\', b't', ..] => (b'\t', 2),
            [b'\\', b'v', ..] => (0x0b, 2),
            [b'\\', high @ b'0'..=b'3', mid @ b'0'..=b'7', low @ b'0'..=b'7', ..] => {
                ((high - b'0') * 64 + (mid - b'0') * 8 + (low - b'0'), 4)
            }
            [b'\\', ..] => return Err(bytes.len() - quote - rest.len()),
            [byte, ..] => (byte, 1),
        };
        value.push(byte);
        rest = &rest[length..];
    }
}

/// `value` as a literal that [`unquote`] reads back. Text stays readable; other bytes become octal escapes.
pub(crate) fn quote(value: &[u8]) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for chunk in value.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '\'' | '"' => out.extend(['\\', c]),
                '\x07' => out.push_str("\\a"),
                '\x08' => out.push_str("\\b"),
                '\x0c' => out.push_str("\\f"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\x0b' => out.push_str("\\v"),
                c if c.is_ascii_control() => out += &format!("\\{:03o}", c as u32),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out += &format!("\\{byte:03o}");
        }
    }
    out.push('"');
    out
}

/// The value of a Rust string, raw string or character literal; `None` for any other literal (`b"…"`, `c"…"`).
pub(crate) fn rust_string(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        let hashes = raw.bytes().take_while(|&byte| byte == b'#').count();
        let inner = raw.get(hashes..raw.len().checked_sub(hashes)?)?;
        return Some(inner.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    let quote = literal.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut rest = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut value = String::with_capacity(rest.len());
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            value.push(c);
        } else if let Some(after) = rest.strip_prefix('\n') {
            rest = after.trim_start();
        } else {
            let (c, after) = rust_escape(rest)?;
            value.push(c);
            rest = after;
        }
    }
    Some(value)
}

/// The character of a Rust escape (without its backslash), and the text after it.
fn rust_escape(rest: &str) -> Option<(char, &str)> {
    let c = match rest.chars().next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        c @ ('\\' | '\'' | '"') => c,
        'x' => return Some((char::from(u8::from_str_radix(rest.get(1..3)?, 16).ok()?), &rest[3..])),
        'u' => {
            let (digits, after) = rest.strip_prefix("u{")?.split_once('}')?;
            return Some((char::from_u32(u32::from_str_radix(&digits.replace('_', ""), 16).ok()?)?, after));
        }
        _ => return None,
    };
    Some((c, &rest[1..]))
}
