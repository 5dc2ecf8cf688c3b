//! A call of a program as a function of tensors, for layers, which know nothing else: its numbers and its buffers are
//! put in their places.

use std::cell::RefCell;

use torch_library::functionalize::functionalize;
use torch_library::prelude::*;
use torch_library_export::{Kind, Profile, Program, WeightKind};

/// A program with those of its inputs that are numbers.
pub(crate) struct Call<'p> {
    program: &'p Program,
    /// The number for each input that is one.
    numbers: Vec<Option<Value<'static>>>,
    /// The results of the last run that are no tensors, by their places.
    others: RefCell<Vec<(usize, Value<'static>)>>,
    /// What takes the places of the weights: under functionalization, functional buffers.
    weights: RefCell<Vec<Tensor>>,
}

impl<'p> Call<'p> {
    /// Reads the numbers, outside of all layers: under some, tensors have no elements.
    ///
    /// # Errors
    /// The tensor for a number has dimensions, or a complex element.
    pub(crate) fn new(program: &'p Program, inputs: &[Tensor]) -> Result<Call<'p>> {
        let numbers = inputs.iter().zip(program.inputs()).map(|(tensor, input)| match input.kind {
            Kind::Number => number(tensor)
                .map(Some)
                .map_err(|error| error.context(format_args!("input `{}`", input.name))),
            _ => Ok(None),
        });
        let weights = program.weights().iter().map(|weight| weight.tensor.clone()).collect();
        Ok(Call {
            program,
            numbers: numbers.collect::<Result<_>>()?,
            others: RefCell::default(),
            weights: RefCell::new(weights),
        })
    }

    /// The inputs with the numbers in their places.
    pub(crate) fn values<'v>(&'v self, inputs: &'v [Tensor]) -> Vec<Value<'v>> {
        let numbers = self.numbers.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let values = inputs.iter().zip(numbers);
        values.map(|(tensor, number)| number.map_or(Value::TensorRef(tensor), Value::borrowed)).collect()
    }

    /// Runs the program, and returns the results that are tensors.
    ///
    /// # Errors
    /// The errors of the run.
    pub(crate) fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let (mut tensors, mut others) = (Vec::new(), Vec::new());
        let weights = self.weights.borrow().clone();
        for (place, value) in self.program.run_with(&weights, self.values(inputs))?.into_iter().enumerate() {
            match value {
                Value::Tensor(tensor) => tensors.push(tensor),
                other => others.push((place, other)),
            }
        }
        *self.others.borrow_mut() = others;
        Ok(tensors)
    }

    /// Runs the program several times, and returns the time of each operator.
    ///
    /// # Errors
    /// The errors of the run.
    pub(crate) fn profile(&self, inputs: &[Tensor], runs: u32) -> Result<Profile> {
        self.program.profile_with(&self.weights.borrow().clone(), &self.values(inputs), runs)
    }

    /// Runs a function, which makes this call, on functional tensors. The program may write to its buffers, which get
    /// their new values at the end.
    ///
    /// # Errors
    /// The errors of the function, and of functionalization.
    pub(crate) fn functionalized(
        &self,
        inputs: &[Tensor],
        run: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    ) -> Result<Vec<Tensor>> {
        let before = self.weights.borrow().clone();
        let places = self.places_of_buffers();
        let all: Vec<Tensor> = inputs.iter().cloned().chain(self.buffers()).collect();
        let outputs = functionalize(&all, |all| {
            let (inputs, buffers) = all.split_at(inputs.len());
            for (place, buffer) in places.iter().zip(buffers) {
                self.weights.borrow_mut()[*place] = buffer.clone();
            }
            run(inputs)
        });
        *self.weights.borrow_mut() = before;
        outputs
    }

    /// The program's buffers, or what takes their places.
    pub(crate) fn buffers(&self) -> Vec<Tensor> {
        let weights = self.weights.borrow();
        self.places_of_buffers().into_iter().map(|place| weights[place].clone()).collect()
    }

    /// The places of the buffers among the weights.
    fn places_of_buffers(&self) -> Vec<usize> {
        let weights = self.program.weights();
        (0..weights.len()).filter(|place| weights[*place].kind == WeightKind::Buffer).collect()
    }

    /// The result of the last run at this place as text, if it is neither a tensor nor `None`.
    pub(crate) fn text(&self, place: usize) -> Option<String> {
        let others = self.others.borrow();
        let (_, value) = others.iter().find(|(other, _)| *other == place)?;
        Some(match value {
            Value::Int(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Bool(yes) => if *yes { "True" } else { "False" }.to_owned(),
            Value::Str(text) => format!("{text:?}"),
            _ => return None,
        })
    }
}

fn number(tensor: &Tensor) -> Result<Value<'static>> {
    ensure!(
        tensor.dim() == 0,
        Shape,
        "the program takes a number, for which a zero-dimensional tensor is expected, got {}{:?}",
        tensor.dtype(),
        tensor.sizes()
    );
    Ok(match tensor.item()? {
        Scalar::Int(number) => Value::Int(number),
        Scalar::Float(number) => Value::Float(number),
        Scalar::Bool(yes) => Value::Bool(yes),
        Scalar::Complex(_) => bail!(DType, "the program takes a number that is not complex"),
    })
}
