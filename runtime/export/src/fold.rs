//! Folds batch normalisation in inference into the convolution before it.
//!
//! Both are linear, and the statistics are constants: each output channel of the convolution's weight is multiplied by
//! the scale of that channel, the bias takes the shift, and the node of the normalisation goes.

use std::collections::{HashMap, HashSet};

use torch_library::prelude::*;
use torch_library::{Dispatcher, guard};

use crate::plan::Source;
use crate::signature::{Weight, WeightKind};
use crate::target::Target;
use crate::wire::{Argument, Float, Graph, Named, NamedArgument, Node, OptionalTensor, OutputSpec};

/// A convolution in any number of dimensions, which may be transposed.
const ANY_CONVOLUTION: &str = "convolution";
const CONVOLUTIONS: [&str; 4] = ["conv1d", "conv2d", "conv3d", ANY_CONVOLUTION];

/// A normalisation that is always in inference; the others are if `training` is false.
const INFERENCE_NORM: &str = "_native_batch_norm_legit_no_training";
const NORMS: [&str; 3] = ["batch_norm", "native_batch_norm", INFERENCE_NORM];

/// With more weights that may change, nothing is folded: each of these is compared with all others, which would take
/// long in an archive made for that.
const MOST_VARIABLE: usize = 1 << 10;

/// A graph, and the weights of its program.
pub(crate) struct Folding<'p> {
    pub(crate) graph: &'p mut Graph,
    /// The names of inputs and weights.
    pub(crate) names: &'p mut Vec<(String, Source)>,
    pub(crate) weights: &'p mut Vec<Weight>,
}

/// A convolution and the normalisation of its result, which nothing else uses.
struct Pair {
    /// The indices of the nodes.
    convolution: usize,
    norm: usize,
    parts: Parts<u32>,
    eps: f64,
}

/// The weights of a pair.
struct Parts<T> {
    weight: T,
    bias: Option<T>,
    scale: Option<T>,
    shift: Option<T>,
    mean: T,
    variance: T,
}

impl<T: Copy> Parts<T> {
    fn try_map<U>(&self, map: impl Fn(T) -> Result<U>) -> Result<Parts<U>> {
        Ok(Parts {
            weight: map(self.weight)?,
            bias: self.bias.map(&map).transpose()?,
            scale: self.scale.map(&map).transpose()?,
            shift: self.shift.map(&map).transpose()?,
            mean: map(self.mean)?,
            variance: map(self.variance)?,
        })
    }

    fn all(&self) -> impl Iterator<Item = T> {
        let optional = [self.bias, self.scale, self.shift].into_iter().flatten();
        [self.weight, self.mean, self.variance].into_iter().chain(optional)
    }
}

impl Folding<'_> {
    /// Folds each batch norm that can be folded: what it and the convolution take are constants, and nothing else uses
    /// the convolution's result.
    ///
    /// # Errors
    /// An operator that computes the new weights is not linked, or fails.
    pub(crate) fn run(mut self, outputs: &[OutputSpec]) -> Result<()> {
        let pairs = Facts::of(&self, outputs).pairs();
        for pair in &pairs {
            let layers = [pair.parts.weight, pair.parts.mean].map(|number| {
                let name = &self.weights[number as usize].name;
                name.rsplit_once('.').map_or("", |(layer, _)| layer).to_owned()
            });
            let layers = layers.join("+");
            self.fold(pair, &layers).map_err(|error| error.context(format_args!("folding {layers}")))?;
        }
        let gone: HashSet<usize> = pairs.iter().map(|pair| pair.norm).collect();
        let mut numbers = 0..;
        self.graph.nodes.retain(|_| numbers.next().is_some_and(|number| !gone.contains(&number)));
        Ok(())
    }

    /// Gives the convolution new weights, and the name of the normalisation's result.
    fn fold(&mut self, pair: &Pair, layers: &str) -> Result<()> {
        let parts = pair.parts.try_map(|number| Ok(&self.weights[number as usize].tensor))?;
        let folded = guard::no_grad(|| folded(&parts, pair.eps))?;
        let result = self.graph.nodes[pair.norm].outputs.swap_remove(0);
        let node = &mut self.graph.nodes[pair.convolution];
        node.outputs = vec![result];
        for ((argument, at), tensor) in [("weight", 1), ("bias", 2)].into_iter().zip(folded) {
            let name = format!("{argument} folded with node {}", pair.norm); // has spaces, unlike PyTorch's names
            self.names.push((name.clone(), Source::Weight(u32::try_from(self.weights.len())?)));
            self.weights.push(Weight {
                name: format!("{layers}.{argument}"),
                kind: WeightKind::Constant,
                tensor,
            });
            let arg = Argument::AsTensor(Named { name });
            match place(node, argument, at) {
                Some(place) => node.inputs[place].arg = arg,
                None => node.inputs.push(NamedArgument { name: argument.to_owned(), arg }),
            }
        }
        Ok(())
    }
}

