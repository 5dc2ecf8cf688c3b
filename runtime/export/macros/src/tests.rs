//! Tests the error messages of `include_model!`, and its expansions.

use quote::quote;

use crate::expand::{expand, program};
use crate::model::{Input, Model, Operator, Output, Type};

/// The message of an expansion that is an error.
fn refusal(tokens: proc_macro2::TokenStream) -> String {
    let text = expand(tokens).to_string();
    let (_, rest) = text.split_once("compile_error ! { ").unwrap_or_else(|| panic!("no error: {text}"));
    let literal = rest.strip_suffix('}').unwrap();
    syn::parse_str::<syn::LitStr>(literal).unwrap().value()
}

fn model(name: &str) -> Model {
    let path = format!("{}/../tests/archives/{name}.pt2", env!("CARGO_MANIFEST_DIR"));
    Model::read(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn mistakes_are_named() {
    let missing = refusal(quote!([crate] struct Model = "nowhere.pt2";));
    assert!(
        missing.starts_with("cannot read \"nowhere.pt2\", looked for from the folder of Cargo.toml: "),
        "{missing}"
    );
    let no_archive = refusal(quote!([crate] struct Model = "Cargo.toml";));
    assert!(no_archive.starts_with("Cargo.toml: this is not a zip file"), "{no_archive}");
    assert_eq!(
        refusal(quote!([crate] struct Model = "../tests/archives/custom.pt2";)),
        "the model calls operators of `fixtures`, `twice` among them: say which module declares them, `namespaces = { \
         fixtures: my_crate::fixtures }`, or `fixtures: _` for operators that are defined when the program runs"
    );
    assert_eq!(
        refusal(quote!([crate] struct Model = "a.pt2", namespace = { a: b };)),
        "unknown option `namespace`: the only one is `namespaces`"
    );
}

#[test]
fn a_damaged_weight_is_found_while_the_program_is_compiled() {
    let path = format!("{}/../tests/archives/ties.pt2", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = std::fs::read(path).unwrap();
    let archive = torch_library_pt2::archive::Archive::new(&bytes).unwrap();
    let payload = archive.payload("weights", "model").unwrap();
    let record = &payload["embedding.weight"].path_name;
    let at = archive.range(&format!("data/weights/{record}")).unwrap().start;
    bytes[at] ^= 1;
    assert!(Model::read(&bytes).unwrap_err().to_string().contains("is damaged"));
}

#[test]
fn inputs_and_outputs_are_those_of_the_archive() {
    let numbered = model("numbered");
    let types: Vec<_> = numbered.inputs.iter().map(|input| (&*input.name, input.ty)).collect();
    assert_eq!(types, [("x", Type::Tensor), ("n", Type::Int)]);
    assert!(numbered.inputs[0].text.starts_with("float32[s"), "{}", numbered.inputs[0].text);

    let nested = model("nested");
    let input = Input { name: "named_a".into(), ty: Type::Tensor, text: "float32[3]".into() };
    assert_eq!(nested.inputs[2], input);
    let places: Vec<_> = nested.outputs.iter().map(|output| output.place).collect();
    assert_eq!(places, [0, 1, 2], "None and 7 are left out");
    let sum = Output { place: 0, ty: Type::Tensor, text: "['sum']: float32[2]".into() };
    assert_eq!(nested.outputs[0], sum);
}

#[test]
fn operators_of_graphs_in_the_graph_are_linked_and_what_a_run_calls_itself() {
    let names = |model: Model| -> Vec<String> {
        model
            .operators
            .into_iter()
            .map(|Operator { name, overload, .. }| format!("{name}.{overload}"))
            .collect()
    };
    let branches = names(model("branches"));
    assert!(
        ["sin.", "cos.", "gt.Scalar"].iter().all(|name| branches.iter().any(|known| known == name)),
        "{branches:?}"
    );
    let loops = names(model("loops"));
    assert!(
        ["relu.", "select.int", "stack."].iter().all(|name| loops.iter().any(|known| known == name)),
        "{loops:?}"
    );
    let scans = names(model("associative"));
    assert!(
        ["slice.Tensor", "cat.", "stack.", "flatten.using_ints"]
            .iter()
            .all(|name| scans.iter().any(|known| known == name)),
        "{scans:?}"
    );
    let while_loops = names(model("tallied"));
    assert!(
        while_loops.contains(&"clone.".to_owned()),
        "one that never runs returns copies: {while_loops:?}"
    );
    assert!(names(model("functional")).contains(&"copy_.".to_owned()));
}

#[test]
fn a_name_that_is_not_one_in_rust_is_an_error() {
    let expansion = |input: &str, operator: [&str; 3]| {
        let [namespace, name, overload] = operator.map(str::to_owned);
        let model = Model {
            torch_version: "2.15".into(),
            inputs: vec![Input { name: input.into(), ty: Type::Tensor, text: "float32[3]".into() }],
            outputs: Vec::new(),
            operators: [Operator { namespace, name, overload }].into(),
        };
        let tokens = quote!([crate] struct Model = "m.pt2", namespaces = { lib: my::lib };);
        program(&syn::parse2(tokens).unwrap(), &model)
    };
    for name in ["a-b", "", "1a", "a b", "a/**/", "a'", "x\0"] {
        let says = format!("m.pt2: the name {name:?} is not an identifier in Rust");
        assert_eq!(expansion(name, ["lib", "op", ""]).unwrap_err().to_string(), says);
        if !name.is_empty() {
            assert!(
                expansion("x", ["lib", name, ""]).unwrap_err().to_string().starts_with("m.pt2: the name")
            );
            assert_eq!(expansion("x", [name, "op", ""]).unwrap_err().to_string(), says);
        }
    }
    let text = expansion("fn", ["lib", "self", ""]).unwrap().to_string();
    assert!(text.contains("r#fn : &") && text.contains(":: self_"), "{text}");
    assert!(expansion("größe", ["lib", "op", "out"]).is_ok());
}
