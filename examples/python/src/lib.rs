//! A module for Python with the operators of several crates: `aten`, and `glyphs`, which has three.

use glyphs as _;
use glyphs_extra as _;
use glyphs_tape as _;

pub use torch_library_python::*;
