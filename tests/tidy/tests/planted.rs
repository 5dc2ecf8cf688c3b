//! Small crates with one mistake each: every broken rule is found, and nothing else.

use std::path::Path;

use torch_library_tidy::text::{self, FILE, FUNCTION, LONG_FILE, WIDTH};
use torch_library_tidy::{Sources, layers, safety};

/// A crate of these files, the first of which is the root.
fn krate(files: &[(&str, &str)]) -> Sources {
    let text = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| format!("{} is not there", path.display()))
    };
    Sources::parse(Path::new(files[0].0), &text).unwrap()
}

/// Checks two layers, of which the lower one has this text.
fn lower(text: &str) -> Vec<String> {
    layers::arrows_back(&krate(&[
        ("lib.rs", "mod lower;\nmod upper;\npub use upper::Thing;"),
        ("lower.rs", text),
        ("upper.rs", "pub struct Thing;\npub fn make() {}\n#[macro_export]\nmacro_rules! made { () => {} }"),
    ]))
}

const BACK: &str = "`lower` uses `upper`, which is listed below it";

#[test]
fn an_import_from_below_is_an_arrow_back() {
    assert_eq!(lower("\nuse crate::upper::Thing;"), [format!("lower.rs:2: {BACK}")]);
    assert_eq!(lower("use super::upper;"), [format!("lower.rs:1: {BACK}")]);
    assert_eq!(lower("use crate::{\n    upper::Thing as Other,\n};"), [format!("lower.rs:2: {BACK}")]);
    assert_eq!(lower("use crate::upper::*;"), [format!("lower.rs:1: {BACK}")]);
}

#[test]
fn a_path_without_an_import_is_an_arrow_back() {
    assert_eq!(lower("fn f() { crate::upper::make() }"), [format!("lower.rs:1: {BACK}")]);
    assert_eq!(lower("struct S(Option<super::upper::Thing>);"), [format!("lower.rs:1: {BACK}")]);
    assert_eq!(lower("fn f() {\n    use crate::upper::make;\n}"), [format!("lower.rs:2: {BACK}")]);
}

#[test]
fn what_a_macro_is_given_and_what_it_writes_is_read_too() {
    assert_eq!(lower("fn f() { assert_eq!((), crate::upper::make()) }"), [format!("lower.rs:1: {BACK}")]);
    assert_eq!(
        lower("macro_rules! m { () => { use crate::{upper::{Thing}}; } }"),
        [format!("lower.rs:1: {BACK}")]
    );
}

#[test]
fn a_re_export_hides_no_arrow() {
    assert_eq!(lower("use crate::Thing;"), [format!("lower.rs:1: {BACK}")]);
    assert_eq!(lower("mod inner { use super::super::Thing; }"), [format!("lower.rs:1: {BACK}")]);
    assert_eq!(lower("fn f() { crate::made!() }"), [format!("lower.rs:1: {BACK}")]);
}

#[test]
fn an_arrow_down_the_list_of_uses_is_none_back() {
    let sources = krate(&[
        ("lib.rs", "mod lower;\nmod upper;"),
        ("lower.rs", "pub struct Thing;"),
        ("upper.rs", "use crate::lower::Thing; fn f(_: crate::lower::Thing) {}"),
    ]);
    assert_eq!(layers::arrows_back(&sources), [""; 0]);
    assert_eq!(layers::circles(&sources), [""; 0]);
}

#[test]
fn tests_and_words_of_the_same_name_are_no_arrows() {
    assert_eq!(lower("#[cfg(test)]\nmod tests { use crate::upper::Thing; }"), [""; 0]);
    assert_eq!(lower("#[cfg(test)]\nuse crate::upper::Thing;"), [""; 0]);
    assert_eq!(
        lower("//! [`crate::upper::Thing`]\n// crate::upper\nfn upper() { \"crate::upper\"; upper() }"),
        [""; 0]
    );
    assert_eq!(lower("use other::upper::Thing;"), [""; 0]);
    assert_eq!(lower("#[macro_export]\nmacro_rules! m { () => { $crate::upper::make() } }"), [""; 0]);
    assert_eq!(lower("pub(in crate::lower) fn f() {}"), [""; 0]);
}

