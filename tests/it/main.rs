//! Tests of the public interface, one module per topic.

mod boxed_calls;
mod calling;
mod golden;
mod guards;
mod hostile;
mod inference;
mod listening;
mod messages;
mod mistakes;
mod native_functions;
mod no_derivative;
mod opcheck_faults;
mod opcheck_layers;
mod order;
mod stress;
mod trace;
mod typed_handles;
