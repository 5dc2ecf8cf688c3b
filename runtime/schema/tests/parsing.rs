//! Tests what the parser accepts, the resulting schema, and the differences between the two modes.

use torch_library_schema::{DefaultValue, Mode, OperatorName, Schema, Type};

fn strict(text: &str) -> Schema {
    Schema::parse(text, Mode::Strict).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

/// Both modes accept the text.
fn accepted(text: &str) {
    strict(text);
    assert!(Schema::parse(text, Mode::PyTorch).is_ok(), "{text}");
}

/// No mode accepts the text.
fn refused(text: &str) {
    assert!(Schema::parse(text, Mode::Strict).is_err(), "{text}");
    assert!(Schema::parse(text, Mode::PyTorch).is_err(), "{text}");
}

/// PyTorch's mode accepts the text, the strict one does not.
fn lax(text: &str) -> Schema {
    assert!(Schema::parse(text, Mode::Strict).is_err(), "{text}");
    Schema::parse(text, Mode::PyTorch).unwrap_or_else(|error| panic!("{}", error.render(text)))
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
fn one_value_for_no_elements_is_an_empty_list() {
    for text in ["int[0] x=1", "bool[0] x=True"] {
        assert_eq!(
            strict(&format!("f({text}) -> ()")).arguments[0].default,
            Some(DefaultValue::List(vec![]))
        );
    }
    assert_eq!(lax("f(bool[0] x=None) -> ()").arguments[0].default, Some(DefaultValue::List(vec![])));
    refused("f(bool[1] x=None) -> ()");
}

#[test]
fn names_that_are_keywords_of_rust_are_names() {
    for name in ["self", "where", "type", "fn", "match", "async", "from", "lambda", "Tensor", "int"] {
        assert_eq!(strict(&format!("f(Tensor {name}) -> ()")).arguments[0].name, name);
    }
    for name in ["if", "in", "None", "NoneType", "Ellipsis", "1x", "é"] {
        refused(&format!("f(Tensor {name}) -> ()"));
    }
}

#[test]
fn white_space_comments_and_line_breaks_stand_where_pytorch_lets_them() {
    let plain = strict("ns::f(Tensor x, int y) -> Tensor");
    for text in [
        " ns :: f ( Tensor x ,int y )->Tensor",
        "\n\n  ns::f(Tensor x, # first\n  int y) -> Tensor # done\n\n",
        "ns::f(Tensor x, int y) \\\n -> Tensor",
    ] {
        assert_eq!(strict(text), plain);
    }
    refused("f()\n-> ()");
    refused("f() ->\n()");
    refused("f() -> ()\nf() -> ()");
    refused("f() -> () # type: int");
}

#[test]
fn types_stack_from_left_to_right() {
    for text in [
        "Tensor?[]",
        "Tensor[]?",
        "int[][2]",
        "SymInt[2]?",
        "(int, (str, Tensor?)[])",
        "()",
        "Dict(str, int[])",
        "Future(Tensor)",
        "Await(RRef(int))",
        "Union(int, str)",
        "__torch__.torch.classes.c10d.Work[]",
        "NoneType",
        "AnyEnumType",
    ] {
        let text = format!("f({text} x) -> ()");
        assert_eq!(strict(&text).to_string(), text);
    }
    for text in
        ["int[2][3]", "int[2][]", "int[-1]", "None?", "Dict(int[], int)", "Union(int)", "[]", "Tensor(a)(b)"]
    {
        refused(&format!("f({text} x) -> ()"));
    }
}

#[test]
fn some_types_are_others_by_another_name() {
    for (text, ty) in [
        ("DeviceIndex", "int"),
        ("ConstQuantizerPtr", "int"),
        ("None", "NoneType"),
        ("Tensor??", "Tensor?"),
        ("(SymInt, ScalarType)", "(int, int)"),
        ("Union(str, int, int)", "Union(int, str)"),
        ("Union(int, None)", "int?"),
        ("Union(Scalar, str)", "Union(str, Scalar)"),
        ("Union(int, str, None)?", "Union(int, str)?"),
    ] {
        assert_eq!(strict(&format!("f({text} x) -> ()")).arguments[0].ty.to_string(), ty);
    }
}

#[test]
fn a_deeply_nested_type_is_an_error_and_not_a_crash() {
    let tuple = |depth: usize| format!("f({}int{} x) -> ()", "(".repeat(depth), ")".repeat(depth));
    let list = |depth: usize| format!("f(int{} x) -> ()", "[]".repeat(depth));
    accepted(&tuple(250));
    accepted(&list(250));
    refused(&tuple(100_000));
    refused(&list(100_000));
}

#[test]
fn defaults_have_the_kind_of_the_literal_where_the_type_leaves_a_choice() {
    for (argument, value) in [
        ("float x=1", DefaultValue::Double(1.0)),
        ("float? x=1", DefaultValue::Int(1)),
        ("Scalar x=-0.0", DefaultValue::Double(-0.0)),
        ("float x=.5", DefaultValue::Double(0.5)),
        ("float x=1E5", DefaultValue::Double(1e5)),
        ("int x=007", DefaultValue::Int(7)),
        ("int x=- 9223372036854775808", DefaultValue::Int(i64::MIN)),
        ("complex x=-1.5j", DefaultValue::Complex { re: 0.0, im: -1.5 }),
        ("ScalarType x=bfloat16", DefaultValue::Int(15)),
        ("ScalarType? x=float8_e4m3fn", DefaultValue::Int(24)),
        ("Layout x=strided", DefaultValue::Int(0)),
        ("MemoryFormat x=contiguous_format", DefaultValue::Int(0)),
        ("int reduction=Mean", DefaultValue::Int(1)),
        ("Device x='cuda:1'", DefaultValue::Device("cuda:1".to_owned())),
        ("Device? x='cuda'", DefaultValue::Str(b"cuda".to_vec())),
        ("str x='''a\"\n'''", DefaultValue::Str(b"a\"\n".to_vec())),
        ("str x=\"\\377\"", DefaultValue::Str(vec![0xff])),
        ("bool[2] x=True", DefaultValue::List(vec![DefaultValue::Bool(true); 2])),
        ("float[] x=[1, 2.]", DefaultValue::List(vec![DefaultValue::Double(1.0), DefaultValue::Double(2.0)])),
    ] {
        assert_eq!(strict(&format!("f({argument}) -> ()")).arguments[0].default, Some(value), "{argument}");
    }
}

#[test]
fn numbers_out_of_range_are_errors() {
    for default in [
        "int x=9223372036854775808",
        "float x=1e999",
        "float x=1e-999",
        "int[4294967295] x=1",
        "int[99999999] x=1",
        "int[2] x=float",
        "int[2] x=None",
    ] {
        refused(&format!("f({default}) -> ()"));
    }
}

#[test]
fn pytorch_mode_reads_what_pytorch_guesses() {
    let default = |argument: &str| lax(&format!("f({argument}) -> ()")).arguments[0].default.clone();
    assert_eq!(default("int x=0x10"), Some(DefaultValue::Int(0)));
    assert_eq!(default("int x=1E5"), Some(DefaultValue::Int(1)));
    assert_eq!(default("Scalar x=0x1e"), Some(DefaultValue::Double(30.0)));
    assert_eq!(default("complex x=15"), Some(DefaultValue::Complex { re: 0.0, im: 1.0 }));
    assert_eq!(default("bool x=1"), Some(DefaultValue::Int(1)));
    assert_eq!(lax("f(int[99999999999] x) -> ()").arguments[0].size, Some(1_215_752_191));
    assert_eq!(lax("f(t x) -> t").returns[0].ty, Type::Var("t".to_owned()));
    assert_eq!(lax("f(torch.dtype x) -> ()").arguments[0].ty, Type::Var("torch.dtype".to_owned()));
    lax("f(Tensor x, Tensor x) -> Tensor(b)");
    lax("f(*, *, Tensor x, *) -> (int a, int a)");
    lax("f(*, ...) -> ()");
    lax("f(Future(Tensor(a)) x) -> ()");
    lax("f(__torch__.torch.classes.my.Thing x) -> ()");
}

#[test]
fn varargs_come_last_and_without_defaults() {
    accepted("f(int a, ...) -> (Tensor, ...)");
    accepted("f(...) -> ...");
    refused("f(..., int a) -> ()");
    refused("f(int a=1, ...) -> ()");
    refused("f(...) -> (..., Tensor)");
}

#[test]
fn a_positional_argument_after_a_default_needs_one_unless_it_is_a_list() {
    refused("f(int a=1, Tensor b) -> ()");
    refused("f(int a=1, int[]? b) -> ()");
    accepted("f(int a=1, int[] b) -> ()");
    accepted("f(int a=1, *, Tensor b) -> ()");
}

#[test]
fn the_alias_sets_of_returns_are_those_of_arguments() {
    accepted("f(Tensor(a! -> b) x) -> Tensor(b)");
    accepted("f(Tensor(a)[] x) -> Tensor(a)[]");
    accepted("f(Tensor x) -> Tensor(*)");
    accepted("f(Tensor x) -> Tensor!");
    lax("f(Tensor(a) x) -> Tensor(a|b)");
    lax("f(Tensor(a) x) -> Tensor(b)[]");
}
