//! Tests the canonical text, and PyTorch's.

use torch_library_schema::{Mode, Schema};

/// PyTorch's own schemas, one for each type, default and annotation that they contain.
const PYTORCH: &str = include_str!("schemas.txt");

#[test]
fn the_schemas_of_pytorch_are_printed_as_they_were() {
    for text in PYTORCH.lines() {
        let schema =
            Schema::parse(text, Mode::PyTorch).unwrap_or_else(|error| panic!("{}", error.render(text)));
        assert_eq!(schema.to_string(), text);
        assert_eq!(schema.pytorch().to_string(), text);
    }
}

/// Checks that `arguments` are printed as `ours` and by PyTorch as `pytorch`, and that ours can be parsed back.
#[track_caller]
fn check(arguments: &str, ours: &str, pytorch: &str) {
    let text = format!("f({arguments}) -> ()");
    let schema = Schema::parse(&text, Mode::Strict).unwrap_or_else(|error| panic!("{}", error.render(&text)));
    assert_eq!(schema.to_string(), format!("f({ours}) -> ()"));
    assert_eq!(schema.pytorch().to_string(), format!("f({pytorch}) -> ()"));
    assert_eq!(Schema::parse(&schema.to_string(), Mode::Strict), Ok(schema));
}

#[test]
fn numbers_are_printed_as_pytorch_does() {
    for (written, printed) in [
        ("1", "1."),
        ("0.1", "0.10000000000000001"),
        ("1e-5", "1.0000000000000001e-05"),
        ("0.0001", "0.0001"),
        ("123456.789", "123456.789"),
        ("9999999999", "9999999999."),
        ("1e10", "10000000000."),
        ("1e16", "10000000000000000."),
        ("123456789012345678.", "123456789012345680."),
        ("9.2e18", "9200000000000000000."),
        ("9223372036854775808.", "9.2233720368547758e+18"),
        ("-9223372036854775808.", "-9223372036854775808."),
        ("1e19", "1e+19"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("2.2250738585072014e-308", "2.2250738585072014e-308"),
    ] {
        check(&format!("float x={written}"), &format!("float x={printed}"), &format!("float x={printed}"));
    }
}

#[test]
fn the_sign_of_zero_is_kept_where_pytorch_loses_it() {
    check("float x=-0.0", "float x=-0.", "float x=0.");
    check("float[] x=[-0., 0.]", "float[] x=[-0., 0.]", "float[] x=[0., 0.]");
    check("complex x=-0j", "complex x=-0j", "complex x=0.+0.j");
}

#[test]
fn a_whole_number_keeps_the_point_that_makes_it_a_double() {
    check("Scalar x=1e10", "Scalar x=10000000000.", "Scalar x=10000000000.");
    check("Scalar x=1e15", "Scalar x=1000000000000000.", "Scalar x=1000000000000000.");
}

#[test]
fn a_word_for_a_number_stays_a_word_where_digits_are_another_value() {
    let parsed = |text| Schema::parse(text, Mode::PyTorch).unwrap();
    for text in ["f(float x=strided) -> ()", "f(complex x=long) -> ()"] {
        assert_eq!(parsed(text).to_string(), text);
    }
    assert_eq!(parsed("f(float x=long) -> ()").pytorch().to_string(), "f(float x=4) -> ()");
}

#[test]
fn one_number_for_a_list_is_kept_where_it_reads_back() {
    check("int[2] x=[1, 1]", "int[2] x=1", "int[2] x=1");
    check("SymInt[2] x=1", "SymInt[2] x=[1, 1]", "SymInt[2] x=[1, 1]");
    check("int[1] x=1", "int[1] x=[1]", "int[1] x=[1]");
    check("int[] x=[1, 1]", "int[] x=[1, 1]", "int[] x=1");
    check("int[2] x=[1, 1, 1]", "int[2] x=[1, 1, 1]", "int[2] x=1");
}

#[test]
fn what_pytorch_prints_unreadably_is_printed_readably() {
    check("Tensor! x, Tensor! y", "Tensor! x, Tensor! y", "Tensor($0! -> ) x, Tensor($1! -> ) y");
    check("Tensor(a)?[] x", "Tensor(a)?[] x", "Tensor?(a)[] x");
    check("Tensor(a)[][](b) x", "Tensor(a)[][](b) x", "Tensor[]()[](b) x");
    check("Tensor(a|*) x", "Tensor(a|*) x", "Tensor(*|a) x");
    check("Device d='cpu'", "Device d=\"cpu\"", "Device d=cpu");
    check("Device? d='cpu'", "Device? d=\"cpu\"", "Device? d=cpu");
    check("complex z=-1.5j", "complex z=-1.5j", "complex z=0.-1.5j");
    check("str s='\\015é'", "str s=\"\\015é\"", "str s=\"\\r\\0)+\\/.)\"");
}

#[test]
fn a_single_return_that_starts_with_a_parenthesis_gets_another() {
    for text in [
        "f() -> ((int, int))",
        "f() -> ((int, int)[])",
        "f() -> ((int, int)?)",
        "f() -> int[]",
        "f() -> (int, ...)",
    ] {
        assert_eq!(Schema::parse(text, Mode::Strict).unwrap().to_string(), text);
    }
}
