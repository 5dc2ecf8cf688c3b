//! Archives that ask for much more time or memory than their size: they are refused, or read in time proportional to
//! it.
//! The limits of time are far above what they take, and far below quadratic time.

use std::time::Duration;

use torch_library::{DType, Device, Tensor};
use torch_library_export::{Loader, Program};

use crate::hostile::{records, zip};

/// The parts of an archive that these tests change, as JSON.
#[derive(Default)]
struct Parts {
    nodes: Vec<String>,
    outputs: Vec<String>,
    tensor_values: Vec<String>,
    input_specs: Vec<String>,
    output_specs: Vec<String>,
    out_spec: Option<String>,
    guards: Vec<String>,
    weights: Vec<String>,
    /// The only record with weights.
    record: Vec<u8>,
}

impl Parts {
    /// An archive with these parts.
    fn archive(&self) -> Vec<u8> {
        let [nodes, outputs, values, inputs, results, guards, weights] = [
            &self.nodes,
            &self.outputs,
            &self.tensor_values,
            &self.input_specs,
            &self.output_specs,
            &self.guards,
            &self.weights,
        ]
        .map(|list| list.join(", "));
        let tree = r#"[1, {\"type\": null}]"#;
        let calls = self.out_spec.as_ref().map_or_else(String::new, |out| {
            format!(r#"{{"fqn": "", "signature": {{"in_spec": "{tree}", "out_spec": "{out}"}}}}"#)
        });
        let model = format!(
            r#"{{"graph_module": {{"graph": {{"inputs": [], "outputs": [{outputs}], "nodes": [{nodes}],
                 "tensor_values": {{{values}}}}}, "signature": {{"input_specs": [{inputs}],
                 "output_specs": [{results}]}}, "module_call_graph": [{calls}]}},
                 "guards_code": [{guards}], "schema_version": {{"major": 8, "minor": 20}}}}"#
        );
        let mut records = records("counts.pt2");
        for (name, content) in &mut records {
            match name.rsplit_once('/').map(|(_, name)| name) {
                Some("model.json") => *content = model.clone().into_bytes(),
                Some("model_weights_config.json") => {
                    *content = format!(r#"{{"config": {{{weights}}}}}"#).into_bytes()
                }
                Some("weight_0") => content.clone_from(&self.record),
                _ => {}
            }
        }
        zip(&records, |_, _| {})
    }

    fn input(&mut self, name: &str, sizes: &[String]) {
        self.input_specs.push(format!(r#"{{"user_input": {{"arg": {}}}}}"#, tensor(name)));
        self.tensor_values.push(format!(r#""{name}": {}"#, meta(7, sizes)));
    }

    /// A weight of one element, in the record.
    fn weight(&mut self, name: &str, dtype: u64) {
        self.expanded(name, &meta(dtype, &[size(1)]));
    }

    /// A weight with this description, in the record.
    fn expanded(&mut self, name: &str, meta: &str) {
        let spec = format!(r#"{{"buffer": {{"arg": {{"name": "{name}"}}, "buffer_name": "{name}"}}}}"#);
        self.input_specs.push(spec);
        self.weights.push(format!(
            r#""{name}": {{"path_name": "weight_0", "use_pickle": false, "tensor_meta": {meta}}}"#
        ));
    }
}

fn tensor(name: &str) -> String {
    format!(r#"{{"as_tensor": {{"name": "{name}"}}}}"#)
}

fn size(size: i64) -> String {
    format!(r#"{{"as_int": {size}}}"#)
}

fn meta(dtype: u64, sizes: &[String]) -> String {
    let strides = vec![size(1); sizes.len()].join(", ");
    format!(
        r#"{{"dtype": {dtype}, "sizes": [{}], "strides": [{strides}], "storage_offset": {{"as_int": 0}}, "layout": 7}}"#,
        sizes.join(", ")
    )
}

/// Reads an archive, which must not take much longer than it is long.
fn read(parts: &Parts) -> torch_library::Result<Program> {
    let archive = parts.archive();
    soon(|| Loader::new().fold_batch_norm().from_bytes(&archive))
}

/// Runs a function, which must not take long.
fn soon<T>(run: impl FnOnce() -> T) -> T {
    let start = busy();
    let result = run();
    let took = busy() - start;
    assert!(took < Duration::from_secs(5), "{took:?}");
    result
}

/// The time that this thread has computed for, without waiting for a processor; on another system than Linux zero.
fn busy() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(
        text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()).unwrap_or_default(),
    )
}

#[test]
fn a_key_is_not_repeated_for_each_of_many_results() {
    let leaves = vec![r#"{\"type\": null}"#; 2000].join(", ");
    let list = format!(r#"{{\"type\": \"builtins.list\", \"children_spec\": [{leaves}]}}"#);
    let context = format!(r#"[\\\"{}\\\"]"#, "k".repeat(100_000));
    let dict = format!(
        r#"[1, {{\"type\": \"builtins.dict\", \"context\": \"{context}\", \"children_spec\": [{list}]}}]"#
    );
    let refusal = read(&Parts { out_spec: Some(dict), ..Parts::default() }).expect_err("a refusal");
    let paths = "the paths of 2000 arguments or results have 200020000 bytes together";
    assert_eq!(refusal.to_string(), format!("{paths}, at most 67108864 are supported"));
}

#[test]
fn sizes_are_not_repeated_for_each_of_many_inputs_and_outputs() {
    let mut parts = Parts::default();
    parts.input("x", &vec![size(1); 2000]);
    parts.outputs = vec![tensor("x"); 2000];
    parts.output_specs = vec![r#"{"user_output": {"arg": {"as_none": true}}}"#.to_owned(); 2000];
    let refusal = read(&parts).expect_err("a refusal").to_string();
    assert_eq!(refusal, "output \"x\": the sizes of all inputs and outputs take more than 67108864 bytes");
    parts.input_specs.push(parts.input_specs[0].clone());
    assert_eq!(
        read(&parts).expect_err("a refusal").to_string(),
        "the program has two inputs with the name \"x\""
    );
}

#[test]
fn many_values_that_are_written_back_take_linear_time() {
    const COUNT: usize = 40_000;
    let mut parts = Parts { record: vec![0; 4], ..Parts::default() };
    for number in 0..COUNT {
        parts.weight(&format!("weight_{number}"), 7);
    }
    let last = COUNT - 1;
    for what in [r#"buffer_mutation": {"buffer_name"#, r#"user_input_mutation": {"user_input_name"#] {
        parts.output_specs.extend(vec![format!(r#"{{"{what}": "weight_{last}"}}}}"#); COUNT]);
    }
    parts.outputs = vec![tensor("weight_0"); 2 * COUNT];
    assert_eq!(read(&parts).unwrap().weights().len(), COUNT);
}

#[test]
fn many_inputs_that_are_written_to_take_linear_time() {
    const COUNT: usize = 20_000;
    let mut parts = Parts::default();
    for number in 0..COUNT {
        let input = format!("input_{number}");
        parts.input(&input, &[size(1)]);
        let given = format!(r#"{{"name": "", "arg": {}}}"#, tensor(&input));
        parts.nodes.push(format!(
            r#"{{"target": "torch.ops.aten.relu.default", "inputs": [{given}], "outputs": [{}]}}"#,
            tensor(&format!("relu_{number}"))
        ));
        parts.outputs.push(tensor(&format!("relu_{number}")));
        parts.output_specs.push(format!(r#"{{"user_input_mutation": {{"user_input_name": "{input}"}}}}"#));
    }
    assert_eq!(read(&parts).unwrap().inputs().len(), COUNT);
}

#[test]
fn many_bools_in_one_record_take_linear_time() {
    let mut parts = Parts { record: vec![1; 1 << 20], ..Parts::default() };
    for number in 0..10_000 {
        parts.weight(&format!("weight_{number}"), 12);
    }
    assert_eq!(read(&parts).unwrap().weights().len(), 10_000);
}

#[test]
fn many_guards_of_many_inputs_take_linear_time() {
    const COUNT: usize = 10_000;
    let mut parts = Parts::default();
    (0..COUNT).for_each(|number| parts.input(&format!("input_{number}"), &[size(1)]));
    let guard =
        format!("\"{}\"", vec![format!("L['input_{}'].size()[0] == 1", COUNT - 1); 1500].join(" and "));
    parts.guards = vec![guard; 50];
    assert_eq!(read(&parts).unwrap().inputs().len(), COUNT);
}

#[test]
fn many_calls_of_an_unknown_operator_take_linear_time() {
    let mut parts = Parts::default();
    parts.input("x", &[size(1)]);
    let given = vec![format!(r#"{{"name": "", "arg": {}}}"#, tensor("x")); 10].join(", ");
    let node =
        format!(r#"{{"target": "torch.ops.aten.unheard.default", "inputs": [{given}], "outputs": []}}"#);
    parts.nodes = vec![node; 1000];
    assert_eq!(read(&parts).unwrap().problems()[0].places.len(), 1000);
}

#[test]
fn sizes_that_wait_for_each_other_take_linear_time() {
    const DIMS: usize = 64;
    const INPUTS: usize = 300;
    let symbol = |number: usize| format!("Symbol('s{number}')");
    let product =
        |symbols: Vec<String>| format!(r#"{{"as_expr": {{"expr_str": "Mul({})"}}}}"#, symbols.join(", "));
    let pairs: Vec<_> =
        (0..INPUTS * DIMS).map(|number| product(vec![symbol(number), symbol(number + 1)])).collect();
    let last = pairs.len();
    let mut parts = Parts::default();
    // Waits for one symbol after the other.
    parts.input("first", &[product((0..500).map(|number| symbol(last - number)).collect())]);
    for (number, sizes) in pairs.chunks(DIMS).enumerate() {
        parts.input(&format!("input_{number}"), sizes);
    }
    parts.input("last", &[format!(r#"{{"as_expr": {{"expr_str": "{}"}}}}"#, symbol(last))]);
    let program = read(&parts).unwrap();
    let tensor = |sizes: &[i64]| Tensor::zeros(sizes, DType::Float32, Device::CPU).unwrap();
    let mut inputs = vec![tensor(&[1; DIMS]); INPUTS];
    inputs.insert(0, tensor(&[1]));
    inputs.push(tensor(&[1]));
    assert!(soon(|| program.run(&inputs)).is_ok());
    *inputs.last_mut().unwrap() = tensor(&[2]);
    let refusal = soon(|| program.run(&inputs)).expect_err("a refusal").to_string();
    assert_eq!(refusal, "size 63 of input `input_299` is 1, but the program takes s19199*s19200");
}

#[test]
fn an_expanded_weight_is_not_folded_to_a_large_one() {
    let mut parts = Parts { record: vec![0; 4], ..Parts::default() };
    parts.input("x", &[size(1), size(4096), size(8)]);
    let expanded = |sizes: &[i64]| {
        let sizes: Vec<_> = sizes.iter().map(|number| size(*number)).collect();
        meta(7, &sizes).replace(&size(1), &size(0)) // the strides
    };
    parts.expanded("weight", &expanded(&[4096, 4096, 3]));
    parts.expanded("mean", &expanded(&[4096]));
    parts.tensor_values.push(format!(r#""convolved": {}"#, meta(7, &[size(1), size(4096), size(6)])));
    let none = r#"{"as_none": true}"#;
    let node = |operator: &str, inputs: &[&str], output: &str| {
        let inputs: Vec<_> = inputs.iter().map(|arg| format!(r#"{{"name": "", "arg": {arg}}}"#)).collect();
        let (inputs, output) = (inputs.join(", "), tensor(output));
        format!(
            r#"{{"target": "torch.ops.aten.{operator}.default", "inputs": [{inputs}], "outputs": [{output}]}}"#
        )
    };
    let [x, weight, mean, convolved] = ["x", "weight", "mean", "convolved"].map(tensor);
    parts.nodes.push(node("conv1d", &[&x, &weight], "convolved"));
    let (momentum, eps) = (r#"{"as_float": 0.1}"#, r#"{"as_float": 0.00001}"#);
    let inputs = [&*convolved, none, none, &mean, &mean, r#"{"as_bool": false}"#, momentum, eps];
    parts.nodes.push(node("batch_norm", &inputs, "normal"));
    let program = read(&parts).unwrap();
    let sizes: Vec<_> = program.weights().iter().map(|weight| weight.tensor.storage().nbytes()).collect();
    assert_eq!(sizes, [4, 4]);
}
