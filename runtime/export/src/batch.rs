//! The steps for `torch.vmap` in a graph: levels that begin and end, and tensors that are wrapped for one example each
//! and unwrapped again.

use torch_library::Dispatcher;
use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;
use torch_library::vmap::{Level, LevelGuard, Randomness};

use crate::target::Batch;

/// A step that begins or ends a level, or wraps or unwraps a tensor.
#[derive(Debug)]
pub(crate) struct Batching {
    what: Batch,
    permute: OperatorHandle,
    unsqueeze: OperatorHandle,
    expand: OperatorHandle,
}

/// The active levels of a run, from the outermost.
#[derive(Debug, Default)]
pub(crate) struct Levels(Vec<LevelGuard>);

impl Drop for Levels {
    fn drop(&mut self) {
        while self.0.pop().is_some() {} // the innermost first
    }
}

impl Levels {
    /// The level that has this number in the exported graph; the outermost has 1.
    fn at(&self, number: i64) -> Result<Level> {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        match place.and_then(|place| self.0.get(place)) {
            Some(guard) => Ok(guard.level()),
            None => bail!(Argument, "vmap has no level {number}, there are {}", self.0.len()),
        }
    }
}

impl Batching {
    /// # Errors
    /// The operators that move dimensions are not linked.
    pub(crate) fn new(what: Batch) -> Result<Batching> {
        let find = |name| Dispatcher::global().find(name);
        let (permute, unsqueeze) = (find("aten::permute")?, find("aten::unsqueeze")?);
        Ok(Batching { what, permute, unsqueeze, expand: find("aten::expand")? })
    }

    /// Runs the step, and returns its result, if there is one.
    ///
    /// # Errors
    /// Arguments of wrong types or number; a level that is not active; a tensor with another batch size.
    pub(crate) fn run(&self, operands: &[Value<'_>], levels: &mut Levels) -> Result<Option<Tensor>> {
        let result = match (self.what, operands) {
            (Batch::Begin, [Value::Int(size), Value::Str(randomness)]) => {
                levels.0.push(Level::enter(*size, named(randomness)?)?);
                return Ok(None);
            }
            (Batch::End, []) => {
                ensure!(levels.0.pop().is_some(), Argument, "no level of vmap is active");
                return Ok(None);
            }
            (Batch::Add, [tensor, Value::Int(dim), Value::Int(level)]) => {
                let tensor = of(tensor)?;
                levels.at(*level)?.wrap(tensor.clone(), wrap_dim(*dim, tensor.dim())?)?
            }
            (Batch::Remove, [tensor, Value::Int(level), Value::Int(size), Value::Int(to)]) => {
                match levels.at(*level)?.unwrap(of(tensor)?) {
                    (whole, Some(dim)) => self.moved(whole, dim, *to)?,
                    (shared, None) => {
                        let one = called(self.unsqueeze, [shared.clone().into(), 0.into()])?;
                        let sizes = [&[*size], shared.sizes()].concat();
                        let all = called(self.expand, [one.into(), sizes.into(), false.into()])?;
                        self.moved(all, 0, *to)?
                    }
                }
            }
            _ => bail!(Argument, "a call of vmap has unexpected arguments"),
        };
        Ok(Some(result))
    }
}

impl Batching {
    /// The tensor with a dimension moved.
    fn moved(&self, tensor: Tensor, from: usize, to: i64) -> Result<Tensor> {
        let mut order: Vec<i64> = (0..tensor.dim() as i64).collect();
        let dim = order.remove(from);
        order.insert(wrap_dim(to, tensor.dim())?, dim);
        called(self.permute, [tensor.into(), order.into()])
    }
}

fn named(randomness: &str) -> Result<Randomness> {
    Ok(match randomness {
        "error" => Randomness::Error,
        "same" => Randomness::Same,
        "different" => Randomness::Different,
        other => {
            bail!(Argument, "vmap with randomness {other:?}, expected \"error\", \"same\" or \"different\"")
        }
    })
}

fn of<'v>(value: &'v Value<'_>) -> Result<&'v Tensor> {
    match value.as_tensor() {
        Some(tensor) => Ok(tensor),
        None => bail!(Type, "vmap expected a tensor, but got {}", value.type_name()),
    }
}

fn called<const N: usize>(operator: OperatorHandle, arguments: [Value<'static>; N]) -> Result<Tensor> {
    let mut stack = Stack::from_iter(arguments);
    operator.call_boxed(&mut stack)?;
    match stack.pop().map(Value::into_owned) {
        Some(Value::Tensor(tensor)) => Ok(tensor),
        _ => bail!(Type, "{operator} did not return a tensor"),
    }
}
