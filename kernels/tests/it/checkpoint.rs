//! Checkpoints: round trips, refusing files that do not fit, and detecting damage.
#![cfg(feature = "safetensors")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use torch_library::prelude::*;
use torch_library_kernels::checkpoint::{self, Checkpoint};
use torch_library_kernels::data::safetensors;
use torch_library_kernels::prelude::*;

/// No tensors.
const NOTHING: [(&str, Tensor); 0] = [];

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn named(name: &str, tensor: &Tensor) -> (String, Tensor) {
    (name.to_owned(), tensor.clone())
}

/// An error without the name of the file.
fn refusal<T>(path: &Path, result: Result<T>) -> String {
    let Err(error) = result else { panic!("{} passed", path.display()) };
    error.to_string().replace(path.to_str().expect("a plain path"), "FILE")
}

#[test]
fn checkpoints_keep_every_type_and_shape() -> Result<()> {
    let path = file("types.safetensors");
    let dtypes = [DType::Bool, DType::UInt8, DType::Int16, DType::Int64, DType::BFloat16, DType::Float64];
    let mut saved = vec![
        ("transposed".to_owned(), Tensor::from([[1f32, 2.0], [3.0, 4.0]]).t()?),
        ("nothing".to_owned(), Tensor::zeros(&[0, 3], DType::Float32, Device::CPU)?),
        ("number".to_owned(), Tensor::from(7i64)),
    ];
    for dtype in dtypes {
        saved.push((dtype.to_string(), Tensor::from([0.0, 1.0, 1.0]).to_dtype(dtype)?));
    }
    checkpoint::save(&path, &saved)?;
    let found = checkpoint::read(&path)?;
    assert_eq!(found.len(), saved.len());
    for (name, tensor) in &saved {
        let found = &found[name];
        assert_eq!((found.sizes(), found.dtype()), (tensor.sizes(), tensor.dtype()), "{name}");
        let [ours, theirs] = [found, tensor].map(|tensor| tensor.to_dtype(DType::Float64)?.to_vec::<f64>());
        assert_eq!(ours?, theirs?, "{name}");
    }
    Ok(())
}

#[test]
fn what_does_not_fit_a_checkpoint_is_refused_whole() -> Result<()> {
    let path = file("refused.safetensors");
    let (a, b) = (Tensor::from([1f32, 2.0]), Tensor::from([3f32]));
    checkpoint::save(&path, &[named("a", &a), named("b", &b)])?;
    let refusal = |wanted: &[(String, Tensor)]| refusal(&path, checkpoint::load(&path, wanted));
    let zero = Tensor::from([0f32, 0.0]);
    assert_eq!(
        refusal(&[named("a", &zero), named("b", &zero)]),
        "FILE: \"b\" is float32 of sizes [1], expected float32 of sizes [2]"
    );
    assert_eq!(zero.to_vec::<f32>()?, [0.0, 0.0], "not even what fits is written");
    assert_eq!(refusal(&[named("c", &zero)]), "FILE has no tensor \"c\", it has a, b");
    assert_eq!(
        refusal(&[named("a", &zero)]),
        "FILE has tensors that were not requested: b\n  help: `checkpoint::load_partial` leaves them out"
    );
    assert_eq!(
        refusal(&[named("a", &zero), named("a", &zero)]),
        "two tensors of a checkpoint have the name \"a\""
    );
    assert_eq!(zero.to_vec::<f32>()?, [0.0, 0.0], "not even what fits is written");
    std::fs::write(&path, b"no such file")?;
    assert!(refusal(&[]).starts_with("FILE: safetensors: "), "{}", refusal(&[]));
    let error = checkpoint::save(&path, &[named("a", &a), named("a", &b)]).unwrap_err().to_string();
    assert_eq!(error, "two tensors of a checkpoint have the name \"a\"");
    let error = checkpoint::save(&path, &[named("c", &Tensor::from(Complex64::new(1.0, 0.0)))]).unwrap_err();
    assert!(error.to_string().starts_with("tensor \"c\": safetensors has no complex128"), "{error}");
    Ok(())
}

