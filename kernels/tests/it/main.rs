//! The operators, family by family.

mod binary;
mod create;
mod matmul;
mod reduce;
mod unary;
mod view;
