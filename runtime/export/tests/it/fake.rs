//! Branches and loops without elements: in fake mode, and on `meta`.

use torch_library::fake::{FakeMode, is_fake, to_fake};
use torch_library::prelude::*;
use torch_library_export::{Loader, Program};

use super::archives::{folder, load, recorded};
use super::runs::{graph, loop_below, nested, node, program, tensor, tensors};

fn run_fake(program: &Program, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let _mode = FakeMode::new();
    let inputs = inputs.iter().map(to_fake).collect::<Result<Vec<_>>>()?;
    program.run(&inputs)
}

fn sizes_and_types(tensors: &[Tensor]) -> Vec<(Vec<i64>, DType)> {
    tensors.iter().map(|tensor| (tensor.sizes().to_vec(), tensor.dtype())).collect()
}

#[test]
fn branches_and_loops_make_what_they_would_make_with_elements() {
    for name in ["branches", "loops", "tallied", "scanned", "associative", "regions", "hinted", "batched"] {
        let wanted = sizes_and_types(&recorded(name, "outputs"));
        let found = run_fake(&load(name).unwrap(), &recorded(name, "inputs")).unwrap();
        assert_eq!(sizes_and_types(&found), wanted, "{name}");
        if name == "regions" {
            continue; // autocast leaves tensors on `meta` as they are
        }
        let program =
            Loader::new().device(Device::META).load(folder(name).join(format!("{name}.pt2"))).unwrap();
        let inputs = recorded(name, "inputs");
        let inputs =
            inputs.iter().map(|input| Tensor::empty(input.sizes(), input.dtype(), Device::META).unwrap());
        let found = program.run(&inputs.collect::<Vec<_>>()).unwrap();
        assert_eq!(sizes_and_types(&found), wanted, "{name}");
        assert!(found.iter().all(|tensor| tensor.device() == Device::META), "{name}");
    }
}

/// A condition that depends on an element of `x`, and a branch for each case.
fn branches(yes: &str, no: &str) -> Program {
    let any = node("aten.any.default", &[("self", &tensor("x"))], &[&tensor("p")]);
    let branch = |of: &str| {
        let repeats = format!(r#"{{"as_ints": [{of}]}}"#);
        let repeated = [("self", &*tensor("a")), ("repeats", &repeats)];
        nested(&graph(&["a"], &[node("aten.repeat.default", &repeated, &[&tensor("r")])], &["r"]))
    };
    let (yes, no, p, xs) = (branch(yes), branch(no), tensor("p"), tensors("x"));
    let cond = [("", &*p), ("", &yes), ("", &no), ("", &xs)];
    program(&[any, node("higher_order.cond", &cond, &[&tensor("y")])], "y")
}

fn x() -> Tensor {
    Tensor::from([1f32, 2.0])
}

#[test]
fn branches_of_different_sizes_have_none_without_elements() {
    let output = run_fake(&branches("3", "3"), &[x()]).unwrap().remove(0);
    assert!(is_fake(&output));
    assert_eq!(output.sizes(), [6]);
    let refused = run_fake(&branches("3", "1"), &[x()]).unwrap_err().to_string();
    let expected = "node torch.ops.higher_order.cond: the branches make float32[6] on cpu and float32[2] on cpu, and \
                    which of them depends on elements, which fake tensors and those on `meta` do not have";
    assert_eq!(refused, expected);
}

#[test]
fn fake_mode_does_not_read_a_real_tensor_either() {
    // A program could have written to it before, which fake mode leaves out.
    let _mode = FakeMode::new();
    let output = branches("3", "3").run(&[x()]).unwrap().remove(0);
    assert!(is_fake(&output));
    assert!(branches("3", "1").run(&[x()]).is_err());
}

#[test]
fn a_loop_is_as_large_as_what_it_carries() {
    let below = loop_below(r#"{"as_int": 9}"#, r#"{"as_int": 1}"#, &["a"], r#"{"as_tensors": []}"#);
    let output = run_fake(&program(std::slice::from_ref(&below), "y"), &[x()]).unwrap().remove(0);
    assert!(is_fake(&output));
    assert_eq!(output.sizes(), [2]);
    let all = below.replace("while_loop", "while_loop_stack_output");
    let refused = run_fake(&program(&[all], "y"), &[x()]).unwrap_err().to_string();
    assert!(refused.contains("the size of the result is the number of iterations"), "{refused}");
    let grown = below.replace("aten.add.Scalar", "aten.cumsum.default").replace(
        r#"{"name": "other", "arg": {"as_int": 1}, "kind": 1}"#,
        r#"{"name": "dim", "arg": {"as_int": 0}, "kind": 1},
           {"name": "dtype", "arg": {"as_scalar_type": 8}, "kind": 1}"#,
    );
    let refused = run_fake(&program(&[grown], "y"), &[x()]).unwrap_err().to_string();
    assert!(refused.contains("two iterations make float32[2] on cpu and float64[2] on cpu"), "{refused}");
}
