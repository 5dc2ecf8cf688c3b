//! Archives that are damaged, truncated, or made to mislead are errors: none causes a panic, an abort or unlimited
//! memory use. The mutations are the same in each run.

use std::path::Path;
use std::sync::{Arc, Mutex};

use torch_library::prelude::*;
use torch_library::{Tensor, limits, warning};
use torch_library_export::{Loader, Program};

/// The records of an archive that PyTorch wrote, in order.
pub(crate) fn records(name: &str) -> Vec<(String, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives").join(name);
    let file = std::fs::read(path).unwrap();
    let number = |at: usize, len: usize| {
        file[at..at + len].iter().rev().fold(0usize, |n, byte| n << 8 | usize::from(*byte))
    };
    let end = file.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
    let (mut at, mut records) = (number(end + 16, 4), Vec::new());
    for _ in 0..number(end + 10, 2) {
        let (len, name, extra, comment) =
            (number(at + 24, 4), number(at + 28, 2), number(at + 30, 2), number(at + 32, 2));
        let record = number(at + 42, 4);
        let content = record + 30 + number(record + 26, 2) + number(record + 28, 2);
        let text = String::from_utf8(file[at + 46..at + 46 + name].to_vec()).unwrap();
        records.push((text, file[content..content + len].to_vec()));
        at += 46 + name + extra + comment;
    }
    records
}

/// A zip file of records with correct checksums. `change` may modify the row of a record.
pub(crate) fn zip(records: &[(String, Vec<u8>)], change: impl Fn(&str, &mut Row)) -> Vec<u8> {
    let (mut file, mut rows) = (Vec::new(), Vec::new());
    for (name, content) in records {
        let mut row = Row { method: 0, len: content.len() as u32, start: file.len() as u32 };
        file.extend(b"PK\x03\x04");
        file.extend([0; 22]);
        let padding = (64 - (file.len() + 4 + name.len()) % 64) % 64;
        file.extend([(name.len() as u16).to_le_bytes(), (padding as u16).to_le_bytes()].as_flattened());
        file.extend(name.as_bytes());
        file.resize(file.len() + padding, 0);
        file.extend(content);
        change(name, &mut row);
        rows.extend(b"PK\x01\x02");
        rows.extend([0; 6]);
        rows.extend(row.method.to_le_bytes());
        rows.extend([0; 4]);
        rows.extend(crc(content).to_le_bytes());
        rows.extend([row.len.to_le_bytes(), row.len.to_le_bytes()].as_flattened());
        rows.extend((name.len() as u16).to_le_bytes());
        rows.extend([0; 12]);
        rows.extend(row.start.to_le_bytes());
        rows.extend(name.as_bytes());
    }
    let start = file.len() as u32;
    file.extend(&rows);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([(records.len() as u16).to_le_bytes(); 2].as_flattened());
    file.extend((rows.len() as u32).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0, 0]);
    file
}

