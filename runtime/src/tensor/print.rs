//! Prints tensors as PyTorch's Python does, `tensor([[1., 2.], [3., 4.]])`, by the same rules.

use std::fmt;

use super::{Tensor, backend};
use crate::device::Device;
use crate::dtype::{DType, Element, element::Complex64};
use crate::error::Result;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::limits::SHOWN;
use crate::match_dtype;

/// Digits after the decimal point, unless the format string specifies others.
const PRECISION: usize = 4;
/// Tensors with more elements than this are summarised.
const THRESHOLD: i64 = 1000;
const EDGE: i64 = 3;
/// The width of a line.
const LINE: usize = 80;
/// The start of a tensor's text; continuation lines are indented by its length.
const PREFIX: &str = "tensor(";

/// The text of Python's `repr` for the same tensor.
///
/// Element type and device are shown where they are not the default; tensors that the host cannot access show only
/// their sizes. A precision (`{x:.2}`) replaces the four digits after the decimal point.
///
/// ```
/// use torch_library::Tensor;
///
/// assert_eq!(Tensor::from([1.5f32, f32::NAN]).to_string(), "tensor([1.5000,    nan])");
/// assert_eq!(format!("{:.1}", Tensor::from([[1.25, 2.0]])), "tensor([[1.2, 2.0]], dtype=torch.float64)");
/// ```
///
/// PyTorch: `Tensor.__repr__`.
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A tensor of our own, whose sizes no other code changes while it is printed.
        let snapshot = self.with_key_set(self.key_set());
        let on_host = elements_of_device(&snapshot);
        let mut text = String::from(PREFIX);
        let contents = match on_host.is_some() || shows_elements(&snapshot) {
            false => None,
            true if snapshot.numel() == 0 => Some(String::from("[]")),
            // Fails if the elements are being written; printing must not fail, so they are then left out.
            true => contents(on_host.as_ref().unwrap_or(&snapshot), f.precision().unwrap_or(PRECISION)).ok(),
        };
        text.push_str(contents.as_deref().unwrap_or("..."));
        let mut suffixes = suffixes(&snapshot, contents.is_none());
        suffixes.extend(history(self));
        add_suffixes(&mut text, &suffixes);
        write!(f, "{text})")
    }
}

/// The same text as [`Display`](fmt::Display).
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Whether the elements are printed: not on other devices, not for wrappers, and not if even a summary would be too
/// long to read.
fn shows_elements(tensor: &Tensor) -> bool {
    tensor.storage().data_ptr().is_some() && !tensor.is_wrapper() && is_summary_short(tensor)
}

/// A copy of the elements on a device with a backend, to print them; `None` if that fails, since printing must not
/// fail.
fn elements_of_device(tensor: &Tensor) -> Option<Tensor> {
    let is_remote = tensor.storage().data_ptr().is_none() && !tensor.is_wrapper() && is_summary_short(tensor);
    if !is_remote || !matches!(backend::of(tensor.device().kind), Ok(Some(_))) {
        return None;
    }
    let host = backend::host_copy(tensor).ok()?;
    let lazy = tensor.key_set() & DispatchKeySet::from_keys(&[DispatchKey::Conjugate, DispatchKey::Negative]);
    Some(host.with_key_set(host.key_set() | lazy))
}

fn is_summary_short(tensor: &Tensor) -> bool {
    let shown = shape_of(tensor).iter().try_fold(1usize, |shown, dim| shown.checked_mul(dim.count()));
    tensor.numel() == 0 || shown.is_some_and(|shown| shown <= SHOWN)
}

/// The parts of the text besides the elements.
fn suffixes(tensor: &Tensor, is_hidden: bool) -> Vec<String> {
    let mut suffixes = Vec::new();
    let (device, dtype) = (tensor.device(), tensor.dtype());
    if device.kind != Device::CPU.kind {
        suffixes.push(format!("device='{device}'"));
    }
    // Without elements, the type is shown unless it is the default.
    let is_bare = is_hidden || tensor.numel() == 0;
    if is_bare && (tensor.dim() != 1 || is_hidden) {
        suffixes.push(format!("size={}", tuple(tensor.sizes())));
    }
    let is_evident = matches!(dtype, DType::Complex64 | DType::Int64 | DType::Bool) && !is_bare;
    if dtype != DType::DEFAULT && !is_evident {
        suffixes.push(format!("dtype=torch.{dtype}"));
    }
    suffixes
}

