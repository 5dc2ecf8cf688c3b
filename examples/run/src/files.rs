//! Reads inputs from files, and writes outputs to files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use torch_library::prelude::*;
use torch_library_export::{Input, Kind, Program};
use torch_library_kernels::data::{npy, safetensors};

use crate::arguments::Arguments;
use crate::constants;

/// The inputs of a program: from one file, from the file next to the archive, or each from a file of its own.
pub(crate) fn inputs(program: &Program, arguments: &Arguments) -> Result<Vec<Tensor>> {
    let beside = arguments.model.with_extension("inputs.safetensors");
    let path = match &arguments.inputs {
        Some(path) => Some(path.as_path()),
        None if arguments.input.is_empty() && beside.exists() => Some(beside.as_path()),
        None => None,
    };
    let mut inputs = match path {
        Some(path) => placed(tensors(path)?, program).map_err(|error| error.context(path.display()))?,
        None => vec![None; program.inputs().len()],
    };
    let mut named = BTreeSet::new();
    for pair in &arguments.input {
        let Some((name, given)) = pair.split_once('=') else {
            bail!(Argument, "--input {pair}: NAME=FILE.npy or NAME=VALUE is expected")
        };
        if let Some(constant) = program.constant(name) {
            constants::check_text(name, constant, given)?;
            continue;
        }
        let place = place(program, name)?;
        ensure!(named.insert(place), Argument, "--input {pair}: the input {name:?} is given more than once");
        ensure!(place < inputs.len(), Argument, "input {name:?} and those before it are not in the file");
        inputs[place] = Some(one(&program.inputs()[place], given)?);
    }
    let given = inputs.into_iter().zip(program.inputs().iter().map(Some).chain(std::iter::repeat(None)));
    let given = given.map(|(tensor, input)| match (tensor, input) {
        (Some(tensor), _) => to_device(tensor, arguments.device),
        (None, Some(input)) => {
            bail!(Argument, "input `{}` is missing; the program takes\n{}", input.name, listed(program))
        }
        (None, None) => bail!(Argument, "the program takes\n{}", listed(program)),
    });
    given.collect()
}

/// A single input: a number that is written out where the program takes one, or the tensor in a file.
fn one(input: &Input, given: &str) -> Result<Tensor> {
    let dtype = match &input.kind {
        Kind::Number => None,
        Kind::Tensor { dtype, sizes } if sizes.is_empty() => Some(*dtype),
        _ => {
            return read(given)
                .map_err(|error| error.context(format_args!("input `{input}`: file {given:?}")));
        }
    };
    match (constants::number(given), dtype) {
        (Some(number), None) => Ok(number),
        (Some(number), Some(dtype)) => constants::converted(&number, dtype)
            .map_err(|error| error.context(format_args!("input `{}`", input.name))),
        (None, _) => read(given).map_err(|error| error.context(given)),
    }
}

fn read(path: &str) -> Result<Tensor> {
    npy::read(std::io::BufReader::new(File::open(path)?))
}

/// The arguments, for people.
fn listed(program: &Program) -> String {
    let names: Vec<_> = program.arguments().iter().map(|input| format!("  {input}")).collect();
    names.join("\n")
}

/// The place of the input with this name or path.
fn place(program: &Program, name: &str) -> Result<usize> {
    let place = program.inputs().iter().position(|input| input.name == name || input.path == name);
    let Some(place) = place else {
        bail!(Argument, "there is no input {name:?}; the program takes\n{}", listed(program))
    };
    Ok(place)
}

