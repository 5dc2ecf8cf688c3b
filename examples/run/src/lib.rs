//! `run`: runs a program that `torch.export` wrote, with the operators and layers that are linked.
//!
//! The workspace's own `run` knows PyTorch's operators and those of the libraries beside them. One line makes such a
//! tool of a program that links operators of yours, so that your models run, are checked and profiled by it:
//!
//! ```no_run
//! // use my_operators as _;
//!
//! fn main() -> std::process::ExitCode {
//!     torch_library_run::main()
//! }
//! ```
//!
//! `run --help` lists the options.
#![expect(unsafe_code, reason = "the archive is mapped: whoever runs this leaves the file alone meanwhile")]

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use torch_library::prelude::*;
use torch_library::trace;
use torch_library_export::{Loader, Program};

mod arguments;
mod call;
mod constants;
mod files;
#[cfg(feature = "wgpu")]
mod fuse;
mod layers;
mod show;

use arguments::Arguments;
use call::Call;

/// Runs the tool on the arguments of the process; a whole program that runs models with what is linked into it.
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os(), &mut io::stdout().lock(), &mut io::stderr()))
}

/// Runs the tool; the first argument is the name of the program. Returns the exit code: 0, 1 if a check found a
/// problem, 2 if the arguments were wrong or the model failed.
pub fn run(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    output: &mut dyn Write,
    errors: &mut dyn Write,
) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(usage) if usage.use_stderr() => return print(errors, &usage.to_string(), 2),
        Err(help) => return print(output, &help.to_string(), 0),
    };
    match answer(&arguments, output) {
        Ok(is_well) => u8::from(!is_well),
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => print(errors, &format!("run: {error}\n"), 2),
    }
}

/// Whether writing failed because the reader of the output has closed it.
fn is_closed_pipe(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints; it is not an error if the reader closes the pipe early.
fn print(to: &mut dyn Write, text: &str, code: u8) -> u8 {
    match to.write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => 2,
        _ => code,
    }
}

/// Whether the requested checks succeeded.
fn answer(arguments: &Arguments, output: &mut dyn Write) -> Result<bool> {
    let loader = Loader::new().device(arguments.device);
    let loader = if arguments.fold_batch_norm { loader.fold_batch_norm() } else { loader };
    let loader = match &arguments.program {
        Some(name) => loader.program(name),
        None => loader,
    };
    // SAFETY: `run --help` tells the user not to modify the file while the program runs.
    let program = unsafe { loader.map(&arguments.model) }?;
    if arguments.list {
        write!(output, "{program}")?;
    }
    if arguments.check {
        return check(&program, output);
    }
    if arguments.list {
        return Ok(true);
    }
    let inputs = files::inputs(&program, arguments)?;
    let call = Call::new(&program, &inputs)?;
    let trace = arguments.trace.then(trace::to_stderr);
    if arguments.fuse {
        return fused(&program, &call, arguments, &inputs, output);
    }
    let outputs =
        layers::under(&arguments.layers, arguments.device, &call, &inputs, &|inputs| call.run(inputs))?;
    drop(trace);
    found(&program, &call, arguments, &outputs, output)?;
    if let Some(runs) = arguments.profile {
        profile(&call, arguments, runs, &inputs, output)?;
    }
    Ok(true)
}

/// Prints the outputs or writes them to a file.
fn found(
    program: &Program,
    call: &Call<'_>,
    arguments: &Arguments,
    outputs: &[Tensor],
    output: &mut dyn Write,
) -> Result<()> {
    show::outputs(program, call, outputs, output)?;
    if let Some(path) = &arguments.outputs {
        files::write(path, outputs)?;
    }
    match &arguments.compare {
        Some(path) => show::difference(&files::outputs(path, program)?, outputs, output),
        None => Ok(()),
    }
}

#[cfg(feature = "wgpu")]
fn fused(
    program: &Program,
    call: &Call<'_>,
    arguments: &Arguments,
    inputs: &[Tensor],
    output: &mut dyn Write,
) -> Result<bool> {
    let (outputs, fused) = fuse::run(call, arguments, inputs)?;
    found(program, call, arguments, &outputs, output)?;
    write!(output, "{fused}")?;
    if let Some(runs) = arguments.profile {
        fuse::times(call, &fused, arguments, runs, inputs, output)?;
    }
    Ok(true)
}

#[cfg(not(feature = "wgpu"))]
fn fused(_: &Program, _: &Call<'_>, _: &Arguments, _: &[Tensor], _: &mut dyn Write) -> Result<bool> {
    bail!(NotSupported, "--fuse is of the backend for GPUs: build `run` with `--features wgpu`")
}

fn check(program: &Program, output: &mut dyn Write) -> Result<bool> {
    for problem in program.problems() {
        writeln!(output, "{problem}")?;
    }
    let (operators, problems) = (program.operators().len(), program.problems().len());
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    match (problems, operators) {
        (0, 1) => writeln!(output, "the only operator is here")?,
        (0, _) => writeln!(output, "all {operators} operators are here")?,
        _ => writeln!(output, "{}, {}", counted(problems, "problem"), counted(operators, "operator"))?,
    }
    Ok(problems == 0)
}

fn profile(
    call: &Call<'_>,
    arguments: &Arguments,
    runs: u32,
    inputs: &[Tensor],
    output: &mut dyn Write,
) -> Result<()> {
    let profile = std::cell::RefCell::new(None);
    layers::under(&arguments.layers, arguments.device, call, inputs, &|inputs| {
        *profile.borrow_mut() = Some(call.profile(inputs, runs)?);
        Ok(Vec::new())
    })?;
    let Some(profile) = profile.into_inner() else { return Ok(()) };
    write!(output, "\n{profile}")?;
    writeln!(output, "\nby module")?;
    for row in profile.modules().iter().take(20) {
        let name = if row.name.is_empty() { "the model itself" } else { &row.name };
        writeln!(output, "{:10.1} µs  {name}", row.time.as_secs_f64() * 1e6 / f64::from(runs.max(1)))?;
    }
    if let Some(path) = &arguments.picture {
        std::fs::write(path, profile.to_svg())?;
    }
    Ok(())
}