/// The suffix for the autograd history, if there is one.
fn history(tensor: &Tensor) -> Option<String> {
    match tensor.grad_fn() {
        Ok(None) => tensor.requires_grad().then(|| "requires_grad=True".into()),
        Ok(Some(node)) => Some(format!("grad_fn=<{}>", node.name())),
        Err(_) => Some("grad_fn=<Invalid>".into()), // a view whose history gradients can no longer follow
    }
}

/// Appends suffixes to a text, each on a new line if the last line has no room for it.
fn add_suffixes(text: &mut String, suffixes: &[String]) {
    // PyTorch counts the last line as two columns longer than it is.
    let mut column = text.len() - text.rfind('\n').map_or(0, |newline| newline + 1) + 2;
    for suffix in suffixes {
        if column + suffix.len() + 2 > LINE {
            *text += &format!(",\n{:indent$}{suffix}", "", indent = PREFIX.len());
            column = PREFIX.len() + suffix.len();
        } else {
            *text += &format!(", {suffix}");
            column += suffix.len() + 2;
        }
    }
}

/// A Python tuple: `()`, `(2,)`, `(2, 3)`.
fn tuple(sizes: &[i64]) -> String {
    match sizes {
        [size] => format!("({size},)"),
        _ => format!("({})", sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The elements, in nested brackets.
fn contents(tensor: &Tensor, precision: usize) -> Result<String> {
    tensor.dtype().ensure_built()?;
    let shape = shape_of(tensor);
    let cells =
        match_dtype!(tensor.dtype(), T => Cells::of(&shown_elements::<T>(tensor, &shape)?, precision));
    Ok(cells.nested(&shape, &mut cells.texts.iter(), PREFIX.len()))
}

fn shape_of(tensor: &Tensor) -> Vec<Shown> {
    let summarize = tensor.numel() > THRESHOLD;
    tensor.sizes().iter().map(|size| Shown::of(*size, summarize)).collect()
}

/// The indices of a dimension that are printed: all, or some at both ends.
#[derive(Clone, Copy)]
struct Shown {
    size: i64,
    is_cut: bool,
}

impl Shown {
    fn of(size: i64, summarize: bool) -> Shown {
        Shown { size, is_cut: summarize && size > 2 * EDGE }
    }

    fn count(self) -> usize {
        if self.is_cut { 2 * EDGE as usize } else { self.size as usize }
    }

    fn indices(self) -> impl Iterator<Item = i64> {
        let edge = if self.is_cut { EDGE } else { self.size };
        (0..edge).chain(if self.is_cut { self.size - EDGE..self.size } else { 0..0 })
    }
}

/// The printed elements, in order.
fn shown_elements<T: Element>(tensor: &Tensor, shape: &[Shown]) -> Result<Vec<T>> {
    let mut indices: Vec<Vec<i64>> = vec![vec![]];
    for dim in shape {
        indices =
            indices.iter().flat_map(|outer| dim.indices().map(|i| [&outer[..], &[i]].concat())).collect();
    }
    indices.iter().map(|index| tensor.element(index)).collect()
}

/// Printed elements as texts, with the columns that a line reserves for each.
struct Cells {
    texts: Vec<String>,
    width: usize,
}

impl Cells {
    fn of<T: Element>(elements: &[T], precision: usize) -> Cells {
        match T::DTYPE {
            dtype if dtype.is_complex() => {
                let elements: Vec<Complex64> = elements.iter().map(|x| x.cast()).collect();
                let real = Cells::floats(elements.iter().map(|x| x.re).collect(), 0.0, precision);
                let imaginary = Cells::floats(elements.iter().map(|x| x.im).collect(), 0.0, precision);
                real.complex(&imaginary)
            }
            dtype if dtype.is_floating_point() => {
                // What zero is rounded to: `float8_e8m0fnu` has none, and PyTorch takes its least number for it.
                let zero = 0f64.cast::<T>().cast();
                Cells::floats(elements.iter().map(|x| x.cast()).collect(), zero, precision)
            }
            DType::Bool => Cells::aligned(
                elements.iter().map(|x| if x.cast() { "True" } else { "False" }.to_owned()).collect(),
            ),
            DType::UInt64 => Cells::aligned(elements.iter().map(|x| x.cast::<u64>().to_string()).collect()),
            _ => Cells::aligned(elements.iter().map(|x| x.cast::<i64>().to_string()).collect()),
        }
    }

    /// Right-aligned texts.
    fn aligned(texts: Vec<String>) -> Cells {
        let width = texts.iter().map(String::len).max().unwrap_or(1);
        Cells { texts: texts.iter().map(|text| format!("{text:>width$}")).collect(), width }
    }

    /// Formats real numbers, all in the style that the finite ones other than `zero` need: integers, decimals or powers
    /// of ten. Only these determine the width.
    fn floats(elements: Vec<f64>, zero: f64, precision: usize) -> Cells {
        let decisive: Vec<f64> = elements.iter().copied().filter(|x| x.is_finite() && *x != zero).collect();
        let least = decisive.iter().fold(f64::INFINITY, |least, x| least.min(x.abs()));
        let most = decisive.iter().fold(0f64, |most, x| most.max(x.abs()));
        let style = if !decisive.is_empty() && (most / least > 1000.0 || most > 1e8 || least < 1e-4) {
            Style::Scientific
        } else if decisive.iter().all(|x| x.fract() == 0.0) {
            Style::Integers
        } else {
            Style::Decimals
        };
        let width = decisive.iter().map(|x| style.text(*x, precision).len()).max().unwrap_or(1);
        let texts = elements.iter().map(|x| format!("{:>width$}", style.text(*x, precision))).collect();
        Cells { texts, width }
    }

    /// Complex numbers with these real parts.
    fn complex(self, imaginary: &Cells) -> Cells {
        let join = |(real, imaginary): (&String, &String)| {
            let imaginary = imaginary.trim_start();
            let sign = if imaginary.starts_with('-') { "" } else { "+" };
            format!("{real}{sign}{imaginary}j")
        };
        let texts = self.texts.iter().zip(&imaginary.texts).map(join).collect();
        Cells { texts, width: self.width + imaginary.width + 1 }
    }

    /// Prints the next cells as a block with this shape that starts in column `indent`.
    fn nested<'a>(
        &self,
        shape: &[Shown],
        cells: &mut impl Iterator<Item = &'a String>,
        indent: usize,
    ) -> String {
        let Some((outermost, inner)) = shape.split_first() else {
            return cells.next().cloned().unwrap_or_default();
        };
        let mut parts: Vec<String> =
            outermost.indices().map(|_| self.nested(inner, cells, indent + 1)).collect();
        let indent = indent + 1;
        if !inner.is_empty() {
            if outermost.is_cut {
                parts.insert(EDGE as usize, "...".into());
            }
            let separator = format!(",{}{:indent$}", "\n".repeat(inner.len()), "");
            return format!("[{}]", parts.join(&separator));
        }
        if outermost.is_cut {
            parts.insert(EDGE as usize, " ...".into());
        }
        let per_line = (LINE.saturating_sub(indent - 1) / (self.width + 2)).max(1);
        let lines: Vec<String> = parts.chunks(per_line).map(|line| line.join(", ")).collect();
        format!("[{}]", lines.join(&format!(",\n{:indent$}", "")))
    }
}

/// The notation for real numbers.
#[derive(Clone, Copy)]
enum Style {
    /// As in `1.`.
    Integers,
    /// As in `1.5000`.
    Decimals,
    /// As in `1.5000e+00`.
    Scientific,
}

impl Style {
    fn text(self, x: f64, precision: usize) -> String {
        match self {
            _ if x.is_nan() => "nan".into(),
            _ if x.is_infinite() => format!("{x}"),
            Style::Integers => format!("{x:.0}."),
            Style::Decimals => format!("{x:.precision$}"),
            Style::Scientific => {
                let text = format!("{x:.precision$e}");
                let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let (sign, exponent) =
                    exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
                format!("{digits}e{sign}{exponent:0>2}")
            }
        }
    }
}
