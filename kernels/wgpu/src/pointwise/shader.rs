//! The text of a shader for one expression, or for several that use each other's values.

use std::fmt::Write;
use std::ops::Range;

use torch_library::DType;
use torch_library_gpu::{Expression, Layout};

use crate::fold::{self, Fold};
use crate::launch::{THREADS, result_name};

/// The operand that a letter of an expression stands for.
pub(crate) enum Operand {
    /// Elements of a buffer, of type `dtype`.
    Buffer { number: usize, dtype: DType },
    /// A parameter, of the type in which the expression is computed.
    Param(usize),
    /// The value that an earlier call computed.
    Call(usize),
}

/// The type that values of a dtype have in a shader: f32 for 16-bit floats, rounded to numbers that these hold.
fn name(dtype: DType) -> &'static str {
    match dtype {
        DType::Int32 => "i32",
        DType::UInt8 => "u32",
        DType::Bool => "bool",
        DType::Int64 => "vec2<u32>",
        _ => "f32",
    }
}

/// The expression that loads the element at an index of a buffer.
fn load(buffer: &str, index: &str, dtype: DType) -> String {
    let byte = || format!("(({buffer}[({index}) >> 2u] >> ((({index}) & 3u) * 8u)) & 255u)");
    let half = || format!("({buffer}[({index}) >> 1u] >> ((({index}) & 1u) * 16u)) & 0xffffu");
    match dtype {
        DType::Bool => format!("({} != 0u)", byte()),
        DType::UInt8 => byte(),
        DType::Float16 => format!("from_f16({})", half()),
        DType::BFloat16 => format!("from_bf16({})", half()),
        DType::Int64 => format!("vec2({buffer}[2u * ({index})], {buffer}[2u * ({index}) + 1u])"),
        dtype => format!("bitcast<{}>({buffer}[{index}])", name(dtype)),
    }
}

fn converted(value: &str, from: DType, to: DType) -> String {
    match (from, to) {
        (from, to) if from == to => value.to_owned(),
        (DType::Int64, DType::Bool) => format!("any({value} != vec2(0u, 0u))"),
        (DType::Int64, DType::Int32) => format!("bitcast<i32>({value}.x)"), // numbers out of range wrap around
        (DType::Int64, DType::UInt8) => format!("({value}.x & 255u)"),
        (DType::Int32, DType::UInt8) => format!("(bitcast<u32>({value}) & 255u)"),
        (DType::Int64, _) => format!("rounded64({value})"),
        (DType::Bool, DType::Int64) => format!("vec2(select(0u, 1u, {value}), 0u)"),
        (DType::UInt8, DType::Int64) => format!("vec2({value}, 0u)"),
        (_, DType::Int64) => format!("wide64({value})"),
        // Tested by its bits, since a shader compiler may assume that there is no NaN, which converts to true.
        (DType::Float32 | DType::Float16 | DType::BFloat16, DType::Bool) => {
            format!("((bitcast<u32>({value}) & 0x7fffffffu) != 0u)")
        }
        (_, DType::Bool) => format!("({value} != {}(0))", name(from)),
        (DType::Float16 | DType::BFloat16, DType::Float32) => value.to_owned(),
        (_, DType::Float16) => format!("from_f16(to_f16(f32({value})))"),
        (_, DType::BFloat16) => format!("from_bf16(to_bf16(f32({value})))"),
        (_, to) => format!("{}({value})", name(to)),
    }
}

/// The text of an expression for a type.
fn text_of(expression: &Expression, dtype: DType) -> &'static str {
    match dtype {
        DType::Int64 => expression.wide.unwrap_or(expression.text),
        DType::UInt8 if expression.text == "-a" => "0u - a", // WGSL has no negation of unsigned numbers
        _ => expression.text,
    }
}

fn param(place: usize, dtype: DType) -> String {
    match dtype {
        DType::Bool => format!("(params[{place}] != 0u)"),
        DType::Int64 => format!("vec2(params[{place}], params[{place} + 1])"),
        dtype => format!("bitcast<{}>(params[{place}])", name(dtype)),
    }
}

/// A call within a shader.
pub(crate) struct Call<'e> {
    pub(crate) expression: &'e Expression,
    pub(crate) computed: DType,
    pub(crate) result: DType,
    pub(crate) operands: Vec<Operand>,
    /// The positions of its numbers in the parameters.
    pub(crate) scalars: Vec<usize>,
}

