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
        _ => "f32",
    }
}

/// What the word of an index is as an element of a type.
pub(super) fn load(buffer: &str, index: &str, dtype: DType) -> String {
    match dtype {
        DType::Bool => format!("((({buffer}[({index}) >> 2u] >> ((({index}) & 3u) * 8u)) & 255u) != 0u)"),
        dtype => format!("bitcast<{}>({buffer}[{index}])", name(dtype)),
    }
}

pub(super) fn converted(value: &str, from: DType, to: DType) -> String {
    match (from, to) {
        (from, to) if from == to => value.to_owned(),
        (_, DType::Bool) => format!("({value} != {}(0))", name(from)),
        (_, to) => format!("{}({value})", name(to)),
    }
}

fn param(place: usize, dtype: DType) -> String {
    match dtype {
        DType::Bool => format!("(params[{place}] != 0u)"),
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
    let text = expression.text.replace("T(", &format!("{}(", name(computed)));
    let value =
        if expression.is_predicate { text } else { converted(&format!("({text})"), computed, result) };
    let _ = writeln!(body, "    return {value};");
    format!("fn element(at: u32) -> {} {{\n{body}}}\n{}", name(result), main(result))
}

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
