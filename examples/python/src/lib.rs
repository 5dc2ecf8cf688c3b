//! A Python module with the operators of several crates: `aten`, and `glyphs`, to which three crates contribute.

use glyphs as _;
use glyphs_extra as _;
use glyphs_tape as _;

pub use torch_library_python::*;
