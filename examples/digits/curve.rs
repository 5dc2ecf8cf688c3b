//! The loss of each step as an SVG picture.

use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const MARGIN: f64 = 48.0;

/// Plots all losses as a line, with labelled axes.
pub(crate) fn svg(losses: &[f64], epochs: usize) -> String {
    let largest = losses.iter().copied().filter(|loss| loss.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
    let (right, bottom) = (WIDTH - MARGIN / 2.0, HEIGHT - MARGIN);
    let (wide, high) = (right - MARGIN, bottom - MARGIN / 2.0);
    let steps = losses.len().max(2) - 1;
    let points = losses.iter().enumerate().filter(|(_, loss)| loss.is_finite()).map(|(step, loss)| {
        let (x, y) = (MARGIN + wide * step as f64 / steps as f64, bottom - high * loss / largest);
        format!("{x:.1},{y:.1}")
    });
    let points = points.collect::<Vec<_>>().join(" ");
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <path d=\"M{MARGIN} {top} V{bottom} H{right}\" fill=\"none\" stroke=\"black\"/>\n\
         <polyline points=\"{points}\" fill=\"none\" stroke=\"#3366cc\"/>\n",
        top = MARGIN / 2.0,
    );
    let mut label = |x: f64, y: f64, anchor: &str, text: &str| {
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
    };
    label(MARGIN - 6.0, bottom, "end", "0");
    label(MARGIN - 6.0, bottom - high + 4.0, "end", &format!("{largest:.2}"));
    label(MARGIN, bottom + 18.0, "middle", "0");
    label(right, bottom + 18.0, "middle", &epochs.to_string());
    label(MARGIN + wide / 2.0, bottom + 18.0, "middle", "epochs");
    label(MARGIN + wide / 2.0, MARGIN / 2.0, "middle", "loss of each step");
    svg.push_str("</svg>\n");
    svg
}
