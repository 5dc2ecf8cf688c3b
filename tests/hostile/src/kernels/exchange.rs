//! Memory that is shared with other libraries and files, kept after its tensor is gone or changed under it.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::Path;

use ndarray::{Array, ShapeBuilder};
use torch_library::Storage;
use torch_library::prelude::*;
use torch_library_kernels::data::dlpack::Managed;
use torch_library_kernels::data::ndarray::{from_array, to_array};
use torch_library_kernels::data::{npy, safetensors};
use torch_library_kernels::loader::Batches;
use torch_library_kernels::{aten, checkpoint};

use crate::harness::{allowed, assert_one_of, attempt, count, together};

const LEN: usize = count(1 << 14, 32);

fn replaced(x: &mut Tensor, value: f64) -> Result<()> {
    x.set_storage(Storage::from_vec(vec![value]), &[1], &[1], 0)
}

/// Memory lent by DLPack stays alive when the tensor gets other memory, and when it is dropped.
pub(crate) fn dlpack_outlives_its_tensor() -> Result<()> {
    let mut x = Tensor::from(vec![1.0; LEN]);
    let (managed, dropped) = (Managed::of(&x)?, Managed::of(&x)?);
    replaced(&mut x, 2.0)?;
    drop((x, dropped));
    let y = managed.into_tensor()?;
    assert_one_of(&y.to_vec::<f64>()?, &[1.0]);
    let mut again = Managed::of(&y)?.into_tensor()?;
    drop(y);
    again.fill(3.0)?;
    replaced(&mut again, 4.0)?;
    assert_eq!(again.to_vec::<f64>()?, [4.0]);
    Ok(())
}

/// Threads lend a tensor by DLPack and read it there, while others write, resize and replace it.
pub(crate) fn dlpack_while_moved() -> Result<()> {
    let x = Tensor::from(vec![1.0; LEN]);
    together(&[
        &|_| {
            let lent = allowed(Managed::of(&x)).and_then(|managed| allowed(managed.into_tensor()));
            if let Some(values) = lent.and_then(|lent| allowed(lent.to_vec::<f64>())) {
                assert_one_of(&values, &[1.0, 2.0]);
            }
        },
        &|round| {
            let (len, value) = [(LEN, 1.0), (1, 2.0)][round % 2];
            attempt(x.clone().set_storage(Storage::from_vec(vec![value; len]), &[len as i64], &[1], 0));
        },
        &|round| {
            if let Some(mut lent) = allowed(Managed::of(&x).and_then(Managed::into_tensor)) {
                attempt(lent.fill(1.0 + (round % 2) as f64));
            }
        },
    ]);
    Ok(())
}

/// Arrays of every stride are imported; arrays are exported while a tensor is written.
pub(crate) fn arrays_while_written() -> Result<()> {
    for (shape, strides) in [([2, 3], [3, 1]), ([2, 3], [1, 2]), ([1, 3], [100, 1]), ([3, 1], [1, 77]), ([0, 3], [1, 1])] {
        let room = shape[0] * strides[0] + shape[1] * strides[1] + 1;
        let array = Array::from_shape_vec((shape[0], shape[1]).strides((strides[0], strides[1])), vec![1.0; room]);
        let Ok(mut array) = array else { continue };
        for axis in [0, 1] {
            if let Some(x) = allowed(from_array(array.clone())) {
                assert!(x.to_vec::<f64>()?.iter().all(|value| *value == 1.0));
            }
            array.invert_axis(ndarray::Axis(axis));
        }
        if array.is_empty() {
            continue;
        }
        array.collapse_axis(ndarray::Axis(0), shape[0].saturating_sub(1));
        attempt(from_array(array));
    }
    let x = Tensor::from(vec![1.0; LEN]);
    let whole = aten::detach(&x)?; // keeps its sizes, so that every write covers all elements
    together(&[
        &|_| {
            if let Some(array) = allowed(to_array::<f64>(&x)) {
                assert_one_of(array.as_slice().unwrap_or_default(), &[0.0, 1.0]);
            }
        },
        &|round| attempt(whole.clone().fill((round % 2) as f64)),
        &|round| attempt(x.clone().set_geometry(&[[LEN as i64, 3][round % 2]], &[1], 0)),
    ]);
    Ok(())
}

