//! What the parser accepts and what it makes of it.

use torch_library_schema::{DefaultValue, Mode, OperatorName, Schema, Type};

fn strict(text: &str) -> Schema {
    Schema::parse(text, Mode::Strict).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

#[test]
fn a_schema_is_read_into_its_parts() {
    let schema = strict(
        "ns::op.ov(Tensor(a!) self, int[2]? size=None, *, SymInt[2] pad=0, Device? d=None) -> (Tensor(a!) out, bool)",
    );
    assert_eq!(schema.name, OperatorName::parse("ns::op.ov").unwrap());
    assert_eq!(schema.arguments.len(), 4);
    assert!(schema.arguments[0].is_mutable() && !schema.arguments[0].is_out());
    assert_eq!(schema.arguments[1].size, Some(2));
    assert_eq!(schema.arguments[1].ty.to_string(), "int[]?");
    assert_eq!(schema.arguments[2].default, Some(DefaultValue::List(vec![DefaultValue::Int(0); 2])));
    assert!(schema.arguments[2].kwarg_only);
    assert_eq!(schema.returns[0].name.as_deref(), Some("out"));
    assert_eq!(schema.returns[1].ty, Type::Bool);
}

#[test]
fn names_that_are_keywords_of_rust_are_names() {
    for name in ["self", "where", "type", "fn", "match", "async", "from", "lambda", "Tensor", "int"] {
        assert_eq!(strict(&format!("f(Tensor {name}) -> ()")).arguments[0].name, name);
    }
}
