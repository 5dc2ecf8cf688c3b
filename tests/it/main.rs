//! Tests of the public face, one module per theme.

mod boxed_calls;
mod calling;
mod golden;
mod guards;
mod hostile;
mod messages;
mod mistakes;
mod order;
mod stress;
mod trace;