#[test]
fn siblings_that_use_each_other_are_a_circle() {
    let sources = krate(&[
        ("lib.rs", "mod folder;"),
        ("folder.rs", "mod one;\nmod two;\nmod three;\nmod four;"),
        ("folder/one.rs", "use super::two;"),
        ("folder/two.rs", "\nuse super::three::f;"),
        ("folder/three.rs", "use crate::folder::one;\npub fn f() {}"),
        ("folder/four.rs", "use super::one;"),
    ]);
    assert_eq!(
        layers::circles(&sources),
        ["in `folder` `one` uses `two` at folder/one.rs:1, `two` uses `three` at folder/two.rs:2, \
          `three` uses `one` at folder/three.rs:1"]
    );
}

#[test]
fn a_circle_by_way_of_the_front_door_is_one() {
    let sources = krate(&[
        ("lib.rs", "mod folder;"),
        ("folder.rs", "mod one;\nmod two;\nuse one::One;\npub use two::*;"),
        ("folder/one.rs", "use super::Two; pub struct One;"),
        ("folder/two.rs", "mod inner;\npub struct Two;"),
        ("folder/two/inner.rs", "use super::super::One;"),
    ]);
    assert_eq!(
        layers::circles(&sources),
        ["in `folder` `one` uses `two` at folder/one.rs:1, `two` uses `one` at folder/two/inner.rs:1"]
    );
}

#[test]
fn a_folder_and_its_front_door_are_no_circle() {
    let sources = krate(&[
        ("lib.rs", "mod folder;"),
        ("folder.rs", "mod one;\nmod two;\npub struct Shared;\nfn f() { one::f() }"),
        ("folder/one.rs", "use super::Shared; pub fn f() {}"),
        ("folder/two.rs", "use super::{Shared, one};"),
    ]);
    assert_eq!(layers::circles(&sources), [""; 0]);
}

#[test]
fn a_module_may_be_in_a_file_of_another_name() {
    let sources = krate(&[
        ("lib.rs", "#[path = \"hidden.rs\"]\nmod __hidden;\nmod upper;"),
        ("hidden.rs", "mod inner;"),
        ("inner.rs", "use crate::upper;"),
        ("upper.rs", ""),
    ]);
    assert_eq!(
        layers::arrows_back(&sources),
        ["inner.rs:1: `__hidden` uses `upper`, which is listed below it"]
    );
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let file = |path: &Path| match path == Path::new("lib.rs") {
        true => Ok("mod gone;".to_owned()),
        false => Err(format!("{} is not there", path.display())),
    };
    assert_eq!(Sources::parse(Path::new("lib.rs"), &file).err().unwrap(), "gone.rs is not there");
    let broken = |_: &Path| Ok("fn f( {}".to_owned());
    assert!(Sources::parse(Path::new("lib.rs"), &broken).err().unwrap().starts_with("lib.rs:1: "));
    assert!(text::problems(Path::new("x.rs"), "//! Text.\nfn f( {}").unwrap_err().starts_with("x.rs:2: "));
}

/// The problems of a text after its first line.
fn problems(text: &str) -> Vec<String> {
    text::problems(Path::new("x.rs"), &format!("//! A file.\n{text}")).unwrap()
}

#[test]
fn a_file_says_what_it_is_for() {
    let expected = ["x.rs:1: the first line is to say what the file is for, behind `//!`"];
    for text in ["", "use std::fmt;\n//! Late.", "// Not documentation.", "#![forbid(unsafe_code)]"] {
        assert_eq!(text::problems(Path::new("x.rs"), text).unwrap(), expected, "{text}");
    }
    assert_eq!(problems("use std::fmt;"), [""; 0]);
}

#[test]
fn lines_that_run_too_wide_are_found_wherever_they_are() {
    let wide = |before: &str, after: &str| {
        format!("{before}{}{after}", "ä".repeat(WIDTH + 1 - before.len() - after.len()))
    };
    for line in [wide("// ", ""), wide("/// ", "") + "\nfn f() {}", wide("m!(f ", ");")] {
        assert_eq!(problems(&line).len(), 1, "{line}");
        assert!(problems(&line)[0].starts_with("x.rs:2: 1"), "{line}");
    }
    assert_eq!(problems(&format!("// {}", "ä".repeat(WIDTH - 3))), [""; 0]);
}