/// What decides about folding.
struct Facts<'p> {
    graph: &'p Graph,
    weights: &'p [Weight],
    /// How often each name is used.
    uses: HashMap<&'p str, usize>,
    /// The node that computes each name.
    producers: HashMap<&'p str, usize>,
    /// The weights that nothing writes to.
    constants: HashMap<&'p str, u32>,
}

impl<'p> Facts<'p> {
    fn of(folding: &'p Folding<'_>, outputs: &[OutputSpec]) -> Self {
        let (graph, weights) = (&*folding.graph, folding.weights.as_slice());
        let (mut uses, mut producers, mut exposed) = (HashMap::new(), HashMap::new(), HashSet::new());
        // To find that there is no such operator takes long, because the error suggests similar names.
        let mut operators = HashMap::new();
        for (number, node) in graph.nodes.iter().enumerate() {
            producers.extend(node.outputs.iter().flat_map(names).map(|name| (name, number)));
            let operator = *operators.entry(&*node.target).or_insert_with(|| linked(&node.target));
            for (at, input) in node.inputs.iter().enumerate() {
                for name in names(&input.arg) {
                    *uses.entry(name).or_insert(0) += 1;
                    if !only_reads(operator, input, at) {
                        exposed.insert(name);
                    }
                }
            }
        }
        for name in graph.outputs.iter().flat_map(names) {
            *uses.entry(name).or_insert(0) += 1;
            exposed.insert(name);
        }
        let weight = |source: &Source| match source {
            Source::Weight(number) => Some(*number),
            Source::Slot(_) => None,
        };
        let all = || folding.names.iter().filter_map(|(name, source)| Some((name.as_str(), weight(source)?)));
        let exposed =
            all().filter(|(name, _)| exposed.contains(name)).map(|(_, number)| &weights[number as usize]);
        let replaced = replaced(outputs);
        let variable = exposed.chain(weights.iter().filter(|weight| replaced.contains(weight.name.as_str())));
        let variable: Vec<_> = variable.take(MOST_VARIABLE).collect();
        let is_constant = |number: u32| {
            let tensor = &weights[number as usize].tensor;
            variable.len() < MOST_VARIABLE
                && !variable.iter().any(|other| other.tensor.shares_storage_with(tensor))
        };
        let constants = all().filter(|(_, number)| is_constant(*number)).collect();
        Facts { graph, weights, uses, producers, constants }
    }

    /// The pairs, as long as their new weights together are not larger than all weights: a weight may be expanded, or
    /// the weight of many convolutions, so that a small archive could request any amount of memory.
    fn pairs(&self) -> Vec<Pair> {
        let mut left = memory(self.weights);
        let mut pairs: Vec<Pair> = (0..self.graph.nodes.len()).filter_map(|norm| self.pair(norm)).collect();
        pairs.retain(|pair| {
            let tensor = &self.weights[pair.parts.weight as usize].tensor;
            let channels = tensor.sizes()[0]; // for the bias
            let elements = i128::from(tensor.numel()) + i128::from(channels);
            let fits = elements * tensor.dtype().size() as i128 <= left;
            left -= if fits { elements * tensor.dtype().size() as i128 } else { 0 };
            fits
        });
        pairs
    }

