//! The training part of the program: epoch by epoch as the options say, and its results.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use torch_library::guard::no_grad;
use torch_library::{DType, Device, Result, Tensor, backend, bail, tracer};
use torch_library_aten::aten;
use torch_library_aten::prelude::*;

use crate::data::{CLASSES, SIDE};
use crate::output::print;
use crate::report::Table;
use crate::signals::Signals;
use crate::training::{Split, Training};
use crate::{curve, graph, network, per_example, picture};

/// The number of digits to draw, and of those whose gradients are measured.
const DRAWN: usize = 5;
const MEASURED: i64 = 64;

/// The options of the training.
pub(crate) struct Options {
    pub(crate) epochs: usize,
    pub(crate) seed: Option<i64>,
    pub(crate) device: Device,
    pub(crate) precision: Option<DType>,
    pub(crate) resume: Option<PathBuf>,
    pub(crate) checkpoint: Option<PathBuf>,
    pub(crate) predictions: Option<PathBuf>,
    pub(crate) curve: Option<PathBuf>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) per_example_grads: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            epochs: 15,
            seed: None,
            device: Device::CPU,
            precision: None,
            resume: None,
            checkpoint: None,
            predictions: None,
            curve: None,
            trace: None,
            per_example_grads: false,
        }
    }
}

/// Trains, and prints the results. Returns the exit code: 0, or that of the signal that ended the training.
///
/// # Errors
/// Too few digits, files that cannot be read or written, a checkpoint of other data or options.
pub(crate) fn run(images: &Tensor, labels: &Tensor, options: &Options) -> Result<u8> {
    let split = Split::new(images, labels)?;
    let (device, precision) = (backend::resolve(options.device)?, options.precision);
    let mut training = match &options.resume {
        Some(path) => Training::resume(path, &split.train, options.seed, precision, device)?,
        None => Training::new(&split.train, options.seed.unwrap_or(0), precision, device)?,
    };
    let checkpoint = options.checkpoint.as_ref().or(options.resume.as_ref());
    let checkpoint = checkpoint.cloned().map_or_else(|| beside_program("digits.safetensors"), Ok)?;
    let [learning, testing] = [&split.train, &split.test].map(|digits| digits.labels.numel());
    let signals = Signals::listen()?;
    print(&format!("\nLearning from {learning} digits, testing with {testing}\n\n"))?;
    train(&mut training, &split, options, &checkpoint, &signals)?;
    if let Some(code) = signals.exit_code() {
        let (path, progress) = (checkpoint.display(), training.progress());
        // If the terminal was closed, printing fails, which does not matter.
        let _ = print(&format!("  stopped after {progress}; `--resume {path}` goes on from there\n"));
        return Ok(code);
    }
    let found = training.network.classify(&split.test.images)?;
    print(&results(&split, &found)?)?;
    write(options, &training, &split, &found)?;
    print(&format!("  checkpoint: {}\n", checkpoint.display()))?;
    Ok(0)
}

/// Trains until there are enough epochs or a signal arrives. There is a valid checkpoint from the beginning on, and a
/// new one after each epoch.
fn train(
    training: &mut Training,
    split: &Split,
    options: &Options,
    checkpoint: &Path,
    signals: &Signals,
) -> Result<()> {
    training.save(checkpoint)?;
    while training.epochs() < options.epochs && signals.exit_code().is_none() {
        training.epoch(&split.train, || signals.exit_code().is_some())?;
        training.save(checkpoint)?;
        if signals.exit_code().is_some() {
            break;
        }
        let [learned, tested] = [&split.train, &split.test].map(|digits| {
            let found = training.network.classify(&digits.images)?;
            share(&found, &digits.labels)
        });
        print(&format!(
            "  epoch {:>2}  loss {:.4}  accuracy {:.1} %, in the test {:.1} %\n",
            training.epochs(),
            training.recent_loss(),
            learned?,
            tested?
        ))?;
    }
    Ok(())
}

/// The default path of a file: next to the program.
fn beside_program(name: &str) -> Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(name))
}

/// The percentage of labels that were predicted.
fn share(found: &[i64], labels: &Tensor) -> Result<f64> {
    let labels: Vec<i64> = labels.to_vec()?;
    let right = found.iter().zip(&labels).filter(|(found, label)| found == label).count();
    Ok(100.0 * right as f64 / labels.len() as f64)
}