impl Call<'_> {
    /// The computation as a block of code that sets `v` followed by the number of the call.
    fn block(&self, number: usize, dtype_of: impl Fn(usize) -> DType) -> String {
        let Call { expression, computed, result, .. } = self;
        let mut lets = String::new();
        for (position, operand) in self.operands.iter().enumerate() {
            let letter = ["a", "b", "c", "d"][position];
            let wanted = if position < expression.conditions { DType::Bool } else { *computed };
            let value = match operand {
                Operand::Param(place) => param(*place, wanted),
                Operand::Buffer { number, dtype } => converted(&format!("x{number}"), *dtype, wanted),
                Operand::Call(number) => converted(&format!("v{number}"), dtype_of(*number), wanted),
            };
            let _ = writeln!(lets, "        let {letter} = {value};");
        }
        for (position, place) in self.scalars.iter().enumerate() {
            let _ = writeln!(lets, "        let s{position} = {};", param(*place, *computed));
        }
        let mut text = text_of(expression, *computed).replace("T(", &format!("{}(", name(*computed)));
        if !computed.is_floating_point() {
            text = text.replace("is_nan(a)", "false"); // WGSL functions have no overloads
        }
        let value = match expression.is_predicate {
            true => text,
            false if *computed == DType::UInt8 && *result == DType::UInt8 => format!("(({text}) & 255u)"),
            false => converted(&format!("({text})"), *computed, *result),
        };
        format!("    var v{number}: {};\n    {{\n{lets}        v{number} = {value};\n    }}\n", name(*result))
    }
}

/// Code for the position of an element in some of the dimensions, from its number.
fn places(number: &str, dims: Range<usize>) -> String {
    if dims.len() < 2 {
        return dims.map(|dim| format!("    let i{dim} = {number};\n")).collect();
    }
    let mut text = format!("    var rest_{number} = {number};\n");
    for dim in dims.rev() {
        let size = format!("params[{}]", 1 + dim);
        let _ = writeln!(
            text,
            "    let i{dim} = rest_{number} % {size}; rest_{number} = rest_{number} / {size};"
        );
    }
    text
}

