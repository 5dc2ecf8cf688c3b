//! The procedural macros of torch-library.
