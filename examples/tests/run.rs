//! `run`, by its command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use torch_library::{DType, Device, Tensor};
use torch_library_kernels::data::{npy, safetensors};

const DIGITS: &str = "examples/models/digits.pt2";

fn run(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    Command::new(env!("CARGO_BIN_EXE_run")).args(arguments).current_dir(root).output().expect("it starts")
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("a folder");
    folder
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What `--compare` prints at the end.
fn difference(said: &str) -> f64 {
    let number = said.trim_end().rsplit_once(' ').and_then(|(_, number)| number.parse().ok());
    number.unwrap_or_else(|| panic!("no difference: {said}"))
}

#[test]
fn a_model_reads_its_digits_as_pytorch_does() {
    let output = run(&[DIGITS, "--compare", "examples/models/digits.outputs.safetensors"]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for (row, digit) in [8, 8, 4, 9, 0, 8, 9, 8].iter().enumerate() {
        assert!(said.contains(&format!("row {row}, largest first: {digit} (")), "{said}");
    }
    assert!(difference(&said) < 1e-5, "{said}");
}

#[test]
fn a_model_is_listed_and_checked_without_a_run() {
    let said = text(&run(&[DIGITS, "--list"]));
    assert!(said.contains("images: float32[") && said.contains("torch.ops.aten.conv2d.default"), "{said}");
    let output = run(&[DIGITS, "--check"]);
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(0), "all 9 operators are here\n"));
    let output = run(&["runtime/export/tests/archives/custom.pt2", "--check"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output);
    assert!(said.starts_with("torch.ops.fixtures.twice.default, at twice: "), "{said}");
    assert!(said.ends_with("\n1 problem, 2 operators\n"), "{said}");
}

#[test]
fn inputs_come_from_files_and_outputs_go_to_them() {
    let path = folder("run_files").join("out.safetensors");
    let path = path.to_str().expect("a path");
    let archive = "runtime/export/tests/archives/block";
    let inputs = format!("{archive}.inputs.safetensors");
    let said = run(&[&format!("{archive}.pt2"), "--inputs", &inputs, "--outputs", path]);
    assert!(said.status.success(), "{}", text(&said));
    let said = text(&run(&[&format!("{archive}.pt2"), "--compare", path]));
    assert!(said.ends_with(" 0.0e0\n"), "{said}");
    let missing = run(&[DIGITS, "--input", "pictures=none.npy"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing).starts_with("run: there is no input \"pictures\"; the program takes\n  images: "));
}

#[test]
fn outputs_are_compared_by_name() {
    let archive = "runtime/export/tests/archives/nested";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let recorded = std::fs::read(root.join(format!("{archive}.outputs.safetensors"))).expect("a file");
    let mut tensors = safetensors::from_bytes(&recorded).expect("tensors").into_values();
    let names = ["sum", "rest.0", "['rest'][1][0]"];
    let mut named: BTreeMap<_, _> = names.into_iter().map(String::from).zip(&mut tensors).collect();
    assert!(named.len() == 3 && tensors.next().is_none());
    let path = folder("run_names").join("named.safetensors");
    let compared = |named: &BTreeMap<String, Tensor>| {
        std::fs::write(&path, safetensors::to_bytes(named).expect("bytes")).expect("a file");
        text(&run(&[&format!("{archive}.pt2"), "--compare", path.to_str().expect("a path")]))
    };
    let said = compared(&named);
    assert!(said.ends_with(" 0.0e0\n"), "{said}");
    let sum = named.remove("sum").expect("one of them");
    assert!(compared(&named).contains("the output \"sum\" is missing"));
    named.insert("total".into(), sum);
    assert!(
        compared(&named)
            .contains("there is no output \"total\", there are [\"sum\", \"rest.0\", \"rest.1.0\"]")
    );
}

#[test]
fn outputs_are_compared_by_what_they_stand_for() {
    let archive = "runtime/export/tests/archives/conjugate";
    let path = folder("run_conjugates").join("out.safetensors");
    let path = path.to_str().expect("a path");
    let (model, recorded) = (format!("{archive}.pt2"), format!("{archive}.outputs.safetensors"));
    let said = text(&run(&[&model, "--compare", &recorded, "--outputs", path]));
    assert!(said.ends_with(" 0.0e0\n"), "{said}");
    let said = text(&run(&[&model, "--compare", path]));
    assert!(said.ends_with(" 0.0e0\n"), "{said}");
}

#[test]
fn an_input_is_given_once() {
    let path = folder("run_twice").join("images.npy");
    let images = Tensor::zeros(&[1, 1, 8, 8], DType::Float32, Device::CPU).expect("images");
    npy::write(&images, std::fs::File::create(&path).expect("a file")).expect("a file of NumPy");
    let (named, placed) = (format!("images={}", path.display()), "images=none.npy");
    assert!(run(&[DIGITS, "--input", &named]).status.success());
    let twice = run(&[DIGITS, "--input", &named, "--input", placed]);
    assert_eq!(twice.status.code(), Some(2));
    assert_eq!(text(&twice), "run: --input images=none.npy: the input \"images\" is given more than once\n");
}

#[test]
fn one_program_of_several_is_chosen_by_its_name() {
    let archive = "runtime/export/tests/archives/several.pt2";
    let said = text(&run(&[archive, "--list"]));
    assert!(said.contains("several programs, [\"halves\", \"twice\"], and none is `model`"), "{said}");
    for (name, calls) in [("halves", "torch.ops.aten.div.Tensor"), ("twice", "torch.ops.aten.mul.Tensor")] {
        let said = text(&run(&[archive, "--program", name, "--list"]));
        assert!(said.contains(calls), "{said}");
    }
    let said = text(&run(&[archive, "--program", "thrice", "--list"]));
    assert!(
        said.ends_with("the archive has no program \"thrice\", only [\"halves\", \"twice\"]\n"),
        "{said}"
    );
}

#[test]
fn inputs_are_in_the_order_of_their_numbers() {
    let archive = "runtime/export/tests/archives/strict";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let recorded =
        std::fs::read(root.join(format!("{archive}.inputs.safetensors"))).expect("recorded inputs");
    let recorded = safetensors::from_bytes(&recorded).expect("tensors").into_values();
    let named: BTreeMap<String, Tensor> =
        ["9", "10", "100"].map(str::to_owned).into_iter().zip(recorded).collect();
    let path = folder("run_order").join("in.safetensors");
    std::fs::write(&path, safetensors::to_bytes(&named).expect("a file")).expect("it is written");
    let compare = format!("{archive}.outputs.safetensors");
    let said =
        run(&[&format!("{archive}.pt2"), "--inputs", path.to_str().expect("a path"), "--compare", &compare]);
    assert!(said.status.success(), "{}", text(&said));
}

#[test]
fn inputs_in_a_file_are_known_by_name() {
    let archive = "runtime/export/tests/archives/named";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let recorded =
        std::fs::read(root.join(format!("{archive}.inputs.safetensors"))).expect("recorded inputs");
    let recorded: Vec<Tensor> = safetensors::from_bytes(&recorded).expect("tensors").into_values().collect();
    let file = folder("run_named").join("in.safetensors");
    let path = file.to_str().expect("a path");
    let compare = format!("{archive}.outputs.safetensors");
    let said = |names: [&str; 5]| {
        let named: BTreeMap<String, Tensor> =
            names.map(str::to_owned).into_iter().zip(recorded.clone()).collect();
        std::fs::write(&file, safetensors::to_bytes(&named).expect("a file")).expect("it is written");
        run(&[&format!("{archive}.pt2"), "--inputs", path, "--compare", &compare])
    };
    // Neither the names nor the paths are in the order of the inputs.
    let right = said(["pair_first", "pair[1]", "fields.a", "fields_b", "groups['z']"]);
    assert!(right.status.success() && difference(&text(&right)) < 1e-5, "{}", text(&right));
    let wrong = text(&said(["pair_first", "pair[1]", "fields.a", "fields_b", "04"]));
    let place = format!("run: {path}: there is no input \"04\"; the program takes\n  pair_first: ");
    assert!(wrong.starts_with(&place), "{wrong}");
}

#[test]
fn numbers_are_read_from_tensors_and_printed() {
    let file = folder("run_numbers").join("in.safetensors");
    let path = file.to_str().expect("a path");
    let write = |k: Tensor| {
        let named = BTreeMap::from([("00".to_owned(), Tensor::from([1f32, 2.0, 3.0])), ("01".to_owned(), k)]);
        std::fs::write(&file, safetensors::to_bytes(&named).expect("a file")).expect("it is written");
    };
    write(Tensor::from(7i64));
    let counted = "runtime/export/tests/archives/counted.pt2";
    for layers in ["inference", "functionalize", "fake"] {
        let said = text(&run(&[counted, "--inputs", path, "--layers", layers]));
        assert_eq!(said, "[0]: 21\n[2]: 3\n", "{layers}");
    }
    let said = text(&run(&[counted, "--inputs", path, "--profile", "2"]));
    assert!(said.contains("the median of 2") && said.contains("_operator.mul"), "{said}");
    write(Tensor::from([7i64, 8]));
    assert_eq!(
        text(&run(&[counted, "--inputs", path])),
        "run: input `k`: the program takes a number, for which a zero-dimensional tensor is expected, got int64[2]\n"
    );
}

#[test]
fn a_program_may_write_to_its_buffers_when_it_is_functionalized() {
    // `counts` writes in place, `functional` replaces a buffer at the end; `types` and `ties` only have buffers.
    for model in ["counts", "functional", "types", "ties"] {
        let model = format!("runtime/export/tests/archives/{model}");
        let (archive, outputs) = (format!("{model}.pt2"), format!("{model}.outputs.safetensors"));
        for layers in ["functionalize", "inference,functionalize"] {
            let said = text(&run(&[&archive, "--layers", layers, "--compare", &outputs, "--profile", "1"]));
            let (_, difference) = said.split_once("beside the largest number of its output: ").expect(&said);
            let difference: f64 = difference.split_whitespace().next().unwrap().parse().unwrap();
            assert!(difference < 1e-6, "{archive}: {said}");
            assert!(said.contains("the median of 1"), "{archive}: {said}");
        }
    }
}

#[test]
#[cfg(feature = "wgpu")]
fn a_program_may_write_to_its_inputs_and_buffers_when_its_calls_are_fused() {
    for model in ["counts", "functional", "block"] {
        let model = format!("runtime/export/tests/archives/{model}");
        let (archive, outputs) = (format!("{model}.pt2"), format!("{model}.outputs.safetensors"));
        let said = text(&run(&[&archive, "--fuse", "--compare", &outputs, "--profile", "1"]));
        let (_, difference) = said.split_once("beside the largest number of its output: ").expect(&said);
        let difference: f64 = difference.split_whitespace().next().unwrap().parse().unwrap();
        assert!(difference < 1e-6, "{archive}: {said}");
        assert!(said.contains("for a run of single calls"), "{archive}: {said}");
    }
}

#[test]
fn layers_profiles_and_traces_apply() {
    let block = "runtime/export/tests/archives/block.pt2";
    let said = text(&run(&[block, "--layers", "fake"]));
    assert_eq!(said, "result: float32[1, 5, 16]\n");
    let said = text(&run(&[block, "--trace"]));
    assert!(said.contains("[callBoxed] op=[aten::layer_norm]"), "{said}");
    let picture = folder("run_layers").join("time.svg");
    let said = text(&run(&[
        block,
        "--profile",
        "2",
        "--picture",
        picture.to_str().expect("a path"),
        "--layers",
        "autocast",
    ]));
    assert!(said.contains("aten.linear") && said.contains("in 4 calls"), "{said}");
    assert!(std::fs::read_to_string(picture).expect("a picture").starts_with("<svg"));
}

#[test]
fn a_number_may_be_written_out_for_a_tensor_without_dimensions() {
    let bits = "runtime/export/tests/archives/bits";
    let (archive, inputs) = (format!("{bits}.pt2"), format!("{bits}.inputs.safetensors"));
    let with = |pair: &str| text(&run(&[&archive, "--inputs", &inputs, "--input", pair]));
    assert!(with("count=2").contains("\n[1]: "), "{}", with("count=2"));
    assert_eq!(with("count=2.5"), "run: input `count`: 2.5 is not a number of int64\n");
    assert!(
        with("x=2").starts_with("run: input `x: float32[s77 (2 or more), 3]`: file \"2\": "),
        "{}",
        with("x=2")
    );
}

#[test]
fn several_questions_are_answered_and_none_about_no_runs() {
    let said = text(&run(&[DIGITS, "--list", "--check"]));
    assert!(said.starts_with("exported by ") && said.ends_with("all 9 operators are here\n"), "{said}");
    let said = text(&run(&[DIGITS, "--profile", "2"]));
    assert!(said.contains(" µs on average, of which\n") && said.contains(" in 1 call\n"), "{said}");
    let refused = run(&[DIGITS, "--profile", "0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("0 is not in 1.."), "{}", text(&refused));
}

#[test]
fn what_is_no_archive_is_refused() {
    let output = run(&["README.md"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).starts_with("run: README.md: this is not a zip file"), "{}", text(&output));
}
