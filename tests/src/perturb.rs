//! Recorded calls with one or two things changed: the rest of a call is valid, so that the change reaches the kernel,
//! whereas calls with random values fail in the first check. Each call must return a result or an error.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::Value as Json;
use torch_library::autograd::{GradOptions, backward as backward_of};
use torch_library::{
    DType, Device, Dispatcher, Error, ErrorKind, Layout, MemoryFormat, Result, Scalar, Tensor, Value,
    match_dtype,
};

use torch_library_kernels::random::manual_seed;

use crate::operators::Arguments;
use crate::rows;

mod layers;
mod moves;

use layers::Layer;

/// Problematic sizes, dimensions, indices and steps. None is between a few hundred and what no machine can hold.
const NUMBERS: [i64; 22] = [
    0,
    1,
    2,
    3,
    4,
    5,
    -1,
    -2,
    -3,
    -5,
    17,
    64,
    255,
    i64::MAX,
    i64::MIN,
    i64::MAX - 1,
    i64::MIN + 1,
    1 << 61,
    -(1 << 61),
    1 << 48,
    (1 << 62) + 1,
    -(1 << 46),
];

const DTYPES: [DType; 12] = [
    DType::Bool,
    DType::UInt8,
    DType::Int8,
    DType::Int32,
    DType::Int64,
    DType::UInt64,
    DType::Float16,
    DType::BFloat16,
    DType::Float32,
    DType::Float64,
    DType::Complex64,
    DType::Complex128,
];

const FLOATS: [f64; 11] =
    [0.0, -0.0, 1.0, 1.5, -2.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 5e-324];

const TEXTS: [&str; 12] =
    ["", "é", "mean", "sum", "none", "floor", "trunc", "reflect", "amax", "prod", "ij,jk->ik", "...ii->i"];

/// The recorded calls of a folder, from its `kernels.jsonl.gz`.
pub struct Calls(Vec<Json>);

/// What a call ends with.
#[derive(Debug, PartialEq)]
pub enum End {
    /// An error.
    Refused,
    /// Results: their elements, and the call.
    Returned {
        /// The call with its arguments.
        what: String,
        /// The elements of the results, of gradients, and of arguments after the call.
        text: String,
    },
}

/// What is changed about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// One or two of its arguments.
    Changed,
    /// The sizes of tensors: dimensions become longer than any memory.
    Huge,
    /// One or two of its arguments, and then, whenever its kernel calls an operator, the sizes, strides, memory or elements
    /// of the tensors that it has. A call may panic then: a composite that reads sizes twice has no access to elements.
    Moved,
}

/// Returns a number below its argument.
pub type Choose<'c> = &'c mut dyn FnMut(usize) -> usize;

impl Calls {
    /// Reads the calls.
    ///
    /// # Errors
    /// There is no such file, or it cannot be read.
    pub fn read(folder: &Path) -> Result<Calls> {
        match rows::read(folder, "kernels")? {
            Some(rows) => Ok(Calls(rows)),
            None => Err(Error::new(ErrorKind::Io, format!("{} has no kernels", folder.display()))),
        }
    }

    /// The number of calls.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no calls.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The operator that a row calls.
    pub fn operator(&self, index: usize) -> &str {
        self.0[index]["op"].as_str().unwrap_or_default()
    }

    /// Makes one of the calls, changed as `how` and `choose` say, and returns its results as text, or that it was refused;
    /// `None` if the operator does not exist here. Half of the calls go through a layer. Random numbers are the same for the
    /// same call.
    ///
    /// # Errors
    /// The call panicked.
    pub fn call(&self, index: usize, how: How, choose: Choose<'_>) -> Result<Option<End>, String> {
        let is_huge = how == How::Huge;
        let row = &self.0[index];
        let Ok(operator) = Dispatcher::global().find(self.operator(index)) else { return Ok(None) };
        let Ok(mut arguments) = Arguments::of(row) else { return Ok(None) };
        let tensors: Vec<Tensor> = arguments.tensors().into_iter().map(|(_, tensor)| tensor).collect();
        let mut changes = Changes { choose, tensors };
        if is_huge {
            changes.expand(&mut arguments);
        } else {
            for _ in 0..=changes.below(2) {
                changes.change(&mut arguments);
            }
        }
        let backward = !is_huge && changes.one_in(3);
        let layer = if changes.one_in(2) { Layer::Plain } else { changes.one(&Layer::ALL) };
        let what = format!("{operator}, {layer:?}, with {:?}, {:?}", arguments.positional, arguments.named);
        let leaves: Vec<Tensor> = arguments.tensors().into_iter().map(|(_, tensor)| tensor).collect();
        if backward {
            leaves.iter().for_each(|leaf| _ = leaf.set_requires_grad(true));
        }
        let mover =
            (how == How::Moved).then(|| moves::observer(changes.below(1 << 30), &leaves).on_this_thread());
        let Changes { choose, .. } = changes;
        manual_seed(index as u64);
        let mut text = String::new();
        let call = AssertUnwindSafe(|| {
            layer.call(arguments, operator, choose, |results| text = look(results, &leaves, backward))
        });
        let end = catch_unwind(call);
        drop(mover);
        match end {
            Ok(Ok(())) => Ok(Some(End::Returned { what, text })),
            Ok(Err(_)) => Ok(Some(End::Refused)),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Err(format!("{}: {what:.2000}", text.unwrap_or_default()))
            }
        }
    }
}

