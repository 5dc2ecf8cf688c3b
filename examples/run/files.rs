//! Reads inputs from files, and writes outputs to files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use torch_library::prelude::*;
use torch_library_export::Program;
use torch_library_kernels::data::{npy, safetensors};

use crate::arguments::Arguments;

/// The inputs of a program: from one file, from the file next to the archive, or each from a file of its own.
pub(crate) fn inputs(program: &Program, arguments: &Arguments) -> Result<Vec<Tensor>> {
    let names = || {
        let names: Vec<_> = program.inputs().iter().map(|input| format!("  {input}")).collect();
        names.join("\n")
    };
    let beside = arguments.model.with_extension("inputs.safetensors");
    let path = match &arguments.inputs {
        Some(path) => Some(path.as_path()),
        None if arguments.input.is_empty() && beside.exists() => Some(beside.as_path()),
        None => None,
    };
    let mut inputs: Vec<Option<Tensor>> = match path {
        Some(path) => read(path)?.into_iter().map(Some).collect(),
        None => vec![None; program.inputs().len()],
    };
    for pair in &arguments.input {
        let Some((name, path)) = pair.split_once('=') else {
            bail!(Argument, "--input {pair}: NAME=FILE.npy is expected")
        };
        let place = program.inputs().iter().position(|input| input.name == name || input.path == name);
        let Some(place) = place.filter(|place| *place < inputs.len()) else {
            bail!(Argument, "there is no input {name:?}; the program takes\n{}", names())
        };
        let read =
            File::open(path).map_err(Error::from).and_then(|file| npy::read(std::io::BufReader::new(file)));
        inputs[place] = Some(read.map_err(|error| error.context(path))?);
    }
    let given = inputs.into_iter().zip(program.inputs().iter().map(Some).chain(std::iter::repeat(None)));
    let given = given.map(|(tensor, input)| match (tensor, input) {
        (Some(tensor), _) => to_device(tensor, arguments.device),
        (None, Some(input)) => {
            bail!(Argument, "input `{}` is missing; the program takes\n{}", input.name, names())
        }
        (None, None) => bail!(Argument, "the program takes\n{}", names()),
    });
    given.collect()
}

fn to_device(tensor: Tensor, device: Device) -> Result<Tensor> {
    if device == Device::CPU {
        return Ok(tensor);
    }
    torch_library_kernels::aten::_to_copy::with(&tensor).device(Some(device)).call()
}

/// The tensors of a file, in the order of their names: 99 precedes 100.
pub(crate) fn read(path: &Path) -> Result<Vec<Tensor>> {
    let read = fs::read(path).map_err(Error::from).and_then(|file| safetensors::from_bytes(&file));
    let mut tensors: Vec<_> = read.map_err(|error| error.context(path.display()))?.into_iter().collect();
    tensors.sort_by_key(|(name, _)| name.parse::<u64>().unwrap_or(u64::MAX)); // stable: texts stay in their order
    Ok(tensors.into_iter().map(|(_, tensor)| tensor).collect())
}

/// Writes tensors to a file, named by their positions, with as many digits as the last one needs.
pub(crate) fn write(path: &Path, tensors: &[Tensor]) -> Result<()> {
    let digits = tensors.len().saturating_sub(1).to_string().len().max(2);
    let named =
        tensors.iter().enumerate().map(|(place, tensor)| (format!("{place:0digits$}"), tensor.clone()));
    let file = safetensors::to_bytes(&named.collect::<BTreeMap<_, _>>())?;
    fs::write(path, file).map_err(|error| Error::from(error).context(path.display()))
}
