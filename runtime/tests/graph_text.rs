//! Graphs whose operators have names that begin like the keywords of the text.

use torch_library::prelude::*;
use torch_library::tracer::{Graph, trace};

torch_library! {
    mod returned {
        /// Does nothing with a tensor.
        nothing(Tensor self) -> ();
    }
}

torch_library! {
    mod nonesuch {
        /// Does nothing with a tensor.
        nothing(Tensor self) -> ();
    }
}

torch_library! {
    mod constants {
        /// A copy.
        copy(Tensor self) -> Tensor;
    }
}

#[torch_impl(returned, CPU)]
fn nothing(_: &Tensor) -> Result<()> {
    Ok(())
}

#[torch_impl(nonesuch::nothing, CPU)]
fn nothing_either(_: &Tensor) -> Result<()> {
    Ok(())
}

#[torch_impl(constants, CPU)]
fn copy(this: &Tensor) -> Result<Tensor> {
    Tensor::from_vec(this.to_vec::<f64>()?, this.sizes())
}

#[test]
fn a_keyword_is_a_whole_word() -> Result<()> {
    let (_, graph) = trace(&[Tensor::from([1.0, 2.0])], |inputs| {
        returned::nothing(&inputs[0])?;
        nonesuch::nothing(&inputs[0])?;
        Ok(vec![constants::copy(&inputs[0])?])
    })?;
    let text = graph.to_string();
    for call in ["returned::nothing(self=%0)", "nonesuch::nothing(self=%0)", "= constants::copy(self=%0)"] {
        assert!(text.contains(call), "{text}");
    }
    assert_eq!(text.parse::<Graph>()?.to_string(), text);
    Ok(())
}
