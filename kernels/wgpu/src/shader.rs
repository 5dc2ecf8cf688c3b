//! Shaders whose parameters and tensors have names: `p.count`, `x(i)`, `set_y(i, value)`.

use std::fmt::Write;

use torch_library::Storage;
use torch_library::prelude::*;
use torch_library_gpu::{DIMS, KernelBuilder};

use crate::launch::{Launch, Parameters, THREADS, result_name};
use crate::memory::{Memory, WORD};

/// A builder for shaders. The first parameter, `p.count`, is the number of threads or rows that have something to do.
pub(crate) struct Shader {
    label: &'static str,
    fields: String,
    words: Vec<u32>,
    /// The functions that read and write tensors.
    access: String,
    inputs: Vec<Storage>,
    results: Vec<Storage>,
}

impl Shader {
    fn field(mut self, name: &str, of: &str, words: &[u32]) -> Shader {
        let _ = writeln!(self.fields, "    {name}: {of},");
        self.words.extend(words);
        self
    }

    fn reads(mut self, name: &str, buffer: &str, tensor: &Tensor) -> Shader {
        let place = format!("p.{name}_offset + i");
        let _ = match tensor.dtype() {
            DType::Int64 => writeln!(
                self.access,
                "fn {name}(i: u32) -> i32 {{ return bitcast<i32>({buffer}[2u * ({place})]); }}
fn {name}_fits(i: u32) -> bool {{
    return {buffer}[2u * ({place}) + 1u] == select(0u, 0xffffffffu, {name}(i) < 0);
}}"
            ),
            DType::Int32 => writeln!(
                self.access,
                "fn {name}(i: u32) -> i32 {{ return bitcast<i32>({buffer}[{place}]); }}
fn {name}_fits(i: u32) -> bool {{ return true; }}"
            ),
            DType::Bool => writeln!(
                self.access,
                "fn {name}(i: u32) -> bool {{
    let at = {place};
    return (({buffer}[at >> 2u] >> ((at & 3u) * 8u)) & 255u) != 0u;
}}"
            ),
            _ => writeln!(
                self.access,
                "fn {name}(i: u32) -> f32 {{ return bitcast<f32>({buffer}[{place}]); }}"
            ),
        };
        self.number(&format!("{name}_offset"), tensor.storage_offset())
    }

    /// Adds a storage for reading, as words.
    pub(crate) fn input_bytes(mut self, name: &str, tensor: &Tensor) -> Shader {
        let buffer = format!("in{}", self.inputs.len());
        self.inputs.push(tensor.storage().clone());
        self.with(&format!("fn {name}(i: u32) -> u32 {{ return {buffer}[i]; }}"))
    }

    /// As [`input_bytes`](Self::input_bytes), for writing by `set_name(i, word)`.
    pub(crate) fn result_bytes(mut self, name: &str, tensor: &Tensor) -> Shader {
        let buffer = result_name(self.results.len());
        self.results.push(tensor.storage().clone());
        self.with(&format!("fn set_{name}(i: u32, word: u32) {{ {buffer}[i] = word; }}"))
    }

    /// Runs a whole shader, with its own `main`, in `groups` workgroups.
    pub(crate) fn run(mut self, count: i64, groups: u64, main: &str) -> Result<()> {
        self.words[0] = count as u32;
        let source = format!("struct Params {{\n{}}}\n{}\n{main}", self.fields, self.access);
        let inputs = self.inputs.iter().map(Memory::of).collect::<Result<Vec<_>>>()?;
        let results = self.results.iter().map(Memory::of).collect::<Result<Vec<_>>>()?;
        Launch {
            label: self.label,
            source: &source,
            params: &self.words,
            params_are: Parameters::Named,
            inputs: &inputs,
            results: &results,
            groups,
        }
        .run()
    }
}

/// In a body, parameters are fields of `p`, and elements are read and written by functions. Numbers have 32 bits.
impl KernelBuilder for Shader {
    fn new(label: &'static str) -> Shader {
        let (fields, access) = ("    count: u32,\n".to_owned(), String::new());
        Shader { label, fields, words: vec![0], access, inputs: Vec::new(), results: Vec::new() }
    }

    fn number(self, name: &str, number: i64) -> Shader {
        self.field(name, "u32", &[number as u32])
    }

    fn numbers(self, name: &str, numbers: &[i64]) -> Shader {
        let words: Vec<u32> = numbers.iter().map(|number| *number as u32).collect();
        self.field(name, &format!("array<u32, {}>", words.len()), &words)
    }

    fn signed(self, name: &str, number: i64) -> Shader {
        self.field(name, "i32", &[number as u32])
    }

    fn float(self, name: &str, number: f64) -> Shader {
        self.field(name, "f32", &[(number as f32).to_bits()])
    }

    fn type_named(self, name: &str, dtype: DType) -> Shader {
        let of = match dtype {
            DType::Int32 | DType::Int64 => "i32",
            DType::Bool => "bool",
            _ => "f32",
        };
        self.with(&format!("alias {name} = {of};"))
    }

    /// The elements of a tensor in memory, from its first one on, as `name(i)`: float32 as `f32`, bool as `bool`, int32 and
    /// int64 as `i32`; `name_fits(i)` is false for an int64 that does not fit.
    fn input(mut self, name: &str, tensor: &Tensor) -> Shader {
        let buffer = format!("in{}", self.inputs.len());
        self.inputs.push(tensor.storage().clone());
        self.reads(name, &buffer, tensor)
    }

