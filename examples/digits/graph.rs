//! A recorded graph as an SVG picture: calls in layers from top to bottom, and lines for the tensors between them.

use std::collections::HashMap;
use std::fmt::Write as _;

use torch_library::tracer::Graph;

const BOX: (f64, f64) = (190.0, 28.0);
const STEP: (f64, f64) = (210.0, 64.0);

/// A call or an input, with its position and the values that it uses.
struct Drawn {
    title: String,
    column: usize,
    layer: usize,
    from: Vec<usize>,
}

/// The picture, drawn from the text of the graph: `  %2: float64[1] = aten::exp(self=%0)`.
pub(crate) fn svg(graph: &Graph) -> String {
    let mut drawn: Vec<Drawn> = Vec::new();
    let mut made_by: HashMap<String, usize> = HashMap::new();
    let mut columns: HashMap<usize, usize> = HashMap::new();
    for line in graph.to_string().lines() {
        let (defined, call) = match line.split_once(" = ") {
            Some(sides) => sides,
            None if line.starts_with("graph(") => {
                // Inputs use no values: all are drawn in the first layer.
                for name in values(line) {
                    push(&mut drawn, &mut columns, name.clone(), 0, Vec::new());
                    made_by.insert(name, drawn.len() - 1);
                }
                continue;
            }
            None => continue,
        };
        let from: Vec<usize> = values(call).iter().filter_map(|name| made_by.get(name).copied()).collect();
        let layer = from.iter().map(|index| drawn[*index].layer + 1).max().unwrap_or(0);
        let title = call.split('(').next().unwrap_or(call).to_owned();
        push(&mut drawn, &mut columns, title, layer, from);
        made_by.extend(values(defined).into_iter().map(|name| (name, drawn.len() - 1)));
    }
    picture(&drawn)
}

fn push(
    drawn: &mut Vec<Drawn>,
    columns: &mut HashMap<usize, usize>,
    title: String,
    layer: usize,
    from: Vec<usize>,
) {
    let column = columns.entry(layer).or_default();
    drawn.push(Drawn { title, column: *column, layer, from });
    *column += 1;
}

/// The names of values in a piece of the text: `%3`.
fn values(text: &str) -> Vec<String> {
    let parts = text.split('%').skip(1);
    parts
        .map(|part| part.chars().take_while(char::is_ascii_digit).collect::<String>())
        .map(|id| format!("%{id}"))
        .collect()
}

fn picture(drawn: &[Drawn]) -> String {
    let at = |node: &Drawn| (10.0 + STEP.0 * node.column as f64, 10.0 + STEP.1 * node.layer as f64);
    let extent = |of: fn(&Drawn) -> usize| drawn.iter().map(of).max().unwrap_or(0) as f64 + 1.0;
    let (width, height) = (STEP.0 * extent(|node| node.column), STEP.1 * extent(|node| node.layer));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for node in drawn {
        let (x, y) = at(node);
        for from in &node.from {
            let (from_x, from_y) = at(&drawn[*from]);
            let (start, end) = (from_x + BOX.0 / 2.0, x + BOX.0 / 2.0);
            let (top, middle) = (from_y + BOX.1, (from_y + BOX.1 + y) / 2.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{start} {top} C{start} {middle} {end} {middle} {end} {y}\" fill=\"none\" stroke=\"#999999\"/>"
            );
        }
    }
    for node in drawn {
        let ((x, y), (wide, high)) = (at(node), BOX);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" rx=\"6\" fill=\"#eef3fb\" stroke=\"#3366cc\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x + wide / 2.0,
            y + high / 2.0 + 4.0,
            node.title
        );
    }
    svg.push_str("</svg>\n");
    svg
}
