//! Tracer: records the operators that a function calls, from any crate, as a graph that can be read, changed and run.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library::tracer;
//!
//! torch_library! {
//!     pub mod tracer_docs {
//!         /// Adds a number to each element.
//!         shift(Tensor self, float by=1.) -> Tensor;
//!     }
//! }
//!
//! #[torch_impl(tracer_docs, CPU)]
//! fn shift(this: &Tensor, by: f64) -> Result<Tensor> {
//!     Tensor::from_vec(this.to_vec::<f64>()?.into_iter().map(|x| x + by).collect(), this.sizes())
//! }
//!
//! # fn main() -> Result<()> {
//! let (_, graph) = tracer::trace(&[Tensor::from([1.0, 2.0])], |inputs| {
//!     let x = tracer_docs::shift(&inputs[0])?;
//!     Ok(vec![tracer_docs::shift::call(&x, 2.5)?])
//! })?;
//! let text = "\
//! graph(%0: float64[2]) {
//!   %1: float64[2] = tracer_docs::shift(self=%0, by=1.0)
//!   %2: float64[2] = tracer_docs::shift(self=%1, by=2.5)
//!   return %2
//! }
//! ";
//! assert_eq!(graph.to_string(), text);
//! let again: tracer::Graph = text.parse()?;
//! assert_eq!(again.run(&[Tensor::from([10.0, 20.0])])?[0].to_vec::<f64>()?, [13.5, 23.5]);
//! # Ok(())
//! # }
//! ```
//!
//! # What is recorded
//!
//! While a function is traced, its thread includes the key `Tracer`, whose fallback sees each operator that the
//! function itself calls: operators that these call in turn are not recorded, and neither is the work of autograd.
//! Tensors that no recorded operator returned become constants of the graph. What operators do that a graph cannot
//! reproduce is listed in its [notes](Graph::notes), and so are writes and views that no operator makes. What the
//! function reads from tensors by itself (`item`, `to_vec`) is not seen: numbers that it computes from them become
//! constants.
//!
//! PyTorch: `torch.jit.trace`, `torch.fx.experimental.proxy_tensor.make_fx`, `torch.fx.Graph`.

mod argument;
mod dot;
mod effects;
mod graph;
mod interpreter;
mod json;
mod partition;
mod passes;
mod print;
mod read;
mod record;

pub use argument::{Argument, Id, Output};
pub use graph::{Graph, Node, TensorType};
pub use interpreter::Interpreter;
pub use record::trace;

use crate::key::DispatchKey;
use crate::registry::LayerKernel;

/// The layer's kernel, above autograd, so that calls are seen as the function makes them.
pub(crate) const LAYER: LayerKernel =
    LayerKernel { key: DispatchKey::Tracer, kernel: record::record, name: "record" };
