//! `inspect dangling`: kernels of operators that are not defined.

use torch_library::Dispatcher;

use super::registrations::{json, line};
use crate::answer::Answer;
use crate::columns::Columns;

pub(crate) fn answer() -> Answer {
    let dangling = Dispatcher::global().dangling();
    let text = match dangling.is_empty() {
        true => "every kernel has its operator\n".to_owned(),
        false => {
            let lines = dangling.iter().map(line).collect::<Columns>();
            format!("Kernels of operators that nobody defined\n\n{lines}")
        }
    };
    Answer { text, json: json(&dangling), is_well: dangling.is_empty() }
}