pub(crate) struct Row {
    method: u16,
    len: u32,
    start: u32,
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

/// The archive with a modified text of its program.
pub(crate) fn edited(name: &str, edit: impl Fn(&str) -> String) -> Vec<u8> {
    with_record(name, "/models/", edit)
}

pub(crate) fn with_record(name: &str, part: &str, edit: impl Fn(&str) -> String) -> Vec<u8> {
    let mut records = records(name);
    for (_, content) in records.iter_mut().filter(|(name, _)| name.contains(part) && name.ends_with(".json"))
    {
        *content = edit(std::str::from_utf8(content).unwrap()).into_bytes();
    }
    zip(&records, |_, _| {})
}

pub(crate) fn replaced(name: &str, from: &str, to: &str) -> Vec<u8> {
    edited(name, |text| {
        assert!(text.contains(from), "{from} is not in {name}");
        text.replacen(from, to, 1)
    })
}

fn refusal(bytes: &[u8]) -> String {
    Program::from_bytes(bytes).expect_err("a refusal").to_string()
}

#[test]
fn an_archive_that_is_put_together_anew_is_one() {
    let program = Program::from_bytes(&edited("branches.pt2", str::to_owned)).unwrap();
    assert!(program.run(&[Tensor::from([1f32, 2.0, 3.0])]).is_ok());
}

#[test]
fn other_versions_are_refused() {
    let other =
        replaced("branches.pt2", r#""schema_version": {"major": 8"#, r#""schema_version": {"major": 9"#);
    assert!(refusal(&other).starts_with("the archive has version 9.20 of PyTorch's schema, written by 2.15"));
    let newer = replaced("branches.pt2", r#""minor": 20"#, r#""minor": 2000"#);
    assert!(Program::from_bytes(&newer).is_ok(), "a minor version adds members");
}

#[test]
fn files_of_other_kinds_are_named() {
    let named = |names: &[&str], method: u16| {
        let records: Vec<_> = names.iter().map(|name| ((*name).to_owned(), b"content".to_vec())).collect();
        refusal(&zip(&records, |name, row| row.method = if name.ends_with(".py") { method } else { 0 }))
    };
    let script = "this is TorchScript, which torch.jit.save wrote, not torch.export: export the model with \
                  torch.export.export, and write it with torch.export.save";
    assert_eq!(named(&["m/data.pkl", "m/code/__torch__.py", "m/constants.pkl"], 8), script);
    assert_eq!(named(&["m/data.pkl", "m/constants.pkl"], 0), script);
    let weights = named(&["m/data.pkl", "m/data/0"], 0);
    assert!(weights.ends_with("it was written by torch.save, so it has weights but no program"), "{weights}");
}

#[test]
fn archives_without_one_program_are_told_apart() {
    let (model, others): (Vec<_>, Vec<_>) =
        records("branches.pt2").into_iter().partition(|(name, _)| name.ends_with("/models/model.json"));
    let with = |names: &[&str]| {
        let mut records = others.clone();
        let (path, content) = &model[0];
        records.extend(names.iter().map(|name| (path.replace("models/model.json", name), content.clone())));
        refusal(&zip(&records, |_, _| {}))
    };
    assert_eq!(with(&[]), "the archive has no program: no record in `models/`");
    assert_eq!(
        with(&["data/aotinductor/model/a.wrapper.so"]),
        "the archive has no program, only code that torch._inductor compiled from one: write the program itself, with \
         torch.export.save"
    );
    assert_eq!(
        with(&["models/a.json", "models/b.json"]),
        "the archive has several programs, [\"a\", \"b\"], and none is `model`: choose one, with `Loader::program` or \
         `run --program`"
    );
}

#[test]
fn what_lies_elsewhere_than_it_says_is_refused() {
    let records = records("ties.pt2");
    let changed = |change: &dyn Fn(&mut Row)| {
        refusal(&zip(&records, |name, row| {
            if name.ends_with("weight_1") {
                change(row)
            }
        }))
    };
    assert!(changed(&|row| row.len = 1 << 30).contains("ends beyond the file"));
    assert!(changed(&|row| row.method = 8).contains("is compressed"));
    assert!(changed(&|row| row.start += 1).contains("not where the directory says"));
    assert!(changed(&|row| row.start = u32::MAX - 1).contains("is outside of the zip file"));
    assert!(changed(&|row| row.start = 0).contains("overlap"), "the first record is a weight as well");
    assert!(changed(&|row| row.len = 8).contains("weight"), "too few bytes");
    let mut damaged = zip(&records, |_, _| {});
    let at = damaged.windows(9).position(|window| window == b"inductor\"" || window == b"graph_mod").unwrap();
    damaged[at] ^= 1;
    assert!(refusal(&damaged).contains("is damaged"));
}

#[test]
fn weights_that_cannot_be_are_refused() {
    let config = |from: &str, to: &str| {
        refusal(&with_record("types.pt2", "weights", |text| text.replacen(from, to, 1)))
    };
    let dtype = |number: &str| config(r#""dtype": 7"#, &format!(r#""dtype": {number}"#));
    assert!(dtype("99").contains("number 99"));
    assert!(
        config(r#"{"as_int": 0}, {"as_int": 3}"#, r#"{"as_int": 9223372036854775807}, {"as_int": 3}"#)
            .contains("weight")
    );
    assert!(config(r#"{"as_int": 2}"#, r#"{"as_int": -2}"#).contains("weight"));
    assert!(config(r#""layout": 7"#, r#""layout": 1"#).contains("sparse"));
    assert!(config("weight_3", "weight_99").contains("weight_99"));
    assert!(config("weight_2", "weight_1").contains("share memory"), "bool and something else");
    let mut records = records("types.pt2");
    for (_, content) in records.iter_mut().filter(|(name, _)| name.ends_with("/weight_1")) {
        content[0] = 2;
    }
    assert!(refusal(&zip(&records, |_, _| {})).contains("not a bool"));
    let many = vec![r#"{"as_int": 1}"#; limits::DIMENSIONS + 1].join(", ");
    assert!(config(r#"{"as_int": 2}, {"as_int": 3}"#, &many).contains("dimensions"));
}

#[test]
fn a_program_with_weights_of_any_size_is_listed() {
    let config = |text: &str| {
        let huge = r#"{"as_int": 2147483648}, {"as_int": 2147483648}"#;
        let text =
            text.replace(r#""sizes": [{"as_int": 2}, {"as_int": 3}]"#, &format!(r#""sizes": [{huge}]"#));
        text.replace(r#"[{"as_int": 3}, {"as_int": 1}]"#, r#"[{"as_int": 0}, {"as_int": 0}]"#)
    };
    let program = Program::from_bytes(&with_record("types.pt2", "weights", config)).unwrap();
    let text = program.to_string();
    assert!(text.contains("float64[2147483648, 2147483648], 36893488147419103232 bytes"), "{text}");
}

#[test]
fn graphs_that_contradict_themselves_are_refused() {
    let cases = [
        (
            "\"as_tensor\": {\"name\": \"x\"}}, \"kind\": 1",
            "\"as_tensor\": {\"name\": \"nobody\"}}, \"kind\": 1",
            "does not define \"nobody\"",
        ),
        (
            "\"as_tensor\": {\"name\": \"x\"}}, \"kind\": 1",
            "\"as_tensor\": {\"name\": \"gt\"}}, \"kind\": 1",
            "does not define \"gt\" before it is used",
        ),
        (
            "{\"as_tensor\": {\"name\": \"sum_1\"}}]",
            "{\"as_tensor\": {\"name\": \"x\"}}]",
            "two values with the name",
        ),
        ("\"as_int\": 0}, \"kind\"", "\"as_any\": 0}, \"kind\"", "unknown variant `as_any`"),
        ("[{\"user_output\"", "[{\"user_input\"", "unknown variant `user_input`"),
    ];
    for (from, to, says) in cases {
        let said = refusal(&replaced("branches.pt2", from, to));
        assert!(said.contains(says), "{said}");
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(refusal(&edited("branches.pt2", |_| deep.clone())).contains("json"));
    let unknown =
        Program::from_bytes(&replaced("branches.pt2", "aten.sum.default", "aten.summe.default")).unwrap();
    assert_eq!(unknown.problems()[0].operator, "torch.ops.aten.summe.default");
    let wrong = Program::from_bytes(&replaced(
        "branches.pt2",
        r#""arg": {"as_int": 0}"#,
        r#""arg": {"as_string": "0"}"#,
    ))
    .unwrap();
    assert!(wrong.problems()[0].reason.contains("argument `other` is str"), "{:?}", wrong.problems());
    let number = r#"{"as_complex": {"real": 0.0, "imag": 1.0}}"#;
    let wrong = Program::from_bytes(&replaced("complex.pt2", number, r#"{"as_string": "i"}"#)).unwrap();
    let [problem] = wrong.problems() else { panic!("one problem: {:?}", wrong.problems()) };
    let reason = "argument `other` is str, but the operator takes Tensor\n";
    assert!(problem.reason.starts_with(reason), "a tensor is expected: {problem}");
}

#[test]
fn an_argument_is_given_once() {
    let twice = r#"{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}, {"name": "self", "#;
    let program = Program::from_bytes(&replaced("branches.pt2", r#"{"name": "self", "#, twice)).unwrap();
    let reason = &program.problems()[0].reason;
    assert!(reason.starts_with("the argument `self` is given more than once\n"), "{reason}");
}

#[test]
fn many_unknown_names_take_linear_time() {
    let many = |count: usize, target: &dyn Fn(usize) -> String| {
        edited("branches.pt2", |text| {
            let nodes: String = (0..count)
                .map(|n| {
                    let target = target(n);
                    format!(r#"{{"target": "torch.ops.aten.{target}", "inputs": [], "outputs": [], "metadata": {{}}}}, "#)
                })
                .collect();
            text.replacen(r#""nodes": ["#, &format!(r#""nodes": [{nodes}"#), 1)
        })
    };
    let program = Program::from_bytes(&many(30_000, &|_| "unheard.default".to_owned())).unwrap();
    assert_eq!(program.problems()[0].places.len(), 30_000);
    let program = Program::from_bytes(&many(200, &|n| format!("unheard{n}.default"))).unwrap();
    assert_eq!(program.problems().len(), 200);
}

#[test]
fn a_guard_that_cannot_be_read_is_a_warning_with_its_text() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let _guard = warning::listen(move |message| listener.lock().unwrap().push(message.to_owned()));
    for (name, part, instead) in [
        ("guarded.pt2", "(L['x'].size()[0] % 2) == 0", "(L['z'].grad % 2) == 0"),
        ("strict.pt2", "L['flat_args'][3]", "L['flat_args'][2]"),
    ] {
        assert!(Program::from_bytes(&replaced(name, part, instead)).is_ok());
    }
    let heard = heard.lock().unwrap();
    for says in [
        "guard `(L['z'].grad % 2) == 0` is not checked: `L['z'].grad` is not supported",
        // A constant.
        "guard `(L['flat_args'][2].size()[0] % 2) == 0` is not checked: `L['flat_args'][2].size()[0]` is not supported",
    ] {
        assert!(heard.iter().any(|message| message == says), "{heard:?}");
    }
}

#[test]
fn an_unknown_function_matters_only_where_its_value_does() {
    let program = edited("bits.pt2", |text| text.replace("BitwiseFn_bitwise_and(", "Unheard("));
    let program = Program::from_bytes(&program).unwrap();
    assert!(program.to_string().contains("float32[Unheard(s77, 6), "), "{program}");
    let x = Tensor::zeros(&[4, 3], DType::Float32, Device::CPU).unwrap();
    assert_eq!(program.run(&[x, Tensor::from(1i64)]).unwrap()[1].sizes()[0], 4);
    let input = edited("bits.pt2", |text| {
        text.replace("\"Symbol('s77', positive=True, integer=True)\"", "\"Unheard()\"")
    });
    assert_eq!(refusal(&input), "a size of input `x`: the function \"Unheard\" is not supported");
    let output = edited("bits.pt2", |text| text.replace("BitwiseFn_bitwise_and(", "BitwiseFn_bitwise_and(("));
    assert!(refusal(&output).starts_with("output \"new_zeros\": expression "), "{}", refusal(&output));
}

#[test]
fn higher_order_operators_that_are_not_supported_are_named() {
    let reason = |name: &str| {
        let program = replaced("branches.pt2", "higher_order.cond\"", &format!("higher_order.{name}\""));
        let program = Program::from_bytes(&program).unwrap();
        let [problem] = program.problems() else { panic!("one problem: {:?}", program.problems()) };
        problem.reason.clone()
    };
    assert_eq!(reason("scan"), "the higher-order operator `scan` is supported, but not with these arguments");
    assert!(reason("auto_functionalized_v2").ends_with("but not with these arguments"));
    let unknown = reason("flex_attention");
    assert!(
        unknown.starts_with("the higher-order operator `flex_attention` is not supported, only cond, "),
        "{unknown}"
    );
    assert!(reason("with_effects").ends_with("it calls no operator"));
}

#[test]
fn results_of_a_nested_graph_that_the_node_does_not_name_are_not_lost() {
    let without = |results: &[&str]| {
        refusal(&edited("branches.pt2", |text| {
            results.iter().fold(text.to_owned(), |text, name| {
                let result = format!(r#", {{"as_tensor": {{"name": "{name}"}}}}"#);
                assert!(text.contains(&result), "{name}");
                text.replacen(&result, "", 1)
            })
        }))
    };
    let unnamed = "cond: the number of results is 2 in the nested graph and 1 in the node";
    assert_eq!(without(&["getitem_1"]), unnamed);
    assert_eq!(without(&["add"]), "cond: the number of results is 1 in one branch and 2 in the other");
    assert_eq!(
        without(&["add", "sub"]),
        "cond: the number of results is 1 in the nested graph and 2 in the node"
    );
}

#[test]
fn what_a_call_with_a_token_cannot_be_is_named() {
    let with = |operator: &str| {
        let called = r#"{"as_operator": "torch.ops.aten._linalg_check_errors.default"}"#;
        let program = Program::from_bytes(&replaced("ordered.pt2", called, operator)).unwrap();
        let [problem] = program.problems() else { panic!("one problem: {:?}", program.problems()) };
        problem.to_string()
    };
    let missing = with(r#"{"as_operator": "torch.ops.aten._prints.default"}"#);
    assert!(missing.starts_with("torch.ops.aten._prints.default, at with_effects: "), "{missing}");
    let nested = with(r#"{"as_operator": "torch.ops.higher_order.call_torchbind"}"#);
    assert!(
        nested.starts_with("torch.ops.higher_order.call_torchbind, at with_effects: with_effects is"),
        "{nested}"
    );
    let wrong = with(r#"{"as_operator": "torch.ops.aten.relu.default"}"#);
    assert!(wrong.contains("the operator has no argument number 2"), "{wrong}");
}

/// An endless sequence of pseudorandom numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

const WORDS: [&str; 20] = [
    "null",
    "-1",
    "9223372036854775807",
    "1e999",
    "\"\"",
    "[]",
    "{}",
    "true",
    "{\"as_none\": true}",
    "{\"as_int\": -5}",
    "\"as_tensor\"",
    "\"as_tensors\"",
    "\"as_sym_int\"",
    "\"as_ints\"",
    "\"as_name\"",
    "\"x\"",
    "{\"as_tensor\": {\"name\": \"x\"}}",
    "torch.ops.aten.relu.default",
    "_operator.floordiv",
    "torch.ops.higher_order.cond",
];

/// Changes a text: modifies a byte, removes or repeats a piece, or replaces a value by a word.
fn mutate(text: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(text.len());
    if text.is_empty() {
        return; // the text is empty
    }
    match random.below(5) {
        0 => text[at] = b" 0159-{}[]\",:azAZ_."[random.below(19)],
        1 => drop(text.drain(at..text.len().min(at + random.below(40)))),
        2 => {
            let piece = text[at..text.len().min(at + random.below(200))].to_vec();
            text.splice(at..at, piece);
        }
        3 => {
            // Replaces a number.
            let Some(start) = text[at..].iter().position(u8::is_ascii_digit).map(|found| at + found) else {
                return;
            };
            let len = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = ["0", "1", "7", "13", "63", "-1", "4096", "9223372036854775807"][random.below(8)];
            text.splice(start..start + len, number.bytes());
        }
        _ => {
            // Replaces the text between two quotes or braces.
            let Some(start) =
                text[at..].iter().position(|byte| b"\"{[".contains(byte)).map(|found| at + found)
            else {
                return;
            };
            let end = text[start + 1..]
                .iter()
                .position(|byte| b"\"}]".contains(byte))
                .map_or(text.len(), |found| start + found + 2);
            text.splice(start..end, WORDS[random.below(WORDS.len())].bytes());
        }
    }
}

#[test]
fn mutated_programs_are_refused_or_run() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let names = [
        "branches.pt2",
        "nested.pt2",
        "counts.pt2",
        "functional.pt2",
        "guarded.pt2",
        "ties.pt2",
        "sizes.pt2",
        "ordered.pt2",
        "named.pt2",
        "norms.pt2",
        "associative.pt2",
    ];
    let (mut refused, mut ran) = (0, 0);
    for round in 0..800 {
        let name = names[round % names.len()];
        let records = records(name);
        let texts: Vec<_> = (0..records.len()).filter(|place| records[*place].0.ends_with(".json")).collect();
        let mut mutated = records.clone();
        for _ in 0..=random.below(3) {
            mutate(&mut mutated[texts[random.below(texts.len())]].1, &mut random);
        }
        let is_folded = name == "norms.pt2";
        let loader = if is_folded { Loader::new().fold_batch_norm() } else { Loader::new() };
        let Ok(program) = loader.from_bytes(&zip(&mutated, |_, _| {})) else {
            refused += 1;
            continue;
        };
        // A large size in the program may be legitimate, and fill the machine's memory: that is what the program says.
        if name == "sizes.pt2" {
            continue;
        }
        let sizes: &[i64] = if is_folded { &[2, 2, 8] } else { &[3] };
        let input = || Tensor::full(sizes, Scalar::Int(1), DType::Float32, Device::CPU).unwrap();
        let inputs: Vec<_> = program.inputs().iter().map(|_| input()).collect();
        ran += usize::from(program.run(&inputs).is_ok());
        let _ = program.to_string();
    }
    assert!(
        refused > 100 && ran > 5,
        "{refused} refused, {ran} ran: the mutations are too strong or too weak"
    );
}

#[test]
fn mutated_files_are_refused_or_run() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let whole = zip(&records("counts.pt2"), |_, _| {});
    for round in 0..1500 {
        let mut file = whole.clone();
        match round % 3 {
            0 => file.truncate(random.below(whole.len())),
            // Changes the directory at the end more often than the rest.
            1 => (0..4).for_each(|_| {
                let at = whole.len() - 1 - random.below(1200);
                file[at] = random.below(256) as u8;
            }),
            _ => (0..8).for_each(|_| {
                let at = random.below(whole.len());
                file[at] ^= 1 << random.below(8);
            }),
        }
        if let Ok(program) = Program::from_bytes(&file) {
            let _ = program.run(&[Tensor::from([1f32, 2.0])]);
        }
    }
    let error: Error = Program::from_bytes(&[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}
