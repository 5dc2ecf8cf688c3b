//! Runs each hostile program in a process of its own, and reports those that fail.
//!
//! `HOSTILE_PROGRAMS=a,b` selects some, `HOSTILE_SECONDS` is how long each tries, `HOSTILE_TIMEOUT` the number of seconds after
//! which it counts as hanging, `HOSTILE_PATIENCE` how many times slower than natively a call may be, and `HOSTILE_MEGABYTES` its memory limit.
#![forbid(unsafe_code)]

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_hostile");
const TABLE: &str = include_str!("../README.md");

/// The interval at which a running program is checked.
const PERIOD: Duration = Duration::from_millis(50);

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

fn names() -> Vec<String> {
    let list = Command::new(PROGRAM).arg("--list").output().expect("the binary is built").stdout;
    String::from_utf8(list).expect("names are text").lines().map(str::to_owned).collect()
}

/// How a program failed, if it did.
struct Failure {
    name: String,
    how: String,
    stderr: String,
}

/// The first lines of its output: a sanitizer prints hundreds.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "== {}: {}", self.name, self.how)?;
        self.stderr.lines().take(30).try_for_each(|line| write!(f, "\n   {}", line.trim_end()))
    }
}

/// The megabytes of memory that a process holds, if the system reports that.
fn resident(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Waits until a program has ended, or has exceeded its time or memory.
fn watch(child: &mut Child) -> io::Result<(Result<(), String>, String)> {
    let (sender, ended) = mpsc::channel();
    let mut stderr = child.stderr.take().expect("it is piped");
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.read_to_end(&mut text);
        drop(sender);
        String::from_utf8_lossy(&text).into_owned()
    });
    let (timeout, megabytes) = (setting("HOSTILE_TIMEOUT", 60), setting("HOSTILE_MEGABYTES", 1024));
    let (start, mut most) = (Instant::now(), 0);
    let stopped = loop {
        match ended.recv_timeout(PERIOD) {
            Err(RecvTimeoutError::Disconnected) | Ok(()) => break None,
            Err(RecvTimeoutError::Timeout) => most = most.max(resident(child)),
        }
        if start.elapsed().as_secs() >= timeout {
            break Some(format!("does not end within {timeout} s"));
        }
        if most > megabytes {
            break Some(format!("takes more than {megabytes} MB"));
        }
    };
    if stopped.is_some() {
        child.kill()?;
    }
    let status = child.wait()?;
    let stderr = reader.join().expect("a reader does not panic");
    let end = match stopped {
        Some(how) => Err(how),
        None if status.success() => Ok(()),
        None => Err(status.to_string()),
    };
    Ok((end, stderr))
}

/// The sanitizers' options, in addition to those that are set. Programs forget values, and ask for more memory than there is; and
/// one report is enough.
fn options(name: &str, more: &str) -> String {
    std::env::var(name).map_or(more.to_owned(), |options| format!("{options}:{more}"))
}

fn run(name: &str) -> Option<Failure> {
    let mut command = Command::new(PROGRAM);
    command.env("ASAN_OPTIONS", options("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1"));
    let few = "halt_on_error=1:history_size=7:allocator_may_return_null=1";
    command.env("TSAN_OPTIONS", options("TSAN_OPTIONS", few));
    command.arg(name).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let end = command.spawn().and_then(|mut child| watch(&mut child));
    match end {
        Ok((Ok(()), _)) => None,
        Ok((Err(how), stderr)) => Some(Failure { name: name.to_owned(), how, stderr }),
        Err(error) => Some(Failure { name: name.to_owned(), how: error.to_string(), stderr: String::new() }),
    }
}

#[test]
fn every_program_ends_well() {
    let wanted = std::env::var("HOSTILE_PROGRAMS").unwrap_or_default();
    let is_wanted = |name: &String| wanted.is_empty() || wanted.split(',').any(|wanted| wanted == name);
    let names: Vec<String> = names().into_iter().filter(is_wanted).collect();
    assert!(!names.is_empty(), "there is no program of {wanted:?}");
    let (next, failures) = (Mutex::new(names.iter()), Mutex::new(Vec::new()));
    let workers = thread::available_parallelism().map_or(1, usize::from).min(4);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(name) = next.lock().expect("no worker panics").next() else { return };
                    let failure = run(name);
                    failures.lock().expect("no worker panics").extend(failure);
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no worker panics");
    let texts: Vec<String> = failures.iter().map(Failure::to_string).collect();
    assert!(texts.is_empty(), "{} of {} programs failed\n{}", texts.len(), names.len(), texts.join("\n"));
}

/// The folder where the packages in subfolders of this one are built.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages")
}

/// Builds such a package, or returns the compiler's output.
fn build(package: &str, arguments: &[&str]) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
    // Uses the lock file of the surrounding workspace, so that nothing is resolved or downloaded again.
    std::fs::copy(folder.join("../../../Cargo.lock"), folder.join("Cargo.lock"))
        .expect("the workspace has a lock file");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline"]).args(arguments).current_dir(&folder);
    let built = cargo.env("CARGO_TARGET_DIR", target()).env_remove("RUSTFLAGS").output().expect("cargo runs");
    if built.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&built.stderr).into_owned()) }
}

/// Runs a program of such a package, which must succeed.
fn execute(program: &str, argument: &Path) {
    let ran =
        Command::new(target().join("debug").join(program)).arg(argument).output().expect("it was built");
    assert!(ran.status.success(), "{program}: {}: {}", ran.status, String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_shared_object_with_operators_comes_and_goes() {
    assert_eq!(build("unloaded", &[]), Ok(()));
    let object = format!("{}unloaded{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    execute("loader", &target().join("debug").join(object));
}

#[test]
fn what_is_erased_is_paired_by_the_compiler_alone() {
    for program in ["record", "closure"] {
        match build("forged", &["--bin", program]) {
            Ok(()) => execute(program, Path::new("")),
            Err(text) => {
                let reasons =
                    ["unsafe", "is private", "are private", "no function", "unresolved import", "not found"];
                assert!(reasons.iter().any(|reason| text.contains(reason)), "{program}: {text}");
            }
        }
    }
}

#[test]
fn the_table_has_a_row_for_each_program() {
    let rows: Vec<&str> =
        TABLE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let mut names = names();
    if cfg!(not(feature = "kernels")) {
        names.retain(|name| !rows.contains(&name.as_str()));
        assert_eq!(names, [""; 0]);
        return;
    }
    let (mut rows, mut names) = (rows, names);
    rows.sort_unstable();
    names.sort_unstable();
    assert_eq!(rows, names);
}
