//! `oracle FOLDER [FILE…] [--functionalize] [--fake] [--trace] [--all] [--json]`: replays recorded answers of PyTorch, one line per file.

use std::path::Path;
use std::process::ExitCode;

use torch_library::{Error, ErrorKind, Result};
use torch_library_tests::{File, Report};

const USAGE: &str = "usage: oracle FOLDER [FILE…] [--functionalize] [--fake] [--trace] [--all] [--json]
  FOLDER  has files of recorded answers, as schemas.jsonl.gz
  FILE    a file to replay, as schemas; all that FOLDER has without one
  --functionalize  replays programs with all writes and views made functional
  --fake           replays programs without elements, and compares all else
  --trace          replays the graphs of programs, as recorded, read from text and simplified
  --all            prints every failing row, not ten
  --json           prints one JSON document per file";

fn main() -> ExitCode {
    let (options, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let layers: Vec<_> =
        options.iter().filter_map(|option| File::through(option.strip_prefix("--")?)).collect();
    let known =
        |option: &str| option == "--all" || option == "--json" || File::through(&option[2..]).is_some();
    if words.is_empty() || !options.iter().all(|option| known(option)) {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    let has = |name: &str| options.iter().any(|option| option == name);
    let show = |report: &Report| match has("--json") {
        true => println!("{}", report.to_json()),
        false => print!("{}", report.render(if has("--all") { usize::MAX } else { 10 })),
    };
    match replay(Path::new(&words[0]), &words[1..], &layers, show) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::from(2)
        }
    }
}

/// Replays files of a folder, through layers if some are given; false if a row failed.
fn replay(folder: &Path, names: &[String], layers: &[&'static File], show: impl Fn(&Report)) -> Result<bool> {
    let named = names.iter().map(|name| File::named(name)).collect::<Result<Vec<_>>>()?;
    let files = match names {
        _ if !layers.is_empty() => layers.to_vec(),
        [] => File::all().iter().collect(),
        _ => named,
    };
    let (mut all_passed, mut found) = (true, false);
    for file in files {
        match file.replay(folder)? {
            Some(report) => {
                show(&report);
                found = true;
                all_passed &= report.failed.is_empty();
            }
            None if names.is_empty() => {}
            None => {
                return Err(Error::new(ErrorKind::Io, format!("{} has no {}", folder.display(), file.name)));
            }
        }
    }
    if found {
        Ok(all_passed)
    } else {
        Err(Error::new(ErrorKind::Io, format!("{} has no file that is known", folder.display())))
    }
}
