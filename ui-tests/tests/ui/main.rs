//! What the macros refuse and what the linker keeps, by building small programs.

mod cargo;
mod dtypes;
mod fail;
mod packages;
mod publishing;
mod registrations;
mod tidy;
