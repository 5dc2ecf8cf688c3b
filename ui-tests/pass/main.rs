//! Every form that the macros accept, and what it means. A module for each subject, a namespace for each module.
#![forbid(unsafe_code)]
#![deny(warnings)]

mod blocks;
mod conditions;
mod defaults;
mod extends;
mod forms;
mod lifetimes;
mod names;
mod native_functions;
mod overloads;
mod register;
mod shadowing;
mod types;
mod variants;
