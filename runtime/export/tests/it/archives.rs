//! Runs archives that PyTorch wrote, and compares the results with those of PyTorch.

use std::path::{Path, PathBuf};

use torch_library::functionalize::functionalize;
use torch_library::prelude::*;
use torch_library_export::{Kind, Loader, Output, Program, Role, Size, WeightKind};
use torch_library_kernels::data::safetensors;

use super::hostile::{edited, replaced};

pub(super) fn folder(name: &str) -> PathBuf {
    match name {
        "digits" => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models"),
        _ => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives"),
    }
}

pub(super) fn load(name: &str) -> Result<Program> {
    Program::load(folder(name).join(format!("{name}.pt2")))
}

/// The recorded tensors, in the order of their names.
pub(super) fn recorded(name: &str, which: &str) -> Vec<Tensor> {
    let file = std::fs::read(folder(name).join(format!("{name}.{which}.safetensors"))).unwrap();
    safetensors::from_bytes(&file).unwrap().into_values().collect()
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    let dense =
        torch_library_kernels::aten::_to_copy::with(tensor).dtype(Some(DType::Float64)).call().unwrap();
    dense.to_vec().unwrap()
}

fn assert_near(name: &str, found: &[Tensor], wanted: &[Tensor], tolerance: f64) {
    assert_eq!(found.len(), wanted.len(), "{name}");
    for (place, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert_eq!(
            (found.sizes(), found.dtype()),
            (wanted.sizes(), wanted.dtype()),
            "{name}, output {place}"
        );
        let (found, wanted) = (numbers(found), numbers(wanted));
        let largest = wanted.iter().fold(1e-3f64, |largest, number| largest.max(number.abs()));
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!(
                (found - wanted).abs() <= tolerance * largest,
                "{name}, output {place}: {found} and {wanted}"
            );
        }
    }
}

/// Runs an archive with the recorded inputs, and compares the results with the recorded ones.
fn replay(name: &str, tolerance: f64) -> Program {
    let program = load(name).unwrap();
    assert!(program.problems().is_empty(), "{:?}", program.problems());
    let outputs = program.run(&recorded(name, "inputs")).unwrap();
    assert_near(name, &outputs, &recorded(name, "outputs"), tolerance);
    program
}

#[test]
fn each_program_of_an_archive_has_weights_of_its_own() {
    let path = folder("several").join("several.pt2");
    let x = Tensor::full(&[3], 4.0, DType::Float32, Device::CPU).unwrap();
    for (name, wanted) in [("twice", 8.0), ("halves", 1.0)] {
        let program = Loader::new().program(name).load(&path).unwrap();
        assert_eq!(program.run(std::slice::from_ref(&x)).unwrap()[0].to_vec::<f32>().unwrap(), [wanted; 3]);
    }
    let refused = Loader::new().program("other").load(&path).unwrap_err().to_string();
    assert!(
        refused.ends_with("the archive has no program \"other\", only [\"halves\", \"twice\"]"),
        "{refused}"
    );
    assert!(Loader::new().load(&path).is_err());
}

#[test]
fn operators_around_operators_run_them() {
    let program = replay("hinted", 0.0);
    for name in ["out_dtype", "hints_wrapper", "print"] {
        assert!(program.to_string().contains(&format!("higher_order.{name}")), "{program}");
    }
}

#[test]
fn print_finds_its_arguments_by_their_names() {
    let named = |format: &str| {
        let print = r#"[{"name": "", "arg": {"as_string": "the sum is {} of {}"}, "kind": 1}, {"name": ""#;
        let with_name = print.replace("the sum is {} of {}", format) + "total";
        Program::from_bytes(&replaced("hinted.pt2", &format!("{print}\""), &format!("{with_name}\"")))
    };
    let program = named("{total} is the sum").unwrap();
    assert!(program.problems().is_empty(), "{program}");
    assert!(program.run(&recorded("hinted", "inputs")).is_ok());
    let refused = named("{totals} is the sum").unwrap_err().to_string();
    assert!(refused.contains("there is no argument for `{totals}`"), "{refused}");
    let formatted = named("{total:.2f}").unwrap();
    assert!(formatted.problems()[0].to_string().contains("a number or a name, and nothing else"));
}

#[test]
fn a_network_that_was_trained_reads_digits() {
    let program = replay("digits", 1e-5);
    let best = torch_library_kernels::aten::argmax(&recorded("digits", "outputs")[0]).unwrap();
    assert_eq!(best.numel(), 1);
    assert!(program.weights().iter().any(|weight| weight.kind == WeightKind::Buffer));
    assert_eq!(program.weight("classes.bias").unwrap().sizes(), [10]);
}

