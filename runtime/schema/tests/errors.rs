//! Tests the messages of the parser, and the positions that they point to.

use torch_library_schema::{Mode, OperatorName, Schema};

#[track_caller]
fn check(text: &str, expected: &str) {
    let error = Schema::parse(text, Mode::Strict).expect_err("the schema is wrong");
    assert_eq!(error.render(text).trim_end(), expected.trim(), "\n{}", error.render(text));
}

#[test]
fn an_unknown_type_is_underlined_and_the_meant_one_told() {
    check(
        "f(Tensor self, int64_t n) -> Tensor",
        "
error: unknown type `int64_t`
  |
1 | f(Tensor self, int64_t n) -> Tensor
  |                ^^^^^^^
  = help: write `SymInt` or `int`",
    );
    check(
        "f(Tensr self) -> Tensor",
        "
error: unknown type `Tensr`
  |
1 | f(Tensr self) -> Tensor
  |   ^^^^^
  = help: write `Tensor`",
    );
    check(
        "f(x: Tensor) -> Tensor",
        "
error: unknown type `x`
  |
1 | f(x: Tensor) -> Tensor
  |   ^
  = help: an argument is a type, then a name: `Tensor x`",
    );
    check(
        "f(torch.Tensor x) -> ()",
        "
error: unknown type `torch.Tensor`
  |
1 | f(torch.Tensor x) -> ()
  |   ^^^^^^^^^^^^
  = help: write `Tensor`",
    );
}

#[test]
fn types_of_other_languages_are_answered_with_those_of_schemas() {
    let help = |text: &str| {
        let error = Schema::parse(text, Mode::Strict).expect_err("the schema is wrong");
        error.iter().find_map(|error| error.help.clone()).unwrap_or_default()
    };
    assert_eq!(help("f(i64 n) -> Tensor"), "write `int`");
    assert_eq!(help("f(usize n) -> Tensor"), "write `int`");
    assert_eq!(help("f(f32 n) -> Tensor"), "write `float`");
    assert_eq!(help("f(String n) -> Tensor"), "write `str`");
    assert_eq!(help("f(at::Tensor x) -> Tensor"), "write `Tensor`");
    assert_eq!(help("f(std::vector<Tensor> x) -> Tensor"), "write `T[]`");
    assert_eq!(help("f(const Tensor& x) -> Tensor"), "write `Tensor` without `const` and `&`");
    assert_eq!(
        help("f(&Tensor x) -> Tensor"),
        "write `Tensor` for any reference, and `Tensor(a!)` for a tensor that is written to"
    );
    assert_eq!(help("f(Tensor x) -> void"), "write `()`");
    assert_eq!(help("f(Tensor x) -> [Tensor]"), "a list is written `T[]`, as in `Tensor[]`");
    check(
        "f(at::Tensor x) -> Tensor",
        "
error: unknown type `at::Tensor`
  |
1 | f(at::Tensor x) -> Tensor
  |   ^^^^^^^^^^
  = help: write `Tensor`",
    );
}

#[test]
fn every_mistake_of_meaning_is_told_at_its_own_token() {
    check(
        "f(Tensor x, int x=1.5, *, *, str s=None) -> Tensor(a)",
        "
error: two arguments are called `x`
  |
1 | f(Tensor x, int x=1.5, *, *, str s=None) -> Tensor(a)
  |                 ^
  = help: every argument needs a name of its own
error: a `float` as the default of type `int`
  |
1 | f(Tensor x, int x=1.5, *, *, str s=None) -> Tensor(a)
  |                   ^^^
  = help: write `1` or `-1`
error: a second `*`
  |
1 | f(Tensor x, int x=1.5, *, *, str s=None) -> Tensor(a)
  |                           ^
  = help: one `*` makes all that follow keyword-only
error: the default `None` for type `str`, which is not optional
  |
1 | f(Tensor x, int x=1.5, *, *, str s=None) -> Tensor(a)
  |                                    ^^^^
  = help: write `str?`
error: no argument is in the alias set `a`
  |
1 | f(Tensor x, int x=1.5, *, *, str s=None) -> Tensor(a)
  |                                                    ^
  = help: annotate the argument it aliases, as in `Tensor(a) self`",
    );
}

#[test]
fn a_mistake_of_grammar_ends_the_list() {
    check(
        "f(int a, int a, Tensor) -> ()",
        "
error: two arguments are called `a`
  |
1 | f(int a, int a, Tensor) -> ()
  |              ^
  = help: every argument needs a name of its own
error: expected an argument name, found `)`
  |
1 | f(int a, int a, Tensor) -> ()
  |                       ^
  = help: an argument is a type, then a name: `Tensor self`",
    );
}

#[test]
fn the_line_of_the_mistake_is_shown() {
    check(
        "f(Tensor x,\n\tint y=1,\n\tTensor z) -> ()",
        "
error: `z` has no default, but `y` before it has one
  |
3 | \tTensor z) -> ()
  | \t       ^
  = help: give `z` a default too, or put `*` before it",
    );
}

#[test]
fn the_end_of_the_text_is_a_place() {
    check(
        "f(Tensor x",
        "
error: expected `,` or `)` after an argument, found the end
  |
1 | f(Tensor x
  |           ^",
    );
    check(
        "f(Tensor x)",
        "
error: expected `->` and the returns, found the end
  |
1 | f(Tensor x)
  |            ^
  = help: an operator without returns ends in `-> ()`",
    );
}

#[test]
fn defaults_that_nobody_can_mean_are_refused() {
    check(
        "f(int x=0x10) -> ()",
        "
error: `0x10` cannot be read as `int`
  |
1 | f(int x=0x10) -> ()
  |         ^^^^
  = help: write a decimal number",
    );
    check(
        "f(complex z=-1.5) -> ()",
        "
error: `1.5` cannot be read as `complex`
  |
1 | f(complex z=-1.5) -> ()
  |             ^^^^
  = help: an imaginary number ends in `j`, as in `1.5j`",
    );
    check(
        "f(Device d='gpu') -> ()",
        "
error: `gpu` is no device
  |
1 | f(Device d='gpu') -> ()
  |            ^^^^^
  = help: write `\"cpu\"`, `\"cuda\"`, `\"cuda:1\"`, `\"meta\"`, …",
    );
    check(
        "f(str s=\"a\\x41\") -> ()",
        "
error: `\\x` is no escape
  |
1 | f(str s=\"a\\x41\") -> ()
  |           ^^
  = help: the escapes are \\\\ \\' \\\" \\a \\b \\f \\n \\t \\v and three octal digits",
    );
    check(
        "f(int[] n=1) -> ()",
        "
error: expected `[` and a default of type `int[]`, found `1`
  |
1 | f(int[] n=1) -> ()
  |           ^
  = help: one value for all elements needs a length, as in `int[2] x=0`",
    );
}

#[test]
fn a_name_is_not_a_schema_and_a_schema_is_not_a_name() {
    check(
        "aten::add.Tensor",
        "
error: expected a full schema, found an operator name alone
  |
1 | aten::add.Tensor
  |                 ^
  = help: write `aten::add.Tensor(Tensor self) -> Tensor`",
    );
    let error = OperatorName::parse("f() -> ()").unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected an operator name, found a full schema (leave out the arguments and returns)"
    );
    assert!(OperatorName::parse("f.default").is_err());
    assert!(Schema::parse_or_name("f.out", Mode::Strict).unwrap().is_err());
    assert!(Schema::parse_or_name("f.out() -> ()", Mode::Strict).unwrap().is_ok());
}
