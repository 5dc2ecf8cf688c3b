//! The shaders of a group of calls, for inputs of certain types and sizes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use torch_library::observe::Work;
use torch_library::prelude::*;
use torch_library::tracer::{Id, Interpreter};

use super::simple::{Computes, Simple, Source};
use crate::call::{Wgpu, is_here};
use crate::gpu;
use crate::pointwise::{self, Call, Operand};
use torch_library_gpu::{Expression, Layout, SAME, Tensors, index_of};

/// The properties of an input that a plan depends on.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Shape {
    device: Device,
    dtype: DType,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    is_wrapped: bool,
}

impl Shape {
    pub(super) fn of(tensor: &Tensor) -> Shape {
        Shape {
            device: tensor.device(),
            dtype: tensor.dtype(),
            sizes: tensor.sizes().to_vec(),
            strides: tensor.strides().to_vec(),
            is_wrapped: tensor.is_wrapped_number(),
        }
    }
}

/// A plan: shaders that run one after the other.
pub(super) struct Plan {
    kernels: Vec<Kernel>,
    index: u8,
}

struct Kernel {
    /// The name that profilers show.
    name: String,
    source: String,
    params: Vec<Word>,
    inputs: Vec<Id>,
    /// The results that it writes, with tensors of the right type, sizes and strides.
    results: Vec<(Id, Tensor)>,
    groups: u64,
}

/// A parameter of a shader.
enum Word {
    Fixed(u32),
    /// The offset of an input.
    Offset(Id),
    /// A word of a number from the host, as an element of a type.
    Number {
        value: Id,
        dtype: DType,
        word: usize,
    },
}

/// The most calls of a shader, since drivers take long to compile long ones.
const MOST_CALLS: usize = 64;

/// A call of the group.
struct Member {
    operator: OperatorHandle,
    computes: Computes,
    sources: Vec<Source>,
    result: Id,
    /// The number of successive reductions before it.
    stage: usize,
}

impl Member {
    fn meta(&self) -> &Tensor {
        match &self.computes {
            Computes::Elements(known) => &known.meta,
            Computes::Rows(known) => &known.meta,
        }
    }

    fn is_reduction(&self) -> bool {
        matches!(self.computes, Computes::Rows(_))
    }
}

/// The state while a plan is made.
struct Planner<'p> {
    members: Vec<Member>,
    /// The member that computes each value.
    makers: HashMap<Id, usize>,
    /// The inputs, and `meta` tensors for the values of members.
    tensors: HashMap<Id, Tensor>,
    /// The last member that uses each value.
    last_use: HashMap<Id, usize>,
    outputs: &'p HashSet<Id>,
    most_buffers: usize,
}

impl Plan {
    /// Makes a plan, or returns the reason why there is none.
    pub(super) fn new(
        run: &Interpreter<'_>,
        nodes: &[usize],
        inputs: &[Id],
        outputs: &HashSet<Id>,
    ) -> Result<Plan, String> {
        let said = |error: Error| error.to_string();
        let mut tensors = HashMap::new();
        for id in inputs {
            tensors.insert(*id, run.tensor(*id).map_err(said)?.clone());
        }
        let index = tensors.values().find(|tensor| is_here(tensor)).map_or(0, index_of);
        let limits = gpu::opened(index).map_err(said)?.gpu.device.limits();
        let most_buffers = limits.max_storage_buffers_per_shader_stage as usize;
        let (members, makers, last_use) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut planner = Planner { members, makers, tensors, last_use, outputs, most_buffers };
        for node in nodes.iter().map(|node| &run.graph().nodes()[*node]) {
            let (Some(simple), Some(result)) = (Simple::of(node), node.defines().next()) else {
                return Err(format!("{} cannot be fused", node.operator()));
            };
            planner
                .add(node.operator(), &simple, result)
                .map_err(|why| format!("{}: {why}", node.operator()))?;
        }
        let mut kernels = Vec::new();
        planner.part(0..planner.members.len(), &mut HashSet::new(), &mut kernels)?;
        Ok(Plan { kernels, index })
    }

    /// Computes the values that later steps need of the group, or returns the reason why it cannot.
    pub(super) fn run(&self, run: &mut Interpreter<'_>) -> Result<Option<String>> {
        // Checked before anything is launched.
        for kernel in &self.kernels {
            for word in &kernel.params {
                if let Word::Number { value, dtype, .. } = word
                    && pointwise::words_of(run.tensor(*value)?.item()?, *dtype).is_none()
                {
                    return Ok(Some(format!("a number of the host is not one of {dtype}")));
                }
            }
        }
        for kernel in &self.kernels {
            let _work = Work::begin(&kernel.name);
            let params = kernel.params.iter().map(|word| word.now(run)).collect::<Result<Vec<_>>>()?;
            let inputs = kernel.inputs.iter().map(|id| run.tensor(*id)).collect::<Result<Vec<_>>>()?;
            let metas = kernel.results.iter().map(|(_, meta)| Wgpu::unwritten(meta, self.index));
            let results = metas.collect::<Result<Vec<_>>>()?;
            let written: Vec<&Tensor> = results.iter().collect();
            pointwise::launch(&kernel.source, &params, &inputs, &written, kernel.groups)?;
            for ((id, _), result) in kernel.results.iter().zip(results) {
                run.set(*id, result)?;
            }
        }
        Ok(None)
    }
}

