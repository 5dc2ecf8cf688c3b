//! Recurrent networks: cells step by step, layer by layer, in one direction or both.

use torch_library::prelude::*;

use crate::aten;
pub(crate) use fused::check_gates;
use packed::Packed;

mod fused;
mod gradients;
mod jagged;
mod layer;
pub(crate) mod packed;

/// Writes the operators of a kind of cell whose state is a single tensor.
macro_rules! networks {
    ($($cell:ident $network:ident $packed:ident: $kind:ident;)+) => {
        #[torch_impl(aten, CompositeImplicitAutograd)]
        mod kernels {
            use super::*;

            $(
                fn $cell(
                    input: &Tensor,
                    hx: &Tensor,
                    w_ih: &Tensor,
                    w_hh: &Tensor,
                    b_ih: Option<&Tensor>,
                    b_hh: Option<&Tensor>,
                ) -> Result<Tensor> {
                    let weights = Weights { w_ih, w_hh, biases: [b_ih, b_hh], projection: None };
                    let [state, _] = weights.step(Cell::$kind, &weights.of_input(input)?, [hx, hx])?;
                    Ok(state)
                }

                fn $network(
                    input: &Tensor,
                    hx: &Tensor,
                    params: &[Tensor],
                    has_biases: bool,
                    num_layers: i64,
                    dropout: f64,
                    train: bool,
                    bidirectional: bool,
                    batch_first: bool,
                ) -> Result<(Tensor, Tensor)> {
                    let dropout = if train { dropout } else { 0.0 };
                    let cell = Cell::$kind;
                    let network = Network { cell, has_biases, num_layers, dropout, bidirectional, batch_first };
                    let run = network.run(input, [hx, hx], params);
                    let named = |error: Error| error.context(aten::$network::NAME);
                    let (output, [state, _]) = run.map_err(named)?;
                    Ok((output, state))
                }

                fn $packed(
                    data: &Tensor,
                    batch_sizes: &Tensor,
                    hx: &Tensor,
                    params: &[Tensor],
                    has_biases: bool,
                    num_layers: i64,
                    dropout: f64,
                    train: bool,
                    bidirectional: bool,
                ) -> Result<(Tensor, Tensor)> {
                    let dropout = if train { dropout } else { 0.0 };
                    let cell = Cell::$kind;
                    let network =
                        Network { cell, has_biases, num_layers, dropout, bidirectional, batch_first: false };
                    let run = network.run_packed(data, batch_sizes, [hx, hx], params);
                    let named = |error: Error| error.context(aten::$packed::NAME);
                    let (output, [state, _]) = run.map_err(named)?;
                    Ok((output, state))
                }
            )+

            fn lstm_cell(
                input: &Tensor,
                hx: &[Tensor],
                w_ih: &Tensor,
                w_hh: &Tensor,
                b_ih: Option<&Tensor>,
                b_hh: Option<&Tensor>,
            ) -> Result<(Tensor, Tensor)> {
                let state = two(aten::lstm_cell::NAME, hx)?;
                let weights = Weights { w_ih, w_hh, biases: [b_ih, b_hh], projection: None };
                let [hidden, cell] = weights.step(Cell::Lstm, &weights.of_input(input)?, state)?;
                Ok((hidden, cell))
            }

            fn lstm_input(
                input: &Tensor,
                hx: &[Tensor],
                params: &[Tensor],
                has_biases: bool,
                num_layers: i64,
                dropout: f64,
                train: bool,
                bidirectional: bool,
                batch_first: bool,
            ) -> Result<(Tensor, Tensor, Tensor)> {
                const OPERATOR: &str = aten::lstm_input::NAME;
                let dropout = if train { dropout } else { 0.0 };
                let network =
                    Network { cell: Cell::Lstm, has_biases, num_layers, dropout, bidirectional, batch_first };
                let run = network.run(input, two(OPERATOR, hx)?, params);
                let (output, [hidden, cell]) = run.map_err(|error| error.context(OPERATOR))?;
                Ok((output, hidden, cell))
            }

            fn lstm_data(
                data: &Tensor,
                batch_sizes: &Tensor,
                hx: &[Tensor],
                params: &[Tensor],
                has_biases: bool,
                num_layers: i64,
                dropout: f64,
                train: bool,
                bidirectional: bool,
            ) -> Result<(Tensor, Tensor, Tensor)> {
                const OPERATOR: &str = aten::lstm_data::NAME;
                let (cell, dropout) = (Cell::Lstm, if train { dropout } else { 0.0 });
                let network =
                    Network { cell, has_biases, num_layers, dropout, bidirectional, batch_first: false };
                let run = network.run_packed(data, batch_sizes, two(OPERATOR, hx)?, params);
                let (output, [hidden, cell]) = run.map_err(|error| error.context(OPERATOR))?;
                Ok((output, hidden, cell))
            }
        }
    };
}