/// Files whose headers promise more data than there is.
pub(crate) fn files_that_lie() -> Result<()> {
    let headers = [
        r#"{"x":{"dtype":"F64","shape":[4],"data_offsets":[0,32]}}"#,
        r#"{"x":{"dtype":"F64","shape":[4],"data_offsets":[0,8]}}"#,
        r#"{"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"y":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#,
        r#"{"x":{"dtype":"F64","shape":[9223372036854775807,9223372036854775807],"data_offsets":[0,8]}}"#,
        r#"{"x":{"dtype":"BOOL","shape":[8],"data_offsets":[0,8]}}"#,
        r#"{"x":{"dtype":"F64","shape":[0,9223372036854775807],"data_offsets":[0,0]}}"#,
        r#"{"x":{"dtype":"F64","shape":[1],"data_offsets":[8,0]}}"#,
    ];
    for header in headers {
        for claimed in [header.len() as u64, 1, u64::MAX] {
            let mut file = claimed.to_le_bytes().to_vec();
            file.extend(header.as_bytes());
            file.extend([255; 8]);
            for tensor in allowed(safetensors::from_bytes(&file)).unwrap_or_default().into_values() {
                assert!(!tensor.to_string().is_empty());
                attempt(aten::logical_not(&tensor));
            }
        }
    }
    for shape in ["(4,)", "(9223372036854775807,)", "(0, 9223372036854775807)", "(-1,)", "(4294967296, 4294967296)", "(1,"] {
        let header = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend([0; 8]);
        if let Some(tensor) = allowed(npy::read(&file[..])) {
            assert!(!tensor.to_string().is_empty());
        }
    }
    Ok(())
}

/// Files are cut off and grow again while they are read, in place of the writer's rename that `checkpoint::save` does.
pub(crate) fn files_that_shrink() -> Result<()> {
    let x = Tensor::from(vec![1.0; LEN]);
    let path = |extension: &str| {
        let name = format!("hostile-shrinks-{}.{extension}", std::process::id());
        std::env::temp_dir().join(name)
    };
    let [array, checkpoint] = [path("npy"), path("safetensors")];
    checkpoint::save(&checkpoint, &[("x".to_owned(), x.clone())])?;
    npy::write(&x, File::create(&array)?)?;
    let assert_read = |x: &Tensor| {
        let values = allowed(x.to_vec::<f64>()).unwrap_or_default();
        assert!(values.iter().all(|value| [0.0, 1.0].contains(value)));
    };
    let change = |path: &Path, len: u64, round: usize| {
        let file = OpenOptions::new().write(true).open(path)?;
        Ok::<(), Error>(file.set_len([len / 2, 2 * len, len][round % 3])?)
    };
    let [array_len, checkpoint_len] = [std::fs::metadata(&array)?.len(), std::fs::metadata(&checkpoint)?.len()];
    together(&[
        &|round| attempt(change(&array, array_len, round)),
        &|round| attempt(change(&checkpoint, checkpoint_len, round)),
        &|_| {
            let read = File::open(&array).map_err(Error::from).and_then(npy::read);
            allowed(read).iter().for_each(assert_read);
            allowed(checkpoint::read(&checkpoint)).iter().flat_map(BTreeMap::values).for_each(assert_read);
        },
        &|_| attempt(checkpoint::load(&checkpoint, &[("x".to_owned(), Tensor::from(vec![1.0; LEN]))])),
    ]);
    std::fs::remove_file(array)?;
    std::fs::remove_file(checkpoint)?;
    Ok(())
}