/// Code for the values of calls for an element, from its position.
fn values(calls: &[Call<'_>], layout: &Layout) -> String {
    let mut body = String::new();
    let mut buffers: Vec<(usize, DType)> = Vec::new();
    for operand in calls.iter().flat_map(|call| &call.operands) {
        if let Operand::Buffer { number, dtype } = operand {
            buffers.push((*number, *dtype));
        }
    }
    buffers.sort_by_key(|(number, _)| *number);
    buffers.dedup();
    for (number, dtype) in buffers {
        let place = layout.place(number);
        let steps = (0..layout.sizes.len()).map(|dim| format!(" + i{dim} * params[{}]", place + 1 + dim));
        let _ = writeln!(body, "    let at{number} = params[{place}]{};", steps.collect::<String>());
        let element = load(&format!("in{number}"), &format!("at{number}"), dtype);
        let _ = writeln!(body, "    let x{number} = {element};");
    }
    for (number, call) in calls.iter().enumerate() {
        body += &call.block(number, |call| calls[call].result);
    }
    body
}

/// The functions that a body uses.
fn functions(body: &str) -> String {
    FUNCTIONS.iter().filter(|(name, _)| body.contains(name)).map(|(_, text)| *text).collect()
}

/// A shader that computes calls, each of which may use the values of earlier ones, and writes the values of some of
/// them.
pub(crate) fn source(calls: &[Call<'_>], written: &[usize], layout: &Layout) -> String {
    let body = places("at", 0..layout.sizes.len()) + &values(calls, layout);
    let written: Vec<_> = written.iter().map(|call| (*call, calls[*call].result)).collect();
    format!("{}{}", functions(&body), main(&body, &written))
}

/// A shader that computes calls, and folds the values of the last one over the dimensions of a layout from `own` on.
/// `count` is the position of the length of a row in the parameters; negative infinity follows it.
pub(crate) fn folded(calls: &[Call<'_>], fold: &Fold, layout: &Layout, own: usize, count: usize) -> String {
    let body = places("at", own..layout.sizes.len()) + &values(calls, layout);
    let Fold { start, join, finish } = fold;
    let (known, row, last, lowest) =
        (functions(&body), places("row", 0..own), calls.len().saturating_sub(1), count + 1);
    format!(
        "{known}var<workgroup> parts: array<f32, {THREADS}>;
fn join(a: f32, b: f32) -> f32 {{ return {join}; }}
@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {{
    let number = group_number(group, groups);
    let row = min(number, params[0] - 1u);
    let count = params[{count}];
    let LOWEST = bitcast<f32>(params[{lowest}]);
{row}    var mine = {start};
    for (var at = thread; at < count; at += {THREADS}u) {{
{body}    mine = join(mine, v{last});
    }}
    parts[thread] = mine;
{}
}}
",
        fold::end(finish)
    )
}

/// Functions that expressions use, by the text by which their use is recognised.
const FUNCTIONS: [(&str, &str); 8] = [
    ("64(", WIDE),
    ("_f16(", HALF),
    ("_bf16(", BRAIN),
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

/// Conversions of float16, by bits, since WGSL's own may round in either direction and need not support infinity.
const HALF: &str = "fn from_f16(bits: u32) -> f32 {
    let sign = (bits & 0x8000u) << 16u;
    let size = bits & 0x7fffu;
    if (size >= 0x7c00u) { return bitcast<f32>(sign | 0x7f800000u | ((size & 0x3ffu) << 13u)); }
    if (size >= 0x400u) { return bitcast<f32>(sign | ((size << 13u) + 0x38000000u)); }
    return bitcast<f32>(sign | bitcast<u32>(f32(size) * 5.9604644775390625e-8));
}
fn to_f16(x: f32) -> u32 {
    let sign = (bitcast<u32>(x) >> 16u) & 0x8000u;
    let size = bitcast<u32>(x) & 0x7fffffffu;
    if (size > 0x7f800000u) { return sign | 0x7e00u; }
    if (size >= 0x477ff000u) { return sign | 0x7c00u; }
    if (size >= 0x38800000u) { return sign | ((size - 0x38000000u + 0xfffu + ((size >> 13u) & 1u)) >> 13u); }
    if (size < 0x33000000u) { return sign; }
    // Below the normal ones: whole multiples of the smallest.
    let digits = (size & 0x7fffffu) | 0x800000u;
    let shift = 126u - (size >> 23u);
    let kept = digits >> shift;
    let rest = digits & ((1u << shift) - 1u);
    let middle = 1u << (shift - 1u);
    return sign | (kept + select(0u, 1u, rest > middle || (rest == middle && (kept & 1u) == 1u)));
}
";

/// Conversions of bfloat16, by bits.
const BRAIN: &str = "fn from_bf16(bits: u32) -> f32 { return bitcast<f32>(bits << 16u); }
fn to_bf16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) { return (bits >> 16u) | 0x40u; }
    return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}
";

/// Arithmetic of int64, as two words with the lower one first.
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

/// The number of elements that a thread computes: those of a word, since threads must not write parts of words, or
/// [`EACH`].
pub(crate) fn per_thread(written: impl IntoIterator<Item = DType>) -> u64 {
    match per_word(written) {
        1 => EACH,
        per => per,
    }
}

/// The number of elements that a thread computes if they are whole words: it loads sizes and strides once for all of
/// them.
const EACH: u64 = 4;

fn per_word(written: impl IntoIterator<Item = DType>) -> u64 {
    written.into_iter().map(|dtype| 4 / dtype.size().clamp(1, 4) as u64).max().unwrap_or(1)
}

fn main(body: &str, written: &[(usize, DType)]) -> String {
    let per = per_word(written.iter().map(|(_, dtype)| *dtype));
    let (mut words, mut stores, mut ends) = (String::new(), String::new(), String::new());
    for (at, (call, dtype)) in written.iter().enumerate() {
        let result = result_name(at);
        let bits = match dtype {
            DType::Bool => format!("select(0u, 1u, v{call})"),
            DType::UInt8 => format!("v{call}"),
            DType::Float16 => format!("to_f16(v{call})"),
            DType::BFloat16 => format!("to_bf16(v{call})"),
            DType::Int64 => {
                stores +=
                    &format!("    {result}[2u * at] = v{call}.x;\n    {result}[2u * at + 1u] = v{call}.y;\n");
                continue;
            }
            _ => {
                stores += &format!("    {result}[at] = bitcast<u32>(v{call});\n");
                continue;
            }
        };
        // The words of a thread, each with `each` elements.
        let each = 4 / dtype.size() as u64;
        let (count, width) = (per / each, 8 * dtype.size());
        words += &format!("    var word{at}: array<u32, {count}>;\n");
        stores += &format!("    word{at}[part / {each}u] |= {bits} << ((part % {each}u) * {width}u);\n");
        for word in 0..count {
            let first = word * each;
            ends += &format!(
                "    if (number * {per}u + {first}u < params[0]) {{ {result}[number * {count}u + {word}u] = word{at}[{word}]; }}\n"
            );
        }
    }
    let elements = match per {
        1 => format!(
            "    let first = (number - thread) * {EACH}u + thread;
    for (var part = 0u; part < {EACH}u; part++) {{
    let at = first + part * {THREADS}u;
    if (at >= params[0]) {{ return; }}
{body}{stores}    }}
"
        ),
        _ => format!(
            "{words}    for (var part = 0u; part < {per}u; part++) {{
    let at = number * {per}u + part;
    if (at >= params[0]) {{ break; }}
{body}{stores}    }}
{ends}"
        ),
    };
    format!(
        "@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {{
    let number = group_number(group, groups) * {THREADS}u + thread;
{elements}}}
"
    )
}