#[test]
fn a_block_of_a_transformer_takes_any_length() {
    let program = replay("block", 1e-5);
    let outputs = program.run(&[Tensor::zeros(&[1, 33, 16], DType::Float32, Device::CPU).unwrap()]).unwrap();
    assert_eq!(outputs[0].sizes(), [1, 33, 16]);
    replay("bfloat16", 0.02);
}

#[test]
fn batch_norms_are_folded_where_that_changes_nothing() {
    let calls = |program: &Program| program.operators().values().sum::<usize>();
    let program = replay("norms", 0.02); // partly in bfloat16
    let folded = Loader::new().fold_batch_norm().load(folder("norms").join("norms.pt2")).unwrap();
    let new: Vec<_> =
        folded.weights().iter().map(|weight| weight.name.as_str()).skip(program.weights().len()).collect();
    let layers =
        ["line+line_norm", "line+shared_norm", "plane+plane_norm", "space+space_norm", "brief+brief_norm"];
    assert_eq!(new, layers.map(|layer| ["weight", "bias"].map(|part| format!("{layer}.{part}"))).concat());
    assert_eq!(calls(&folded), calls(&program) - layers.len());
    let outputs = folded.run(&recorded("norms", "inputs")).unwrap();
    for (place, (output, recorded)) in outputs.into_iter().zip(recorded("norms", "outputs")).enumerate() {
        let tolerance = if place == 2 { 0.02 } else { 1e-5 }; // in bfloat16
        assert_near("norms", &[output], &[recorded], tolerance);
    }
}

#[test]
fn archives_of_older_pytorches_are_read() {
    let archives = std::fs::read_dir(folder("")).unwrap().map(|entry| entry.unwrap().path());
    let mut versions: Vec<_> = archives.filter(|path| path.is_dir()).collect();
    versions.sort();
    let names = versions.iter().map(|path| path.file_name().unwrap().to_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["2.10", "2.11", "2.12", "2.13", "2.14"]);
    for version in &versions {
        let version = version.file_name().unwrap().to_str().unwrap();
        let more: &[&str] = if version == "2.10" { &["nested", "sizes", "regions", "joint"] } else { &[] };
        for name in ["ties", "functional", "loops"].iter().chain(more) {
            let program = replay(&format!("{version}/{name}"), 1e-6);
            assert!(program.torch_version().starts_with(version), "{version}/{name}");
        }
    }
}

#[test]
fn what_is_nested_is_named() {
    let program = replay("nested", 0.0);
    let paths: Vec<_> = program.inputs().iter().map(|input| input.path.as_str()).collect();
    assert_eq!(paths, ["pair[0]", "pair[1]", "named['a']", "named['b']", "scale"]);
    let paths: Vec<_> = program.outputs().iter().map(|output| output.path.as_str()).collect();
    assert_eq!(paths, ["['sum']", "['rest'][0]", "['rest'][1][0]", "['rest'][1][1]", "['rest'][1][2]"]);
    let values = program.run_values(recorded("nested", "inputs").iter().map(Value::from)).unwrap();
    assert!(values[3].is_none() && matches!(values[4], Value::Int(7)));
}

#[test]
fn what_has_attributes_is_named_by_them_and_guarded() {
    let program = replay("named", 1e-6);
    let paths: Vec<_> = program.inputs().iter().map(|input| input.path.as_str()).collect();
    assert_eq!(paths, ["pair[0]", "pair[1]", "fields.a", "fields.b", "groups['z']"]);
    let paths: Vec<_> = program.outputs().iter().map(|output| output.path.as_str()).collect();
    assert_eq!(paths, ["[0].a", "[0].b", "[1][0]", "[1][1]"]);
    let zeros = |size: i64| Tensor::zeros(&[size], DType::Float32, Device::CPU).unwrap();
    let refusal = |first, a, z| {
        let inputs = [zeros(first), zeros(2), zeros(a), zeros(2), zeros(z)];
        program.run(&inputs).unwrap_err().to_string()
    };
    assert!(refusal(5, 6, 8).contains("(L['pair'].first.size()[0] % 2) == 0, which does not hold"));
    assert!(refusal(4, 7, 8).contains("(L['fields'].a.size()[0] % 2) == 0, which does not hold"));
    assert!(refusal(4, 6, 9).contains("(L['groups']['z'].size()[0] % 2) == 0, which does not hold"));
}