networks! {
    rnn_tanh_cell rnn_tanh_input rnn_tanh_data: Tanh;
    rnn_relu_cell rnn_relu_input rnn_relu_data: Relu;
    gru_cell gru_input gru_data: Gru;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Tanh,
    Relu,
    Gru,
    Lstm,
}

/// From this many steps on, it pays off to copy the weight of the hidden state.
const MANY_STEPS: usize = 8;

/// The most rows in a batch for which that copy pays off.
const FEW_ROWS: i64 = 12;

/// Rows of the copy that lie a multiple of this many bytes apart would compete for a few sets of the L1 cache.
const PAGE: i64 = 4096;

/// How many bytes are added to each such row, so that they do not: a cache line.
const PADDING: i64 = 64;

/// The parameters of a layer in one direction.
#[derive(Clone, Copy)]
struct Weights<'a> {
    w_ih: &'a Tensor,
    w_hh: &'a Tensor,
    biases: [Option<&'a Tensor>; 2],
    projection: Option<&'a Tensor>,
}

/// The hidden state and the cell state; a cell with only a hidden state has it twice.
type State = [Tensor; 2];

impl Weights<'_> {
    /// The contribution of the input to all gates.
    fn of_input(&self, input: &Tensor) -> Result<Tensor> {
        aten::linear::call(input, self.w_ih, self.biases[0])
    }

    /// The next state, from the input's contribution and the previous state.
    fn step(&self, cell: Cell, from_input: &Tensor, [hidden, memory]: [&Tensor; 2]) -> Result<State> {
        let from_hidden = aten::linear::call(hidden, self.w_hh, self.biases[1])?;
        let both = || aten::add_Tensor(from_input, &from_hidden);
        let next = match cell {
            Cell::Tanh => aten::tanh(&both()?)?,
            Cell::Relu => aten::relu(&both()?)?,
            Cell::Gru => {
                let (input, state) = (gates::<3>(from_input)?, gates::<3>(&from_hidden)?);
                let reset = aten::sigmoid(&aten::add_Tensor(&input[0], &state[0])?)?;
                let update = aten::sigmoid(&aten::add_Tensor(&input[1], &state[1])?)?;
                let new = aten::tanh(&aten::add_Tensor(&input[2], &aten::mul_Tensor(&state[2], &reset)?)?)?;
                aten::add_Tensor(&aten::mul_Tensor(&aten::sub_Tensor(hidden, &new)?, &update)?, &new)?
            }
            Cell::Lstm if fused::suits([from_input, &from_hidden, memory]) => {
                let (hidden, memory, _) = aten::_thnn_fused_lstm_cell(from_input, &from_hidden, memory)?;
                return Ok([self.projected(hidden)?, memory]);
            }
            Cell::Lstm => {
                let gates = gates::<4>(&both()?)?;
                let kept = aten::mul_Tensor(&aten::sigmoid(&gates[1])?, memory)?;
                let new = aten::mul_Tensor(&aten::sigmoid(&gates[0])?, &aten::tanh(&gates[2])?)?;
                let memory = aten::add_Tensor(&kept, &new)?;
                let hidden = aten::mul_Tensor(&aten::sigmoid(&gates[3])?, &aten::tanh(&memory)?)?;
                return Ok([self.projected(hidden)?, memory]);
            }
        };
        Ok([next.clone(), next])
    }

    /// The hidden state of an LSTM, after the projection if there is one.
    fn projected(&self, hidden: Tensor) -> Result<Tensor> {
        match self.projection {
            Some(projection) => aten::linear(&hidden, projection),
            None => Ok(hidden),
        }
    }

    /// The outputs of all steps, in order, and the last state.
    fn run(
        &self,
        cell: Cell,
        input: &Tensor,
        state: [&Tensor; 2],
        backwards: bool,
    ) -> Result<(Tensor, State)> {
        let mut steps = aten::unbind_int(&self.of_input(input)?)?;
        if backwards {
            steps.reverse();
        }
        let is_few = |step: &Tensor| step.sizes().first().is_some_and(|rows| *rows <= FEW_ROWS);
        // `bfloat16` is multiplied pair by pair, along the rows that the weight has.
        let is_turned =
            steps.len() >= MANY_STEPS && is_few(&steps[0]) && self.w_hh.dtype() != DType::BFloat16;
        let w_hh = match is_turned {
            true => in_columns(self.w_hh)?,
            false => self.w_hh.clone(),
        };
        let weights = Weights { w_hh: &w_hh, ..*self };
        let (mut state, mut outputs) = (state.map(Tensor::clone), Vec::with_capacity(steps.len()));
        for step in &steps {
            state = weights.step(cell, step, [&state[0], &state[1]])?;
            outputs.push(state[0].clone());
        }
        if backwards {
            outputs.reverse();
        }
        Ok((aten::stack(&outputs)?, state))
    }
}

