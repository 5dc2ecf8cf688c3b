//! `inspect`: which operators a program has, where their calls go, and why.
//!
//! It works in any program that links operator libraries. One line turns a program of yours into such a tool:
//!
//! ```no_run
//! // use my_operators as _;
//!
//! fn main() -> std::process::ExitCode {
//!     torch_library_inspect::main()
//! }
//! ```
//!
//! `inspect help` lists the commands. Each prints text for people or, with `--json`, one value for machines.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use clap::Parser;
use torch_library::Result;

mod answer;
mod arguments;
mod catalogue;
mod columns;
mod command;
mod json;
mod read;
mod rows;
mod write;

use answer::Answer;
use arguments::{Arguments, Command};

/// Runs the tool on the arguments of the process; a whole program that inspects what is linked into it.
pub fn main() -> ExitCode {
    let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
    ExitCode::from(run(std::env::args_os(), &mut input.lock(), &mut output.lock(), &mut errors.lock()))
}

/// Runs the tool; the first argument is the name of the program. Returns the exit code: 0, 1 if the command found a
/// problem, 2 if the command itself was wrong.
pub fn run(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    errors: &mut dyn Write,
) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(usage) if usage.use_stderr() => return print(errors, &usage.to_string(), 2),
        Err(help) => return print(output, &help.to_string(), 0),
    };
    match answer(arguments.command, input) {
        Ok(answer) => {
            let code = u8::from(!answer.is_well);
            let text = if arguments.json { format!("{:#}\n", answer.json) } else { answer.text };
            print(output, &text, code)
        }
        Err(error) => print(errors, &format!("inspect: {error}\n"), 2),
    }
}

/// Prints; it is not an error if the reader closes the pipe early.
fn print(to: &mut dyn Write, text: &str, code: u8) -> u8 {
    match to.write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => 2,
        _ => code,
    }
}

fn answer(command: Command, input: &mut dyn BufRead) -> Result<Answer> {
    match command {
        Command::List { name } => Ok(command::list::answer(name.as_deref())),
        Command::Table { operator, all } => command::table::answer(&operator, all),
        Command::Explain { operator, keys, include, exclude } => {
            command::explain::answer(&operator, &keys, &include, &exclude)
        }
        Command::Registrations { key } => command::registrations::answer(key.as_deref()),
        Command::Html { out, sources } => command::html::answer(&out, &sources),
        Command::Dangling => Ok(command::dangling::answer()),
        Command::Compare { saved, name } => command::compare::answer(&saved, name.as_deref()),
        Command::Check => Ok(command::check::answer()),
        Command::Whatif { register, all } => command::whatif::answer(&register, all),
        Command::Call { operator, arguments } => command::call::answer(&operator, &arguments),
        Command::Schema { pytorch } => command::schema::answer(input, pytorch),
    }
}
