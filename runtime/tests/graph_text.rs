//! The text of graphs: names that begin like its keywords, types with any name, and what it must not say.

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
        /// A copy, whatever else there is.
        blend(Tensor self, float by, int[] dim, bool[] flags, float[] scales) -> Tensor;
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

#[torch_impl(constants::blend, CPU)]
fn blend(this: &Tensor, _by: f64, _dim: &[i64], _flags: &[bool], _scales: &[f64]) -> Result<Tensor> {
    copy(this)
}

#[torch_impl(constants::copy, CPU)]
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

#[test]
fn constants_of_every_type_are_read_back() {
    for (dtype, elements) in [
        ("float8_e4m3fn", "-0.5, 448.0"),
        ("float8_e5m2", "inf, 2.0"),
        ("float8_e4m3fnuz", "0.0, 1.0"),
        ("float8_e5m2fnuz", "0.25, NaN"),
        ("float8_e8m0fnu", "0.5, 4.0"),
        ("bool", "true, false"),
        ("uint64", "-1, 7"),
        ("bfloat16", "-inf, 1.5"),
        ("complex64", "complex(1.0, -2.0), complex(0.0, inf)"),
    ] {
        let text = format!("graph() {{\n  %0: {dtype}[2] = constant [{elements}]\n  return %0\n}}\n");
        assert_eq!(text.parse::<Graph>().unwrap().to_string(), text);
    }
}

fn refusal(text: &str) -> String {
    text.parse::<Graph>().unwrap_err().to_string()
}

#[test]
fn a_number_that_is_not_of_its_type_is_refused() {
    for (dtype, element, says) in [
        ("uint8", "300", "300 does not convert to uint8: it is out of range"),
        ("int64", "1.5", "1.5 is not of the type int64"),
        ("bool", "2", "2 is not of the type bool"),
        ("float32", "true", "True is not of the type float32"),
        ("float32", "complex(1.0, 0.0)", "(1+0j) is not of the type float32"),
        ("float16", "1e6", "1000000.0 does not convert to float16: it is out of range"),
    ] {
        let said = refusal(&format!("graph() {{ %0: {dtype}[1] = constant [{element}] return %0 }}"));
        assert!(said.contains(says), "{said}");
    }
    let call = |dim: &str, flags: &str, scales: &str| {
        let arguments = format!("by=1.0, dim={dim}, flags={flags}, scales={scales}");
        format!(
            "graph(%0: float64[1]) {{ %1: float64[1] = constants::blend(self=%0, {arguments}) return %1 }}"
        )
    };
    assert!(call("[1, -1]", "[true]", "[1, 2.5]").parse::<Graph>().is_ok());
    for (text, says) in [
        (call("[1.5]", "[]", "[]"), "`dim` of constants::blend must be int[]"),
        (call("[true]", "[]", "[]"), "`dim` of constants::blend must be int[]"),
        (call("[]", "[2]", "[]"), "`flags` of constants::blend must be bool[]"),
        (call("[]", "[]", "[complex(1.0, 2.0)]"), "`scales` of constants::blend must be float[]"),
    ] {
        assert!(refusal(&text).contains(says), "{}", refusal(&text));
    }
}

#[test]
fn an_argument_is_given_once() {
    let said = refusal(
        "graph(%0: float64[1]) {\n  %1: float64[1] = constants::blend(self=%0, by=1.0, by=2.0)\n  return %1\n}",
    );
    assert!(
        said.contains("line 2") && said.contains("`by` of constants::blend is given more than once"),
        "{said}"
    );
}
