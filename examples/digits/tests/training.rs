//! The demonstration's training: its files, that an interruption changes nothing, and what it rejects.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits.csv.gz");

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The first digits, as lines and as a file.
fn some_digits(count: usize) -> (Vec<String>, PathBuf) {
    let mut text = String::new();
    GzDecoder::new(fs::File::open(DATA).unwrap()).read_to_string(&mut text).unwrap();
    let lines: Vec<String> = text.lines().take(count).map(|line| format!("{line}\n")).collect();
    let path = path(&format!("{count}-digits-{:?}.gz", std::thread::current().id()));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(lines.concat().as_bytes()).unwrap();
    fs::write(&path, encoder.finish().unwrap()).unwrap();
    (lines, path)
}

fn command(data: &Path, arguments: &str) -> Command {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let arguments =
        arguments.split_whitespace().map(|argument| argument.replace("TMP/", &format!("{folder}/")));
    let mut command = Command::new(env!("CARGO_BIN_EXE_digits"));
    command.arg("--data").arg(data).args(arguments);
    command
}

fn digits(data: &Path, arguments: &str) -> Output {
    command(data, arguments).output().unwrap()
}

fn printed(data: &Path, arguments: &str) -> String {
    let output = digits(data, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn complaint(data: &Path, arguments: &str) -> String {
    let output = digits(data, arguments);
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn accuracy_is_that_of_the_predictions() {
    let (lines, data) = some_digits(100);
    let files = "--checkpoint TMP/all.safetensors --predictions TMP/all.csv --curve TMP/all.svg --trace TMP/graph.svg";
    let printed = printed(&data, &format!("--epochs 1 --autocast bf16 --per-example-grads {files}"));
    let predictions = fs::read_to_string(path("all.csv")).unwrap();
    let mut right = 0;
    let rows = predictions.strip_prefix("row,class,prediction\n").unwrap().lines();
    for (index, row) in rows.clone().enumerate() {
        let numbers: Vec<usize> = row.split(',').map(|number| number.parse().unwrap()).collect();
        let [row, class, prediction] = numbers[..] else { panic!("{row}") };
        assert_eq!(row, 5 * (index + 1), "every fifth row is for testing");
        assert!(lines[row - 1].ends_with(&format!(",{class}\n")), "row {row}");
        right += usize::from(class == prediction);
    }
    assert_eq!(rows.count(), 20);
    let accuracy = format!("accuracy in the test: {:.2} %, {} of 20 wrong", 5.0 * right as f64, 20 - right);
    assert!(printed.contains(&accuracy), "{accuracy}\n{printed}");
    assert!(printed.contains("epoch  1  loss "), "{printed}");
    assert!(printed.contains("gradients of 20 test digits, each by itself: length "), "{printed}");
    let graph = fs::read_to_string(path("graph.svg")).unwrap();
    assert_eq!(graph.matches(">glyphs::biased_relu<").count(), 2, "{graph}");
    assert!(fs::read_to_string(path("all.svg")).unwrap().contains("<polyline points="));
}

#[test]
fn a_break_changes_nothing() {
    let (_, data) = some_digits(80);
    printed(&data, "--seed 5 --epochs 2 --checkpoint TMP/whole.safetensors --curve TMP/whole.svg");
    printed(&data, "--seed 5 --epochs 1 --checkpoint TMP/part.safetensors --curve TMP/part.svg");
    assert_ne!(fs::read(path("part.safetensors")).unwrap(), fs::read(path("whole.safetensors")).unwrap());
    printed(&data, "--epochs 2 --resume TMP/part.safetensors --curve TMP/part.svg");
    assert_eq!(fs::read(path("part.safetensors")).unwrap(), fs::read(path("whole.safetensors")).unwrap());
    assert_eq!(fs::read(path("part.svg")).unwrap(), fs::read(path("whole.svg")).unwrap());
}

#[test]
fn going_on_with_anything_else_is_refused() {
    let ((_, data), (_, other)) = (some_digits(80), some_digits(40));
    let files = "--curve TMP/refused.svg";
    printed(&data, &format!("--seed 5 --epochs 1 --checkpoint TMP/refused.safetensors {files}"));
    let whole = fs::read(path("refused.safetensors")).unwrap();
    let refusal = |data: &Path, arguments: &str| {
        complaint(data, &format!("--epochs 9 --resume TMP/refused.safetensors {files} {arguments}"))
    };
    let start =
        format!("digits: {} was written with other settings:\n", path("refused.safetensors").display());
    let help = "\n  help: `--resume` goes on with the `--data`, `--autocast` and `--seed` of the first run (the seed may \
                be left out); without `--resume` a new training begins\n";
    let seed = format!("{start}  seed: there \"5\", here \"6\"{help}");
    assert_eq!(refusal(&data, "--seed 6"), seed);
    let precision = format!("{start}  precision: there \"float32\", here \"autocast to bfloat16\"{help}");
    assert_eq!(refusal(&data, "--autocast bf16"), precision);
    let data_and_steps = refusal(&other, "");
    for difference in [
        "  batch: there \"32 digits, so an epoch has 2 steps\", here \"32 digits, so an epoch has 1 steps\"\n",
        "  data: there \"64 digits to learn from, crc32:",
        ", here \"32 digits to learn from, crc32:",
    ] {
        assert!(data_and_steps.contains(difference), "{data_and_steps}");
    }
    assert_eq!(fs::read(path("refused.safetensors")).unwrap(), whole, "a refusal changes nothing");
    printed(&data, &format!("--seed 5 --epochs 1 --resume TMP/refused.safetensors {files}"));
}

#[test]
fn as_many_digits_of_other_data_are_other_data() {
    let (lines, data) = some_digits(40);
    let other = path("40-other-digits.gz");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(lines.iter().rev().map(String::as_str).collect::<String>().as_bytes()).unwrap();
    fs::write(&other, encoder.finish().unwrap()).unwrap();
    let files = "--curve TMP/other.svg";
    printed(&data, &format!("--epochs 1 --checkpoint TMP/other.safetensors {files}"));
    let complaint = complaint(&other, &format!("--epochs 2 --resume TMP/other.safetensors {files}"));
    let differences = complaint.lines().filter(|line| line.contains(": there ")).collect::<Vec<_>>();
    let [difference] = differences[..] else { panic!("{complaint}") };
    assert!(difference.starts_with("  data: there \"32 digits to learn from, crc32:"), "{complaint}");
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let (_, data) = some_digits(40);
    printed(&data, "--epochs 1 --checkpoint TMP/damaged.safetensors --curve TMP/damaged.svg");
    let mut bytes = fs::read(path("damaged.safetensors")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(path("damaged.safetensors"), bytes).unwrap();
    let complaint = complaint(&data, "--epochs 2 --resume TMP/damaged.safetensors");
    let start =
        format!("digits: {}: the file is damaged: its checksum is ", path("damaged.safetensors").display());
    assert!(complaint.starts_with(&start), "{complaint}");
}

#[test]
fn mistakes_are_named() {
    let (_, data) = some_digits(4);
    assert!(complaint(&data, "").starts_with("digits: 4 digits are too few: of every 5 one is for testing"));
    let (_, data) = some_digits(5);
    let broken = format!("digits: {}: safetensors: ", path("no.safetensors").display());
    fs::write(path("no.safetensors"), b"nothing").unwrap();
    let empty = path("elsewhere.safetensors");
    let elsewhere =
        format!("digits: {} is no checkpoint of this program: it has no tensor \"seed\"\n", empty.display());
    fs::write(empty, b"\x02\0\0\0\0\0\0\0{}").unwrap();
    for (arguments, expected) in [
        ("--epochs many", "digits: cannot parse argument \"many\""),
        ("--autocast f8", "digits: cannot parse argument \"f8\": it is bf16 or f16\n  help: `--help` lists"),
        ("--resume TMP/no.safetensors", broken.as_str()),
        ("--resume TMP/elsewhere.safetensors", elsewhere.as_str()),
        ("--epochs 1 --checkpoint TMP/no/such/folder", "digits: cannot write "),
    ] {
        let complaint = complaint(&data, arguments);
        assert!(complaint.starts_with(expected), "{arguments}: {complaint}");
    }
}
