//! Batching rules for `im2col` and `col2im`: examples become more images.

use torch_library::prelude::*;

use super::boxed::rules;
use super::folding::{images, signals};
use crate::aten;

rules! {
    unfolds: images => im2col;
    folds: signals => col2im;
}
