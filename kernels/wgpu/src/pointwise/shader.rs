//! The text of a shader for an expression.

use std::fmt::Write;

use torch_library::DType;

use super::layout::Layout;
use super::table::Expression;
use crate::launch::THREADS;

/// What a letter of an expression stands for.
pub(super) enum Operand {
    /// Elements of a buffer, of this type.
    Buffer { number: usize, dtype: DType },
    /// A parameter, of the type that is computed with.
    Param(usize),
}

pub(super) fn name(dtype: DType) -> &'static str {
    match dtype {
        DType::Int32 => "i32",
        DType::Bool => "bool",
        DType::Int64 => "vec2<u32>",
        _ => "f32",
    }
}

/// What the word of an index is as an element of a type.
pub(super) fn load(buffer: &str, index: &str, dtype: DType) -> String {
    match dtype {
        DType::Bool => format!("((({buffer}[({index}) >> 2u] >> ((({index}) & 3u) * 8u)) & 255u) != 0u)"),
        DType::Int64 => format!("vec2({buffer}[2u * ({index})], {buffer}[2u * ({index}) + 1u])"),
        dtype => format!("bitcast<{}>({buffer}[{index}])", name(dtype)),
    }
}

pub(super) fn converted(value: &str, from: DType, to: DType) -> String {
    match (from, to) {
        (from, to) if from == to => value.to_owned(),
        (DType::Int64, DType::Bool) => format!("any({value} != vec2(0u, 0u))"),
        (DType::Int64, DType::Int32) => format!("bitcast<i32>({value}.x)"), // what does not fit wraps around
        (DType::Int64, _) => format!("rounded64({value})"),
        (DType::Bool, DType::Int64) => format!("vec2(select(0u, 1u, {value}), 0u)"),
        (_, DType::Int64) => format!("wide64({value})"),
        // By its bits: a shader may take it that no number is NaN, which is true here.
        (DType::Float32, DType::Bool) => format!("((bitcast<u32>({value}) & 0x7fffffffu) != 0u)"),
        (_, DType::Bool) => format!("({value} != {}(0))", name(from)),
        (_, to) => format!("{}({value})", name(to)),
    }
}

fn param(place: usize, dtype: DType) -> String {
    match dtype {
        DType::Bool => format!("(params[{place}] != 0u)"),
        DType::Int64 => format!("vec2(params[{place}], params[{place} + 1])"),
        dtype => format!("bitcast<{}>(params[{place}])", name(dtype)),
    }
}

pub(super) fn source(
    expression: &Expression,
    computed: DType,
    result: DType,
    layout: &Layout,
    operands: &[Operand],
    scalars: &[usize],
) -> String {
    let mut body = String::new();
    if layout.sizes.len() > 1 {
        body += "    var rest = at;\n";
        for dim in (0..layout.sizes.len()).rev() {
            let size = format!("params[{}]", 1 + dim);
            let _ = writeln!(body, "    let i{dim} = rest % {size}; rest = rest / {size};");
        }
    } else {
        body += "    let i0 = at;\n";
    }
    for (position, operand) in operands.iter().enumerate() {
        let letter = ["a", "b", "c", "d"][position];
        let wanted = if position < expression.conditions { DType::Bool } else { computed };
        let value = match operand {
            Operand::Param(place) => param(*place, wanted),
            Operand::Buffer { number, dtype } => {
                let place = layout.place(*number);
                let steps =
                    (0..layout.sizes.len()).map(|dim| format!(" + i{dim} * params[{}]", place + 1 + dim));
                let index = format!("params[{place}]{}", steps.collect::<String>());
                let _ = writeln!(body, "    let at_{letter} = {index};");
                converted(&load(&format!("in{number}"), &format!("at_{letter}"), *dtype), *dtype, wanted)
            }
        };
        let _ = writeln!(body, "    let {letter} = {value};");
    }
    for (position, place) in scalars.iter().enumerate() {
        let _ = writeln!(body, "    let s{position} = {};", param(*place, computed));
    }
    let text =
        if computed == DType::Int64 { expression.wide.unwrap_or(expression.text) } else { expression.text };
    let text = text.replace("T(", &format!("{}(", name(computed)));
    let value =
        if expression.is_predicate { text } else { converted(&format!("({text})"), computed, result) };
    let _ = writeln!(body, "    return {value};");
    let used = |name: &str| value.contains(name) || body.contains(name);
    let known: String = FUNCTIONS.iter().filter(|(name, _)| used(name)).map(|(_, text)| *text).collect();
    format!("{known}fn element(at: u32) -> {} {{\n{body}}}\n{}", name(result), main(result))
}