#[test]
fn rows_of_tables_and_texts_that_stand_alone_may_be_wide() {
    let long = "x".repeat(WIDTH);
    for text in [
        format!("/// | {long} |\nfn f() {{}}"),
        format!("const T: &str =\n    \"{long}\";"),
        format!("m!(\n    \"{long}\",\n);"),
        format!("const T: &str = \"\n{long}\n\";"),
    ] {
        assert_eq!(problems(&text), [""; 0], "{text}");
    }
    assert_eq!(problems(&format!("f(\"{long}\");")).len(), 1);
}

#[test]
fn a_long_file_says_why() {
    let long = "\n".repeat(FILE);
    assert_eq!(
        problems(&long),
        [format!("x.rs: {} lines, and no line `{LONG_FILE}…` that says why not {FILE}", FILE + 1)]
    );
    assert_eq!(problems(&format!("{LONG_FILE}it is a table.\n{long}")), [""; 0]);
    assert_eq!(problems(&format!("{LONG_FILE}\n{long}")).len(), 1);
    assert_eq!(problems(&"\n".repeat(FILE - 1)), [""; 0]);
}

#[test]
fn a_long_function_says_why() {
    let body = "    f();\n\n    // Neither counts.\n".repeat(FUNCTION + 1);
    let function = format!("fn long() {{\n{body}}}\n");
    let expected = |line| [format!("x.rs:{line}: `long` has 61 lines of code, at most 60 without a reason")];
    assert_eq!(problems(&function), expected(2));
    assert_eq!(problems(&format!("impl S {{\n{function}}}")), expected(3));
    assert_eq!(problems(&format!("macro_rules! m {{ () => {{\n{function}}} }}")), expected(3));
    assert_eq!(problems(&format!("#[expect(clippy::too_many_lines)]\n{function}")), expected(3));
    assert_eq!(
        problems(&format!("#[expect(clippy::too_many_lines, reason = \"a table\")]\n{function}")),
        [""; 0]
    );
    let other = "#[expect(clippy::too_many_lines, reason = \"a table\")]\nfn short() {}\n";
    assert_eq!(problems(&format!("{other}{function}")), expected(4));
    let short = "    f();\n".repeat(FUNCTION);
    assert_eq!(problems(&format!("fn short() -> [u8; 2] {{\n{short}}}\ntrait T {{ fn none(); }}")), [""; 0]);
}

#[test]
fn an_unsafe_function_lists_what_it_asks_for() {
    let found = |text: &str| safety::problems(Path::new("a.rs"), text).unwrap();
    let nothing = "`f` is unsafe, and lists nothing under `# Safety`";
    assert_eq!(found("/// Does it.\nunsafe fn f() {}"), [format!("a.rs:2: {nothing}")]);
    assert_eq!(
        found("/// # Safety\n/// The caller knows.\nunsafe fn f() {}"),
        [format!("a.rs:3: {nothing}")]
    );
    assert_eq!(found("struct S;\nimpl S {\n    unsafe fn f() {}\n}"), [format!("a.rs:3: {nothing}")]);
    assert_eq!(found("trait T {\n    unsafe fn f();\n}"), [format!("a.rs:2: {nothing}")]);
    assert_eq!(found("/// # Safety\n/// - It is there.\nunsafe fn f() {}"), [""; 0]);
    assert_eq!(found("/// # Safety\n///\n/// * It is there.\nunsafe fn f() {}"), [""; 0]);
    assert_eq!(found("impl T for S {\n    unsafe fn f() {}\n}\nfn g() {}"), [""; 0]);
}

#[test]
fn an_argument_stands_where_it_is_needed() {
    let found = |text: &str| safety::problems(Path::new("a.rs"), text).unwrap();
    assert_eq!(
        found("fn f() {\n    // SAFETY: as above.\n    unsafe { g() }\n}"),
        ["a.rs:2: `as above` is no argument: say what discharges what"]
    );
    assert_eq!(found("fn f() {\n    // SAFETY: the lease keeps it.\n    unsafe { g() }\n}"), [""; 0]);
}
