//! Operators that slide a window over images.

use super::axis;

mod convolution;
mod input_tile;
mod plan;
mod planes;
mod receptive_field;
