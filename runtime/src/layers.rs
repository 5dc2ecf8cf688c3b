//! The list of layers that every program has, for the registry.

use crate::program::Program;
use crate::registry::{LayerKernel, Layers};
use crate::{fake, functionalize, lazy_bits, tracer, vmap};

impl Layers for Program {
    const LAYERS: &'static [LayerKernel] = &[
        vmap::FRONT_LAYER,
        vmap::BACK_LAYER,
        fake::LAYER,
        functionalize::LAYER,
        lazy_bits::CONJUGATE,
        lazy_bits::NEGATIVE,
        lazy_bits::ZERO,
        tracer::LAYER,
    ];
}