/// The tensors of a file in the places of the inputs that they are for: in the order of their names if all of these are
/// numbers, by name otherwise. An order of texts is not that of the inputs. Constants may be among them, and numbers may
/// be missing, if all of them are.
fn placed(tensors: BTreeMap<String, Tensor>, program: &Program) -> Result<Vec<Option<Tensor>>> {
    if tensors.keys().all(|name| number(name).is_some()) {
        let mut tensors = in_order(tensors).into_iter();
        let is_tensor = |input: &Input| matches!(input.kind, Kind::Tensor { .. });
        let only_tensors = program.inputs().iter().filter(|input| is_tensor(input)).count() == tensors.len();
        if tensors.len() < program.inputs().len() && only_tensors {
            let inputs = program.inputs().iter();
            return Ok(inputs.map(|input| if is_tensor(input) { tensors.next() } else { None }).collect());
        }
        if tensors.len() != program.arguments().len() {
            return Ok(tensors.map(Some).collect());
        }
        let mut inputs = Vec::new();
        for (tensor, argument) in tensors.zip(program.arguments()) {
            match program.constant(&argument.path) {
                Some(constant) => constants::check(&argument.path, constant, &tensor)?,
                None => inputs.push(Some(tensor)),
            }
        }
        return Ok(inputs);
    }
    let mut inputs = vec![None; program.inputs().len()];
    for (name, tensor) in tensors {
        match program.constant(&name) {
            Some(constant) => constants::check(&name, constant, &tensor)?,
            None => inputs[place(program, &name)?] = Some(tensor),
        }
    }
    Ok(inputs)
}

fn to_device(tensor: Tensor, device: Device) -> Result<Tensor> {
    if device == Device::CPU {
        return Ok(tensor);
    }
    torch_library_kernels::aten::_to_copy::with(&tensor).device(device).call()
}

/// The tensors of a file in the places of a program's outputs: in the order of their names if all of these are numbers, by
/// the outputs' names otherwise.
pub(crate) fn outputs(path: &Path, program: &Program) -> Result<Vec<Tensor>> {
    let tensors = tensors(path)?;
    if tensors.keys().all(|name| number(name).is_some()) {
        return Ok(in_order(tensors));
    }
    let tensors_of_program =
        program.outputs().iter().filter(|output| matches!(output.kind, Kind::Tensor { .. }));
    let names: Vec<String> = tensors_of_program.map(|output| plain(&output.name())).collect();
    let mut outputs = vec![None; names.len()];
    for (name, tensor) in tensors {
        let place = names.iter().position(|known| *known == plain(&name));
        let Some(place) = place else {
            bail!(Argument, "{}: there is no output {name:?}, there are {names:?}", path.display())
        };
        outputs[place] = Some(tensor);
    }
    let missing = |at: usize| {
        let message = format!("{}: the output {:?} is missing", path.display(), names[at]);
        Error::new(ErrorKind::Argument, message)
    };
    outputs.into_iter().enumerate().map(|(at, tensor)| tensor.ok_or_else(|| missing(at))).collect()
}

/// A path in Python as one word: `logits` for `['logits']`, `cache.0` for `.cache[0]`.
fn plain(path: &str) -> String {
    let word = path.replace("']", "").replace("['", ".").replace(']', "").replace('[', ".");
    word.trim_start_matches('.').to_owned()
}

fn tensors(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    let read = fs::read(path).map_err(Error::from).and_then(|file| safetensors::from_bytes(&file));
    read.map_err(|error| error.context(path.display()))
}

/// Tensors in the order of their names: 99 precedes 100.
fn in_order(tensors: BTreeMap<String, Tensor>) -> Vec<Tensor> {
    let mut tensors: Vec<_> = tensors.into_iter().collect();
    tensors.sort_by_key(|(name, _)| number(name).unwrap_or(u64::MAX)); // stable: texts stay in their order
    tensors.into_iter().map(|(_, tensor)| tensor).collect()
}

fn number(name: &str) -> Option<u64> {
    name.parse().ok()
}

/// Writes tensors to a file, named by their positions, with as many digits as the last one needs.
pub(crate) fn write(path: &Path, tensors: &[Tensor]) -> Result<()> {
    let digits = tensors.len().saturating_sub(1).to_string().len().max(2);
    let named =
        tensors.iter().enumerate().map(|(place, tensor)| (format!("{place:0digits$}"), tensor.clone()));
    let file = safetensors::to_bytes(&named.collect::<BTreeMap<_, _>>())?;
    fs::write(path, file).map_err(|error| Error::from(error).context(path.display()))
}
