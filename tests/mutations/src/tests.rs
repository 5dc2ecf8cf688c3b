//! The test binaries of the copy, and their results for a mutation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::Result;
use crate::copy::Copy;
use crate::rules::Flip;

/// The crates with tests: the name in `rules.txt`, the package, its folder, and which of its tests to build.
const PACKAGES: [(&str, &str, &str, &[&str]); 8] = [
    ("schema", "torch-library-schema", "runtime/schema", &["--tests"]),
    ("runtime", "torch-library", "runtime", &["--tests"]),
    ("runtime-lib", "torch-library", "runtime", &["--lib"]),
    ("loops", "torch-library-loops", "kernels/loops", &["--lib"]),
    ("kernels", "torch-library-kernels", "kernels", &["--test", "it", "--features", FORMATS]),
    ("nn-lib", "torch-library-nn", "kernels/nn", &["--lib", "--features", "safetensors"]),
    ("tests", "torch-library-tests", "tests", &["--tests", "--features", KERNELS_FORMATS]),
    ("digits", "torch-library-digits", "examples/digits", &["--bin", "digits"]),
];

/// Builds with all of them, so that the kernels are built once.
const FORMATS: &str = "safetensors,ndarray";
const KERNELS_FORMATS: &str = "torch-library-kernels/safetensors,torch-library-kernels/ndarray";

/// The time limit for a binary: a mutation that makes a program hang counts as detected.
const NAMED: Duration = Duration::from_secs(120);
const WHOLE: Duration = Duration::from_secs(1200);

pub(crate) enum Verdict {
    /// By this test, which is among those named for it.
    Noticed(String),
    /// By this test, which is not among those named for it.
    Elsewhere(String),
    DoesNotBuild(String),
    Unnoticed,
}

impl Verdict {
    pub(crate) fn is_noticed(&self) -> bool {
        matches!(self, Verdict::Noticed(_) | Verdict::Elsewhere(_))
    }

    pub(crate) fn remark(&self) -> String {
        match self {
            Verdict::Noticed(test) => format!(" ({test})"),
            Verdict::Elsewhere(test) => format!(" (only by {test})"),
            Verdict::DoesNotBuild(error) => format!(", it does not build:\n{error}"),
            Verdict::Unnoticed => String::new(),
        }
    }

    pub(crate) fn print(&self, name: &str, started: Instant) {
        let word = if self.is_noticed() { "noticed" } else { "NOT NOTICED" };
        println!("{word:<12}{:>6.1} s  {name}{}", started.elapsed().as_secs_f64(), self.remark());
    }
}

/// The test binaries of each package.
pub(crate) struct Binaries<'c> {
    copy: &'c Copy<'c>,
    by_package: BTreeMap<&'static str, Vec<Binary>>,
}

/// One binary, by the name of its source file: `it` for `tests/it/main.rs`.
struct Binary {
    name: String,
    path: PathBuf,
}

impl Binary {
    /// Parses cargo's `Executable tests/vmap.rs (/…/deps/vmap-0123456789abcdef)`.
    fn of_line(line: &str, folder: &Path) -> Option<Self> {
        let (_, path) =
            line.trim_start().strip_prefix("Executable ")?.trim_end_matches(')').rsplit_once('(')?;
        let name = Path::new(path).file_name()?.to_str()?.rsplit_once('-')?.0.to_owned();
        Some(Binary { name, path: folder.join(path) })
    }
}

impl<'c> Binaries<'c> {
    /// Builds the tests of some packages.
    pub(crate) fn build(copy: &'c Copy<'c>, packages: &[&str]) -> Result<Self> {
        let wanted: BTreeSet<&str> = packages.iter().copied().collect();
        let mut by_package = BTreeMap::new();
        for name in wanted {
            let Some((name, package, _, targets)) = PACKAGES.iter().find(|known| known.0 == name) else {
                return Err(format!("no package is called {name} in rules.txt"));
            };
            let output = Command::new(env!("CARGO"))
                .args(["test", "--no-run", "--package", package])
                .args(*targets)
                .env("CARGO_TARGET_DIR", &copy.build)
                .current_dir(&copy.folder)
                .output()
                .map_err(|error| format!("cargo: {error}"))?;
            let said = String::from_utf8_lossy(&output.stderr);
            if !output.status.success() {
                let errors: Vec<&str> =
                    said.lines().skip_while(|line| !line.starts_with("error")).take(60).collect();
                return Err(errors.join("\n"));
            }
            by_package
                .insert(*name, said.lines().filter_map(|line| Binary::of_line(line, &copy.folder)).collect());
        }
        Ok(Binaries { copy, by_package })
    }