#[test]
fn a_part_of_a_checkpoint_can_be_loaded_and_the_rest_is_named() -> Result<()> {
    let path = file("partial.safetensors");
    let (a, b, c) = (Tensor::from([1f32, 2.0]), Tensor::from([3f32]), Tensor::from([4f32]));
    checkpoint::save(&path, &[named("a", &a), named("b", &b), named("c", &c)])?;
    let (zero, other, more) = (Tensor::from([0f32, 0.0]), Tensor::from([7f32]), Tensor::from([8f32]));
    let keys = checkpoint::load_partial(&path, &[named("z", &other), named("y", &more), named("a", &zero)])?;
    assert_eq!((keys.missing_keys, keys.unexpected_keys), (names(&["y", "z"]), names(&["b", "c"])));
    assert_eq!((zero.to_vec::<f32>()?, other.to_vec::<f32>()?), (vec![1.0, 2.0], vec![7.0]));

    let all = [named("a", &zero), named("b", &other), named("c", &more)];
    assert_eq!(Checkpoint::open(&path)?.load_partial(&all)?, Default::default());
    assert_eq!((other.to_vec::<f32>()?, more.to_vec::<f32>()?), (vec![3.0], vec![4.0]));

    // What both sides have must fit, or nothing is written.
    let (first, second) = (Tensor::from([0f32, 0.0]), Tensor::from([0f64]));
    let wanted = [named("a", &first), named("b", &second), named("z", &other)];
    assert_eq!(
        refusal(&path, checkpoint::load_partial(&path, &wanted)),
        "FILE: \"b\" is float32 of sizes [1], expected float64 of sizes [1]"
    );
    assert_eq!(first.to_vec::<f32>()?, [0.0, 0.0]);
    let twice = [named("a", &first), named("a", &zero)];
    assert_eq!(
        refusal(&path, checkpoint::load_partial(&path, &twice)),
        "two tensors of a checkpoint have the name \"a\""
    );
    Ok(())
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn no_type_is_converted() -> Result<()> {
    let path = file("dtypes.safetensors");
    let dtypes = [
        DType::Float16,
        DType::BFloat16,
        DType::Float32,
        DType::Float64,
        DType::Int32,
        DType::Int64,
        DType::Complex64,
    ];
    for there in dtypes {
        checkpoint::save(&path, &[named("x", &Tensor::from([1.0, 2.0]).to_dtype(there)?)])?;
        assert_eq!(checkpoint::read(&path)?["x"].dtype(), there);
        for here in dtypes.into_iter().filter(|here| *here != there) {
            let x = Tensor::from([0.0, 0.0]).to_dtype(here)?;
            assert_eq!(
                refusal(&path, checkpoint::load(&path, &[named("x", &x)])),
                format!("FILE: \"x\" is {there} of sizes [2], expected {here} of sizes [2]")
            );
            assert_eq!(x.to_dtype(DType::Float64)?.to_vec::<f64>()?, [0.0, 0.0]);
        }
    }
    Ok(())
}

/// A small file with everything that a file can have.
fn small(name: &str) -> Result<(PathBuf, Vec<u8>)> {
    let path = file(name);
    let tensors =
        [named("weight", &Tensor::from([[1f32, -2.0], [3.5, 0.0]])), named("step", &Tensor::from(7i64))];
    checkpoint::save_with(
        &path,
        &tensors,
        &[("batch", "32".to_owned()), ("a \"setting\"", "ü\n".to_owned())],
    )?;
    let bytes = fs::read(&path)?;
    Ok((path, bytes))
}

#[test]
fn every_bit_of_a_file_counts() -> Result<()> {
    let path = file("bits.safetensors");
    checkpoint::save_with(&path, &[named("x", &Tensor::from(1f32))], &[("seed", "5".to_owned())])?;
    let whole = fs::read(&path)?;
    checkpoint::read(&path)?;
    for (at, bit) in (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << bit;
        fs::write(&path, &damaged)?;
        let Err(error) = checkpoint::read(&path) else { panic!("bit {bit} of byte {at} does not matter") };
        let error = error.to_string();
        assert!(
            error.starts_with(&format!("{}: ", path.display())) && error.len() < 1000,
            "byte {at}: {error}"
        );
    }
    Ok(())
}

#[test]
fn a_damaged_file_is_called_so() -> Result<()> {
    let (path, whole) = small("damaged.safetensors")?;
    let written =
        String::from_utf8_lossy(&whole[8..]).split_once("crc32:").expect("a checksum").1[..8].to_owned();
    let mut damaged = whole.clone();
    *damaged.last_mut().expect("there are bytes") ^= 1;
    fs::write(&path, &damaged)?;
    let error = refusal(&path, checkpoint::read(&path));
    let expected =
        format!("FILE: the file is damaged: its checksum is \"{written}\", that of its bytes is \"");
    assert!(error.starts_with(&expected), "{error}");
    // Only one of the two entries that mark a checksum: a file without a checksum has neither.
    fs::write(&path, String::from_utf8_lossy(&whole).replacen("checksum", "checksun", 1))?;
    let error = refusal(&path, checkpoint::read(&path));
    assert!(error.starts_with("FILE: "), "{error}");
    Ok(())
}

#[test]
fn a_file_of_any_other_length_is_refused() -> Result<()> {
    let (path, whole) = small("lengths.safetensors")?;
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length])?;
        assert!(refusal(&path, checkpoint::read(&path)).starts_with("FILE: "), "{length} bytes");
    }
    fs::write(&path, [&whole[..], b"\0"].concat())?;
    let error = refusal(&path, checkpoint::read(&path));
    assert_eq!(
        error,
        "FILE: safetensors: the header is that of a file with 24 bytes of elements, there are 25"
    );
    Ok(())
}