#[test]
fn sizes_are_computed_and_checked_by_name() {
    let program = replay("sizes", 1e-6);
    let zeros = |sizes: &[i64]| Tensor::zeros(sizes, DType::Float32, Device::CPU).unwrap();
    let outputs = program.run(&[zeros(&[7, 3]), zeros(&[9, 3])]).unwrap();
    assert_eq!((outputs[1].sizes(), outputs[2].sizes()), (&[16, 3][..], &[11][..]));
    let refusal = |inputs: &[Tensor]| program.run(inputs).unwrap_err().to_string();
    assert_eq!(
        refusal(&[zeros(&[9, 3]), zeros(&[9, 3])]),
        "size 0 of input `x` is 9, but the program takes s77 (2 to 8)"
    );
    assert_eq!(
        refusal(&[zeros(&[4, 2]), zeros(&[9, 3])]),
        "size 1 of input `x` is 2, but the program was exported for 3 only"
    );
    assert_eq!(refusal(&[zeros(&[4, 3])]), "the program takes 2 inputs, `x`, `y`; got 1");
    let none = load("branches").unwrap().run(&[]).unwrap_err().to_string();
    assert_eq!(none, "the program takes 1 input, `x`; got 0");
    let double = Tensor::zeros(&[4, 3], DType::Float64, Device::CPU).unwrap();
    assert_eq!(
        refusal(&[double, zeros(&[9, 3])]),
        "input `x` is of float64, but the program was exported for float32"
    );
    let Kind::Tensor { sizes, .. } = &program.inputs()[0].kind else { panic!("a tensor") };
    assert_eq!(sizes[0], Size::Symbol { name: "s77".into(), min: Some(2), max: Some(8) });
}

#[test]
fn guards_are_evaluated() {
    let program = replay("guarded", 1e-6);
    let zeros = |sizes: &[i64]| Tensor::zeros(sizes, DType::Float32, Device::CPU).unwrap();
    let odd = program.run(&[zeros(&[9, 3]), zeros(&[5])]).unwrap_err().to_string();
    assert_eq!(
        odd,
        "the program was exported for inputs with (L['x'].size()[0] % 2) == 0, which does not hold for these inputs"
    );
    assert!(program.run(&[zeros(&[10, 3]), zeros(&[5])]).is_ok());
}

#[test]
fn sizes_of_zero_and_one_are_taken_although_the_exporter_writes_two() {
    let zeros = |sizes: &[i64]| Tensor::zeros(sizes, DType::Float32, Device::CPU).unwrap();
    let outputs = load("sizes").unwrap().run(&[zeros(&[1, 3]), zeros(&[0, 3])]).unwrap();
    assert_eq!((outputs[1].sizes(), outputs[2].sizes()), (&[1, 3][..], &[5][..]));
    let block = load("block").unwrap();
    assert!(block.inputs()[0].to_string().contains("(2 to 64)"), "{}", block.inputs()[0]);
    for steps in [0, 1] {
        assert_eq!(block.run(&[zeros(&[1, steps, 16])]).unwrap()[0].sizes(), [1, steps, 16]);
    }
}

#[test]
fn guards_of_a_strict_export_are_evaluated() {
    let program = replay("strict", 1e-6);
    let zeros = |sizes: &[i64]| Tensor::zeros(sizes, DType::Float32, Device::CPU).unwrap();
    let run = |x: i64, second: i64| program.run(&[zeros(&[3]), zeros(&[x, 3]), zeros(&[second])]);
    assert!(run(6, 5).is_ok());
    assert_eq!(
        run(7, 5).unwrap_err().to_string(),
        "the program was exported for inputs with (L['flat_args'][3].size()[0] % 2) == 0, which does not hold for \
         these inputs"
    );
    assert!(run(6, 3).unwrap_err().to_string().contains("is 3, but the program takes"));
}

#[test]
fn bits_of_sizes_and_of_numbers_are_joined() {
    let program = replay("bits", 1e-6);
    let zeros = |sizes: &[i64]| Tensor::zeros(sizes, DType::Float32, Device::CPU).unwrap();
    let outputs = program.run(&[zeros(&[7, 3]), Tensor::from(2i64)]).unwrap();
    assert_eq!(outputs[1].sizes(), [7 & 6, (7 | 8) + (7 << 1)]);
    let refused = program.run(&[zeros(&[3, 3]), Tensor::from(2i64)]).unwrap_err().to_string();
    assert!(refused.contains("L['x'].size()[0] ^ 3 > 3, which does not hold"), "{refused}");
}

