//! The demonstration from its user's point of view: its output, compared with a computation that uses no tensors, and
//! its messages about bad input.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits.csv.gz");

fn digits(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_digits")).args(arguments).output().unwrap()
}

/// The output of a successful run without training.
fn printed(arguments: &[&str]) -> String {
    let output = digits(&[&["--epochs", "0"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The error message of a run, with the file's path replaced by `FILE`.
fn complaint(path: &Path) -> String {
    let output = digits(&["--data", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap().replace(path.to_str().unwrap(), "FILE")
}

fn temporary(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// The ten mean pictures as text, computed from the file alone.
fn plain_pictures() -> Vec<String> {
    let mut text = String::new();
    GzDecoder::new(File::open(DATA).unwrap()).read_to_string(&mut text).unwrap();
    let (mut sums, mut counts) = ([[0u32; 64]; 10], [0u32; 10]);
    for line in text.lines() {
        let numbers: Vec<u32> = line.split(',').map(|number| number.parse().unwrap()).collect();
        let class = numbers[64] as usize;
        counts[class] += 1;
        (0..64).for_each(|pixel| sums[class][pixel] += numbers[pixel]);
    }
    let shade = |class: usize, pixel: usize| {
        let mean = f64::from(sums[class][pixel]) / f64::from(16 * counts[class]);
        let character = char::from(b" .:-=+*#%@"[(9.0 * mean).round() as usize]);
        [character, character].iter().collect::<String>()
    };
    let part = |class, line: usize| (0..8).map(|column| shade(class, 8 * line + column)).collect::<String>();
    let row = |classes: &[usize], line| {
        classes.iter().map(|class| part(*class, line)).collect::<Vec<_>>().join("    ")
    };
    [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
        .iter()
        .flat_map(|classes| (0..8).map(move |line| format!("  {}", row(classes, line)).trim_end().to_owned()))
        .collect()
}

#[test]
fn pictures_are_those_of_a_plain_computation() {
    let printed = printed(&[]);
    let lines: Vec<_> = printed.lines().collect();
    for picture in plain_pictures().chunks(8) {
        assert!(lines.windows(8).any(|lines| lines == picture), "not in the output:\n{}", picture.join("\n"));
    }
}

#[test]
fn shapes_and_strides_are_shown_around_channels_last() {
    let printed = printed(&[]);
    let squeezed: Vec<_> =
        printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "images sizes [1797, 1, 8, 8] strides [64, 64, 8, 1]",
        "contiguous(channels_last) sizes [1797, 1, 8, 8] strides [64, 64, 8, 1] already so: no copy",
        "outlined sizes [1797, 2, 8, 8] strides [128, 64, 8, 1]",
        "contiguous(channels_last) sizes [1797, 2, 8, 8] strides [128, 1, 16, 2]",
    ] {
        assert!(squeezed.iter().any(|printed| printed == line), "{line}\n{printed}");
    }
}

/// The lines of a section as cells, each place without its line number, which must be present; only autograd's default
/// has no place.
fn section(printed: &str, title: &str) -> Vec<[String; 4]> {
    let lines = printed.lines().skip_while(|line| !line.starts_with(title)).skip(2);
    lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let cells: Vec<_> = line.split_whitespace().collect();
            let [operator, key, krate, place @ ..] = cells.as_slice() else { panic!("four cells: {line:?}") };
            let place = place.join(" ");
            let (file, number) = place.rsplit_once(':').unwrap_or((&place, "1"));
            assert!(file.contains('/') || file == "autograd default", "{line}");
            assert!(number.parse::<u32>().is_ok_and(|number| number > 0), "{line}");
            [operator, key, krate, &file].map(|cell| (*cell).to_owned())
        })
        .collect()
}

#[test]
fn the_registry_shows_who_registered_what_where() {
    let registry = section(&printed(&[]), "Registry");
    for (operator, key, krate, file) in [
        ("glyphs::class_means", "declared", "glyphs", "examples/crates/glyphs/src/lib.rs"),
        ("glyphs::class_means", "CPU", "glyphs", "examples/crates/glyphs/src/cpu.rs"),
        ("glyphs::class_means", "PrivateUse1", "glyphs_tape", "examples/crates/glyphs-tape/src/glyphs.rs"),
        ("glyphs::outlined", "declared", "glyphs_extra", "examples/crates/glyphs-extra/src/lib.rs"),
        ("glyphs::outlined", "CPU", "glyphs_extra", "examples/crates/glyphs-extra/src/kernels.rs"),
    ] {
        assert!(
            registry.contains(&[operator, key, krate, file].map(str::to_owned)),
            "{operator} {key}: {registry:#?}"
        );
    }
}

#[test]
fn three_crates_appear_in_the_trace() {
    let trace = section(&printed(&[]), "Trace");
    let calls = |key: &str, krate: &str| {
        let calls = trace.iter().filter(|[_, its_key, its_crate, _]| its_key == key && its_crate == krate);
        calls.map(|[operator, ..]| operator.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(calls("CPU", "glyphs"), ["glyphs::normalize", "glyphs::ink"]);
    assert_eq!(calls("tape", "glyphs_tape"), ["glyphs::normalize", "glyphs::class_means"]);
    assert_eq!(
        calls("tape", "torch_library_aten"),
        ["aten::empty_strided", "aten::copy_", "aten::_to_copy", "aten::empty_like", "aten::copy_"],
        "what all backends have"
    );
    assert_eq!(calls("CPU", "glyphs_extra"), ["glyphs::outlined", "glyphs::nearest"]);
}

#[test]
fn the_readme_of_the_examples_shows_what_is_printed() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let (_, section) = readme.split_once("## What `digits` does").unwrap();
    let excerpt = section.split("```").nth(1).unwrap().strip_prefix("text").unwrap();
    let printed = printed(&[]);
    for part in excerpt.trim_matches('\n').split("\n\n") {
        assert!(printed.contains(part), "not in the output:\n{part}");
    }
}

#[test]
fn a_given_file_is_read_like_the_built_in_one() {
    assert_eq!(printed(&["--data", DATA]), printed(&[]));
}

#[test]
fn bad_files_get_errors_with_places() {
    let line = |pixel: &str, class: &str| format!("{}{class}\n", format!("{pixel},").repeat(64));
    let good = line("7", "3");
    let check = |name: &str, bytes: &[u8], expected: &str| {
        let complaint = complaint(&temporary(name, bytes));
        assert!(complaint.starts_with(expected), "{name}:\n{complaint}\nexpected:\n{expected}");
    };
    check(
        "text.csv",
        good.as_bytes(),
        "digits: FILE is no intact gzip file of text, after line 0: invalid gzip header\n  help: `--data` takes",
    );
    check("nothing.gz", &gzip(b""), "digits: FILE holds no digits\n  help: `--data` takes");
    let whole = fs::read(DATA).unwrap();
    check("cut.gz", &whole[..whole.len() / 2], "digits: FILE is no intact gzip file of text, after line 8");
    check(
        "columns.gz",
        &gzip(format!("{good}{good}1,2,3\n").as_bytes()),
        "digits: FILE, line 3: 3 columns, 64 pixels and a class are 65\n",
    );
    check(
        "word.gz",
        &gzip(line("ink", "3").as_bytes()),
        "digits: FILE, line 1: column 1: \"ink\" is not ink, a number from 0 to 16\n",
    );
    check(
        "dark.gz",
        &gzip(line("17", "3").as_bytes()),
        "digits: FILE, line 1: column 1: \"17\" is not ink, a number from 0 to 16\n",
    );
    check(
        "class.gz",
        &gzip(format!("{good}{}", line("0", "10")).as_bytes()),
        "digits: FILE, line 2: column 65: \"10\" is not a class, a number from 0 to 9\n",
    );
    check("empty-line.gz", &gzip(format!("{good}\n{good}").as_bytes()), "digits: FILE, line 2: 1 column");
}

/// Input beyond the limits is never read: a file that unpacks to any length is left at the point where it is too long.
#[test]
fn files_that_unpack_to_any_length_are_read_no_further_than_their_limits() {
    let line = format!("{}3\n", "7,".repeat(64));
    let check = |name: &str, text: String, expected: &str| {
        let whole = gzip(text.as_bytes());
        let complaint = complaint(&temporary(name, &whole[..whole.len() - 9]));
        assert!(complaint.starts_with(expected), "{name}:\n{complaint}");
    };
    let many = line.repeat(50_001 + 10_000);
    check("many.gz", many, "digits: FILE holds more than 50000 digits, the most that are read\n");
    let long = format!("{line}{}", "0,".repeat(1_000_000));
    check("long.gz", long, "digits: FILE, line 2: more than 512 bytes, the most that a line may have\n");
    let as_long = format!("{}{:0>384}\n", "7,".repeat(64), 3);
    assert_eq!(as_long.len(), 513);
    let fits = format!("{}{:0>383}\n", "7,".repeat(64), 3);
    check("as-long.gz", as_long, "digits: FILE, line 1: more than 512 bytes");
    check("fits.gz", fits, "digits: FILE is no intact gzip file of text, after line 1");
}

#[test]
fn a_missing_file_is_named() {
    let complaint = complaint(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-such.csv.gz"));
    assert!(complaint.starts_with("digits: cannot read FILE: "), "{complaint}");
    assert!(complaint.contains("\n  help: `--data` takes a gzip file of lines"), "{complaint}");
}

#[test]
fn wrong_options_lead_to_the_help() {
    let output = digits(&["--dataa"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "digits: invalid option '--dataa'\n  help: `--help` lists the options\n"
    );
    assert!(printed(&["--help"]).contains("--data FILE"));
}

#[test]
fn the_whole_registry_has_the_operators_of_pytorch_too() {
    let registry = section(&printed(&["--all"]), "Registry");
    let is_there = |krate: &str| {
        registry.iter().any(|[operator, _, its_crate, _]| operator == "aten::copy_" && its_crate == krate)
    };
    assert!(is_there("torch_library_aten"));
}
