//! Every form that the macros accept, and its meaning. One module for each topic, one namespace for each module.
#![forbid(unsafe_code)]
#![deny(warnings)]

mod blocks;
mod boxed;
mod conditions;
mod defaults;
mod extends;
mod forms;
mod in_macros;
mod lifetimes;
mod lints;
mod names;
mod native_functions;
mod overloads;
mod register;
mod shadowing;
mod types;
mod variants;
