//! A program with an operator of its own becomes the command `run` for models that call it.

use torch_library::prelude::*;
use torch_library_kernels::aten;

torch_library! {
    /// The operators of the model's library.
    pub mod fixtures {
        /// Twice a tensor.
        twice(Tensor x) -> Tensor;
    }
}

#[torch_impl(fixtures, CompositeImplicitAutograd)]
fn twice(x: &Tensor) -> Result<Tensor> {
    aten::mul_Scalar(x, 2.into())
}

const ARCHIVES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../runtime/export/tests/archives");

/// The exit code, and what the command prints to its output and as errors.
fn run(arguments: &[&str]) -> (u8, String, String) {
    run_archive("custom", arguments)
}

/// `run` for one of the archives that PyTorch wrote.
fn run_archive(name: &str, arguments: &[&str]) -> (u8, String, String) {
    let archive = format!("{ARCHIVES}/{name}.pt2");
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let arguments = ["run", &archive].into_iter().chain(arguments.iter().copied());
    let code = torch_library_run::run(arguments, &mut output, &mut errors);
    let [output, errors] = [output, errors].map(|text| String::from_utf8(text).expect("UTF-8"));
    (code, output, errors)
}

#[test]
fn operators_of_the_program_are_found() {
    assert_eq!(run(&["--check"]), (0, "all 2 operators are here\n".to_owned(), String::new()));
}

#[test]
fn a_model_calls_operators_of_the_program() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("own.npy");
    let x = Tensor::from([-1f32, 3.0]);
    torch_library_kernels::data::npy::write(&x, std::fs::File::create(&path).expect("a file"))
        .expect("it writes");
    let input = format!("x={}", path.display());
    let (code, output, errors) = run(&["--input", &input]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(output.ends_with("tensor([0., 6.])\n"), "{output}");
}

#[test]
fn constants_may_be_given_and_must_be_what_they_were() {
    let inputs = format!("{ARCHIVES}/strict.inputs.safetensors");
    let outputs = format!("{ARCHIVES}/strict.outputs.safetensors");
    let given = |constants: &[&str]| {
        let constants = constants.iter().flat_map(|constant| ["--input", constant]);
        let arguments: Vec<_> =
            ["--inputs", &inputs, "--compare", &outputs].into_iter().chain(constants).collect();
        run_archive("strict", &arguments)
    };
    let (code, output, errors) = given(&["scale=2.0", "pair[1]=4", "named_first=None"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(output.contains("largest difference"), "{output}");
    let (code, _, errors) = given(&["scale=3"]);
    assert_eq!(
        (code, errors.as_str()),
        (2, "run: argument \"scale\" is always 2.0 in this program, got 3\n")
    );
    let (_, listed, _) = run_archive("strict", &["--list"]);
    assert!(listed.contains("  scale: always 2.0\n"), "{listed}");
}

#[test]
fn a_number_is_written_out_or_in_a_file() {
    let inputs = format!("{ARCHIVES}/numbered.inputs.safetensors");
    let (code, output, errors) = run_archive("numbered", &["--inputs", &inputs, "--input", "n=2"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(output.contains("[1]: float32[2, 3]"), "{output}");
    let (code, _, errors) = run_archive("numbered", &["--inputs", &inputs, "--input", "n=none.npy"]);
    assert_eq!(code, 2);
    assert!(errors.contains("none.npy"), "{errors}");
}

#[test]
fn wrong_arguments_and_failures_are_told_apart_from_problems() {
    let (code, output, errors) = run(&["--chekc"]);
    assert_eq!((code, output.as_str()), (2, ""));
    assert!(errors.contains("--check"), "{errors}");
    let (code, _, errors) = run(&["--input", "y=none.npy"]);
    assert_eq!(code, 2);
    assert!(errors.starts_with("run: there is no input \"y\"; the program takes"), "{errors}");
    let (code, help, _) = run(&["--help"]);
    assert_eq!(code, 0);
    assert!(help.contains("--fold-batch-norm"), "{help}");
}

#[test]
fn a_reader_that_closes_the_output_is_no_failure() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../runtime/export/tests/archives/custom.pt2");
    let code = |archive: &str, errors: &mut Vec<u8>| {
        torch_library_run::run(["run", archive, "--check"], &mut Closed, errors)
    };
    assert_eq!(code(archive, &mut Vec::new()), 0);
    // A missing file whose name is that message is another error.
    let mut errors = Vec::new();
    assert_eq!(code("Broken pipe.pt2", &mut errors), 2);
    assert!(String::from_utf8_lossy(&errors).contains("Broken pipe.pt2"), "{errors:?}");
}
