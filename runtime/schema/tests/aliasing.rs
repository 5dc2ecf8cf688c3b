//! Tests which arguments and returns may share storage.

use torch_library_schema::SchemaArgument::{Input, Output};
use torch_library_schema::{Mode, Schema};

fn schema(text: &str) -> Schema {
    Schema::parse(text, Mode::PyTorch).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

#[test]
fn arguments_of_one_set_may_alias_if_their_types_can() {
    let schema = schema("f(Tensor(a) x, Tensor(a) y, Tensor(b) z, int(a) n, Tensor(a)? o) -> Tensor(a)");
    assert_eq!(schema.may_alias(Input(0), Input(1)), Some(true));
    assert_eq!(schema.may_alias(Input(0), Output(0)), Some(true));
    assert_eq!(schema.may_alias(Input(0), Input(4)), Some(true));
    assert_eq!(schema.may_alias(Input(0), Input(2)), Some(false));
    assert_eq!(schema.may_alias(Input(0), Input(3)), Some(false));
    assert_eq!(schema.may_alias(Input(0), Input(5)), None);
    assert_eq!(schema.may_alias(Input(0), Output(1)), None);
}

#[test]
fn the_sets_after_the_call_count() {
    let schema = schema("f(Tensor(a -> b) x, Tensor(b) y, Tensor(a) z, Tensor(*) w, Tensor(*) v) -> ()");
    assert_eq!(schema.may_alias(Input(0), Input(1)), Some(true));
    assert_eq!(schema.may_alias(Input(0), Input(2)), Some(false));
    assert_eq!(schema.may_alias(Input(3), Input(4)), Some(true));
}

#[test]
fn a_wildcard_may_end_up_in_a_container_of_its_type() {
    let schema = schema("f(Tensor(*) x, Tensor[] xs, int[] ns, Tensor y) -> Tensor(a)[]");
    assert_eq!(schema.may_contain_alias(Input(0), Input(1)), Some(true));
    assert_eq!(schema.may_contain_alias(Output(0), Input(0)), Some(true));
    assert_eq!(schema.may_contain_alias(Input(0), Input(2)), Some(false));
    assert_eq!(schema.may_contain_alias(Input(3), Input(1)), Some(false));
    assert_eq!(schema.may_contain(Input(1), Input(0)), Some(true));
    assert_eq!(schema.may_contain(Input(0), Input(1)), Some(false));
}

#[test]
fn containers_of_one_element_type_may_share_elements() {
    let schema = schema(
        "f(Tensor[] a, Tensor[][] b, (Tensor, int) c, int[] d, SymInt[] e, Dict(str, Tensor) g) -> ()",
    );
    assert_eq!(schema.may_contain_alias(Input(0), Input(1)), Some(true));
    assert_eq!(schema.may_contain_alias(Input(0), Input(2)), Some(true));
    assert_eq!(schema.may_contain_alias(Input(0), Input(3)), Some(false));
    assert_eq!(schema.may_contain_alias(Input(3), Input(4)), Some(true));
    assert_eq!(schema.may_contain_alias(Input(0), Input(5)), Some(true));
}

#[test]
fn mutability_is_asked_by_position() {
    let schema = schema("f(Tensor(a!) x, Tensor y, *, Tensor(b!)[] out) -> ()");
    assert_eq!(
        [0, 1, 2, 3].map(|index| schema.is_mutable_argument(index)),
        [Some(true), Some(false), Some(true), None]
    );
    assert_eq!(schema.argument_index("out"), Some(2));
    assert_eq!(schema.argument_index("z"), None);
    assert!(schema.arguments[2].is_out() && !schema.arguments[0].is_out());
    assert_eq!(schema.is_aliasing(Input(1)), Some(false));
}
