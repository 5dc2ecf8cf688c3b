//! The source of a kernel for one expression.

use std::fmt::Write;

use torch_library::prelude::*;
use torch_library_gpu::{Expression, KernelBuilder, Layout, computed};

use super::Input;
use crate::kernel::{Kernel, c_type};

/// A call, and the order in which it visits elements.
pub(super) struct Pointwise<'a> {
    pub(super) expression: &'a Expression,
    pub(super) promoted: DType,
    pub(super) inputs: &'a [Input<'a>],
    pub(super) scalars: &'a [Scalar],
    pub(super) layout: &'a Layout,
}

impl Pointwise<'_> {
    /// Writes elements contiguously, or to the positions of the first tensor of the layout.
    pub(super) fn run(&self, result: &Tensor, is_placed: bool) -> Result<()> {
        let (expression, layout) = (self.expression, self.layout);
        let kind = computed(self.promoted);
        let params = layout.params();
        let mut kernel = Kernel::new("pointwise")
            .type_named("T", kind)
            .type_named("R", result.dtype())
            .numbers("layout", &params)
            .result("y", result);
        let mut body = places(layout.sizes.len(), params[0]);
        let target = if is_placed { place(layout, 0) } else { "n".to_owned() };
        let mut lies = usize::from(is_placed);
        for (position, input) in self.inputs.iter().enumerate() {
            let letter = ["a", "b", "c", "d"][position];
            let wanted = if position < expression.conditions { DType::Bool } else { self.promoted };
            let value = match input {
                Input::Here(tensor) => {
                    kernel = kernel.input(letter, tensor);
                    lies += 1;
                    let element = format!("p.{letter}[{}]", place(layout, lies - 1));
                    converted(&element, tensor.dtype(), wanted)
                }
                Input::Number(number) => {
                    kernel = constant(kernel, letter, *number, kind);
                    format!("as<{}>(p.{letter})", name(computed(wanted)))
                }
            };
            let _ = writeln!(body, "    {} {letter} = {value};", name(computed(wanted)));
        }
        for (position, scalar) in self.scalars.iter().enumerate() {
            let letter = format!("s{position}");
            kernel = constant(kernel, &letter, *scalar, kind);
            let _ = writeln!(body, "    T {letter} = as<T>(p.{letter});");
        }
        let text = typed(expression.text);
        let value = if expression.is_predicate { text } else { format!("as<R>((T)({text}))") };
        let _ = writeln!(body, "    p.y[{target}] = {value};");
        for (function, declared) in FUNCTIONS {
            if expression.text.contains(function) {
                kernel = kernel.with(declared);
            }
        }
        kernel.threads(params[0], &body)
    }
}

fn name(dtype: DType) -> &'static str {
    c_type(dtype).unwrap_or("void")
}

/// The conversion of an element to another dtype, in that dtype's type of computation. A number that is promoted to a
/// 16-bit type is rounded to it.
fn converted(element: &str, from: DType, to: DType) -> String {
    match computed(to) == to || from == to {
        true => format!("as<{}>({element})", name(computed(to))),
        false => format!("as<{}>(as<{}>({element}))", name(computed(to)), name(to)),
    }
}

/// Adds a scalar argument of the call as a parameter.
fn constant(kernel: Kernel, letter: &str, number: Scalar, kind: DType) -> Kernel {
    match number {
        Scalar::Int(x) if !kind.is_floating_point() => kernel.number(letter, x),
        Scalar::Bool(x) if !kind.is_floating_point() => kernel.number(letter, i64::from(x)),
        number => kernel.float(letter, number.cast::<f64>()),
    }
}

/// Code for the position of an element in each dimension, from its number, in 32 bits if all numbers fit.
fn places(dims: usize, numel: i64) -> String {
    let kind = if numel < 1 << 31 { "u32" } else { "i64" };
    if dims < 2 {
        return (0..dims).map(|dim| format!("    i64 i{dim} = n;\n")).collect();
    }
    let mut text = format!("    {kind} rest = ({kind})n;\n");
    for dim in (0..dims).rev() {
        let size = format!("({kind})p.layout[{}]", 1 + dim);
        let _ = writeln!(text, "    i64 i{dim} = rest % {size};\n    rest /= {size};");
    }
    text
}

/// Code for the offset of an element of an input from its first one.
fn place(layout: &Layout, input: usize) -> String {
    let start = layout.place(input) + 1;
    let steps: Vec<_> =
        (0..layout.sizes.len()).map(|dim| format!("i{dim} * p.layout[{}]", start + dim)).collect();
    if steps.is_empty() { "0".to_owned() } else { steps.join(" + ") }
}

/// An expression with its literals in the type of the computation, since `1.0` is a double in C.
fn typed(text: &str) -> String {
    let (mut found, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let is_name = rest[..start].ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        let end = rest[start..]
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .map_or(rest.len(), |count| start + count);
        let literal = &rest[start..end];
        found += &rest[..start];
        match literal.contains('.') && !is_name {
            true => found += &format!("T({literal})"),
            false => found += literal,
        }
        rest = &rest[end..];
    }
    found + rest
}

/// Functions that only few expressions use, by the text by which their use is recognised.
const FUNCTIONS: [(&str, &str); 2] = [
    (
        "power(",
        "__device__ inline T power(T x, T e) {
    if (e == T(2)) return x * x;
    if (e == T(3)) return x * x * x;
    if (e == T(0.5)) return sqrt(x);
    if (e == T(1)) return x;
    if (e == T(-1)) return T(1) / x;
    if (e == T(-2)) return T(1) / (x * x);
    return pow(x, e);
}",
    ),
    (
        "turned_over(",
        "template <class A> __device__ inline A turned_over(A x) { return (A)~x; }
template <> __device__ inline bool turned_over(bool x) { return !x; }",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_of_the_type_that_is_computed_with() {
        assert_eq!(typed("0.5 * a + s0 - T(0)"), "T(0.5) * a + s0 - T(0)");
        assert_eq!(typed("a / 6.0"), "a / T(6.0)");
        assert_eq!(typed("log10(a) * log1p(a)"), "log10(a) * log1p(a)");
    }
}
