//! The operators, family by family.

mod autograd;
mod binary;
mod checkpoint;
mod coverage;
mod create;
mod data;
mod fake;
mod functionalize;
mod gradcheck;
mod index;
mod inplace;
mod lazy;
mod loss;
mod matmul;
mod norm;
mod opcheck;
mod out;
mod random;
mod reduce;
mod scatter;
mod tracer;
mod training;
mod unary;
mod view;
mod vmap;
mod window;
