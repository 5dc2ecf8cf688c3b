//! The cross entropy of a linear layer, chunk by chunk: the logits of all rows are never in memory at once, which with
//! a large vocabulary are the largest tensor of a language model's training step.

// The modules are listed bottom-up: each uses only those above it.

pub(crate) mod ops;

mod chunk;
mod problem;

mod derivatives;
mod kernels;
