//! Recording: the fallback at `Tracer`, and the tensors that it has seen.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;

use crate::error::Result;
use crate::guard::{ExcludeDispatchKeyGuard, IncludeDispatchKeyGuard};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};
use crate::{bail, ensure};

use super::argument::{Argument, Id, Output};
use super::graph::{Graph, Node, TensorType};

thread_local! {
    /// The [`Session`] that sets it also takes it out, so it needs no destructor, and remains usable by other
    /// thread-local destructors at the end of a thread.
    static RECORDING: RefCell<Option<ManuallyDrop<Recording>>> = const { RefCell::new(None) };
}

#[derive(Default)]
struct Recording {
    graph: Graph,
    /// The present value of each tensor: an in-place operator gives it a new one.
    ids: HashMap<usize, Id>,
    /// Keeps the tensors alive, so that their ids stay unique.
    seen: Vec<Tensor>,
    /// The version of each memory that these tensors are in, as recorded operators left it.
    versions: HashMap<usize, u64>,
}

/// Runs a function and records its operations on tensors.
///
/// Returns the function's results, and the graph.
///
/// # Errors
/// The function's own errors; a trace within a trace; inputs that are wrappers, as inside vmap.
///
/// PyTorch: `torch.jit.trace`, `make_fx`.
pub fn trace(
    inputs: &[Tensor],
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
) -> Result<(Vec<Tensor>, Graph)> {
    ensure!(
        !inputs.iter().any(Tensor::is_wrapper),
        NotSupported,
        "an input of a trace is a wrapper tensor: trace outside of vmap, not inside"
    );
    ensure!(RECORDING.with_borrow(Option::is_none), NotSupported, "a trace is under way on this thread");
    let mut recording = Recording::default();
    for input in inputs {
        let id = recording.define(input);
        recording.graph.inputs.push(id);
    }
    let session = Session::begin(recording);
    let outputs = f(inputs)?;
    let mut recording = session.end();
    let ids = outputs.iter().map(|output| recording.id(output));
    let ids = ids.collect::<Vec<_>>();
    recording.graph.outputs = ids;
    Ok((outputs, recording.graph))
}

/// The thread records while this lives.
struct Session {
    _key: IncludeDispatchKeyGuard,
}

impl Session {
    fn begin(recording: Recording) -> Self {
        RECORDING.set(Some(ManuallyDrop::new(recording)));
        Session { _key: IncludeDispatchKeyGuard::new(DispatchKey::Tracer) }
    }

    fn end(self) -> Recording {
        RECORDING.take().map(ManuallyDrop::into_inner).unwrap_or_default()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Outside of the cell: dropping it may run a backend's code, which may query the recording.
        drop(RECORDING.take().map(ManuallyDrop::into_inner));
    }
}

impl Recording {
    /// The present value of a tensor; one that no recorded operator returned becomes a constant.
    fn id(&mut self, tensor: &Tensor) -> Id {
        if let Some(id) = self.ids.get(&tensor.id()).copied() {
            if self.versions.get(&tensor.storage().id()) != Some(&tensor.version()) {
                self.note(format!(
                    "the elements of %{id} were written without an operator, which a run of the graph does not do"
                ));
            }
            return id;
        }
        if self.seen.iter().any(|seen| seen.shares_storage_with(tensor)) {
            self.note(
                "a view that no operator made of a recorded value is a constant, with the elements that it had"
                    .into(),
            );
        }
        let id = self.define(tensor);
        self.graph.constants.push((id, tensor.clone()));
        id
    }

    /// Gives a tensor a new value.
    fn define(&mut self, tensor: &Tensor) -> Id {
        let id = self.graph.add_value(TensorType::of(tensor));
        if self.ids.insert(tensor.id(), id).is_none() {
            self.seen.push(tensor.clone());
        }
        self.follow(tensor);
        id
    }

    /// Takes the present elements of a tensor for those that recorded operators wrote.
    fn follow(&mut self, tensor: &Tensor) {
        self.versions.insert(tensor.storage().id(), tensor.version());
    }

    fn note(&mut self, note: String) {
        if !self.graph.notes.contains(&note) {
            self.graph.notes.push(note);
        }
    }
}

/// The fallback at `Tracer`.
pub(crate) fn record(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    const BELOW: DispatchKeySet = DispatchKeySet::full_after(DispatchKey::Tracer);
    // A call on wrappers becomes calls on the tensors that they stand for, which are recorded instead. The same holds
    // for functional calls.
    let passes = RECORDING.with_borrow(Option::is_none) || keys.has(DispatchKey::Functionalize);
    if passes || operator.arguments(stack)?.iter().flat_map(Value::all_tensors).any(Tensor::is_wrapper) {
        return operator.redispatch_boxed(keys & BELOW, stack);
    }
    let arguments = with_recording(|recording| {
        let values = operator.arguments(stack)?.iter();
        Ok(values.map(|value| Argument::of(value, |tensor| recording.id(tensor))).collect())
    })?;
    let taken: Vec<Tensor> =
        operator.arguments(stack)?.iter().flat_map(Value::all_tensors).cloned().collect();
    {
        let _parts = ExcludeDispatchKeyGuard::new(DispatchKey::Tracer);
        operator.redispatch_boxed(keys & BELOW, stack)?;
    }
    let returns = stack.last(operator.schema()?.returns.len());
    with_recording(|recording| {
        taken.iter().for_each(|tensor| recording.follow(tensor));
        recording.add(operator, arguments, returns);
        Ok(())
    })
}

fn with_recording<R>(f: impl FnOnce(&mut Recording) -> Result<R>) -> Result<R> {
    RECORDING.with_borrow_mut(|recording| match recording {
        Some(recording) => f(recording),
        None => bail!(Internal, "the trace ended while an operator ran"),
    })
}

impl Recording {
    fn add(&mut self, operator: OperatorHandle, arguments: Vec<Argument>, returns: &[Value<'_>]) {
        for argument in &arguments {
            if let Argument::Constant(Value::Generator(_)) = argument {
                self.note(format!("{operator} takes a generator, whose state is not recorded"));
            }
        }
        if operator.tags().contains(&"nondeterministic_seeded") {
            self.note(format!("{operator} is random: each run draws different numbers"));
        }
        let outputs: Vec<_> = returns.iter().map(|value| self.output(operator, value)).collect();
        let is_question = !returns.is_empty() && outputs.iter().all(|output| matches!(output, Output::None));
        if !is_question || operator.schema().is_ok_and(|schema| schema.is_mutable()) {
            self.graph.nodes.push(Node { operator, arguments, outputs });
        }
    }

    fn output(&mut self, operator: OperatorHandle, value: &Value<'_>) -> Output {
        match value {
            Value::Tensors(_) | Value::TensorsMut(_) => {
                Output::Tensors(value.tensors().iter().map(|tensor| self.define(tensor)).collect())
            }
            value => match value.as_tensor() {
                Some(tensor) => Output::Tensor(self.define(tensor)),
                None if value.is_none() => Output::None,
                None => {
                    let ty = value.type_name();
                    self.note(format!(
                        "{operator} returned a {ty}, and what the function did with it was recorded as for these \
                         inputs"
                    ));
                    Output::None
                }
            },
        }
    }
}
