//! Layers that a changed call goes through.

use torch_library::autocast::Autocast;
use torch_library::fake::{FakeMode, to_fake};
use torch_library::functionalize::to_functional;
use torch_library::guard::{IncludeDispatchKeyGuard, InferenceMode};
use torch_library::vmap::{Level, Randomness};
use torch_library::{Device, DeviceType, DispatchKey, Error, OperatorHandle, Result, Tensor, Value};

use super::Choose;
use crate::operators::Arguments;

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// As it is.
    Plain,
    /// With tensors that have no elements, for the functions that compute sizes.
    Meta,
    Fake,
    Functionalize,
    Vmap,
    Autocast,
    Inference,
}

impl Layer {
    pub(super) const ALL: [Layer; 7] = [
        Layer::Plain,
        Layer::Meta,
        Layer::Fake,
        Layer::Functionalize,
        Layer::Vmap,
        Layer::Autocast,
        Layer::Inference,
    ];

    /// Makes a call through the layer, and gives the results to `look` while the layer is active.
    ///
    /// # Errors
    /// Those of the call; a tensor that cannot enter the layer.
    pub(super) fn call(
        self,
        mut arguments: Arguments<'_>,
        operator: OperatorHandle,
        choose: Choose<'_>,
        look: impl FnOnce(&[Value<'static>]),
    ) -> Result<()> {
        let run = |arguments: Arguments<'_>| {
            look(&arguments.call(operator)?);
            Ok::<(), Error>(())
        };
        match self {
            Layer::Plain => run(arguments),
            Layer::Meta => {
                arguments.map_tensors(&mut on_meta)?;
                run(arguments)
            }
            Layer::Fake => {
                arguments.map_tensors(&mut |tensor| to_fake(tensor))?;
                let _fake = FakeMode::new();
                run(arguments)
            }
            Layer::Functionalize => {
                arguments.map_tensors(&mut |tensor| to_functional(tensor))?;
                let _functional = IncludeDispatchKeyGuard::new(DispatchKey::Functionalize);
                run(arguments)
            }
            Layer::Vmap => {
                let guard = Level::enter(batch(&arguments, choose), Randomness::Different)?;
                arguments.map_tensors(&mut |tensor| Ok(batched(guard.level(), tensor, choose)))?;
                run(arguments)
            }
            Layer::Autocast => Autocast::on(DeviceType::Cpu).run(|| run(arguments)),
            Layer::Inference => {
                let _inference = InferenceMode::new(true);
                run(arguments)
            }
        }
    }
}

/// A tensor of the same geometry without elements, unless it is too long for any memory.
fn on_meta(tensor: &Tensor) -> Result<Tensor> {
    let (dtype, requires_grad) = (tensor.dtype(), tensor.requires_grad());
    let meta = Tensor::empty_strided(tensor.sizes(), tensor.strides(), dtype, Device::META)
        .or_else(|_| Tensor::empty(tensor.sizes(), dtype, Device::META))?;
    if requires_grad {
        meta.set_requires_grad(true)?;
    }
    Ok(meta)
}

/// The number of examples: a size of one of the tensors.
fn batch(arguments: &Arguments<'_>, choose: Choose<'_>) -> i64 {
    let tensors = arguments.tensors();
    let sizes: Vec<i64> = tensors.iter().flat_map(|(_, tensor)| tensor.sizes().to_vec()).collect();
    if sizes.is_empty() { 2 } else { sizes[choose(sizes.len())] }
}

/// A tensor as examples along a dimension of the batch's size, or shared by all examples.
fn batched(level: Level, tensor: &Tensor, choose: Choose<'_>) -> Tensor {
    let sizes = tensor.sizes();
    let fit: Vec<usize> = (0..sizes.len()).filter(|dim| sizes[*dim] == level.batch_size()).collect();
    if choose(3) == 0 {
        return tensor.clone();
    }
    let wrapped = match fit.len() {
        0 => {
            let (mut sizes, mut strides) = (sizes.to_vec(), tensor.strides().to_vec());
            sizes.insert(0, level.batch_size());
            strides.insert(0, 0);
            let many = tensor.strided_view(&sizes, &strides, tensor.storage_offset());
            many.and_then(|many| level.wrap(many, 0))
        }
        dims => level.wrap(tensor.clone(), fit[choose(dims)]),
    };
    wrapped.unwrap_or_else(|_| tensor.clone())
}
