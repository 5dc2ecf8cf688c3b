//! What the macros reject and what the linker keeps, tested by building small programs.

mod cargo;
mod dtypes;
mod fail;
#[cfg(target_os = "linux")] // it names shared objects, and options of their linker
mod from_c;
mod packages;
#[cfg(target_os = "linux")] // it names shared objects, and the variable with their folders
mod plug_ins;
mod registrations;
mod tidy;
