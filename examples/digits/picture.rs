//! Pictures for the terminal: ink as characters, dark on light.

/// From paper to full ink.
const SHADES: &[u8; 10] = b" .:-=+*#%@";
/// A character is about twice as high as it is wide.
const WIDTH: usize = 2;
const GAP: &str = "    ";

/// The character for some ink, 0 to 1; NaN, the mean of nothing, is a question mark.
pub(crate) fn shade(ink: f32) -> char {
    if ink.is_nan() {
        return '?';
    }
    let last = SHADES.len() - 1;
    let level = (ink.clamp(0.0, 1.0) * last as f32).round() as usize;
    char::from(SHADES[level.min(last)])
}

/// Arranges pictures under their titles, side by side, with a fixed number in each row.
pub(crate) fn rows(pictures: &[(String, &[f32])], side: usize, per_row: usize) -> String {
    let mut text = String::new();
    for row in pictures.chunks(per_row) {
        push_line(&mut text, row.iter().map(|(title, _)| format!("{title:<0$}", side * WIDTH)));
        for line in 0..side {
            push_line(&mut text, row.iter().map(|(_, pixels)| shades(&pixels[line * side..][..side])));
        }
        text.push('\n');
    }
    text
}

fn shades(line: &[f32]) -> String {
    line.iter().flat_map(|ink| [shade(*ink); WIDTH]).collect()
}

fn push_line(text: &mut String, parts: impl Iterator<Item = String>) {
    let line = format!("  {}", parts.collect::<Vec<_>>().join(GAP));
    text.push_str(line.trim_end());
    text.push('\n');
}