#[test]
fn checkpoints_are_files_that_others_read() -> Result<()> {
    let (path, bytes) = small("others.safetensors")?;
    let header = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    assert_eq!(header % 8, 0, "elements are aligned");
    let text = std::str::from_utf8(&bytes[8..][..header as usize]).expect("JSON is text");
    let (_, rest) = text.split_once("crc32:").expect("a checksum");
    assert_eq!(
        rest[8..].trim_end(),
        r#"","writer":"torch-library","batch":"32","a \"setting\"":"ü\n"},"step":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"weight":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]}}"#
    );
    let tensors = safetensors::from_bytes(&bytes)?;
    assert_eq!(tensors["weight"].to_vec::<f32>()?, [1.0, -2.0, 3.5, 0.0]);
    let settings = Checkpoint::open(&path)?.settings().clone();
    assert_eq!(
        settings.into_iter().collect::<Vec<_>>(),
        [("a \"setting\"".to_owned(), "ü\n".to_owned()), ("batch".to_owned(), "32".to_owned())]
    );
    checkpoint::save(&path, &NOTHING)?;
    assert!(checkpoint::read(&path)?.is_empty());
    Ok(())
}

#[test]
fn files_without_a_checksum_are_read_as_they_are() -> Result<()> {
    let path = file("elsewhere.safetensors");
    fs::write(&path, safetensors::to_bytes(&BTreeMap::from([named("x", &Tensor::from([1.0]))]))?)?;
    let found = Checkpoint::open(&path)?;
    assert_eq!((found.tensors()["x"].to_vec::<f64>()?, found.settings().len()), (vec![1.0], 0));
    // The metadata of a checkpoint in a file that another program wrote.
    let header =
        br#"{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"__metadata__":{"writer":"torch-library"}}"#;
    fs::write(&path, [&(header.len() as u64).to_le_bytes()[..], header, b"\x07"].concat())?;
    assert_eq!(
        refusal(&path, checkpoint::read(&path)),
        "FILE: the file is damaged, or another program rewrote it: its metadata announces a checksum, which is not \
         in its place\n  \
         help: without \"checksum\" and \"writer\" in its metadata it is read as it is"
    );
    Ok(())
}

