//! The arguments of a boxed call, and running the call on `meta`.

use torch_library::DeviceType;
use torch_library::prelude::*;

/// Arguments by position, with the types of the schema.
///
/// Asking for another type than the argument's is an error of the kind [`Internal`](ErrorKind::Internal), which names
/// both.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a, 'v> {
    operator: OperatorHandle,
    values: &'a [Value<'v>],
}

impl<'a, 'v> Arguments<'a, 'v> {
    /// The arguments of a call of an operator.
    pub fn new(operator: OperatorHandle, values: &'a [Value<'v>]) -> Self {
        Arguments { operator, values }
    }

    fn other(&self, at: usize) -> Error {
        let found = self.values.get(at).map_or("nothing", Value::type_name);
        Error::new(ErrorKind::Internal, format!("{}: argument {at} is {found}", self.operator))
    }

    /// A tensor.
    ///
    /// # Errors
    /// The argument has another type.
    pub fn tensor(&self, at: usize) -> Result<&'a Tensor> {
        self.values.get(at).and_then(Value::as_tensor).ok_or_else(|| self.other(at))
    }

    /// A tensor that may be missing.
    pub fn optional(&self, at: usize) -> Option<&'a Tensor> {
        self.values.get(at)?.as_tensor().filter(|tensor| tensor.is_defined())
    }

    /// A list of tensors, empty where there is none.
    pub fn tensors(&self, at: usize) -> &'a [Tensor] {
        self.values.get(at).map_or(&[], Value::tensors)
    }

    /// An integer.
    ///
    /// # Errors
    /// The argument has another type.
    pub fn int(&self, at: usize) -> Result<i64> {
        match self.values.get(at) {
            Some(Value::Int(number)) => Ok(*number),
            _ => Err(self.other(at)),
        }
    }

    /// An integer that may be missing.
    pub fn optional_int(&self, at: usize) -> Option<i64> {
        self.int(at).ok()
    }

    /// A floating-point number.
    ///
    /// # Errors
    /// The argument has another type.
    pub fn float(&self, at: usize) -> Result<f64> {
        match self.values.get(at) {
            Some(Value::Float(number)) => Ok(*number),
            Some(Value::Int(number)) => Ok(*number as f64),
            _ => Err(self.other(at)),
        }
    }

    /// The generator, if one was passed.
    ///
    /// # Errors
    /// The argument has another type.
    pub fn generator(&self, at: usize) -> Result<Option<&'a Generator>> {
        match self.values.get(at) {
            Some(Value::Generator(generator)) => Ok(Some(generator)),
            Some(Value::None) => Ok(None),
            _ => Err(self.other(at)),
        }
    }

    /// A boolean.
    ///
    /// # Errors
    /// The argument has another type.
    pub fn bool(&self, at: usize) -> Result<bool> {
        match self.values.get(at) {
            Some(Value::Bool(is)) => Ok(*is),
            _ => Err(self.other(at)),
        }
    }

    /// A list of integers.
    ///
    /// # Errors
    /// The argument has another type.
    pub fn ints(&self, at: usize) -> Result<&'a [i64]> {
        match self.values.get(at) {
            Some(Value::Ints(numbers)) => Ok(numbers),
            Some(Value::Int(number)) => Ok(std::slice::from_ref(number)),
            _ => Err(self.other(at)),
        }
    }

    /// A list with one number for both directions or one for each; `other` if the list is empty.
    ///
    /// # Errors
    /// The argument has another type.
    pub fn pair(&self, at: usize, other: [i64; 2]) -> Result<[i64; 2]> {
        match *self.ints(at)? {
            [] => Ok(other),
            [both] => Ok([both; 2]),
            [high, wide] => Ok([high, wide]),
            _ => Err(self.other(at)),
        }
    }

    /// An output mask: which of three results are wanted.
    ///
    /// # Errors
    /// The argument has another type.
    pub fn mask(&self, at: usize) -> Result<[bool; 3]> {
        match self.values.get(at) {
            Some(Value::Bools(mask)) => (**mask).try_into().map_err(|_| self.other(at)),
            _ => Err(self.other(at)),
        }
    }
}

/// The result of an operator on `meta` for these arguments: its sizes, strides and type, or the operator's errors for
/// arguments that do not fit. Tensors on the CPU stay there.
///
/// # Errors
/// Those of the operator.
pub fn on_meta(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Tensor> {
    let [result] = all_on_meta(operator, arguments)?;
    Ok(result)
}

/// As [`on_meta`], for an operator with several results; a result that is not wanted is an undefined tensor.
///
/// # Errors
/// Those of the operator.
pub fn all_on_meta<const N: usize>(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<[Tensor; N]> {
    let mut stack = Stack::new();
    for argument in arguments {
        let twin = |tensor: &Tensor| match tensor.is_defined()
            && !matches!(tensor.device().kind, DeviceType::Cpu | DeviceType::Meta)
        {
            true => Tensor::empty_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), Device::META),
            false => Ok(tensor.clone()),
        };
        stack.push(argument.map_tensors(twin)?.into_owned());
    }
    operator.redispatch_boxed(DispatchKeySet::from_key(DispatchKey::Meta), &mut stack)?;
    let mut results = [const { None }; N];
    for result in results.iter_mut().rev() {
        *result = Some(stack.pop_as::<Tensor>()?);
    }
    Ok(results.map(|result| result.unwrap_or_else(Tensor::undefined)))
}

/// The strides of a contiguous tensor.
///
/// ```
/// assert_eq!(torch_library_gpu::row_major(&[2, 3, 4]), [12, 4, 1]);
/// ```
pub fn row_major(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; sizes.len()];
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = strides[dim] * sizes[dim].max(1);
    }
    strides
}
