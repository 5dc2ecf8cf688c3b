//! Operators that slide a window over images.

use super::{axis, volumes};

mod convolution;
mod fractional;
mod input_tile;
mod plan;
mod planes;
mod pool;
mod receptive_field;
