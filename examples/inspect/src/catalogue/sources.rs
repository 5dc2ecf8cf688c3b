//! What the sources say about an operator: its documentation, which programs do not contain, and its derivative's row.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use torch_library::{KernelInfo, OperatorHandle};

/// Source files by the compiler's names for them, read on demand.
pub(crate) struct Sources<'a> {
    folder: &'a Path,
    files: HashMap<&'static str, Vec<String>>,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(folder: &'a Path) -> Self {
        Sources { folder, files: HashMap::new() }
    }

    fn lines(&mut self, file: &'static str) -> &[String] {
        self.files.entry(file).or_insert_with(|| {
            let text = fs::read_to_string(self.folder.join(file)).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        })
    }

    /// The comment above the declaration, as Markdown; `None` if there is no source or no comment.
    pub(crate) fn documentation(&mut self, operator: OperatorHandle) -> Option<String> {
        let (place, name) = (operator.place(), full_name(operator));
        let lines = self.lines(place.file());
        let declares = |line: &String| begins(line, &name);
        let at_place = (place.line as usize).checked_sub(1).filter(|at| lines.get(*at).is_some_and(declares));
        let at = at_place.or_else(|| lines.iter().position(declares))?;
        let above = lines[..at].iter().rev().map(|line| line.trim_start());
        let mut comment: Vec<&str> = above
            .take_while(|line| line.starts_with("///") || line.starts_with("#["))
            .filter_map(|line| line.strip_prefix("///"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        comment.reverse();
        Some(comment.join("\n")).filter(|text| !text.is_empty())
    }

    /// The row of `derivatives!` in the file of a kernel at an autograd key.
    pub(crate) fn derivative(&mut self, operator: OperatorHandle, kernel: &KernelInfo) -> Option<String> {
        let name = full_name(operator);
        let lines = self.lines(kernel.place.file());
        // In-place operators share the row of the functional ones.
        let (base, overload) = name.split_once('.').unwrap_or((&name, ""));
        let returning = [base.trim_end_matches('_'), overload].join(".");
        let names = [&*name, returning.trim_end_matches('.')];
        let at = names.iter().find_map(|name| lines.iter().position(|line| begins(line, name)))?;
        let indent = |line: &str| line.len() - line.trim_start().len();
        let depth = indent(&lines[at]);
        let len = lines[at..].iter().position(|line| indent(line) == depth && line.trim_start() == "}")?;
        let row = &lines[at..=at + len];
        let has_node = row.iter().any(|line| line.contains(" as ") && line.ends_with('{'));
        has_node.then(|| {
            row.iter().map(|line| line.get(depth..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
        })
    }
}

/// The name with the overload: `add.Tensor`.
fn full_name(operator: OperatorHandle) -> String {
    match operator.overload() {
        "" => operator.name().to_owned(),
        overload => format!("{}.{overload}", operator.name()),
    }
}

/// Whether a line begins the schema of this name.
fn begins(line: &str, name: &str) -> bool {
    line.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with('('))
}
