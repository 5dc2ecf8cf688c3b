//! What the macros reject and what the linker keeps, tested by building small programs.

mod cargo;
mod dtypes;
mod fail;
mod packages;
mod registrations;
mod tidy;