/// Reads all results, and runs the backward pass from them; returns the elements of the results, of the gradients and of
/// what was written.
fn look(results: &[Value<'static>], leaves: &[Tensor], backward: bool) -> String {
    let mut text = String::new();
    for tensor in results.iter().flat_map(Value::all_tensors) {
        assert!(!tensor.to_string().is_empty(), "a tensor has a text");
        text += &elements(tensor);
        if backward && tensor.requires_grad() && tensor.numel() < 1 << 20 {
            let _ = Tensor::full(tensor.sizes(), 1.0, tensor.dtype(), tensor.device())
                .and_then(|gradient| backward_of(&[tensor], &[Some(gradient)], GradOptions::new()));
        }
    }
    for leaf in leaves {
        text += &elements(leaf);
        text += &leaf.grad().map(|gradient| elements(&gradient)).unwrap_or_default();
    }
    text
}

/// The elements of a tensor as text, unless there are very many of them, or none can be read.
fn elements(tensor: &Tensor) -> String {
    if tensor.numel() > 1 << 14 || tensor.device() != Device::CPU || tensor.is_wrapper() {
        return format!("{:?};", tensor.sizes());
    }
    let read = || match_dtype!(tensor.dtype(), T => Ok(format!("{:?};", tensor.to_vec::<T>()?)));
    read().unwrap_or_else(|error: Error| error.to_string())
}

struct Changes<'c> {
    choose: Choose<'c>,
    tensors: Vec<Tensor>,
}