/// Functions that expressions use, by what they are recognised by.
const FUNCTIONS: [(&str, &str); 6] = [
    ("64(", WIDE),
    // A quotient of polynomials in the square, which is 1 beyond 4: within some units of the last place.
    (
        "erf(",
        "fn erf(value: f32) -> f32 {
    let x = clamp(value, -4.0, 4.0);
    let s = x * x;
    var top = -2.72614225801306e-10;
    top = top * s + 2.77068142495902e-08;
    top = top * s - 2.10102402082508e-06;
    top = top * s - 5.69250639462346e-05;
    top = top * s - 7.34990630326855e-04;
    top = top * s - 2.95459980854025e-03;
    top = top * s - 1.60960333262415e-02;
    var below = -1.45660718464996e-05;
    below = below * s - 2.13374055278905e-04;
    below = below * s - 1.68282697438203e-03;
    below = below * s - 7.37332916720468e-03;
    below = below * s - 1.42647390514189e-02;
    return select(x * top / below, value, is_nan(value));
}
",
    ),
    (
        "within(",
        "fn within(x: f32, low: f32, high: f32) -> f32 { return select(clamp(x, low, high), x, is_nan(x)); }\n",
    ),
    ("logistic(", "fn logistic(x: f32) -> f32 { return 1.0 / (1.0 + exp(-x)); }\n"),
    // Beyond these it is 1 in float32, and drivers overflow on the way there.
    (
        "tanh",
        "fn bounded_tanh(x: f32) -> f32 { return select(tanh(clamp(x, -15.0, 15.0)), x, is_nan(x)); }\n",
    ),
    (
        "gelu_tanh_slope(",
        "fn gelu_tanh_slope(x: f32) -> f32 {
    let t = bounded_tanh(0.79788456 * (x + 0.044715 * x * x * x));
    let inner = 0.79788456 * (1.0 + 3.0 * 0.044715 * x * x);
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner;
}
",
    ),
];

/// Of int64, as two words of which the lower one is first.
const WIDE: &str = "fn sum64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + select(0u, 1u, low < a.x));
}
fn negative64(a: vec2<u32>) -> vec2<u32> { return sum64(~a, vec2(1u, 0u)); }
fn product64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2(a.x * b.x, upper(a.x, b.x) + a.x * b.y + a.y * b.x);
}
fn is_below64(a: vec2<u32>, b: vec2<u32>) -> bool {
    if (a.y == b.y) { return a.x < b.x; }
    return bitcast<i32>(a.y) < bitcast<i32>(b.y);
}
fn wide64(a: i32) -> vec2<u32> { return vec2(bitcast<u32>(a), select(0u, 0xffffffffu, a < 0)); }
// The bits that do not fit into a word leave a mark, so that one rounding is right.
fn rounded64(a: vec2<u32>) -> f32 {
    let is_negative = (a.y >> 31u) == 1u;
    let size = select(a, negative64(a), is_negative);
    var number = f32(size.x);
    if (size.y != 0u) {
        let shift = firstLeadingBit(size.y) + 1u;
        let lost = select(size.x & ((1u << shift) - 1u), size.x, shift == 32u);
        let kept = select((size.y << (32u - shift)) | (size.x >> shift), size.y, shift == 32u);
        number = f32(kept | select(0u, 1u, lost != 0u)) * exp2(f32(shift));
    }
    return select(number, -number, is_negative);
}
";

/// A thread computes an element; of bytes, the four of a word, since no thread may write a part of one.
fn main(result: DType) -> String {
    let store = match result {
        DType::Bool => {
            "    var word = 0u;
    for (var byte = 0u; byte < 4u; byte++) {
        let at = number * 4u + byte;
        if (at < params[0]) { word |= select(0u, 1u, element(at)) << (byte * 8u); }
    }
    if (number * 4u < params[0]) { result[number] = word; }"
        }
        DType::Int64 => {
            "    if (number >= params[0]) { return; }
    let words = element(number);
    result[2u * number] = words.x;
    result[2u * number + 1u] = words.y;"
        }
        _ => "    if (number < params[0]) { result[number] = bitcast<u32>(element(number)); }",
    };
    format!(
        "@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {{
    let number = group_number(group, groups) * {THREADS}u + thread;
{store}
}}
"
    )
}