#[test]
fn a_size_may_be_one_of_two() {
    let program = load("either").unwrap();
    assert!(program.problems().is_empty(), "{:?}", program.problems());
    let Kind::Tensor { sizes, .. } = &program.outputs()[0].kind else { panic!("a tensor") };
    assert_eq!(sizes[0], Size::Computed("s77 if s16 > 4 else s16".into()));
    let x = &recorded("either", "inputs")[0];
    let size = |k: i64| {
        program.run_values([Value::from(x), Value::Int(k)]).unwrap()[0].as_tensor().unwrap().sizes()[0]
    };
    assert_eq!((size(5), size(3)), (8, 3));
    let refused = program.run_values([Value::from(x), Value::Int(1)]).unwrap_err().to_string();
    assert!(
        refused.contains("(L['x'].size()[0] if L['k'] > 4 else L['k']) >= 2, which does not hold"),
        "{refused}"
    );
}

#[test]
fn a_size_that_two_others_decide_waits_for_them() {
    let [first, second] = ["s77", "s17"].map(|name| format!("Symbol('{name}', positive=True, integer=True)"));
    let archive = edited("sizes.pt2", |text| {
        let of_x = text.replacen(&format!("\"{first}\""), &format!("\"Add({first}, {second})\""), 1);
        let of_y = format!("\"{second}\", \"hint\": {{\"as_int\": 6}}}}}}, {{\"as_int\": 3}}]");
        assert!(of_x != text && of_x.contains(&of_y));
        of_x.replacen(
            &of_y,
            &of_y.replacen(&format!("\"{second}\""), &format!("\"Mul(Integer(2), {second})\""), 1),
            1,
        )
    });
    let program = Program::from_bytes(&archive).unwrap();
    let zeros = |size: i64| Tensor::zeros(&[size, 3], DType::Float32, Device::CPU).unwrap();
    assert!(program.run(&[zeros(7), zeros(6)]).is_ok());
    let refused = program.run(&[zeros(12), zeros(6)]).unwrap_err().to_string();
    assert!(refused.contains("s77 + s17") && refused.contains("(2 to 8)"), "{refused}");
}

#[test]
fn a_size_may_be_an_input() {
    let program = load("numbered").unwrap();
    let x = &recorded("numbered", "inputs")[0];
    let outputs = program.run_values([Value::from(x), Value::Int(2)]).unwrap();
    assert_eq!(outputs[1].as_tensor().unwrap().sizes(), [2, 3]);
    let refused = program.run_values([Value::from(x), Value::Int(100)]).unwrap_err().to_string();
    assert!(refused.contains("L['n']"), "{refused}");
    let refused = program.run(&[x.clone(), x.clone()]).unwrap_err().to_string();
    assert_eq!(refused, "input `n` must be a number, got Tensor");
}

#[test]
fn constants_may_be_passed_and_must_be_what_they_were() {
    let program = load("strict").unwrap();
    let listed: Vec<_> = program.arguments().iter().map(ToString::to_string).collect();
    assert_eq!(listed[0], "scale: always 2.0");
    assert_eq!(listed[2], "pair_1: always 4, pair[1]");
    assert_eq!(listed[4], "named_first: always None, named['first']");
    assert!(matches!(program.constant("pair[1]"), Some(Value::Int(4))));
    assert!(program.constant("x").is_none() && program.constant("y").is_none());
    let inputs = recorded("strict", "inputs");
    let [pair, x, second] = inputs.as_slice() else { panic!("three tensors") };
    let call = |scale: f64, other: Value<'static>| {
        program.run_values([
            Value::Float(scale),
            Value::from(pair),
            other,
            Value::from(x),
            Value::None,
            Value::from(second),
        ])
    };
    let all = call(2.0, Value::Int(4)).unwrap();
    let few = program.run(&inputs).unwrap();
    assert_eq!(all[0].as_tensor().unwrap().to_vec::<f32>().unwrap(), few[0].to_vec::<f32>().unwrap());
    let refusal = |scale, other| call(scale, other).unwrap_err().to_string();
    assert_eq!(refusal(3.0, Value::Int(4)), "argument `scale` is always 2.0 in this program, got 3.0");
    let refused = program.run_values([Value::Float(2.0)]).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the program takes 3 inputs, `pair_0`, `x`, `named_second`, or 6 arguments with constants; got 1"
    );
    // As in PyTorch, the type must be the same, too.
    assert_eq!(refusal(2.0, Value::Float(4.0)), "argument `pair[1]` is always 4 in this program, got 4.0");
}