/// A matrix whose columns are contiguous: the product of a few rows with its transpose reads it in the order of memory.
fn in_columns(matrix: &Tensor) -> Result<Tensor> {
    let (turned, size) = (aten::t(matrix)?, matrix.dtype().size() as i64);
    let columns = turned.size(-1)?;
    if columns.saturating_mul(size) % PAGE != 0 {
        return aten::t(&aten::contiguous(&turned)?);
    }
    let padded = aten::constant_pad_nd(&turned, &[0, PADDING / size])?;
    aten::t(&aten::narrow(&padded, 1, 0, columns)?)
}

/// The part of each gate, of a tensor that has all gates side by side.
fn gates<const N: usize>(all: &Tensor) -> Result<[Tensor; N]> {
    let size = all.size(-1)?;
    ensure!(size % N as i64 == 0, Shape, "weights of {size} rows cannot be divided among {N} gates");
    let parts = aten::split_with_sizes::with(all, &[size / N as i64; N]).dim(-1).call()?;
    parts.try_into().map_err(|_| Error::new(ErrorKind::Internal, "there is a part for each gate"))
}

/// A network of several layers.
struct Network {
    cell: Cell,
    has_biases: bool,
    num_layers: i64,
    dropout: f64,
    bidirectional: bool,
    batch_first: bool,
}

impl Network {
    fn run(&self, input: &Tensor, state: [&Tensor; 2], params: &[Tensor]) -> Result<(Tensor, State)> {
        ensure!(input.dim() == 3, Shape, "an input of sizes {:?}, expected three dimensions", input.sizes());
        let swapped =
            |x: &Tensor| if self.batch_first { aten::transpose_int(x, 0, 1) } else { Ok(x.clone()) };
        let input = swapped(input)?;
        ensure!(input.sizes()[0] > 0, Shape, "an input of sizes {:?} has no steps", input.sizes());
        let (output, last) = self.layers(input, state, params, |weights, input, state, backwards| {
            weights.run(self.cell, input, state, backwards)
        })?;
        Ok((swapped(&output)?, last))
    }