    /// Runs the tests that are named for a mutation with its switch on; 0 stands for none.
    pub(crate) fn verdict(&self, flip: &Flip, switch: usize) -> Result<Verdict> {
        Ok(match self.first_failure(flip.package(), flip.filters(), switch, NAMED)? {
            Some(test) => Verdict::Noticed(test),
            None => Verdict::Unnoticed,
        })
    }

    /// The first test that fails among those whose names contain a filter.
    fn first_failure(
        &self,
        package: &str,
        filters: &[String],
        switch: usize,
        limit: Duration,
    ) -> Result<Option<String>> {
        let (_, _, folder, _) = PACKAGES.iter().find(|known| known.0 == package).ok_or("no such package")?;
        let mut count = 0;
        for (index, binary) in self.by_package[package].iter().enumerate() {
            let log = self.copy.build.join(format!("{switch}-{package}-{index}.log"));
            let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
            let mut command = Command::new(&binary.path);
            // The name is that of a file: all of its tests.
            let is_named = filters.contains(&binary.name);
            command
                .args(filters.iter().filter(|_| !is_named))
                .env("FLIP", switch.to_string())
                .env("RUST_BACKTRACE", "0");
            command.current_dir(self.copy.folder.join(folder));
            command
                .stdout(file.try_clone().map_err(|error| error.to_string())?)
                .stderr(file)
                .stdin(Stdio::null());
            let ending = wait(command, limit)?;
            let said = String::from_utf8_lossy(&std::fs::read(&log).unwrap_or_default()).into_owned();
            count += tests_run(&said);
            if let Some(ending) = ending {
                return Ok(Some(failed_test(&said).unwrap_or(ending)));
            }
            _ = std::fs::remove_file(&log);
        }
        match count {
            0 => Err(format!("no test of {package} has a name with any of {filters:?}")),
            _ => Ok(None),
        }
    }
}

/// The reason why a program failed.
fn wait(mut command: Command, limit: Duration) -> Result<Option<String>> {
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok((!status.success()).then(|| status.to_string()));
        }
        if started.elapsed() > limit {
            child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            return Ok(Some(format!("no end after {} s", limit.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The sum of the numbers in lines such as `running 7 tests`.
fn tests_run(said: &str) -> usize {
    let counts = said
        .lines()
        .filter_map(|line| line.strip_prefix("running ")?.split(' ').next()?.parse::<usize>().ok());
    counts.sum()
}

/// The name in a line `test NAME ... FAILED`.
fn failed_test(said: &str) -> Option<String> {
    let name = |line: &str| Some(line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.to_owned());
    said.lines().find_map(name)
}

/// Checks that the tests named for mutations pass without a mutation.
pub(crate) fn pass_unflipped(binaries: &Binaries<'_>, flips: &[&Flip]) -> Result<()> {
    let named: BTreeSet<&[String]> = flips.iter().map(|flip| flip.tests.as_slice()).collect();
    for tests in named {
        if let Some(test) = binaries.first_failure(&tests[0], &tests[1..], 0, NAMED)? {
            return Err(format!("without any flip, {test} of {} fails", tests[0]));
        }
    }
    Ok(())
}

/// Runs the tests of each mutation that has a switch, several mutations at a time. Mutations that their own tests do
/// not detect are tried with all tests.
pub(crate) fn judge(binaries: &Binaries<'_>, flips: &[&Flip]) -> Result<Vec<(String, Verdict)>> {
    pass_unflipped(binaries, flips)?;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut outcomes = Vec::new();
        while let Some(flip) = flips.get(next.fetch_add(1, Ordering::Relaxed)) {
            let started = Instant::now();
            let verdict = match binaries.verdict(flip, flip.number)? {
                Verdict::Unnoticed => everywhere(binaries, flip)?,
                verdict => verdict,
            };
            verdict.print(&flip.name, started);
            outcomes.push((flip.name.clone(), verdict));
        }
        Ok(outcomes)
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let outcomes =
            threads.into_iter().map(|thread| thread.join().map_err(|_| "a worker panicked".to_owned())?);
        outcomes.collect::<Result<Vec<_>>>().map(|outcomes| outcomes.into_iter().flatten().collect())
    })
}

/// Runs all tests that were built with a mutation; they must pass without it.
fn everywhere(binaries: &Binaries<'_>, flip: &Flip) -> Result<Verdict> {
    for package in binaries.by_package.keys() {
        if let Some(test) = binaries.first_failure(package, &[], flip.number, WHOLE)?
            && binaries.first_failure(package, std::slice::from_ref(&test), 0, WHOLE)?.is_none()
        {
            return Ok(Verdict::Elsewhere(test));
        }
    }
    Ok(Verdict::Unnoticed)
}