    /// A tensor for writing by `set_name(i, value)`, which can be read like an input: float32, int32, and int64, which is
    /// written from an `i32`.
    fn result(mut self, name: &str, tensor: &Tensor) -> Shader {
        let buffer = result_name(self.results.len());
        self.results.push(tensor.storage().clone());
        let place = format!("p.{name}_offset + i");
        let _ = match tensor.dtype() {
            DType::Int64 => writeln!(
                self.access,
                "fn set_{name}(i: u32, value: i32) {{
    {buffer}[2u * ({place})] = bitcast<u32>(value);
    {buffer}[2u * ({place}) + 1u] = select(0u, 0xffffffffu, value < 0);
}}"
            ),
            dtype => writeln!(
                self.access,
                "fn set_{name}(i: u32, value: {}) {{ {buffer}[{place}] = bitcast<u32>(value); }}",
                if dtype == DType::Int32 { "i32" } else { "f32" }
            ),
        };
        self.reads(name, &buffer, tensor)
    }

    fn optional(self, name: &str, tensor: Option<&Tensor>, otherwise: &str) -> Shader {
        match tensor {
            Some(tensor) => self.input(name, tensor),
            None => self.with(&format!("fn {name}(i: u32) -> f32 {{ return {otherwise}; }}")),
        }
    }

    fn input_moved(mut self, name: &str, tensor: &Tensor) -> Shader {
        let buffer = format!("in{}", self.inputs.len());
        self.inputs.push(tensor.storage().clone());
        let place = format!("p.{name}_offset + i");
        self.number(&format!("{name}_offset"), tensor.storage_offset() * words(tensor.dtype()))
            .with(&format!("fn {name}(i: u32) -> u32 {{ return {buffer}[{place}]; }}"))
    }

    fn result_moved(mut self, name: &str, tensor: &Tensor) -> Shader {
        let buffer = result_name(self.results.len());
        self.results.push(tensor.storage().clone());
        let place = format!("p.{name}_offset + i");
        self.number(&format!("{name}_offset"), tensor.storage_offset() * words(tensor.dtype()))
            .with(&format!("fn set_{name}(i: u32, word: u32) {{ {buffer}[{place}] = word; }}"))
    }

    fn sizes(self, sizes: &[i64]) -> Shader {
        self.number("dims", sizes.len() as i64).numbers("sizes", &padded(sizes))
    }

    fn strides(self, name: &str, strides: &[i64]) -> Shader {
        self.numbers(&format!("{name}_strides"), &padded(strides)).with(&format!(
            "fn {name}_place(n: u32) -> u32 {{
    var rest = n;
    var at = 0u;
    for (var dim = p.dims; dim > 0u; dim--) {{
        let size = p.sizes[dim - 1u];
        at += rest % size * p.{name}_strides[dim - 1u];
        rest = rest / size;
    }}
    return at;
}}"
        ))
    }

    fn places(self, name: &str, sizes: &[i64], strides: &[i64]) -> Shader {
        let body: String = (0..sizes.len())
            .rev()
            .map(|dim| match dim {
                0 => format!("    at += rest * p.{name}_strides[0];\n"),
                _ => format!(
                    "    at += rest % p.{name}_sizes[{dim}] * p.{name}_strides[{dim}];\n    rest = rest / p.{name}_sizes[{dim}];\n"
                ),
            })
            .collect();
        let shader = match sizes.is_empty() {
            true => self, // WGSL has no empty arrays
            false => {
                self.numbers(&format!("{name}_sizes"), sizes).numbers(&format!("{name}_strides"), strides)
            }
        };
        shader.with(&format!(
            "fn {name}(n: u32) -> u32 {{\n    var rest = n;\n    var at = 0u;\n{body}    return at;\n}}"
        ))
    }

    fn with(mut self, text: &str) -> Shader {
        self.access += text;
        self.access.push('\n');
        self
    }

    fn threads_after(self, before: &str, count: i64, body: &str) -> Result<()> {
        let source = format!(
            "const THREADS = {THREADS}u;
@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {{
    let n = group_number(group, groups) * {THREADS}u + thread;
{before}    if (n >= p.count) {{ return; }}
{body}
}}
"
        );
        self.run(count, (count as u64).div_ceil(u64::from(THREADS)), &source)
    }

    fn rows(self, count: i64, _: i64, body: &str, writes: &str) -> Result<()> {
        let source = format!(
            "{ROWS}
@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {{
    let number = group_number(group, groups);
    let row = min(number, p.count - 1u);
{body}
    if (number < p.count) {{
{writes}
    }}
}}
"
        );
        self.run(count, count as u64, &format!("const THREADS = {THREADS}u;\n{source}"))
    }
}

fn padded(list: &[i64]) -> [i64; DIMS] {
    std::array::from_fn(|dim| list.get(dim).copied().unwrap_or(1))
}

/// The number of words of an element.
pub(crate) fn words(dtype: DType) -> i64 {
    (dtype.size() / WORD) as i64
}

/// The memory that the threads of a workgroup share, and functions on it.
const ROWS: &str = "var<workgroup> parts: array<f32, THREADS>;
fn larger(a: f32, b: f32) -> f32 { return select(select(b, a, a > b || is_nan(a)), b, is_nan(b)); }
fn over_sum(mine: f32, thread: u32) -> f32 {
    workgroupBarrier();
    parts[thread] = mine;
    for (var half = THREADS / 2u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if (thread < half) { parts[thread] = parts[thread] + parts[thread + half]; }
    }
    workgroupBarrier();
    return parts[0];
}
fn over_max(mine: f32, thread: u32) -> f32 {
    workgroupBarrier();
    parts[thread] = mine;
    for (var half = THREADS / 2u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if (thread < half) { parts[thread] = larger(parts[thread], parts[thread + half]); }
    }
    workgroupBarrier();
    return parts[0];
}";
