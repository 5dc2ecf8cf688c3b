//! `inspect check`: recomputes everything and compares it with what calls use; lists `override`s that replace nothing.

use serde_json::{Value, json};
use torch_library::Dispatcher;

use crate::answer::Answer;

pub(crate) fn answer() -> Answer {
    let dispatcher = Dispatcher::global();
    let conflicts: Vec<_> = dispatcher.conflicts().iter().map(ToString::to_string).collect();
    let violations: Vec<_> = dispatcher.check().iter().map(ToString::to_string).collect();
    let idle: Vec<_> = dispatcher.idle_overrides().iter().map(ToString::to_string).collect();
    let (operators, kernels) = (dispatcher.operators().len(), dispatcher.registrations(None).len());
    let conflict_lines = conflicts.iter().map(|conflict| format!("conflict: {conflict}\n"));
    let lines = conflict_lines.chain(violations.iter().map(|violation| format!("bug: {violation}\n")));
    let is_well = conflicts.is_empty() && violations.is_empty();
    let mut text = match is_well {
        true => format!("{operators} operators and {kernels} kernels: nothing is wrong\n"),
        false => lines.collect(),
    };
    // Not an error: the crate whose kernel it replaces may not be linked.
    text.extend(idle.iter().map(|kernel| format!("overrides nothing: {kernel}\n")));
    let json = json!({
        "operators": operators,
        "kernels": kernels,
        "conflicts": conflicts.into_iter().collect::<Value>(),
        "violations": violations.into_iter().collect::<Value>(),
        "idle_overrides": idle.into_iter().collect::<Value>(),
    });
    Answer { text, json, is_well }
}
