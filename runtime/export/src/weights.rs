//! Parameters, buffers and constants, as tensors over the memory of the archive.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use torch_library::prelude::*;
use torch_library::{Storage, limits};

use crate::archive::Archive;
use crate::kinds;
use crate::memory::Memory;
use crate::wire::{PayloadMeta, SymInt, TensorMeta};

/// The tensors of an archive by name, and the errors for those that are unsupported.
pub(crate) struct Weights {
    tensors: HashMap<String, Tensor>,
    /// The parts of tensors whose memory others view differently, by the identity of the tensor.
    shared: HashMap<usize, usize>,
    refused: HashMap<String, Error>,
}

/// The positions of an archive's tensors, before these are made.
pub(crate) struct Places {
    parts: Parts,
    wanted: Vec<Wanted>,
    refused: HashMap<String, Error>,
}

/// A tensor to be made.
struct Wanted {
    name: String,
    layout: Layout,
}

/// The position and type of a tensor. Two with equal layouts are one tensor.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Layout {
    /// The index of the part.
    part: usize,
    dtype: DType,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    offset: i64,
}

/// Records that contain tensors.
#[derive(Default)]
struct Parts {
    ranges: Vec<(Range<usize>, usize)>,
    of: HashMap<String, usize>,
}

impl Places {
    /// Finds the tensors of a program.
    ///
    /// # Errors
    /// Records are missing; a description is invalid; bytes are not valid values of their type.
    pub(crate) fn new(archive: &Archive<'_>, model: &str) -> Result<Places> {
        let (mut parts, mut wanted, mut refused) = (Parts::default(), Vec::new(), HashMap::new());
        for folder in ["weights", "constants"] {
            for (name, meta) in archive.payload(folder, model).map_err(crate::refused)? {
                match want(archive, folder, &name, &meta, &mut parts) {
                    Ok(tensor) => wanted.push(tensor),
                    Err(error) => drop(refused.insert(name, error)),
                }
            }
        }
        check_bools(archive.bytes(), &parts, &wanted)?;
        Ok(Places { parts, wanted, refused })
    }
}

impl Weights {
    /// Makes the tensors over the memory of an archive. Those of one record share its memory; those with equal layouts
    /// are one tensor.
    ///
    /// # Errors
    /// Records overlap, or are too small for the tensors.
    pub(crate) fn new(memory: Memory, places: Places) -> Result<Weights> {
        let Places { parts, wanted, refused } = places;
        let storages = memory.into_storages(&parts.ranges)?;
        let mut made: HashMap<Layout, Tensor> = HashMap::new();
        let mut counts = vec![0; storages.len()];
        let mut tensors = HashMap::new();
        for Wanted { name, layout } in wanted {
            let tensor = match made.get(&layout) {
                Some(tensor) => tensor.clone(),
                None => tensor(storages[layout.part].clone(), &layout)
                    .map_err(|error| error.context(format_args!("weight {:?}", crate::shortened(&name))))?,
            };
            counts[layout.part] += usize::from(made.insert(layout.clone(), tensor.clone()).is_none());
            tensors.insert(name, tensor);
        }
        let shared = made.iter().filter(|(layout, _)| counts[layout.part] > 1);
        let shared = shared.map(|(layout, tensor)| (tensor.id(), layout.part)).collect();
        Ok(Weights { tensors, shared, refused })
    }

    /// The part of the archive with a tensor, if other tensors view the same part differently.
    pub(crate) fn shared_part(&self, tensor: &Tensor) -> Option<usize> {
        self.shared.get(&tensor.id()).copied()
    }

    /// A tensor of the program.
    ///
    /// # Errors
    /// The program has no tensor with this name, or it is unsupported.
    pub(crate) fn get(&mut self, name: &str) -> Result<Tensor> {
        match (self.tensors.get(name), self.refused.remove(name)) {
            (Some(tensor), _) => Ok(tensor.clone()),
            (None, Some(error)) => Err(error.context(format_args!("weight {:?}", crate::shortened(name)))),
            (None, None) => bail!(Argument, "the archive has no weight {:?}", crate::shortened(name)),
        }
    }
}

fn tensor(storage: Storage, layout: &Layout) -> Result<Tensor> {
    let Layout { sizes, strides, offset, dtype, .. } = layout;
    let keys = DispatchKeySet::of_tensor(DispatchKey::CPU);
    Tensor::from_storage(storage, sizes, strides, *offset, *dtype, keys)
}

fn want(
    archive: &Archive<'_>,
    folder: &str,
    name: &str,
    meta: &PayloadMeta,
    parts: &mut Parts,
) -> Result<Wanted> {
    let Some(tensor) = &meta.tensor_meta else {
        bail!(NotSupported, "it is a Python object, which only Python can read")
    };
    ensure!(
        !meta.use_pickle,
        NotSupported,
        "it is a pickled tensor of a custom class, which only Python can read"
    );
    let (sizes, strides, offset) = geometry(tensor)?;
    let dtype = kinds::dtype(tensor.dtype)?;
    kinds::layout(tensor.layout)?;
    let path = format!("data/{folder}/{}", meta.path_name);
    let Some(range) = archive.range(&path) else {
        bail!(Argument, "the archive has no record {:?}", crate::shortened(&path))
    };
    let part = *parts.of.entry(path).or_insert_with(|| {
        parts.ranges.push((range, 1));
        parts.ranges.len() - 1
    });
    let align = &mut parts.ranges[part].1;
    *align = (*align).max(dtype.align());
    Ok(Wanted { name: name.to_owned(), layout: Layout { part, dtype, sizes, strides, offset } })
}

/// Sizes, strides and offset of a weight, which must be constants.
fn geometry(meta: &TensorMeta) -> Result<(Vec<i64>, Vec<i64>, i64)> {
    let number = |size: &SymInt| match size {
        SymInt::AsInt(number) => Ok(*number),
        SymInt::AsExpr(expression) => {
            bail!(
                Argument,
                "the size of a weight is {:?}, expected a number",
                crate::shortened(&expression.expr_str)
            )
        }
    };
    let numbers = |list: &[SymInt]| {
        ensure!(
            list.len() <= limits::DIMENSIONS,
            Shape,
            "{} dimensions, at most {} are supported",
            list.len(),
            limits::DIMENSIONS
        );
        list.iter().map(number).collect::<Result<Vec<_>>>()
    };
    Ok((numbers(&meta.sizes)?, numbers(&meta.strides)?, number(&meta.storage_offset)?))
}

/// Checks that bytes of bools are 0 or 1, and stay so: no tensor of another type is in the same record.
fn check_bools(file: &[u8], parts: &Parts, wanted: &[Wanted]) -> Result<()> {
    let (mut bools, mut others) = (BTreeMap::new(), BTreeMap::new());
    for tensor in wanted {
        let tensors = if tensor.layout.dtype == DType::Bool { &mut bools } else { &mut others };
        tensors.entry(tensor.layout.part).or_insert(tensor);
    }
    // Each record once, however many tensors are in it.
    for (part, tensor) in bools {
        let name = crate::shortened(&tensor.name);
        if let Some(other) = others.get(&part) {
            bail!(
                NotSupported,
                "weights {name:?} and {:?}, of bool and {}, share memory",
                crate::shortened(&other.name),
                other.layout.dtype
            )
        }
        let bytes = &file[parts.ranges[part].0.clone()];
        if let Some(byte) = bytes.iter().find(|byte| **byte > 1) {
            bail!(Argument, "weight {name:?}: the byte {byte} is not a bool, expected 0 or 1")
        }
    }
    Ok(())
}