    /// The normalisation with the convolution before it, if they can be folded.
    fn pair(&self, norm: usize) -> Option<Pair> {
        let node = &self.graph.nodes[norm];
        let is_training =
            || argument(node, "training", 5).is_none_or(|flag| !matches!(flag, Argument::AsBool(false)));
        let name = operator(node).filter(|name| NORMS.contains(name))?;
        if name != INFERENCE_NORM && is_training() {
            return None;
        }
        let input = names(argument(node, "input", 0)?).next()?;
        let convolution = *self.producers.get(input)?;
        let before = &self.graph.nodes[convolution];
        let of = operator(before).filter(|name| CONVOLUTIONS.contains(name))?;
        let is_transposed = || !matches!(argument(before, "transposed", 6), Some(Argument::AsBool(false)));
        let is_used = |result: &Argument| names(result).any(|name| self.uses.contains_key(name));
        if (of == ANY_CONVOLUTION && is_transposed())
            || self.uses.get(input) != Some(&1)
            || before.outputs.len() != 1
            || node.outputs.iter().skip(1).any(is_used)
        {
            return None;
        }
        let eps = match argument(node, "eps", if name == INFERENCE_NORM { 6 } else { 7 })? {
            Argument::AsFloat(Float(eps)) => *eps,
            _ => return None,
        };
        let parts = Parts {
            weight: self.constant(before, "weight", 1)??,
            bias: self.constant(before, "bias", 2)?,
            scale: self.constant(node, "weight", 1)?,
            shift: self.constant(node, "bias", 2)?,
            mean: self.constant(node, "running_mean", 3)??,
            variance: self.constant(node, "running_var", 4)??,
        };
        self.match_each_other(&parts, input).then_some(Pair { convolution, norm, parts, eps })
    }

    /// The constant that is passed for an argument; `Some(None)` if there is none, `None` for anything else.
    fn constant(&self, node: &Node, name: &str, at: usize) -> Option<Option<u32>> {
        match argument(node, name, at) {
            None | Some(Argument::AsNone(_) | Argument::AsOptionalTensor(OptionalTensor::AsNone(_))) => {
                Some(None)
            }
            Some(given) => self.constants.get(names(given).next()?).map(|number| Some(*number)),
        }
    }

    /// Whether all weights have one dtype, the normalisation is over the channels that the convolution computes, and
    /// their result, which has this name, has a dimension for examples: without it, these channels come first.
    fn match_each_other(&self, parts: &Parts<u32>, result: &str) -> bool {
        let tensor = |number: u32| &self.weights[number as usize].tensor;
        let weight = tensor(parts.weight);
        let dtype = weight.dtype();
        let is_batch =
            self.graph.tensor_values.get(result).is_some_and(|meta| meta.sizes.len() == weight.sizes().len());
        dtype.is_floating_point()
            && is_batch
            && weight.sizes().len() > 2
            && parts.all().all(|number| tensor(number).dtype() == dtype)
            && parts.all().skip(1).all(|number| tensor(number).sizes() == &weight.sizes()[..1])
    }
}

/// The bytes of all weights together; those of memory that several share, once.
fn memory(weights: &[Weight]) -> i128 {
    let sizes: HashMap<_, _> = weights
        .iter()
        .map(|weight| {
            let storage = weight.tensor.storage();
            let start = storage.data_ptr().map_or(weight.tensor.id(), |start| start.addr().get());
            (start, storage.nbytes() as i128)
        })
        .collect();
    sizes.values().sum()
}

