//! Schemas so long or so deeply nested that parsing them could take too long.
#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::time::Instant;

use torch_library::{Library, Result};

use crate::harness::{count, patience};

const MANY: usize = count(20_000, 50);

/// Parses a schema, and asserts that the result or the error takes little time and text.
fn read(schema: &str) -> Result<()> {
    let start = Instant::now();
    let end = Library::fragment("schemas")?.define(schema);
    let seconds = start.elapsed().as_secs_f64();
    assert!(cfg!(miri) || seconds < patience(1.0), "a schema of {} bytes took {seconds:.1} s", schema.len());
    if let Err(error) = end {
        let text = error.to_string();
        assert!(text.len() < 4096, "an error of {} bytes, which begins {:?}", text.len(), &text[..100]);
    }
    Ok(())
}

fn listed(many: usize, mut item: impl FnMut(&mut String, usize)) -> String {
    let mut text = String::new();
    for i in 0..many {
        text.push_str(if i > 0 { ", " } else { "" });
        item(&mut text, i);
    }
    text
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("a text takes any text");
}

/// One argument with many alias names, and many arguments with one each.
pub(crate) fn many_alias_names() -> Result<()> {
    let names: Vec<String> = (0..MANY).map(|i| format!("a{i}")).collect();
    read(&format!("aliases(Tensor({}) self) -> ()", names.join("|")))?;
    let arguments = listed(MANY, |text, i| put(text, format_args!("Tensor(a{i}!) x{i}")));
    read(&format!("aliases({arguments}) -> ()"))
}

/// Many arguments, many returns, names that are all alike.
pub(crate) fn many_arguments() -> Result<()> {
    let arguments = listed(MANY, |text, i| put(text, format_args!("int x{i}")));
    read(&format!("arguments({arguments}) -> ()"))?;
    read(&format!("arguments({}) -> ()", listed(MANY, |text, _| text.push_str("int x"))))?;
    read(&format!("arguments() -> ({})", listed(MANY, |text, _| text.push_str("Tensor"))))
}

/// Nested types, and brackets that are never closed.
pub(crate) fn deep_types() -> Result<()> {
    for (open, close) in [("Dict(int, ", ")"), ("Future(", ")"), ("(", ")"), ("Union[", "]"), ("List[", "]"), ("", "[]"), ("", "?")] {
        read(&format!("deep({}int{} x) -> ()", open.repeat(MANY), close.repeat(MANY)))?;
        read(&format!("deep({}int", open.repeat(MANY)))?;
    }
    Ok(())
}

/// Defaults, names and numbers of great length.
pub(crate) fn long_defaults() -> Result<()> {
    read(&format!("long(int[] x=[{}]) -> ()", listed(MANY, |text, i| put(text, format_args!("{i}")))))?;
    read(&format!("long(str x='{}') -> ()", "x".repeat(50 * MANY)))?;
    read(&format!("{}(int x) -> ()", "x".repeat(50 * MANY)))?;
    read(&format!("long(int x={}) -> ()", "9".repeat(MANY)))?;
    read(&format!("long(int[{}] x=1) -> ()", "9".repeat(MANY)))?;
    read(&format!("long(int x={}1) -> ()", "-".repeat(MANY)))
}