#[test]
fn other_settings_are_told_apart() -> Result<()> {
    let path = file("settings.safetensors");
    let settings = |batch: &str, seed: &str| [("batch", batch.to_owned()), ("seed", seed.to_owned())];
    checkpoint::save_with(&path, &NOTHING, &settings("32", "5"))?;
    let there = Checkpoint::open(&path)?;
    there.expect_settings(&settings("32", "5"))?;
    assert_eq!(
        refusal(&path, there.expect_settings(&settings("64", "6"))),
        "FILE was written with other settings:\n  batch: there \"32\", here \"64\"\n  seed: there \"5\", here \"6\""
    );
    assert_eq!(
        refusal(&path, there.expect_settings(&[("batch", "32".to_owned()), ("order", "none".to_owned())])),
        "FILE was written with other settings:\n  order: there nothing, here \"none\"\n  seed: there \"5\", here nothing"
    );
    for name in ["batch", "checksum", "writer"] {
        let twice = [("batch", String::new()), (name, String::new())];
        assert_eq!(
            refusal(&path, checkpoint::save_with(&path, &NOTHING, &twice)),
            format!("two settings of a checkpoint have the name {name:?}")
        );
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_file_is_replaced_never_written_in_place() -> Result<()> {
    let path = file("replaced.safetensors");
    checkpoint::save(&path, &[named("x", &Tensor::from([1.0]))])?;
    let (old, mut still_open) = (fs::read(&path)?, File::open(&path)?);
    checkpoint::save(&path, &[named("x", &Tensor::from([2.0]))])?;
    let mut through_the_old_name = Vec::new();
    still_open.read_to_end(&mut through_the_old_name)?;
    assert_eq!(through_the_old_name, old, "who reads the old file reads all of it");
    assert_eq!(checkpoint::read(&path)?["x"].to_vec::<f64>()?, [2.0]);
    Ok(())
}

#[test]
fn several_save_at_once_and_readers_find_whole_files() -> Result<()> {
    let folder = file("at-once");
    fs::create_dir_all(&folder)?;
    let path = folder.join("x.safetensors");
    let state = |thread: u8| [named("x", &Tensor::from(vec![thread; 5000]))];
    checkpoint::save(&path, &state(0))?;
    let is_over = AtomicBool::new(false);
    let check = || {
        let x: Vec<u8> = checkpoint::read(&path)?["x"].to_vec()?;
        assert!(x.len() == 5000 && x.iter().all(|byte| *byte == x[0]), "a mixture");
        Ok::<_, Error>(())
    };
    thread::scope(|scope| {
        let (path, state) = (&path, &state);
        let writers: Vec<_> = (1..5u8)
            .map(|thread| {
                scope.spawn(move || (0..8).try_for_each(|_| checkpoint::save(path, &state(thread))))
            })
            .collect();
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                check()?;
            }
            Ok::<_, Error>(())
        });
        let written = writers.into_iter().try_for_each(|writer| writer.join().expect("no panic"));
        is_over.store(true, Ordering::Relaxed);
        reader.join().expect("no panic").and(written)
    })?;
    let left: Vec<_> =
        fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?;
    assert_eq!(left, ["x.safetensors"]);
    Ok(())
}

#[test]
fn places_that_cannot_be_written_to_are_named() -> Result<()> {
    let path = file("no-such-folder").join("x.safetensors");
    let error = refusal(&path, checkpoint::save(&path, &NOTHING));
    assert!(error.starts_with("cannot write FILE: "), "{error}");
    let path = file("a-folder");
    fs::create_dir_all(&path)?;
    assert_eq!(
        refusal(&path, checkpoint::save(&path, &NOTHING)),
        "cannot write FILE: it exists and is not a file"
    );
    assert_eq!(refusal(&path, checkpoint::read(&path)), "cannot read FILE: it is not a file");
    let path = file("no-such-file");
    assert!(refusal(&path, checkpoint::read(&path)).starts_with("cannot read FILE: "));
    Ok(())
}

#[test]
fn a_fingerprint_is_of_elements_sizes_types_and_order() -> Result<()> {
    let x = Tensor::from([1f32, 2.0]);
    let others = [x.neg()?, x.unsqueeze(0)?, x.to_dtype(DType::Int32)?, Tensor::from([2f32, 1.0])];
    let print = checkpoint::fingerprint(&[&x, &x])?;
    assert_eq!(checkpoint::fingerprint(&[&x, &x.unsqueeze(0)?.squeeze_dim(0)?])?, print);
    for other in others {
        assert_ne!(checkpoint::fingerprint(&[&x, &other])?, print);
        assert_ne!(checkpoint::fingerprint(&[&x, &other])?, checkpoint::fingerprint(&[&other, &x])?);
    }
    Ok(())
}

#[test]
fn a_tensor_cannot_have_the_name_of_the_metadata() -> Result<()> {
    let path = file("named-as-metadata");
    let saved = checkpoint::save(&path, &[named("__metadata__", &Tensor::from([1.0]))]);
    assert!(refusal(&path, saved).contains("which is that of the metadata"));
    assert!(!path.exists());
    Ok(())
}
