//! The arguments of a call, and what becomes of them on `meta`.

use torch_library::DeviceType;
use torch_library::prelude::*;

/// Arguments by their place, of the types that the schema says.
///
/// Who asks for another type than there is gets an error of the kind [`Internal`](ErrorKind::Internal), which names it.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a, 'v> {
    operator: OperatorHandle,
    values: &'a [Value<'v>],
}

impl<'a, 'v> Arguments<'a, 'v> {
    /// Those of a call of an operator.
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
    /// It is something else.
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

    /// A whole number.
    ///
    /// # Errors
    /// It is something else.
    pub fn int(&self, at: usize) -> Result<i64> {
        match self.values.get(at) {
            Some(Value::Int(number)) => Ok(*number),
            _ => Err(self.other(at)),
        }
    }

    /// A whole number that may be missing.
    pub fn optional_int(&self, at: usize) -> Option<i64> {
        self.int(at).ok()
    }

    /// A number.
    ///
    /// # Errors
    /// It is something else.
    pub fn float(&self, at: usize) -> Result<f64> {
        match self.values.get(at) {
            Some(Value::Float(number)) => Ok(*number),
            Some(Value::Int(number)) => Ok(*number as f64),
            _ => Err(self.other(at)),
        }
    }

    /// The generator that was asked for.
    ///
    /// # Errors
    /// It is something else.
    pub fn generator(&self, at: usize) -> Result<Option<&'a Generator>> {
        match self.values.get(at) {
            Some(Value::Generator(generator)) => Ok(Some(generator)),
            Some(Value::None) => Ok(None),
            _ => Err(self.other(at)),
        }
    }

    /// Whether something is so.
    ///
    /// # Errors
    /// It is something else.
    pub fn bool(&self, at: usize) -> Result<bool> {
        match self.values.get(at) {
            Some(Value::Bool(is)) => Ok(*is),
            _ => Err(self.other(at)),
        }
    }

    /// A list of whole numbers.
    ///
    /// # Errors
    /// It is something else.
    pub fn ints(&self, at: usize) -> Result<&'a [i64]> {
        match self.values.get(at) {
            Some(Value::Ints(numbers)) => Ok(numbers),
            Some(Value::Int(number)) => Ok(std::slice::from_ref(number)),
            _ => Err(self.other(at)),
        }
    }

    /// One number for both directions, or one for each, or another list's where there is none.
    ///
    /// # Errors
    /// It is something else.
    pub fn pair(&self, at: usize, other: [i64; 2]) -> Result<[i64; 2]> {
        match *self.ints(at)? {
            [] => Ok(other),
            [both] => Ok([both; 2]),
            [high, wide] => Ok([high, wide]),
            _ => Err(self.other(at)),
        }
    }

    /// Which of three results are wanted.
    ///
    /// # Errors
    /// It is something else.
    pub fn mask(&self, at: usize) -> Result<[bool; 3]> {
        match self.values.get(at) {
            Some(Value::Bools(mask)) => (**mask).try_into().map_err(|_| self.other(at)),
            _ => Err(self.other(at)),
        }
    }
}

/// What an operator gives on `meta` for such arguments: sizes, strides and type of its result; and the errors that it has
/// for arguments that do not fit. Numbers of the host stay there.
///
/// # Errors
/// Those of the operator.
pub fn on_meta(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Tensor> {
    let [result] = all_on_meta(operator, arguments)?;
    Ok(result)
}

/// As [`on_meta`], of an operator with several results; one that is not wanted is an undefined tensor.
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