impl Changes<'_> {
    fn below(&mut self, bound: usize) -> usize {
        (self.choose)(bound)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn change(&mut self, arguments: &mut Arguments<'_>) {
        let (positional, named) = (arguments.positional.len(), arguments.named.len());
        if positional + named == 0 {
            return;
        }
        let place = self.below(positional + named);
        let value = match place.checked_sub(positional) {
            None => &mut arguments.positional[place],
            Some(place) => &mut arguments.named[place].1,
        };
        *value = self.other(value);
    }

    /// Expands some or all tensors to sizes that no memory could hold, some of them with no elements.
    fn expand(&mut self, arguments: &mut Arguments<'_>) {
        let (all, last, is_empty) = (self.one_in(2), self.one_in(2), self.one_in(2));
        let huge = |tensor: &Tensor| {
            let (mut sizes, mut strides) = (tensor.sizes().to_vec(), tensor.strides().to_vec());
            let place =
                if last { sizes.len().checked_sub(1) } else { sizes.iter().position(|size| *size > 1) };
            let Some(place) = place else { return tensor.clone() };
            (sizes[place], strides[place]) = (1 << 40, 0);
            if is_empty && sizes.len() > 1 {
                let other = if place == 0 { sizes.len() - 1 } else { 0 };
                sizes[other] = 0;
                return Tensor::empty(&sizes, tensor.dtype(), tensor.device())
                    .unwrap_or_else(|_| tensor.clone());
            }
            tensor.strided_view(&sizes, &strides, tensor.storage_offset()).unwrap_or_else(|_| tensor.clone())
        };
        let named = arguments.named.iter_mut().map(|(_, value)| value);
        for value in arguments.positional.iter_mut().chain(named) {
            match value {
                Value::Tensor(tensor) if all || self.one_in(2) => *tensor = huge(tensor),
                Value::Tensors(list) if all => *value = list.iter().map(huge).collect::<Vec<_>>().into(),
                _ => {}
            }
        }
    }

    /// A value of the same type or of a similar one.
    fn other(&mut self, value: &Value<'static>) -> Value<'static> {
        if self.one_in(20) {
            return Value::None;
        }
        match value {
            Value::Int(_) if self.one_in(8) => Value::Float(self.one(&FLOATS)),
            Value::Int(_) => Value::Int(self.one(&NUMBERS)),
            Value::Float(_) if self.one_in(8) => Value::Int(self.one(&NUMBERS)),
            Value::Float(_) => Value::Float(self.one(&FLOATS)),
            Value::Bool(value) => Value::Bool(!value),
            Value::DType(_) => Value::DType(self.one(&DTYPES)),
            Value::Layout(_) => Value::Layout(self.one(Layout::ALL)),
            Value::MemoryFormat(_) => Value::MemoryFormat(self.one(MemoryFormat::ALL)),
            Value::Device(_) => Value::Device(Device::META),
            Value::Str(_) => Value::Str(Cow::Borrowed(self.one(&TEXTS))),
            Value::Tensor(tensor) => Value::Tensor(self.tensor(tensor)),
            Value::Tensors(list) => {
                let mut list = list.to_vec();
                self.list(&mut list, |changes, tensor| *tensor = changes.tensor(tensor));
                list.into()
            }
            Value::OptionalTensors(list) => {
                let mut list = list.to_vec();
                self.list(&mut list, |changes, tensor| {
                    *tensor = tensor.as_ref().map(|tensor| changes.tensor(tensor));
                });
                list.into()
            }
            Value::None => self.anything(),
            value => self.numbers(value),
        }
    }

    fn anything(&mut self) -> Value<'static> {
        match self.below(6) {
            0 => Value::Int(self.one(&NUMBERS)),
            1 => Value::Float(self.one(&FLOATS)),
            2 => Value::DType(self.one(&DTYPES)),
            3 => Value::Bool(true),
            4 => (0..self.below(4)).map(|_| self.one(&NUMBERS)).collect::<Vec<_>>().into(),
            _ => match self.tensors.len() {
                0 => Value::None,
                tensors => {
                    let place = self.below(tensors);
                    Value::Tensor(self.tensors[place].clone())
                }
            },
        }
    }

    /// Changes a list of numbers.
    fn numbers(&mut self, value: &Value<'static>) -> Value<'static> {
        match value {
            Value::Ints(list) => {
                let mut list = list.to_vec();
                self.list(&mut list, |changes, number| *number = changes.one(&NUMBERS));
                list.into()
            }
            Value::Floats(list) => {
                let mut list = list.to_vec();
                self.list(&mut list, |changes, number| *number = changes.one(&FLOATS));
                list.into()
            }
            Value::Bools(list) => {
                let mut list = list.to_vec();
                self.list(&mut list, |_, truth| *truth = !*truth);
                list.into()
            }
            _ => Value::None,
        }
    }

    fn list<T: Clone>(&mut self, list: &mut Vec<T>, element: impl Fn(&mut Self, &mut T)) {
        let len = list.len();
        if len == 0 {
            return;
        }
        let place = self.below(len);
        match self.below(6) {
            0 => drop(list.remove(place)),
            1 => list.insert(place, list[place].clone()),
            2 => list.clear(),
            _ => element(self, &mut list[place]),
        }
    }

    /// Another tensor over the same elements or a part of them, or with changed elements.
    fn tensor(&mut self, tensor: &Tensor) -> Tensor {
        self.changed(tensor).unwrap_or_else(|_| tensor.clone())
    }

    fn changed(&mut self, tensor: &Tensor) -> Result<Tensor> {
        let (mut sizes, mut strides) = (tensor.sizes().to_vec(), tensor.strides().to_vec());
        let (offset, dim) = (tensor.storage_offset(), tensor.dim());
        let place = self.below(dim.max(1));
        let dtype = tensor.dtype();
        match self.below(16) {
            0 if dim > 0 => sizes[place] = 0,
            1 if dim > 0 => sizes[place] -= 1,
            2 if dim > 0 => {
                return Tensor::full(
                    &{
                        sizes[place] = sizes[place].saturating_add(1);
                        sizes
                    },
                    1.0,
                    dtype,
                    tensor.device(),
                );
            }
            3 if dim > 0 => drop((sizes.remove(place), strides.remove(place))),
            4 => {
                sizes.insert(place.min(dim), self.one(&[1, 1, 2, 0]));
                strides.insert(place.min(dim), self.one(&[0, 1]));
            }
            5 if dim > 1 => {
                sizes.swap(0, place);
                strides.swap(0, place);
            }
            6 if dim > 0 => strides[place] = 0,
            7 if dim > 0 => {
                sizes[place] = 0;
                let zero = self.below(dim);
                sizes[zero] = 0;
                let other = self.below(dim);
                if other != place {
                    sizes[other] = 1 << 40;
                }
                return Tensor::empty(&sizes, dtype, tensor.device());
            }
            8 => return Tensor::full(&sizes, 1.0, self.one(&DTYPES), tensor.device()),
            9 => return Tensor::full(&sizes, 1.0, dtype, Device::META),
            10 => (sizes, strides) = (vec![], vec![]),
            11 => (sizes, strides) = (vec![1; 64], vec![1; 64]),
            12 if !self.tensors.is_empty() => {
                let other = self.below(self.tensors.len());
                return Ok(self.tensors[other].clone());
            }
            _ => return self.other_elements(tensor),
        }
        tensor.strided_view(&sizes, &strides, offset)
    }

    /// A tensor with unusual numbers among its elements.
    fn other_elements(&mut self, tensor: &Tensor) -> Result<Tensor> {
        let dtype = tensor.dtype();
        let mut other = Tensor::empty_strided(tensor.sizes(), tensor.strides(), dtype, tensor.device())?;
        let all = self.one_in(4);
        match_dtype!(dtype, T => {
            let mut elements = tensor.to_vec::<T>()?;
            let len = elements.len();
            if len > 0 {
                let floats = dtype.is_floating_point() || dtype.is_complex();
                let number = if floats { Scalar::Float(self.one(&FLOATS)) } else { Scalar::Int(self.one(&NUMBERS)) };
                let number = number.cast::<T>();
                let place = self.below(len);
                if all { elements.fill(number) } else { elements[place] = number }
            }
            other.copy_from_slice(&elements)?;
        });
        Ok(other)
    }
}
