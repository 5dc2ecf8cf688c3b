//! A builder for kernels with named parameters and tensors: `p.count`, `p.x[i]`.
#![expect(unsafe_code, reason = "a launch gives addresses to a kernel")]

use std::fmt::Write;
use std::sync::Arc;

use torch_library::Storage;
use torch_library::prelude::*;
use torch_library_gpu::{DIMS, KernelBuilder};

use crate::compiler;
use crate::memory::Memory;

/// The most threads of a block that goes through a row, and the number of threads of a block that goes through elements.
pub(crate) const THREADS: u32 = 256;

/// The CUDA C type of elements of a dtype, if there is one.
pub(crate) fn c_type(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Float32 => "float",
        DType::Float64 => "double",
        DType::Float16 => "f16",
        DType::BFloat16 => "bf16",
        DType::Int64 => "i64",
        DType::Int32 => "int",
        DType::Int16 => "short",
        DType::Int8 => "i8",
        DType::UInt8 => "u8",
        DType::Bool => "bool",
        _ => return None,
    })
}

/// A kernel that is being built. The first parameter, `p.count`, is the number of threads or rows that have something to do.
pub(crate) struct Kernel {
    label: &'static str,
    /// Type definitions, which precede the parameters.
    types: String,
    fields: String,
    /// The parameters; each has the size of a word, so there are no gaps between them.
    words: Vec<u64>,
    /// Functions, which follow the parameters.
    text: String,
    /// The storages of tensors, each with the number of the parameter that its address is added to.
    tensors: Vec<(usize, Storage)>,
}

impl Kernel {
    fn field(mut self, declared: &str, words: impl IntoIterator<Item = u64>) -> Kernel {
        let _ = writeln!(self.fields, "    {declared};");
        self.words.extend(words);
        self
    }

    fn tensor(mut self, declared: &str, tensor: &Tensor) -> Kernel {
        let offset = tensor.storage_offset().cast_unsigned() * tensor.dtype().size() as u64;
        self.tensors.push((self.words.len(), tensor.storage().clone()));
        self.field(declared, [offset])
    }

    /// Runs a body in `groups` blocks of `threads` threads.
    pub(crate) fn run(mut self, count: i64, groups: u64, threads: [u32; 2], body: &str) -> Result<()> {
        if groups == 0 {
            return Ok(());
        }
        self.words[0] = count.cast_unsigned();
        let Ok(groups) = i32::try_from(groups) else {
            bail!(NotSupported, "{} would need {groups} blocks of threads, CUDA has 2^31 - 1", self.label)
        };
        let Kernel { label, types, fields, mut words, text, tensors } = self;
        let source = format!(
            "{types}struct Params {{\n{fields}}};\n{text}extern \"C\" __global__ void kernel(Params p) {{\n{body}\n}}\n"
        );
        let memories = tensors.iter().map(|(_, storage)| Memory::of(storage)).collect::<Result<Vec<_>>>()?;
        for ((word, _), memory) in tensors.iter().zip(&memories) {
            words[*word] += memory.address();
        }
        let Some(first) = memories.first() else { return Ok(()) };
        let gpu = first.gpu();
        let is_one = memories.iter().all(|memory| Arc::ptr_eq(memory.gpu(), gpu));
        ensure!(is_one, Device, "tensors on two devices, or on one that was lost in between");
        let function = compiler::function(gpu, label, &source)?;
        let (stream, id) = gpu.current()?;
        memories.iter().for_each(|memory| memory.used_by(id));
        // SAFETY: the structure is the source's, whose fields have eight bytes each and were given a word each, for a tensor its
        // address with its offset; the kernel only accesses the tensors that it was given, and freed memory is not reused before
        // this stream, or the streams that the block lists, are done.
        unsafe { stream.launch(&function, groups.cast_unsigned(), threads, &words) }
    }
}

/// In a body, parameters are fields of `p`, which functions take as `const Params &p`, and elements are `p.x[i]`.
impl KernelBuilder for Kernel {
    fn new(label: &'static str) -> Kernel {
        let fields = "    i64 count;\n".to_owned();
        let (types, text) = (String::new(), String::new());
        Kernel { label, types, fields, words: vec![0], text, tensors: Vec::new() }
    }

    fn number(self, name: &str, number: i64) -> Kernel {
        self.field(&format!("i64 {name}"), [number.cast_unsigned()])
    }

