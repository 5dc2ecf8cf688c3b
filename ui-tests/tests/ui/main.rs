//! What the macros refuse and what the linker keeps, by building small programs.

mod fail;
mod tidy;