/// The new weight and the new bias.
fn folded(parts: &Parts<&Tensor>, eps: f64) -> Result<[Tensor; 2]> {
    let dtype = parts.weight.dtype();
    let wide = if dtype.size() < DType::Float32.size() { DType::Float32 } else { dtype };
    let Parts { weight, bias, scale, shift, mean, variance } = parts.try_map(|part| to(part, wide))?;
    let mut factor =
        call("aten::rsqrt", [(&call("aten::add.Scalar", [(&variance).into(), eps.into()])?).into()])?;
    if let Some(scale) = &scale {
        factor = call("aten::mul.Tensor", [(&factor).into(), scale.into()])?;
    }
    let centred = match &bias {
        Some(bias) => call("aten::sub.Tensor", [bias.into(), (&mean).into()])?,
        None => call("aten::neg", [(&mean).into()])?,
    };
    let mut bias = call("aten::mul.Tensor", [(&centred).into(), (&factor).into()])?;
    if let Some(shift) = &shift {
        bias = call("aten::add.Tensor", [(&bias).into(), shift.into()])?;
    }
    let mut sizes = vec![1; weight.sizes().len()];
    sizes[0] = -1;
    let factor = call("aten::reshape", [(&factor).into(), sizes.into()])?;
    let weight = call("aten::mul.Tensor", [(&weight).into(), (&factor).into()])?;
    Ok([to(&weight, dtype)?, to(&bias, dtype)?])
}

fn to(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    if tensor.dtype() == dtype {
        return Ok(tensor.clone());
    }
    let copy = Dispatcher::global().find("aten::_to_copy")?;
    copy.call_with([tensor.into()], [("dtype", Value::DType(dtype))])?.pop_as()
}

fn call<'v>(operator: &str, arguments: impl IntoIterator<Item = Value<'v>>) -> Result<Tensor> {
    Dispatcher::global().find(operator)?.call_with(arguments, [])?.pop_as()
}

/// The name of the operator of `aten` that a node calls.
fn operator(node: &Node) -> Option<&str> {
    match Target::parse(&node.target) {
        Ok(Target::Operator(name)) if name.namespace == "aten" => Some(name.name),
        _ => None,
    }
}

/// The operator that a node with this target calls.
fn linked(target: &str) -> Option<OperatorHandle> {
    let Ok(Target::Operator(name)) = Target::parse(target) else { return None };
    Dispatcher::global().find(&name.to_string()).ok()
}

/// Whether a call of an operator only reads what this input holds: its schema says that it neither writes to it nor
/// returns a view of it.
fn only_reads(operator: Option<OperatorHandle>, input: &NamedArgument, at: usize) -> bool {
    let Some(Ok(schema)) = operator.map(|operator| operator.schema()) else { return false };
    let declared = match input.name.as_str() {
        "" => schema.arguments.get(at),
        name => schema.arguments.iter().find(|argument| argument.name == name),
    };
    declared.is_some_and(|argument| argument.alias.is_none())
}

/// The names of the weights that a run replaces at its end.
fn replaced(outputs: &[OutputSpec]) -> HashSet<&str> {
    let names = outputs.iter().filter_map(|output| match output {
        OutputSpec::BufferMutation { buffer_name: name }
        | OutputSpec::ParameterMutation { parameter_name: name } => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}

/// The index of the input for an argument, which is at this position in the operator's schema.
fn place(node: &Node, name: &str, at: usize) -> Option<usize> {
    node.inputs
        .iter()
        .enumerate()
        .position(|(i, input)| input.name == name || (input.name.is_empty() && i == at))
}

fn argument<'n>(node: &'n Node, name: &str, at: usize) -> Option<&'n Argument> {
    place(node, name, at).map(|place| &node.inputs[place].arg)
}

/// The tensors that an argument names, those of lists and of subgraphs' inputs included.
fn names(argument: &Argument) -> Box<dyn Iterator<Item = &str> + '_> {
    match argument {
        Argument::AsTensor(named) | Argument::AsOptionalTensor(OptionalTensor::AsTensor(named)) => {
            Box::new(std::iter::once(named.name.as_str()))
        }
        Argument::AsTensors(list) => Box::new(list.iter().map(|named| named.name.as_str())),
        Argument::AsNestedTensors(lists) => Box::new(lists.iter().flatten().map(|named| named.name.as_str())),
        Argument::AsOptionalTensors(list) => Box::new(list.iter().filter_map(|tensor| match tensor {
            OptionalTensor::AsTensor(named) => Some(named.name.as_str()),
            OptionalTensor::AsNone(_) => None,
        })),
        Argument::AsStringToArgument(arguments) => Box::new(arguments.values().flat_map(names)),
        _ => Box::new(std::iter::empty()),
    }
}