/// Accuracy, confusion matrix and some digits, misclassified ones first.
fn results(split: &Split, found: &[i64]) -> Result<String> {
    let labels: Vec<i64> = split.test.labels.to_vec()?;
    let mut matrix = Table::default();
    let classes = 0..i64::from(CLASSES);
    matrix.push(["is".to_owned()].into_iter().chain(classes.clone().map(|class| format!("→ {class}"))));
    for class in classes.clone() {
        let taken_for =
            |other: i64| labels.iter().zip(found).filter(|pair| *pair == (&class, &other)).count();
        let counts = classes.clone().map(|other| match taken_for(other) {
            0 => ".".to_owned(),
            count => count.to_string(),
        });
        matrix.push([class.to_string()].into_iter().chain(counts));
    }

    let pixels: Vec<f32> = split.test.images.to_vec()?;
    let (wrong, right): (Vec<usize>, Vec<usize>) =
        (0..labels.len()).partition(|index| found[*index] != labels[*index]);
    let drawn = wrong.iter().take(DRAWN).chain(right.iter().take(DRAWN)).map(|index| {
        let (label, found) = (labels[*index], found[*index]);
        let title = if label == found { format!("{label}") } else { format!("{label}, taken for {found}") };
        (title, &pixels[index * SIDE * SIDE..][..SIDE * SIDE])
    });
    let pictures = picture::rows(&drawn.collect::<Vec<_>>(), SIDE, DRAWN);

    let accuracy = share(found, &split.test.labels)?;
    Ok(format!(
        "\n  accuracy in the test: {accuracy:.2} %, {} of {} wrong\n\n{matrix}\n{pictures}",
        wrong.len(),
        labels.len()
    ))
}

/// Writes the files that the options name, and the loss curve.
fn write(options: &Options, training: &Training, split: &Split, found: &[i64]) -> Result<()> {
    if options.per_example_grads {
        print(&gradients(training, split)?)?;
    }
    if let Some(path) = &options.predictions {
        let labels: Vec<i64> = split.test.labels.to_vec()?;
        let mut text = "row,class,prediction\n".to_owned();
        for ((row, label), found) in split.rows.iter().zip(&labels).zip(found) {
            let _ = writeln!(text, "{row},{label},{found}");
        }
        save("predictions", path, &text)?;
    }
    if let Some(path) = &options.trace {
        let inputs: Vec<_> = training
            .network
            .parameters
            .iter()
            .chain([&split.test.images.to(training.device)?])
            .cloned()
            .collect();
        let (_, graph) = no_grad(|| {
            tracer::trace(&inputs, |inputs| {
                let (images, parameters) = inputs.split_last().expect("the images come last");
                Ok(vec![network::logits(parameters, images)?])
            })
        })?;
        let is_dot = path.extension().is_some_and(|extension| extension == "dot");
        save("graph", path, &if is_dot { graph.to_dot() } else { graph::svg(&graph) })?;
    }
    let path = options.curve.clone().map_or_else(|| beside_program("digits-loss.svg"), Ok)?;
    save("loss curve", &path, &curve::svg(&training.losses, training.epochs()))
}

fn save(what: &str, path: &Path, text: &str) -> Result<()> {
    if let Err(error) = fs::write(path, text) {
        bail!(Io, "cannot write the {what} to {}: {error}", path.display());
    }
    print(&format!("  {what}: {}\n", path.display()))
}

/// The gradient norms of some digits, each by itself.
fn gradients(training: &Training, split: &Split) -> Result<String> {
    let count = MEASURED.min(split.test.labels.numel());
    let [images, labels] = [&split.test.images, &split.test.labels]
        .map(|all| aten::narrow(all, 0, 0, count)?.to(training.device));
    let norms = per_example::gradient_norms(&training.network.parameters, &images?, &labels?)?;
    let mut norms: Vec<(f32, i64)> =
        norms.to_vec::<f32>()?.into_iter().zip(split.rows.iter().copied()).collect();
    norms.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [least, middle, most] = [0, norms.len() / 2, norms.len() - 1].map(|index| norms[index]);
    Ok(format!(
        "  gradients of {count} test digits, each by itself: length {:.2e} (row {}) to {:.2e} (row {}), median {:.2e}\n",
        least.0, least.1, most.0, most.1, middle.0
    ))
}