/// Checkpoints are saved and loaded while their tensors are written and moved.
pub(crate) fn files_while_written() -> Result<()> {
    let x = Tensor::from(vec![1.0; LEN]);
    let path = std::env::temp_dir().join(format!("hostile-{}.safetensors", std::process::id()));
    let named = || vec![("x".to_owned(), x.clone())];
    checkpoint::save(&path, &named())?;
    together(&[
        &|_| {
            let bytes = allowed(safetensors::to_bytes(&BTreeMap::from([("x".to_owned(), x.clone())])));
            let Some(read) = bytes.and_then(|bytes| allowed(safetensors::from_bytes(&bytes))) else { return };
            if let Some(values) = read.get("x").and_then(|x| allowed(x.to_vec::<f64>())) {
                assert!(values.iter().all(|value| [1.0, 2.0].contains(value)));
            }
        },
        &|_| attempt(checkpoint::load(&path, &named())),
        &|round| attempt(x.clone().fill(1.0 + (round % 2) as f64)),
        &|round| attempt(x.clone().set_geometry(&[[LEN as i64, 3][round % 2]], &[1], 0)),
    ]);
    std::fs::remove_file(path)?;
    Ok(())
}

/// Batches are taken while the tensors lose examples.
pub(crate) fn batches_while_moved() -> Result<()> {
    let (images, labels) = (Tensor::from(vec![1.0; LEN]), Tensor::from(vec![1i64; LEN]));
    let generator = Generator::with_seed(0);
    let takes = |round: usize| {
        let Some(batches) = allowed(Batches::new([&images, &labels], 7)) else { return };
        let batches = if round.is_multiple_of(2) { allowed(batches.shuffled(&generator)) } else { Some(batches) };
        for [images, labels] in batches.into_iter().flatten().take(20).filter_map(allowed) {
            assert_eq!(labels.dim(), images.dim());
            attempt(images.to_vec::<f64>());
        }
    };
    together(&[&takes, &takes, &|round| {
        for tensor in [&images, &labels] {
            attempt(tensor.clone().set_geometry(&[[LEN as i64, 3][round % 2]], &[1], 0));
        }
    }]);
    Ok(())
}

/// Bytes that are neither 0 nor 1, as bools, in every operator that takes them.
pub(crate) fn truths_of_any_bytes() -> Result<()> {
    let bytes: Vec<u8> = (0..LEN).map(|i| (i % 5) as u8 * 63).collect();
    let truths = bytes.iter().filter(|byte| **byte != 0).count() as i64;
    let storage = Storage::from_vec(bytes);
    let keys = DispatchKeySet::from_key(DispatchKey::CPU);
    let x = Tensor::from_storage(storage, &[LEN as i64], &[1], 0, DType::Bool, keys)?;
    let count_of = |x: &Tensor| -> Result<i64> { Ok(x.to_vec::<bool>()?.iter().filter(|truth| **truth).count() as i64) };
    assert_eq!(count_of(&x)?, truths);
    assert_eq!(count_of(&aten::logical_not(&x)?)?, LEN as i64 - truths);
    assert_eq!(count_of(&aten::bitwise_not(&x)?)?, LEN as i64 - truths);
    assert_eq!(aten::sum(&x)?.to_vec::<i64>()?, [truths]);
    assert_eq!(aten::nonzero(&x)?.sizes(), [truths, 1]);
    let numbers = Tensor::from(vec![1.0; LEN]);
    assert_eq!(aten::masked_select(&numbers, &x)?.sizes(), [truths]);
    assert_eq!(aten::sum(&aten::where_ScalarOther(&x, &numbers, 0.into())?)?.to_vec::<f64>()?, [truths as f64]);
    assert_eq!(aten::sum(&aten::add_Tensor(&x, &numbers)?)?.to_vec::<f64>()?, [(truths + LEN as i64) as f64]);
    assert_eq!(count_of(&aten::eq_Scalar(&x, 1.into())?)?, truths);
    let (values, _) = aten::sort(&x)?;
    assert_eq!(count_of(&values)?, truths);
    assert_eq!(count_of(&aten::index_Tensor(&x, &[Some(x.clone())])?)?, truths);
    assert_eq!(count_of(&aten::clone(&x)?)?, truths);
    assert_eq!(count_of(&aten::bitwise_and_Tensor(&x, &aten::logical_not(&aten::logical_not(&x)?)?)?)?, truths);
    assert!(aten::any(&x)?.to_vec::<bool>()?[0] && !aten::all(&x)?.to_vec::<bool>()?[0]);
    assert_eq!(aten::cumsum(&x, 0)?.to_vec::<i64>()?[LEN - 1], truths);
    assert_eq!(aten::_unique2(&x)?.0.sizes(), [2]);
    Ok(())
}