#[test]
fn weights_are_tied_and_strided_as_they_were() {
    let program = replay("ties", 1e-6);
    let weight = |name: &str| program.weight(name).unwrap();
    assert!(weight("embedding.weight").is_same(weight("out.weight")));
    assert_eq!(weight("turned").strides(), [1, 3]);
    assert_eq!((weight("part").strides(), weight("part").storage_offset()), (&[4, 1][..], 9));
}

#[test]
fn weights_have_every_type() {
    replay("types", 0.0);
}

#[test]
fn floats_of_eight_bits_are_weights_and_scaled_factors() {
    replay("eight_bits", 1e-6);
}

#[test]
fn complex_constants_are_tensors_or_numbers() {
    replay("complex", 1e-6);
}

#[test]
fn buffers_and_inputs_change_in_place() {
    let program = load("counts").unwrap();
    let x = Tensor::from([1f32, 1.0]);
    for call in 1..4 {
        let outputs = program.run(std::slice::from_ref(&x)).unwrap();
        let doubled = 2f32.powi(call);
        assert_eq!(outputs[0].to_vec::<f32>().unwrap(), [doubled + call as f32; 2]);
        assert_eq!(x.to_vec::<f32>().unwrap(), [doubled; 2]);
    }
    assert_eq!(program.weight("calls").unwrap().to_vec::<f32>().unwrap(), [3.0]);
    assert_eq!(load("counts").unwrap().weight("calls").unwrap().to_vec::<f32>().unwrap(), [0.0]);
}

#[test]
fn what_a_functional_program_computes_is_written_back() {
    let program = load("functional").unwrap();
    let x = Tensor::from([1f32, 1.0]);
    let outputs = program.run(std::slice::from_ref(&x)).unwrap();
    assert_eq!(outputs.len(), 1, "what is written back is no result");
    assert_eq!(
        (outputs[0].to_vec::<f32>().unwrap(), x.to_vec::<f32>().unwrap()),
        (vec![3.0; 2], vec![2.0; 2])
    );
    assert_eq!(program.weight("calls").unwrap().to_vec::<f32>().unwrap(), [1.0]);
}

#[test]
fn branches_loops_and_regions_run() {
    let program = replay("branches", 1e-6);
    let below = program.run(&[Tensor::from([-1f32, -1.0, -1.0])]).unwrap();
    assert_near("branches", &below, &[Tensor::from([(-1f32).cos() * -2.0; 3])], 1e-6);
    replay("loops", 1e-6);
    replay("tallied", 1e-6);
    replay("scanned", 1e-6);
    replay("associative", 1e-6);
    replay("strictly", 1e-6);
    replay("regions", 0.01);
}

#[test]
fn branches_and_loops_run_functionalized() {
    for name in ["branches", "loops", "associative"] {
        let (program, inputs) = (load(name).unwrap(), recorded(name, "inputs"));
        let outputs = functionalize(&inputs, |inputs| program.run(inputs)).unwrap();
        assert_near(name, &outputs, &recorded(name, "outputs"), 1e-6);
    }
}

#[test]
fn what_is_batched_runs_on_levels_of_vmap() {
    let program = replay("batched", 1e-6);
    assert!(program.problems().is_empty());
    // A run that fails within a level leaves no level behind.
    let wrong = Tensor::zeros(&[2, 3], DType::Float32, Device::CPU).unwrap();
    assert!(program.run(&[wrong.clone(), wrong]).is_err());
    assert!(torch_library::vmap::Level::innermost().is_none());
}

#[test]
fn a_graph_for_training_computes_loss_and_gradients() {
    let program = replay("joint", 1e-6);
    let names: Vec<_> = program.outputs().iter().map(Output::name).collect();
    assert_eq!(names, ["result", "gradient of linear.weight", "gradient of linear.bias"]);
    assert_eq!(program.outputs()[0].role, Role::Loss);
}

#[test]
fn gradients_of_a_loop_come_from_what_all_iterations_made() {
    let program = replay("joint_loop", 1e-6);
    assert_eq!(program.operators()["torch.ops.higher_order.while_loop_stack_output"], 2);
}