    fn numbers(self, name: &str, numbers: &[i64]) -> Kernel {
        let numbers = if numbers.is_empty() { &[0] } else { numbers };
        let words = numbers.iter().map(|number| number.cast_unsigned());
        self.field(&format!("i64 {name}[{}]", numbers.len()), words)
    }

    fn float(self, name: &str, number: f64) -> Kernel {
        self.field(&format!("double {name}"), [number.to_bits()])
    }

    fn type_named(mut self, name: &str, dtype: DType) -> Kernel {
        let _ = writeln!(self.types, "typedef {} {name};", c_type(dtype).unwrap_or("void"));
        self
    }

    fn input(self, name: &str, tensor: &Tensor) -> Kernel {
        self.tensor(&format!("const {}*{name}", pointed(tensor)), tensor)
    }

    fn result(self, name: &str, tensor: &Tensor) -> Kernel {
        self.tensor(&format!("{}*{name}", pointed(tensor)), tensor)
    }

    /// If the tensor is missing, the parameter is a null pointer. The type of the computation, `T`, has to be defined.
    fn optional(self, name: &str, tensor: Option<&Tensor>, otherwise: &str) -> Kernel {
        let kernel = match tensor {
            Some(tensor) => self.input(name, tensor),
            None => self.field(&format!("const float *{name}"), [0]),
        };
        kernel.with(&format!(
            "__device__ inline T {name}(const Params &p, i64 i) {{ return p.{name} ? as<T>(p.{name}[i]) : T({otherwise}); }}"
        ))
    }

    fn sizes(self, sizes: &[i64]) -> Kernel {
        self.number("dims", sizes.len() as i64).numbers("sizes", &padded(sizes))
    }

    fn strides(self, name: &str, strides: &[i64]) -> Kernel {
        self.numbers(&format!("{name}_strides"), &padded(strides)).with(&format!(
            "__device__ inline i64 {name}_place(const Params &p, i64 n) {{
    i64 rest = n, at = 0;
    for (i64 dim = p.dims; dim > 0; dim--) {{
        i64 size = p.sizes[dim - 1];
        at += rest % size * p.{name}_strides[dim - 1];
        rest /= size;
    }}
    return at;
}}"
        ))
    }

    fn places(self, name: &str, sizes: &[i64], strides: &[i64]) -> Kernel {
        let body: String = (0..sizes.len())
            .rev()
            .map(|dim| match dim {
                0 => format!("    at += rest * p.{name}_strides[0];\n"),
                _ => format!(
                    "    at += rest % p.{name}_sizes[{dim}] * p.{name}_strides[{dim}];\n    rest /= p.{name}_sizes[{dim}];\n"
                ),
            })
            .collect();
        self.numbers(&format!("{name}_sizes"), sizes).numbers(&format!("{name}_strides"), strides).with(&format!(
            "__device__ inline i64 {name}(const Params &p, i64 rest) {{\n    i64 at = 0;\n{body}    return at;\n}}"
        ))
    }

    /// Adds functions for the body; they may take `const Params &p`.
    fn with(mut self, text: &str) -> Kernel {
        self.text += text;
        self.text.push('\n');
        self
    }

    fn threads_after(self, before: &str, count: i64, body: &str) -> Result<()> {
        let groups = count.cast_unsigned().div_ceil(u64::from(THREADS));
        let number = "    i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x;\n";
        let body = format!("{number}{before}    if (n >= p.count) return;\n{body}");
        self.run(count, groups, [THREADS, 1], &body)
    }

    /// A block has `threads` threads: as many as a row has elements, up to [`THREADS`].
    fn rows(self, count: i64, length: i64, body: &str, writes: &str) -> Result<()> {
        let threads = u32::try_from(length).unwrap_or(THREADS).next_power_of_two().clamp(32, THREADS);
        let start = "    i64 row = blockIdx.x;\n    u32 thread = threadIdx.x, threads = blockDim.x;\n";
        self.run(count, count.cast_unsigned(), [threads, 1], &format!("{start}{body}\n{writes}"))
    }
}

/// The type of a tensor's elements, followed by a space.
fn pointed(tensor: &Tensor) -> String {
    format!("{} ", c_type(tensor.dtype()).unwrap_or("u8"))
}

fn padded(list: &[i64]) -> [i64; DIMS] {
    std::array::from_fn(|dim| list.get(dim).copied().unwrap_or(1))
}