impl Word {
    fn now(&self, run: &Interpreter<'_>) -> Result<u32> {
        Ok(match self {
            Word::Fixed(word) => *word,
            Word::Offset(id) => run.tensor(*id)?.storage_offset() as u32,
            Word::Number { value, dtype, word } => {
                let words = pointwise::words_of(run.tensor(*value)?.item()?, *dtype);
                words.and_then(|words| words.get(*word).copied()).unwrap_or_default() // checked above
            }
        })
    }
}

impl Planner<'_> {
    fn add(&mut self, operator: OperatorHandle, simple: &Simple<'_>, result: Id) -> Result<(), String> {
        let tensor = |id: Id| match self.tensors.get(&id) {
            Some(tensor) => Ok(tensor.clone()),
            None => bail!(Argument, "%{id} is used before it is defined"),
        };
        let Some(computes) = simple.computes(&tensor).map_err(|error| error.to_string())? else {
            return Err("there is no kernel for these types and sizes".to_owned());
        };
        let sources = simple.sources();
        let is_on_device = |source: &Source| match source {
            Source::Value(id) => self.makers.contains_key(id) || is_here(&self.tensors[id]),
            Source::Number(_) => false,
        };
        if !sources.iter().any(is_on_device) {
            return Err("no argument is on the device".to_owned());
        }
        for source in &sources {
            if let Source::Value(id) = source {
                self.last_use.insert(*id, self.members.len());
            }
        }
        let after = |source: &Source| match source {
            Source::Value(id) => {
                let maker = self.makers.get(id).map(|maker| &self.members[*maker]);
                maker.map_or(0, |maker| maker.stage + usize::from(maker.is_reduction()))
            }
            Source::Number(_) => 0,
        };
        let stage = sources.iter().map(after).max().unwrap_or(0);
        let member = Member { operator, computes, sources, result, stage };
        self.tensors.insert(result, member.meta().clone());
        self.makers.insert(result, self.members.len());
        self.members.push(member);
        Ok(())
    }

    /// The kernels for some of the members, or for each half of them if they are too many for one kernel.
    fn part(
        &self,
        range: Range<usize>,
        made: &mut HashSet<Id>,
        kernels: &mut Vec<Kernel>,
    ) -> Result<(), String> {
        let is_wanted = |at: &usize| {
            let result = self.members[*at].result;
            self.outputs.contains(&result)
                || self.last_use.get(&result).is_some_and(|last| *last >= range.end)
        };
        // Results with the same sizes and strides are written together, small ones before those that they are broadcast
        // to.
        let mut together: Vec<Vec<usize>> = Vec::new();
        for at in range.clone() {
            let lies = |at: usize| {
                let member = &self.members[at];
                (member.stage, member.is_reduction(), member.meta().sizes(), member.meta().strides())
            };
            let is_reduction = self.members[at].is_reduction();
            match together.iter_mut().find(|others| !is_reduction && lies(others[0]) == lies(at)) {
                Some(others) if is_wanted(&at) => others.push(at),
                None if is_wanted(&at) || is_reduction => together.push(vec![at]),
                _ => {}
            }
        }
        together.sort_by_key(|results| {
            let member = &self.members[results[0]];
            (member.stage, member.is_reduction(), member.meta().numel())
        });
        let (mut here, mut now) = (Vec::new(), made.clone());
        for results in &together {
            let Some(kernel) = self.kernel(results, &now)? else {
                if range.len() == 1 {
                    return Err("it needs more buffers than the device has for a shader".to_owned());
                }
                let middle = range.start + range.len() / 2;
                self.part(range.start..middle, made, kernels)?;
                return self.part(middle..range.end, made, kernels);
            };
            now.extend(kernel.results.iter().map(|(id, _)| *id));
            here.push(kernel);
        }
        *made = now;
        kernels.extend(here);
        Ok(())
    }

    /// The members that results need and that no earlier kernel computed; including the results themselves unless they
    /// are reductions.
    fn needed(&self, results: &[usize], made: &HashSet<Id>) -> Vec<usize> {
        let mut needed: BTreeSet<usize> = BTreeSet::new();
        let mut rest: Vec<usize> = results.to_vec();
        while let Some(at) = rest.pop() {
            let member = &self.members[at];
            if member.is_reduction() || needed.insert(at) {
                rest.extend(member.sources.iter().filter_map(|source| match source {
                    Source::Value(id) if !made.contains(id) => self.makers.get(id).copied(),
                    _ => None,
                }));
            }
        }
        needed.into_iter().collect()
    }

    /// The kernel that writes these results; `None` if it would be too large.
    fn kernel(&self, results: &[usize], made: &HashSet<Id>) -> Result<Option<Kernel>, String> {
        let needed = self.needed(results, made);
        let mut inputs: Vec<Id> = Vec::new();
        for source in needed.iter().chain(results).flat_map(|member| &self.members[*member].sources) {
            if let Source::Value(id) = source
                && (made.contains(id) || !self.makers.contains_key(id) && is_here(&self.tensors[id]))
                && !inputs.contains(id)
            {
                inputs.push(*id);
            }
        }
        if needed.len() > MOST_CALLS || 1 + inputs.len() + results.len() > self.most_buffers {
            return Ok(None);
        }
        let tensors: Vec<&Tensor> = inputs.iter().map(|id| &self.tensors[id]).collect();
        let written: Vec<&Member> = results.iter().map(|at| &self.members[*at]).collect();
        let layout = match &written[0].computes {
            Computes::Elements(known) => Layout::of(&known.meta, &tensors).map(|layout| (layout, 0)),
            Computes::Rows(known) => match written[0].sources[..] {
                [Source::Value(id)] => {
                    Layout::rows(&self.tensors[&id], &known.kept, &known.reduced, &tensors)
                }
                _ => None,
            },
        };
        let Some((layout, own)) = layout else {
            return Err("a result has gaps, or there are too many dimensions".to_owned());
        };
        let mut params: Vec<Word> = pointwise::words(&layout).into_iter().map(Word::Fixed).collect();
        for (at, id) in inputs.iter().enumerate() {
            params[layout.place(at)] = Word::Offset(*id);
        }
        let mut calls = self.calls(&needed, &inputs, &mut params)?;
        let metas: Vec<&Tensor> = written.iter().map(|member| member.meta()).collect();
        let (source, groups) = match &written[0].computes {
            Computes::Elements(_) => {
                let places = results.iter().map(|at| needed.partition_point(|other| other < at));
                (pointwise::source(&calls, &places.collect::<Vec<_>>(), &layout), pointwise::groups(&metas))
            }
            Computes::Rows(known) => {
                if calls.is_empty() {
                    calls.push(as_it_is());
                }
                let count = params.len();
                params.extend([known.count as u32, f32::NEG_INFINITY.to_bits()].map(Word::Fixed));
                (pointwise::folded(&calls, known.fold, &layout, own, count), known.meta.numel() as u64)
            }
        };
        let names = needed.iter().map(|member| &self.members[*member]);
        let reductions = written.iter().copied().filter(|member| member.is_reduction());
        let names = names.chain(reductions).map(|member| format!(" {}", member.operator));
        let name = format!("fused:{}", names.collect::<String>());
        let results = written.iter().map(|member| (member.result, member.meta().clone())).collect();
        Ok(Some(Kernel { name, source, params, inputs, results, groups }))
    }

    /// Members as calls of a shader, whose numbers are added to its parameters.
    fn calls(
        &self,
        needed: &[usize],
        inputs: &[Id],
        params: &mut Vec<Word>,
    ) -> Result<Vec<Call<'_>>, String> {
        let mut calls = Vec::new();
        for Member { computes, sources, .. } in needed.iter().map(|member| &self.members[*member]) {
            let Computes::Elements(known) = computes else { continue }; // reductions are kernels of their own
            let (dtype, mut operands, mut scalars) = (known.computed, Vec::new(), Vec::new());
            let fixed = |number: Scalar, params: &mut Vec<Word>| {
                let Some(words) = pointwise::words_of(number, dtype) else {
                    return Err(format!("{number:?} is not a number of {dtype}"));
                };
                params.extend(words.into_iter().map(Word::Fixed));
                Ok(())
            };
            for source in sources {
                let place = params.len();
                operands.push(match source {
                    Source::Number(number) => {
                        fixed(*number, params)?;
                        Operand::Param(place)
                    }
                    Source::Value(id) => {
                        match (inputs.iter().position(|input| input == id), self.makers.get(id)) {
                            (Some(number), _) => Operand::Buffer { number, dtype: self.tensors[id].dtype() },
                            (None, Some(maker)) => {
                                Operand::Call(needed.partition_point(|member| member < maker))
                            }
                            (None, None) => {
                                let words = if dtype == DType::Int64 { 2 } else { 1 };
                                params.extend((0..words).map(|word| Word::Number {
                                    value: *id,
                                    dtype,
                                    word,
                                }));
                                Operand::Param(place)
                            }
                        }
                    }
                });
            }
            for number in &known.scalars {
                scalars.push(params.len());
                fixed(*number, params)?;
            }
            let (expression, result) = (&known.expression, known.meta.dtype());
            calls.push(Call { expression, computed: dtype, result, operands, scalars });
        }
        Ok(calls)
    }
}

/// The identity, for a reduction of an input itself.
fn as_it_is() -> Call<'static> {
    static AS_IT_IS: Expression = SAME;
    let operands = vec![Operand::Buffer { number: 0, dtype: DType::Float32 }];
    let (computed, result) = (DType::Float32, DType::Float32);
    Call { expression: &AS_IT_IS, computed, result, operands, scalars: Vec::new() }
}