    fn run_packed(
        &self,
        data: &Tensor,
        batch_sizes: &Tensor,
        state: [&Tensor; 2],
        params: &[Tensor],
    ) -> Result<(Tensor, State)> {
        ensure!(data.dim() == 2, Shape, "packed data of sizes {:?}, expected two dimensions", data.sizes());
        let packed = Packed::of(batch_sizes)?;
        self.layers(data.clone(), state, params, |weights, input, state, backwards| {
            weights.run_packed(self.cell, &packed, input, state, backwards)
        })
    }

    /// The output of the last layer, and the last states of all layers, from a function that runs one layer in one
    /// direction.
    fn layers(
        &self,
        input: Tensor,
        state: [&Tensor; 2],
        params: &[Tensor],
        run: impl Fn(&Weights<'_>, &Tensor, [&Tensor; 2], bool) -> Result<(Tensor, State)>,
    ) -> Result<(Tensor, State)> {
        ensure!(
            state.iter().all(|state| state.dim() == 3),
            Shape,
            "a state of sizes {:?}, expected three dimensions",
            state[0].sizes()
        );
        let directions = if self.bidirectional { 2 } else { 1 };
        let has_projection = self.cell == Cell::Lstm && state[0].sizes()[2] != state[1].sizes()[2];
        let per_layer = 2 + 2 * usize::from(self.has_biases) + usize::from(has_projection);
        let layers: Vec<&[Tensor]> = params.chunks(per_layer).collect();
        let count = self.num_layers.saturating_mul(directions);
        ensure!(
            self.num_layers > 0 && params.len() as i64 == count.saturating_mul(per_layer as i64),
            Argument,
            "{} parameters for {} layers, expected {per_layer} for each of {directions} directions",
            params.len(),
            self.num_layers
        );
        ensure!(
            state.iter().all(|state| state.sizes()[0] == count),
            Shape,
            "a state of sizes {:?}, expected one of {count} layers",
            state[0].sizes()
        );
        let (mut output, mut last) = (input, [Vec::new(), Vec::new()]);
        for layer in 0..self.num_layers {
            let mut outputs = Vec::new();
            for direction in 0..directions {
                let at = layer * directions + direction;
                let weights = self.weights(layers[at as usize], has_projection);
                let [hidden, memory] = state.map(|state| aten::select_int(state, 0, at));
                let (own, states) = run(&weights, &output, [&hidden?, &memory?], direction == 1)?;
                outputs.push(own);
                last.iter_mut().zip(states).for_each(|(all, state)| all.push(state));
            }
            output = if self.bidirectional {
                aten::cat::with(&outputs).dim(-1).call()?
            } else {
                outputs.remove(0)
            };
            if self.dropout > 0.0 && layer + 1 < self.num_layers {
                output = aten::dropout(&output, self.dropout, true)?;
            }
        }
        let [hidden, memory] = last.map(|states| aten::stack(&states));
        Ok((output, [hidden?, memory?]))
    }

    fn weights<'a>(&self, params: &'a [Tensor], has_projection: bool) -> Weights<'a> {
        let biases = if self.has_biases { [Some(&params[2]), Some(&params[3])] } else { [None, None] };
        Weights {
            w_ih: &params[0],
            w_hh: &params[1],
            biases,
            projection: params.last().filter(|_| has_projection),
        }
    }
}

/// The two tensors of an LSTM's state.
fn two<'a>(operator: &str, state: &'a [Tensor]) -> Result<[&'a Tensor; 2]> {
    match state {
        [hidden, cell] => Ok([hidden, cell]),
        _ => bail!(
            Argument,
            "{operator}: a state of {} tensors, expected that of the output and that of the cell",
            state.len()
        ),
    }
}
