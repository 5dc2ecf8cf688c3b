//! `fuzz INPUTS [--seed SEED] [TARGET…]`: runs the fuzz targets over their corpora and over INPUTS mutations of these, the same
//! ones for the same seed, with nothing but the stable compiler. `.ci/fuzz` runs the same functions guided by coverage, which
//! needs a nightly toolchain and cargo-fuzz.

use std::fs;
use std::path::Path;

use torch_library::{Result, bail};
use torch_library_tests::fuzz::{TARGETS, Target};

const USAGE: &str = "usage: fuzz INPUTS [--seed SEED] [TARGET…]";

fn main() -> Result<()> {
    let (mut numbers, mut names) = ([None, Some(0)], Vec::new());
    let mut arguments = std::env::args().skip(1);
    let number = |text: Option<String>| text.and_then(|text| text.parse::<u64>().ok());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seed" => numbers[1] = number(arguments.next()),
            _ if numbers[0].is_none() => numbers[0] = number(Some(argument)),
            _ => names.push(argument),
        }
    }
    let [Some(inputs), Some(seed)] = numbers else { bail!(Argument, "{USAGE}") };
    let known = |name: &String| TARGETS.iter().any(|(target, _)| target == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        bail!(Argument, "no target is named {unknown}; these are: {:?}", TARGETS.map(|(name, _)| name));
    }
    let wanted =
        TARGETS.iter().filter(|(name, _)| names.is_empty() || names.iter().any(|wanted| wanted == name));
    wanted.for_each(|target| fuzz(target, inputs, seed));
    Ok(())
}

/// Runs one target over its corpus and over `inputs` mutations. An input that fails is printed before the panic ends the program.
fn fuzz((name, target): &Target, inputs: u64, seed: u64) {
    let corpus = corpus(name);
    let mut random = Random(seed);
    let run = |input: &[u8]| {
        let failing = Failing(input);
        target(input);
        std::mem::forget(failing);
    };
    corpus.iter().for_each(|input| run(input));
    (0..inputs).for_each(|_| run(&random.mutant(&corpus)));
    println!("{name}: {} inputs of the corpus and {inputs} mutations, seed {seed}", corpus.len());
}

/// Prints its input when a target panics on it.
struct Failing<'i>(&'i [u8]);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        eprintln!("the input: b\"{}\"", self.0.escape_ascii());
    }
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut inputs: Vec<_> = files.filter_map(|file| fs::read(file.path()).ok()).collect();
    inputs.sort();
    inputs.push(Vec::new());
    inputs
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    /// A random input of the corpus with one to four changes.
    fn mutant(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(4) {
            let (a, b) = (self.below(input.len() + 1), self.below(input.len() + 1));
            let range = a.min(b)..a.max(b).min(a.min(b) + 16);
            match self.below(5) {
                0 => drop(input.drain(range)),
                1 => input.insert(a, self.below(256) as u8),
                2 => input[range].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1 << self.below(8))),
                3 => drop(input.splice(a..a, input[range].to_vec())),
                _ => {
                    let other = &corpus[self.below(corpus.len())];
                    let from = self.below(other.len() + 1);
                    let to = other.len().min(from + 1 + self.below(24));
                    drop(input.splice(range, other[from..to].iter().copied()));
                }
            }
        }
        input
    }
}
