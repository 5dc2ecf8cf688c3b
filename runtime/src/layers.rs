//! The list of layers that every program has, for the registry, and of those with state that travels, for the guards.

use crate::guard::Layered;
use crate::program::Program;
use crate::registry::{LayerKernel, Layers};
use crate::{autocast, dispatch_mode, fake, functionalize, lazy_bits, tracer, vmap};

impl Layers for Program {
    const LAYERS: &'static [LayerKernel] = &[
        vmap::FRONT_LAYER,
        vmap::BACK_LAYER,
        fake::LAYER,
        dispatch_mode::LAYER,
        functionalize::LAYER,
        lazy_bits::CONJUGATE,
        lazy_bits::NEGATIVE,
        lazy_bits::ZERO,
        tracer::LAYER,
    ];
}

impl Layered for Program {
    type State = (autocast::State, vmap::State);

    fn capture() -> Self::State {
        (autocast::State::capture(), vmap::State::capture())
    }

    fn replace((autocast, vmap): Self::State) -> Self::State {
        (autocast.replace(), vmap.replace())
    }
}