#[test]
fn calls_that_are_ordered_by_tokens_run_in_order() {
    let program = replay("ordered", 1e-4);
    assert_eq!(program.inputs().len(), 2, "a token is no input");
    assert_eq!(program.operators()["torch.ops.aten._linalg_check_errors.default"], 2);
    let zeros = |sizes: &[i64]| Tensor::zeros(sizes, DType::Float32, Device::CPU).unwrap();
    let singular = program.run(&[zeros(&[3, 3]), zeros(&[3])]).unwrap_err().to_string();
    assert!(
        singular.starts_with("node with_effects: ") && singular.contains("torch.linalg.solve"),
        "{singular}"
    );
}

#[test]
fn what_the_elements_decide_is_asked_when_it_runs() {
    replay("chosen", 0.0);
    replay("sampled", 1e-6);
}

#[test]
fn an_operator_that_nobody_has_is_named_with_its_places() {
    let program = load("custom").unwrap();
    let [problem] = program.problems() else { panic!("one problem: {:?}", program.problems()) };
    assert_eq!(problem.operator, "torch.ops.fixtures.twice.default");
    assert_eq!(problem.places, ["twice"]);
    let refused = program.run(&recorded("custom", "inputs")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotSupported);
    assert!(refused.to_string().contains("fixtures::twice"), "{refused}");
}

#[test]
fn a_mapped_archive_computes_the_same_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts.pt2");
    std::fs::copy(self::folder("counts").join("counts.pt2"), &path).unwrap();
    #[expect(unsafe_code, reason = "the file is this test's alone")]
    // SAFETY: no other code uses the file.
    let program = unsafe { Loader::new().map(&path) }.unwrap();
    let before = std::fs::read(&path).unwrap();
    assert_near(
        "counts",
        &program.run(&recorded("counts", "inputs")).unwrap(),
        &recorded("counts", "outputs"),
        0.0,
    );
    assert_eq!(program.weight("calls").unwrap().to_vec::<f32>().unwrap(), [1.0]);
    assert!(std::fs::read(&path).unwrap() == before);
}

#[test]
fn layers_apply_to_a_program() {
    let program = load("block").unwrap();
    let x = recorded("block", "inputs").remove(0);
    let weight = program.weight("up.weight").unwrap();
    weight.set_requires_grad(true).unwrap();
    let y = program.run(std::slice::from_ref(&x)).unwrap().remove(0);
    torch_library_kernels::aten::sum(&y).unwrap().backward().unwrap();
    assert_eq!(weight.grad().unwrap().sizes(), weight.sizes());
    weight.set_requires_grad(false).unwrap();

    let cast = torch_library::autocast::Autocast::on(torch_library::DeviceType::Cpu);
    let y = cast.run(|| program.run(std::slice::from_ref(&x))).unwrap().remove(0);
    assert_near(
        "block",
        &[torch_library_kernels::aten::to_dtype(&y, DType::Float32).unwrap()],
        &recorded("block", "outputs"),
        0.05,
    );

    let mode = torch_library::fake::FakeMode::new();
    let fake = torch_library::fake::to_fake(&x).unwrap();
    assert_eq!(program.run(&[fake]).unwrap()[0].sizes(), x.sizes());
    drop(mode);

    let (_, graph) = torch_library::tracer::trace(&[x], |inputs| program.run(inputs)).unwrap();
    assert!(graph.to_string().contains("layer_norm"));
}

#[test]
fn values_go_when_they_are_not_needed_any_more() {
    let program = load("sizes").unwrap();
    let x = Tensor::zeros(&[4, 3], DType::Float32, Device::CPU).unwrap();
    let kept = x.downgrade();
    program.run(&[x, Tensor::zeros(&[4, 3], DType::Float32, Device::CPU).unwrap()]).unwrap();
    assert!(kept.upgrade().is_none());
}

#[test]
fn a_program_is_listed_and_profiled() {
    let program = load("digits").unwrap();
    let text = program.to_string();
    for line in [
        "images: float32[s34 (1 to 1024), 1, 8, 8]",
        "classes.bias: float32[10], 40 bytes",
        "2 × torch.ops.aten.relu.default",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let profile = program.profile(&recorded("digits", "inputs"), 3).unwrap();
    assert!(profile.least() <= profile.median() && profile.median() < profile.total());
    let rows = profile.operators();
    assert!(rows.windows(2).all(|pair| pair[0].time >= pair[1].time));
    assert_eq!(rows.iter().find(|row| row.name == "aten.relu").unwrap().calls, 6);
    assert!(profile.modules().iter().any(|row| row.name == "features.0"));
    assert!(profile.to_svg().ends_with("</svg>\n") && profile.to_string().contains("aten.conv2d"));
}
