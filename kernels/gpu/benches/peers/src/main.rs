//! Measures the same work with burn on wgpu and with candle on the CPU: the rows of `figures`, under the same names.
//! `--large` is as there, without candle.

#[path = "../../figures/measure.rs"]
mod measure;

mod of_burn;
mod of_candle;

use std::error::Error;

use measure::{Run, milliseconds};

/// A row of one side.
type Row = (&'static str, Run<Box<dyn Error>>);

fn main() -> Result<(), Box<dyn Error>> {
    let is_large = std::env::args().any(|word| word == "--large");
    let mut candle = if is_large || cfg!(feature = "fusion") { Vec::new() } else { of_candle::rows()? };
    for (name, mut run) in of_burn::rows(is_large)? {
        let burn = milliseconds(&mut [&mut run])?[0];
        let beside = match candle.iter_mut().find(|(other, _)| *other == name) {
            Some((_, run)) => format!("{:.3}", milliseconds(&mut [run])?[0]),
            None => "–".to_owned(),
        };
        println!("{name}|{burn:.3}|{beside}");
    }
    Ok(())
}

/// The same numbers as those of `figures`.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i as f32) * 0.77).sin()).collect()
}
