//! `inspect compare`, with listings that were changed.

use expect_test::expect;

use super::inspect;

#[test]
fn compare_shows_how_another_build_differs() {
    let saved = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("compared.json");
    let path = saved.to_str().unwrap();
    let (_, listing, _) = inspect(&["list", "line::", "--json"], "");
    std::fs::write(&saved, &listing).unwrap();
    let (code, output, _) = inspect(&["compare", path, "line::"], "");
    assert_eq!((code, output), (0, format!("of 4 operators, 0 differ from {path}\n")));

    let other = listing
        .replace("line::midpoint", "line::middle")
        .replace("Tensor points) -> Tensor", "Tensor points, int n) -> Tensor")
        .replace("\"function\": \"ends\"", "\"function\": \"old_ends\"");
    std::fs::write(&saved, other).unwrap();
    let (code, output, _) = inspect(&["compare", path, "line::"], "");
    assert_eq!(code, 1);
    expect![[r#"
        - line::middle(Tensor a, Tensor b) -> Tensor
        + line::midpoint(Tensor a, Tensor b) -> Tensor
          line::ends
            - CPU: old_ends at examples/inspect/tests/it/operators.rs (crate it)
            + CPU: ends at examples/inspect/tests/it/operators.rs (crate it)
          line::nothing
            - line::nothing(Tensor points, int n) -> Tensor
            + line::nothing(Tensor points) -> Tensor
        of 4 operators, 4 differ from FILE
    "#]]
    .assert_eq(&output.replace(path, "FILE"));
    let (_, output, _) = inspect(&["compare", path, "line::", "--json"], "");
    let output: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!(
        (&output["added"][0], &output["changed"][0]["name"]),
        (&"line::midpoint".into(), &"line::ends".into())
    );

    std::fs::write(&saved, "{}").unwrap();
    let (code, _, errors) = inspect(&["compare", path], "");
    assert_eq!(
        (code, errors),
        (2, format!("inspect: {path}: this is not what `inspect list --json` prints\n"))
    );
}
