//! Runs a batching rule for vmap on stand-ins of PyTorch's batched tensors, wrapped at a level of vmap here.

use torch_library::vmap::{Level, Randomness};
use torch_library::{DispatchKey, Result, Stack, Tensor, Value, bail, ensure};

use crate::entry::Exported;

/// The batch of a call under vmap.
#[derive(Debug)]
pub(crate) struct Batch {
    /// For each tensor in the arguments, in order, its batch dimension, or -1.
    dims: Vec<i64>,
    size: i64,
    randomness: Randomness,
}

impl Batch {
    /// Makes a batch from the values that PyTorch passes.
    ///
    /// # Errors
    /// The values have other types.
    pub(crate) fn new(dims: Value<'_>, size: Value<'_>, randomness: Value<'_>) -> Result<Batch> {
        let (Value::Ints(dims), Value::Int(size), Value::Str(randomness)) = (dims, size, randomness) else {
            bail!(Type, "a batch was described by values of other types")
        };
        let randomness = match &*randomness {
            "same" => Randomness::Same,
            "different" => Randomness::Different,
            _ => Randomness::Error,
        };
        Ok(Batch { dims: dims.into_owned(), size, randomness })
    }
}

/// Runs the rule, and returns its results with the batch dimension of each tensor in them, or -1.
///
/// # Errors
/// The errors of the rule.
pub(crate) fn run(
    exported: &Exported,
    batch: Batch,
    arguments: Stack<'static>,
) -> Result<(Stack<'static>, Vec<i64>)> {
    let guard = Level::enter(batch.size, batch.randomness)?;
    let level = guard.level();
    let mut dims = batch.dims.iter();
    let mut wrap = |tensor: &Tensor| match dims.next() {
        Some(-1) => Ok(tensor.clone()),
        Some(dim) => level.wrap(tensor.clone(), usize::try_from(*dim)?),
        None => bail!(Argument, "{}: a batch of fewer tensors than the arguments have", exported.operator),
    };
    let mut stack = Stack::new();
    for value in arguments {
        stack.push(value.map_tensors(&mut wrap)?.into_owned());
    }
    ensure!(
        dims.next().is_none(),
        Argument,
        "{}: a batch of more tensors than the arguments have",
        exported.operator
    );
    level.serve(|| exported.operator.call_boxed_for_key(DispatchKey::FuncTorchBatched, &mut stack))?;
    let mut dims = Vec::new();
    let mut unwrap = |tensor: &Tensor| {
        let (value, dim) = level.unwrap(tensor);
        dims.push(dim.map_or(Ok(-1), i64::try_from)?);
        Ok(value)
    };
    let mut returns = Stack::new();
    for value in stack.last(exported.schema.returns.len()) {
        returns.push(value.map_tensors(&mut unwrap)?.into_owned());
    }
    Ok((returns, dims))
}
