//! Tests the conversion of a call's arguments to one value per argument.

use torch_library_schema::{Argument, ArgumentError, DefaultValue, Mode, Schema, Type, Value};

#[derive(Clone, Debug, PartialEq)]
enum Toy {
    Int(i64),
    Str(&'static str),
    None,
}

impl Value for Toy {
    fn of_default(default: &DefaultValue, _: &Argument) -> Self {
        match default {
            DefaultValue::Int(value) => Toy::Int(*value),
            _ => Toy::None,
        }
    }

    fn is_a(&self, ty: &Type) -> bool {
        match (self, ty) {
            (Toy::Int(_), Type::Int) | (Toy::Str(_), Type::Str) | (Toy::None, Type::Optional(_)) => true,
            (value, Type::Optional(inner)) => value.is_a(inner),
            _ => false,
        }
    }

    fn type_name(&self) -> String {
        match self {
            Toy::Int(_) => "int".to_owned(),
            Toy::Str(_) => "str".to_owned(),
            Toy::None => "None".to_owned(),
        }
    }
}

use Toy::{Int, None as Nothing, Str};

fn call(schema: &str, positional: &[Toy], named: &[(&str, Toy)]) -> Result<Vec<Toy>, ArgumentError> {
    let schema = Schema::parse(schema, Mode::Strict).unwrap();
    schema.normalize(positional.to_vec(), named.iter().cloned())
}

#[track_caller]
fn refused(positional: &[Toy], named: &[(&str, Toy)], expected: &str) {
    let schema = "ns::f(int a, str? s=None, *, int k=3) -> ()";
    let message = call(schema, positional, named).unwrap_err().to_string();
    assert_eq!(message, format!("{expected}; the declaration is `{schema}`"));
}

#[test]
fn positions_names_and_defaults_fill_the_arguments() {
    let schema = "f(int a, str? s=None, *, int k=3) -> ()";
    assert_eq!(call(schema, &[Int(1)], &[]), Ok(vec![Int(1), Nothing, Int(3)]));
    assert_eq!(call(schema, &[Int(1), Str("x")], &[("k", Int(5))]), Ok(vec![Int(1), Str("x"), Int(5)]));
    assert_eq!(call(schema, &[], &[("k", Int(5)), ("a", Int(1))]), Ok(vec![Int(1), Nothing, Int(5)]));
    assert_eq!(call("f() -> ()", &[], &[]), Ok(vec![]));
}

#[test]
fn further_values_follow_where_the_schema_has_dots() {
    assert_eq!(
        call("f(int a, ...) -> ()", &[Int(1), Str("x"), Nothing], &[]),
        Ok(vec![Int(1), Str("x"), Nothing])
    );
}

#[test]
fn each_mistake_has_its_message() {
    refused(&[Int(1), Nothing, Int(2)], &[], "expected at most 2 positional arguments, received 3");
    assert_eq!(
        call("f(int a) -> ()", &[Int(1), Int(2)], &[]).unwrap_err().kind.to_string(),
        "expected at most 1 positional argument, received 2"
    );
    refused(&[Str("x")], &[], "argument 1 `a` is of type `int`, received `str`");
    refused(&[Int(1)], &[("k", Str("x"))], "argument `k` is of type `int`, received `str`");
    refused(&[], &[("k", Int(1))], "argument `a` is missing");
    refused(&[Int(1)], &[("b", Int(1))], "there is no argument `b`");
    refused(&[Int(1)], &[("a", Int(1))], "argument `a` is given twice");
}
