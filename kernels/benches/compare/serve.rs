//! Rows, and how they are measured: those that a word names, or one after the other as another program asks.

use std::fmt::Display;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use crate::memory;

/// One call, again and again, on inputs that are there.
pub(crate) type Prepared<E> = Box<dyn Fn() -> Result<(), E>>;

/// A row of the table.
pub(crate) struct Row<E> {
    pub(crate) name: String,
    pub(crate) prepare: Box<dyn Fn() -> Result<Prepared<E>, E>>,
}

impl<E: 'static> Row<E> {
    /// Of its name, its inputs, and the call.
    pub(crate) fn new<I: 'static, R>(
        name: impl Into<String>,
        inputs: impl Fn() -> Result<I, E> + 'static,
        call: impl Fn(&I) -> Result<R, E> + Copy + 'static,
    ) -> Self {
        let prepare = move || -> Result<Prepared<E>, E> {
            let inputs = inputs()?;
            Ok(Box::new(move || call(black_box(&inputs)).map(|result| drop(black_box(result)))))
        };
        Row { name: name.into(), prepare: Box::new(prepare) }
    }
}

/// A sample is made of as many calls as fit in this time, so that reading the clock costs nothing.
const SAMPLE: Duration = Duration::from_micros(500);

/// Does what the arguments of the program say; `other` makes rows that are asked for by names that are not listed.
pub(crate) fn run<E: Display>(rows: &[Row<E>], other: impl Fn(&str) -> Option<Row<E>>) -> Result<(), E> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.iter().any(|word| word == "--names") {
        rows.iter().for_each(|row| println!("{}", row.name));
        return Ok(());
    }
    if words.iter().any(|word| word == "--serve") {
        serve(rows, other);
        return Ok(());
    }
    let is_wanted =
        |row: &&Row<E>| words.is_empty() || words.iter().any(|word| row.name.contains(word.as_str()));
    for row in rows.iter().filter(is_wanted) {
        let run = (row.prepare)()?;
        println!("{}", report(&row.name, peak(&run)?, samples(&run, Duration::from_millis(300))?));
    }
    Ok(())
}

/// Answers requests until there are no more.
fn serve<E: Display>(rows: &[Row<E>], other: impl Fn(&str) -> Option<Row<E>>) {
    let mut current: Option<(String, Prepared<E>, u64)> = None;
    for line in std::io::stdin().lock().lines().map_while(std::io::Result::ok) {
        let (name, budget) = line.split_once('\t').unwrap_or((&line, "100"));
        let budget = Duration::from_millis(budget.parse().unwrap_or(100));
        let mut answer = || -> Result<String, E> {
            if current.as_ref().is_none_or(|(current, ..)| *current != name) {
                drop(current.take()); // before the next row takes memory
                let made = other(name);
                if let Some(row) = rows.iter().find(|row| row.name == name).or(made.as_ref()) {
                    let run = (row.prepare)()?;
                    let peak = peak(&run)?;
                    current = Some((row.name.clone(), run, peak));
                }
            }
            let Some((name, run, peak)) = &current else { return Ok("{}".to_owned()) };
            Ok(report(name, *peak, samples(run, budget)?))
        };
        println!("{}", answer().unwrap_or_else(|error| format!("{{\"error\":{:?}}}", error.to_string())));
        std::io::stdout().flush().ok();
    }
}

fn report(name: &str, peak: u64, samples: Vec<f64>) -> String {
    let samples: Vec<String> = samples.iter().map(|ns| format!("{ns:.1}")).collect();
    let samples = samples.join(",");
    format!("{{\"row\":{name:?},\"peak\":{peak},\"ns\":[{samples}]}}")
}

/// By how many bytes the first call lets the process grow.
fn peak<E>(run: &Prepared<E>) -> Result<u64, E> {
    let before = memory::settle();
    run()?;
    Ok(memory::peak().saturating_sub(before))
}

/// Nanoseconds per call, several times.
fn samples<E>(run: &Prepared<E>, budget: Duration) -> Result<Vec<f64>, E> {
    run()?;
    let time = |calls: u32| -> Result<Duration, E> {
        let start = Instant::now();
        for _ in 0..calls {
            run()?;
        }
        Ok(start.elapsed())
    };
    let mut calls = 1;
    while calls < 1 << 20 && time(calls)? < SAMPLE {
        calls *= 2;
    }
    let (start, mut samples) = (Instant::now(), Vec::new());
    while samples.len() < 3 || start.elapsed() < budget {
        samples.push(time(calls)?.as_nanos() as f64 / f64::from(calls));
    }
    Ok(samples)
}
