//! The demonstration ended from outside: by signals, a full disk, and readers that go away.
#![cfg(unix)]

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

const DIGITS: &str = env!("CARGO_BIN_EXE_digits");

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.into_string().unwrap()).collect()
}

/// Writes the first digits to a file.
fn some_digits(path: &Path) {
    let all = fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits.csv.gz")).unwrap();
    let lines = BufReader::new(GzDecoder::new(all)).lines().map(Result::unwrap);
    let mut encoder = GzEncoder::new(fs::File::create(path).unwrap(), Compression::fast());
    lines.take(40).for_each(|line| writeln!(encoder, "{line}").unwrap());
    encoder.finish().unwrap();
}

/// A shell script that runs `digits` as `"$0" "$@"`, with few digits, and files in a folder.
fn shell(script: &str, folder: &Path, arguments: &str) -> Command {
    let data = folder.with_extension("gz");
    some_digits(&data);
    let mut command = Command::new("sh");
    command.args(["-c", script, DIGITS, "--data"]).arg(data).args(arguments.split_whitespace());
    command.current_dir(folder);
    command
}

/// Waits until a program with endless training has finished an epoch.
fn learns(mut command: Command) -> (Child, impl Iterator<Item = String>) {
    let mut running = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("  epoch  1  loss ")));
    (running, lines)
}

fn send(signal: &str, to: &Child) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &to.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn is_nohup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(ignored.trim(), 16).is_ok_and(|mask| mask & 1 == 1)
}

const WITHOUT_END: &str = "--epochs 100000 --checkpoint x.safetensors --curve x.svg";

#[test]
fn signals_that_end_a_program_leave_a_checkpoint() {
    // Under `nohup` the test ignores SIGHUP, and its children inherit that.
    let hears_hup = (!is_nohup()).then_some(("HUP", 129));
    for (signal, code) in [("INT", 130), ("TERM", 143)].into_iter().chain(hears_hup) {
        let folder = folder(&format!("signal-{signal}"));
        let (mut running, lines) = learns(shell("exec \"$0\" \"$@\"", &folder, WITHOUT_END));
        send(signal, &running);
        let last = lines.last().unwrap();
        assert_eq!(running.wait().unwrap().code(), Some(code), "{last}");
        assert_eq!(names(&folder), ["x.safetensors"]);
        // Here an epoch has one step.
        let epochs = last.strip_prefix("  stopped after ").and_then(|rest| {
            rest.strip_suffix(" epochs and 0 of 1 steps; `--resume x.safetensors` goes on from there")
        });
        let epochs: usize = epochs.and_then(|epochs| epochs.parse().ok()).expect(&last);
        let to = format!("--epochs {} --curve x.svg", epochs + 1);
        let finish = |files: &str| {
            let output = shell("exec \"$0\" \"$@\"", &folder, &format!("{to} {files}")).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        finish("--resume x.safetensors");
        finish("--checkpoint straight.safetensors");
        let [resumed, straight] =
            ["x", "straight"].map(|name| fs::read(folder.join(name).with_extension("safetensors")).unwrap());
        assert!(resumed == straight, "{signal}: the break changed something");
    }
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let folder = folder("nohup");
    let (mut running, mut lines) = learns(shell("trap '' HUP; exec \"$0\" \"$@\"", &folder, WITHOUT_END));
    send("HUP", &running);
    assert!(lines.next().unwrap().starts_with("  epoch "));
    send("TERM", &running);
    assert!(lines.last().unwrap().starts_with("  stopped after "));
    assert_eq!(running.wait().unwrap().code(), Some(143));
}

#[test]
fn a_disk_that_is_full_leaves_the_old_checkpoint_and_nothing_else() {
    let folder = folder("full");
    let run = |script: &str| {
        shell(script, &folder, "--epochs 1 --checkpoint x.safetensors --curve /dev/null").output()
    };
    assert!(run("exec \"$0\" \"$@\"").unwrap().status.success());
    let old = fs::read(folder.join("x.safetensors")).unwrap();
    // A limit of a few blocks makes a write fail in the middle of a file, like a full disk.
    let output = run("trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"").unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(complaint.starts_with("digits: cannot write x.safetensors: "), "{complaint}");
    assert_eq!(names(&folder), ["x.safetensors"]);
    assert!(fs::read(folder.join("x.safetensors")).unwrap() == old);
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let folder = folder("closed");
    let mut command = shell("exec \"$0\" \"$@\"", &folder, WITHOUT_END);
    let (mut running, lines) = learns({
        command.stderr(Stdio::piped());
        command
    });
    drop(lines);
    let complaint = io::read_to_string(running.stderr.take().unwrap()).unwrap();
    assert_eq!((running.wait().unwrap().code(), complaint.as_str()), (Some(141), ""));
    assert_eq!(names(&folder), ["x.safetensors"]);
    let resume = "--epochs 1 --resume x.safetensors --curve x.svg";
    assert!(shell("exec \"$0\" \"$@\"", &folder, resume).output().unwrap().status.success());
}

/// The exit code when the other end of a stream is closed, or the stream itself.
fn code(script: &str, arguments: &str, close: impl FnOnce(&mut Command, Stdio)) -> Option<i32> {
    let mut command = shell(script, &folder("streams"), arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    close(&mut command, writer.into());
    command.status().unwrap().code()
}

#[test]
fn nobody_has_to_read_what_is_printed() {
    let run = "exec \"$0\" \"$@\"";
    let stdout = |command: &mut Command, pipe| _ = command.stdout(pipe);
    let stderr = |command: &mut Command, pipe| _ = command.stderr(pipe);
    assert_eq!(code(run, "--no-such-option", stderr), Some(1));
    assert_eq!(code(run, "--epochs 0", stderr), Some(0));
    assert_eq!(code(&format!("TORCH_SHOW_DISPATCH_TRACE=1 {run}"), "--epochs 0", stderr), Some(0));
    assert_eq!(code(run, "--epochs 0", stdout), Some(141));
    assert_eq!(code(run, "--help", stdout), Some(141));
    assert_eq!(code("exec \"$0\" \"$@\" >&- 2>&-", "--epochs 0", |_, _| ()), Some(0));
    assert_eq!(code("exec \"$0\" \"$@\" 2>&-", "--no-such-option", |_, _| ()), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = folder("full-output");
    let output = shell("exec \"$0\" \"$@\" > /dev/full", &folder, "--epochs 0").output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.starts_with("digits: cannot print: "), "{complaint}");
    assert_eq!(output.status.code(), Some(1));
    let output = shell("exec \"$0\" \"$@\" 2> /dev/full", &folder, "--no-such-option").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "and an error that cannot be said is no panic");
}
