//! Tests which schema may replace which.

use torch_library_schema::{Mode, Schema, Type};

fn schema(text: &str) -> Schema {
    Schema::parse(text, Mode::PyTorch).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

#[track_caller]
fn backward(old: &str, new: &str, reasons: &[&str]) {
    let result = schema(new).check_backward_compatible_with(&schema(old));
    assert_eq!(result.map_err(|error| error.reasons).err().unwrap_or_default(), reasons);
}

#[track_caller]
fn forward(old: &str, new: &str, reasons: &[&str]) {
    let result = schema(new).check_forward_compatible_with(&schema(old));
    assert_eq!(result.map_err(|error| error.reasons).err().unwrap_or_default(), reasons);
}

const OLD: &str = "any(Tensor self, int dim, bool keepdim=False) -> Tensor";

#[test]
fn the_name_and_the_shape_stay() {
    backward(OLD, OLD, &[]);
    backward(
        OLD,
        "any.other(Tensor self, int dim, bool keepdim) -> (Tensor, ...)",
        &[
            "it was called `any` and is called `any.other`",
            "`...` after the returns came or went",
            "argument `keepdim` lost its default",
        ],
    );
    backward(
        OLD,
        "any(Tensor self, int dim) -> ()",
        &["it returned 1 values and returns 0", "argument `keepdim` is gone"],
    );
}

#[test]
fn returns_may_become_narrower() {
    backward("f() -> Tensor?", "f() -> Tensor", &[]);
    backward("f() -> Tensor", "f() -> Tensor?", &["it returned `Tensor` and returns `Tensor?`"]);
    backward(
        "f() -> Tensor",
        "f() -> Tensor out",
        &["the return `Tensor` has another name, length or annotation: `Tensor out`"],
    );
    forward("f() -> Tensor", "f() -> Tensor?", &[]);
    forward("f() -> Tensor?", "f() -> Tensor", &["it returned `Tensor?` and returns `Tensor`"]);
}

#[test]
fn arguments_may_become_wider() {
    backward("f(int x) -> ()", "f(Scalar x) -> ()", &[]);
    backward("f(int x) -> ()", "f(int? x) -> ()", &[]);
    backward("f(int x) -> ()", "f(SymInt x) -> ()", &[]);
    backward("f(Scalar x) -> ()", "f(int x) -> ()", &["argument `x` was a `Scalar` and is a `int`"]);
    backward("f(int[2] x) -> ()", "f(int[3] x) -> ()", &["the length of argument `x` is another"]);
    backward(
        "f(Tensor(a) x) -> ()",
        "f(Tensor(a!) x) -> ()",
        &["the alias annotation of argument `x` is another"],
    );
    forward("f(Scalar x) -> ()", "f(int x) -> ()", &[]);
}

#[test]
fn defaults_are_compared_as_numbers() {
    backward("f(float x=-0.) -> ()", "f(float x=0.) -> ()", &[]);
    backward("f(float[] x=[-0.]) -> ()", "f(float[] x=[0.]) -> ()", &[]);
    backward("f(complex x=-0j) -> ()", "f(complex x=0j) -> ()", &[]);
    backward(
        "f(Scalar x=1) -> ()",
        "f(Scalar x=1.) -> ()",
        &["the default of argument `x` was `1` and is `1.`"],
    );
}

#[test]
fn new_arguments_come_last_with_defaults_and_before_outs() {
    backward(OLD, "any(Tensor self, int dim, bool keepdim=False, bool extra=True) -> Tensor", &[]);
    backward(
        OLD,
        "any(Tensor self, int dim, bool extra=True, bool keepdim=False) -> Tensor",
        &[
            "argument `keepdim` is now called `extra`",
            "the default of argument `keepdim` was `False` and is `True`",
        ],
    );
    let out = "f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)";
    backward(out, "f(Tensor x, *, int n=1, Tensor(a!) out) -> Tensor(a!)", &[]);
    backward(
        out,
        "f(Tensor x, *, int n, Tensor(a!) out) -> Tensor(a!)",
        &["the new argument `n` has no default"],
    );
    backward(
        out,
        "f(Tensor x, *, Tensor(a!) out, Tensor(b!) out2) -> Tensor(a!)",
        &["the out argument `out2` is new"],
    );
}

#[test]
fn a_keyword_may_become_positional_but_not_the_reverse() {
    backward("f(*, int x=1) -> ()", "f(int x=1) -> ()", &[]);
    backward("f(int x=1) -> ()", "f(*, int x=1) -> ()", &["argument `x` became keyword-only"]);
}

#[test]
fn new_callers_that_use_defaults_are_served_by_the_old_schema() {
    let old = "f(Tensor self, int a, int b=1) -> Tensor";
    forward(old, "f(Tensor self, int a) -> Tensor", &[]);
    forward(old, "f(Tensor self, int a, int b=1, int c=1) -> Tensor", &[]);
    forward(
        old,
        "f(Tensor self, int a, int b=1, *, int c) -> Tensor",
        &["the new argument `c` has no default"],
    );
    forward(
        old,
        "f(Tensor self, int a, int b=1, int[2] c=1) -> Tensor",
        &["the new argument `c` has a list as its default"],
    );
    forward(
        old,
        "f(Tensor self, int a=1, int b=1) -> Tensor",
        &["argument `a` got a default, which old callees do not know"],
    );
    forward(old, "f(Tensor self, int a, int b) -> Tensor", &["argument `b` lost its default"]);
    let out = "f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)";
    forward(out, "f(Tensor x, *, int n=1, Tensor(a!) out) -> Tensor(a!)", &[]);
    forward(
        out,
        "f(Tensor x, *, Tensor(a!) out, Tensor(b!) out2) -> Tensor(a!)",
        &["it had 1 out arguments and has 2"],
    );
}

#[test]
fn subtypes_of_types() {
    let is_subtype = |narrow: &str, wide: &str| {
        let ty = |text: &str| -> Type { schema(&format!("f({text} x) -> ()")).arguments[0].ty.clone() };
        ty(narrow).is_subtype_of(&ty(wide))
    };
    for (narrow, wide) in [
        ("Tensor", "Tensor?"),
        ("None", "Tensor?"),
        ("int", "Scalar"),
        ("int?", "Scalar?"),
        ("Tensor?[]", "Any"),
        ("(int, Tensor)", "(Scalar, Tensor?)"),
        ("Future(int)", "Future(Scalar)"),
        ("int", "Union(int, str)"),
        ("Union(int, str)", "Union(int, float, str)"),
        ("int?", "Union(int, str, None)"),
        ("Scalar?", "Union(Scalar, str, None)"),
        ("Union(int, str)", "Union(int, str)?"),
        ("__torch__.torch.classes.c10d.Work", "AnyClassType"),
    ] {
        assert!(is_subtype(narrow, wide) && !is_subtype(wide, narrow), "{narrow} is a {wide}");
    }
    for (one, other) in [
        ("int[]", "Scalar[]"),
        ("bool", "Scalar"),
        ("Dict(str, int)", "Dict(str, Scalar)"),
        ("RRef(int)", "RRef(int?)"),
        ("Union(int, str)?", "Union(int, float, str, None)"),
    ] {
        assert!(!is_subtype(one, other) && !is_subtype(other, one), "{one} is no {other}");
    }
}

#[test]
fn subtypes_of_schemas_take_more_and_give_less() {
    let narrow = schema("f(Scalar x) -> Tensor");
    let wide = schema("f(int x) -> Tensor?");
    assert!(narrow.is_subtype_of(&wide, false) && !wide.is_subtype_of(&narrow, false));
    let method = schema("f(Tensor self, int x) -> Tensor");
    let other = schema("f(int self, int x) -> Tensor");
    assert!(method.is_subtype_of(&other, true) && !method.is_subtype_of(&other, false));
}

#[test]
fn equality_and_hash_cover_every_part() {
    use std::collections::HashSet;
    let texts = [
        "f(Tensor x, int n=1) -> Tensor",
        "g(Tensor x, int n=1) -> Tensor",
        "f.o(Tensor x, int n=1) -> Tensor",
        "ns::f(Tensor x, int n=1) -> Tensor",
        "f(Tensor x, int n=2) -> Tensor",
        "f(Tensor x, *, int n=1) -> Tensor",
        "f(Tensor(a) x, int n=1) -> Tensor",
        "f(Tensor(b) x, int n=1) -> Tensor",
        "f(Tensor(a!) x, int n=1) -> Tensor",
        "f(Tensor x, int n=1) -> Tensor out",
        "f(Tensor x, SymInt n=1) -> Tensor",
        "f(Tensor x, int n) -> Tensor",
        "f(Tensor x, int[2] n) -> Tensor",
        "f(Tensor x, int[3] n) -> Tensor",
        "f(Tensor x, int n, ...) -> Tensor",
        "f(Tensor x, int n) -> (Tensor, ...)",
    ];
    let schemas: HashSet<Schema> = texts.iter().map(|text| schema(text)).collect();
    assert_eq!(schemas.len(), texts.len());
    assert!(texts.iter().all(|text| schemas.contains(&schema(text))));
}
