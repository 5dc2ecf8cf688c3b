//! Batching rules for padding: examples become more signals, images or volumes.

use torch_library::prelude::*;

use super::boxed::rules;
use super::folding::{images, signals, volumes};
use crate::aten;

rules! {
    pads_of_signals: signals =>
        reflection_pad1d reflection_pad1d_backward replication_pad1d replication_pad1d_backward;
    pads: images => reflection_pad2d reflection_pad2d_backward replication_pad2d replication_pad2d_backward;
    pads_of_volumes: volumes =>
        reflection_pad3d reflection_pad3d_backward replication_pad3d replication_pad3d_backward;
}
