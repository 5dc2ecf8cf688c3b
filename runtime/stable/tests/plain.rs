//! A C library that declares the functions of the ABI itself: tests everything that needs no headers of PyTorch.
#![cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![expect(unsafe_code, reason = "loads a library")]

#[path = "extensions/build.rs"]
mod build;

use std::path::Path;
use std::sync::{Once, OnceLock, mpsc};
use std::time::Duration;

use torch_library::vmap::{Level, Randomness};
use torch_library::{
    DType, Device, Dispatcher, ErrorKind, Generator, Layout, MemoryFormat, OperatorHandle, RegistrationEvent,
    Result, Tensor, Value,
};
use torch_library_kernels::prelude::*;
use torch_library_stable::LoadedLibrary;

fn load(path: &Path) -> Result<LoadedLibrary> {
    // SAFETY: it is a library of this folder, which keeps to the ABI.
    unsafe { torch_library_stable::load(path) }
}

/// Builds the library with its own namespace, and options for the compiler.
fn build(namespace: &str, options: &[&str]) -> std::path::PathBuf {
    let namespace_option = format!("-DNAMESPACE=\"{namespace}\"");
    let options = [&[namespace_option.as_str()], options].concat();
    build::build("cc", "plain.c", &format!("lib{namespace}.so"), &options)
}

/// The library, loaded once.
fn plain() -> &'static LoadedLibrary {
    static LOADED: OnceLock<LoadedLibrary> = OnceLock::new();
    LOADED.get_or_init(|| load(&build("plain", &[])).unwrap())
}

fn operator(name: &str) -> OperatorHandle {
    plain();
    Dispatcher::global().find(&format!("plain::{name}")).unwrap()
}

fn call<T: torch_library::FromReturn>(name: &str, arguments: Vec<Value<'_>>) -> Result<T> {
    operator(name).call_with(arguments, [])?.pop_as()
}

fn call_aten(name: &str, arguments: Vec<Value<'_>>) -> Tensor {
    Dispatcher::global().find(name).unwrap().call_with(arguments, []).unwrap().pop_as().unwrap()
}

fn run(name: &str, arguments: Vec<Value<'_>>) -> Result<()> {
    operator(name).call_with(arguments, []).map(drop)
}

fn fail(name: &str, arguments: Vec<Value<'_>>) -> torch_library::Error {
    run(name, arguments).unwrap_err()
}

#[test]
fn what_it_registers_is_in_the_dispatcher() {
    let loaded = plain();
    assert_eq!((loaded.operators().len(), loaded.kernels()), (46, 46));
    let add_one = operator("add_one");
    assert!(loaded.operators().contains(&add_one));
    assert_eq!(add_one.schema().unwrap().to_string(), "plain::add_one(Tensor x) -> Tensor");
    assert_eq!(add_one.tags(), ["pointwise"]);
    assert!(add_one.place().to_string().contains("plain.c:"), "{}", add_one.place());
}

#[test]
fn a_kernel_computes() {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let y: Tensor = call("add_one", vec![Value::from(&x)]).unwrap();
    assert_eq!((y.to_vec::<f64>().unwrap(), y.sizes()), (vec![2.0, 3.0, 4.0, 5.0], &[2, 2][..]));
    let typed = operator("add_one").typed::<fn(&Tensor) -> Result<Tensor>, _>().unwrap();
    assert_eq!(typed.call(&x).unwrap().to_vec::<f64>().unwrap(), [2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn values_of_all_types_pass_both_ways() {
    let x = Tensor::from([1.0]);
    let values: [Value<'static>; 25] = [
        x.clone().into(),
        x.clone().into(),
        vec![x.clone(), x.clone()].into(),
        vec![Some(x.clone()), None].into(),
        i64::MIN.into(),
        7i64.into(),
        vec![1i64, -2].into(),
        vec![3i64, 4].into(),
        5i64.into(),
        Vec::<i64>::new().into(),
        (-0.0).into(),
        0.25.into(),
        vec![f64::INFINITY, 1.0].into(),
        true.into(),
        false.into(),
        vec![true, false].into(),
        "größer".to_owned().into(),
        String::new().into(),
        vec!["a".to_owned(), "b".to_owned()].into(),
        DType::BFloat16.into(),
        Device::CPU.into(),
        "cuda:1".parse::<Device>().unwrap().into(),
        Layout::SparseCsr.into(),
        vec![9i64].into(),
        MemoryFormat::ChannelsLast.into(),
    ];
    // `Scalar` and `Generator?` have rows of their own below.
    let numbers = (0..24).chain([26]);
    for (number, value) in numbers.zip(values) {
        let echo = operator(&format!("echo.t{number}"));
        let text = format!("{value:?}");
        let back = echo.call_with([value], []).unwrap().pop().unwrap();
        assert_eq!(format!("{back:?}"), text, "{echo}");
    }
    for number in [1, 5, 11, 14, 17, 21, 23] {
        let back = operator(&format!("echo.t{number}")).call_with([Value::None], []).unwrap().pop().unwrap();
        assert!(back.is_none(), "echo.t{number}");
    }
    let same: Tensor = call("echo.t0", vec![Value::from(&x)]).unwrap();
    assert!(same.is_same(&x));
}

#[test]
fn a_generator_goes_on_where_it_was() {
    let (generator, same) = (Generator::with_seed(7), Generator::with_seed(7));
    generator.random();
    let back = operator("echo.t25").call_with([Value::from(&generator)], []).unwrap().pop().unwrap();
    let Value::Generator(back) = back else { panic!("{back:?}") };
    same.random();
    assert_eq!(back.random(), same.random());
}

#[test]
fn what_the_abi_does_not_carry_is_refused() {
    let error = fail("echo.t24", vec![Value::Int(1)]);
    assert_eq!(error.kind(), ErrorKind::NotSupported);
    assert_eq!(
        error.to_string(),
        "plain::echo.t24: argument `x`: PyTorch's stable ABI carries no value of type Scalar"
    );
}

#[test]
fn c_sees_the_values() {
    let arguments = vec![
        (-3i64).into(),
        2.5.into(),
        true.into(),
        "text".into(),
        DType::Float32.into(),
        "cuda:1".parse::<Device>().unwrap().into(),
    ];
    assert_eq!(call::<String>("spell", arguments).unwrap(), "-3 2.5 1 text 6 1:1");
    let mut returns =
        operator("swap").call_with([Tensor::from([1.0]).into(), vec![1i64, 2].into()], []).unwrap();
    assert_eq!(returns.pop_as::<Tensor>().unwrap().to_vec::<f64>().unwrap(), [1.0]);
    assert_eq!(returns.pop_as::<Vec<i64>>().unwrap(), [1, 2]);
}

#[test]
fn what_is_written_in_place_is_the_argument() {
    let mut x = Tensor::from([1.0, 2.0]);
    let (version, same) = (x.version(), x.clone());
    let y: Tensor = call("fill_", vec![Value::TensorMut(&mut x)]).unwrap();
    assert!(y.is_same(&same));
    assert_eq!(same.to_vec::<f64>().unwrap(), [0.5, 0.5]);
    assert!(same.version() > version);
    let typed = operator("fill_").typed::<fn(&mut Tensor, f64) -> Result<&mut Tensor>, _>().unwrap();
    typed.call(&mut x, 4.0).unwrap();
    assert_eq!(same.to_vec::<f64>().unwrap(), [4.0, 4.0]);
    call::<Tensor>("clear_", vec![Value::TensorMut(&mut x)]).unwrap();
    assert_eq!(same.to_vec::<f64>().unwrap(), [0.0, 0.0]);
}

#[test]
fn a_view_shares_memory() {
    let x = Tensor::from([1.0, 2.0, 3.0]);
    let mut y: Tensor = call("tail", vec![Value::from(&x), 1i64.into()]).unwrap();
    assert!(y.shares_storage_with(&x));
    y.fill(7.0).unwrap();
    assert_eq!(x.to_vec::<f64>().unwrap(), [1.0, 7.0, 7.0]);
    let error = fail("tail", vec![Value::from(&x), (-5i64).into()]);
    assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
}

#[test]
fn a_view_by_strides_has_a_gradient() {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    x.set_requires_grad(true).unwrap();
    let y: Tensor = call("transposed", vec![Value::from(&x)]).unwrap();
    assert!(y.shares_storage_with(&x));
    assert_eq!(y.to_vec::<f64>().unwrap(), [1.0, 3.0, 2.0, 4.0]);
    y.mul(&Tensor::from([[1.0, 10.0], [100.0, 1000.0]])).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [1.0, 100.0, 10.0, 1000.0]);
}

#[test]
fn the_elements_of_a_batch_are_not_those_of_an_example() {
    let x = Tensor::from([1.0, 2.0]);
    assert_eq!(call::<f64>("first", vec![Value::from(&x)]).unwrap(), 1.0);
    let batch = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let level = Level::enter(2, Randomness::Error).unwrap();
    let example = level.level().wrap(batch, 0).unwrap();
    let error = fail("first", vec![example.into()]);
    assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}");
    assert!(error.to_string().starts_with("plain::first: this tensor is a wrapper, of vmap"), "{error}");
}

#[test]
fn elements_that_are_negated_later_are_not_those_in_memory() {
    let x = call_aten("aten::_neg_view", vec![Tensor::from([1.0, 2.0]).into()]);
    match call::<f64>("first", vec![x.into()]) {
        Ok(first) => assert_eq!(first, -1.0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}"),
    }
}

#[test]
fn an_element_is_read_as_the_type_that_the_kernel_asks_for() {
    let mut x = Tensor::from([2.5f32]);
    assert_eq!(call::<f64>("only_", vec![Value::TensorMut(&mut x)]).unwrap(), 2.5);
    let mut x = Tensor::from([-7i64]);
    assert_eq!(call::<f64>("only_", vec![Value::TensorMut(&mut x)]).unwrap(), -7.0);
    let mut x = Tensor::from([1.0, 2.0]);
    assert_eq!(fail("only_", vec![Value::TensorMut(&mut x)]).kind(), ErrorKind::Shape);
}

#[test]
fn it_calls_operators_of_the_program() {
    let x = Tensor::from([1.0, -3.0]);
    let y: Tensor = call("square", vec![Value::from(&x)]).unwrap();
    assert_eq!(y.to_vec::<f64>().unwrap(), [1.0, 9.0]);
}

#[test]
fn errors_go_both_ways() {
    let told = call::<String>("ask", vec![]).unwrap();
    assert!(told.starts_with("there is no operator plain::missing"), "{told}");
    let error = fail("add_one", vec![Tensor::from([1i64]).into()]);
    assert_eq!(error.kind(), ErrorKind::Kernel);
    let text = error.to_string();
    assert!(text.starts_with("plain::add_one: only float64 is served\n  in elements at "), "{text}");
    assert!(text.contains("\n  in the kernel for CPU of ") && text.ends_with("libplain.so"), "{text}");
    let error = fail("ask_for_cuda", vec![]);
    assert_eq!(error.kind(), ErrorKind::NotSupported);
    assert!(error.to_string().contains("aoti_torch_create_cuda_guard: there is no CUDA"), "{error}");
    run("check_cuda", vec![0i64.into()]).unwrap();
    let error = fail("check_cuda", vec![35i64.into()]);
    assert!(
        error.to_string().starts_with("plain::check_cuda: CUDA error 35\n  in launch at kernel.cu:7"),
        "{error}"
    );
}

#[test]
fn memory_that_it_lends_goes_back() {
    let before: i64 = call("count_freed", vec![]).unwrap();
    let x: Tensor = call("lend", vec![4i64.into()]).unwrap();
    let y = x.clone();
    assert_eq!(x.to_vec::<f64>().unwrap(), [0.0, 1.0, 2.0, 3.0]);
    drop(x);
    assert_eq!(call::<i64>("count_freed", vec![]).unwrap(), before);
    drop(y);
    assert_eq!(call::<i64>("count_freed", vec![]).unwrap(), before + 1);
}

#[test]
fn its_loops_run_on_our_threads() {
    assert_eq!(call::<i64>("sum_below", vec![1000i64.into()]).unwrap(), 499_500);
    assert_eq!(call::<i64>("sum_below", vec![0i64.into()]).unwrap(), 0);
    let error = fail("sum_below", vec![1_000_000_000i64.into()]);
    assert!(error.to_string().contains("that is far"), "{error}");
}

#[test]
fn a_call_keeps_others_away_from_its_arguments() {
    let (mut x, y) = (Tensor::from([1.0]), Tensor::from([2.0]));
    let (same, mut other) = (x.clone(), y.clone());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| run("wait_", vec![Value::TensorMut(&mut x), Value::from(&y)]));
        while !call::<bool>("is_waiting", vec![]).unwrap() {
            std::thread::yield_now();
        }
        let (read, written) = (same.to_vec::<f64>(), other.fill(3.0));
        run("let_go", vec![]).unwrap();
        waiting.join().unwrap().unwrap();
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Busy);
        assert_eq!(written.unwrap_err().kind(), ErrorKind::Busy);
    });
    assert_eq!(same.to_vec::<f64>().unwrap(), [1.0]);
    other.fill(3.0).unwrap();
}

/// A handle is an owner: one that is not freed would keep the tensor alive.
#[test]
fn no_handle_stays() {
    let gone = |run: &dyn Fn(Tensor) -> Result<()>| {
        let x = Tensor::from([1.0, 2.0]);
        let weak = x.downgrade();
        let result = run(x);
        assert!(weak.upgrade().is_none(), "{result:?}");
    };
    gone(&|x| run("add_one", vec![x.into()]));
    gone(&|x| run("echo.t2", vec![vec![x.clone(), x].into()]));
    gone(&|x| run("echo.t3", vec![vec![Some(x), None].into()]));
    gone(&|x| run("echo.t1", vec![x.into()]));
    gone(&|x| run("tail", vec![x.into(), 1i64.into()]));
    gone(&|x| run("square", vec![x.into()]));
    gone(&|x| {
        // A conflicting lease of another call is an error before the kernel runs.
        let lease = torch_library::OwnedLease::exclusive(x.clone())?;
        assert_eq!(fail("add_one", vec![x.into()]).kind(), ErrorKind::Busy);
        drop(lease);
        Ok(())
    });
}

#[test]
fn a_library_is_loaded_once() {
    let again = load(plain().path()).unwrap();
    assert_eq!(again.operators(), plain().operators());
}

/// Linked as libraries are for PyTorch: they need its libraries.
#[test]
fn what_it_needs_of_pytorch_is_not_looked_for() {
    static EMPTY: Once = Once::new();
    EMPTY.call_once(|| {
        let soname = "-Wl,-soname,libtorch_cpu.so";
        build::build("cc", "empty.c", "libtorch_cpu.so", &[soname]);
        build::build("cc", "empty.c", "libc10.so", &["-Wl,-soname,libc10.so"]);
    });
    let folder = format!("-L{}", env!("CARGO_TARGET_TMPDIR"));
    let options = [&folder, "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10", "-Wl,--as-needed"];
    let loaded = load(&build("plain_linked", &options)).unwrap();
    assert_eq!(loaded.operators().len(), 46);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains("/libtorch_cpu.so"), "no library of this name was opened");
    let add_one = Dispatcher::global().find("plain_linked::add_one").unwrap();
    let y: Tensor = add_one.call_with([Tensor::from([1.0]).into()], []).unwrap().pop_as().unwrap();
    assert_eq!(y.to_vec::<f64>().unwrap(), [2.0]);
}

#[test]
fn a_library_that_contradicts_another_leaves_nothing() {
    plain();
    let error = load(&build::build("cc", "plain.c", "libplain_again.so", &[])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let text = error.to_string();
    assert!(
        text.starts_with("loading ") && text.contains("libplain_again.so: namespace `plain` is declared"),
        "{text}"
    );
    assert_eq!(call::<i64>("sum_below", vec![4i64.into()]).unwrap(), 6, "the first is as it was");

    let mistake = "-DMISTAKE=\"wrong(Tensor -> int\"";
    let error = load(&build("plain_mistaken", &[mistake])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema);
    let mistaken = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libplain_mistaken.so");
    assert_eq!(load(&mistaken).unwrap_err().kind(), ErrorKind::Schema, "nor is a second load another");
    assert!(Dispatcher::global().find("plain_mistaken::add_one").is_err());
}

#[test]
fn libraries_that_need_each_other_are_refused() {
    let folder = format!("-L{}", env!("CARGO_TARGET_TMPDIR"));
    let options = [&folder, "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN"];
    let left = build::build("cc", "empty.c", "libleft.so", &[]);
    build::build("cc", "empty.c", "libright.so", &[&options[..], &["-lleft"]].concat());
    build::build("cc", "empty.c", "libleft.so", &[&options[..], &["-lright"]].concat());
    let error = load(&left).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}");
    assert!(error.to_string().contains("libright.so needs "), "{error}");
}

#[test]
fn files_that_do_not_load_say_why() {
    let text = |path: &Path| load(path).unwrap_err().to_string();
    assert!(text(Path::new("missing.so")).starts_with("loading missing.so: "));
    let source = build::sources().join("plain.c");
    assert!(
        text(&source).ends_with("plain.c: it is no shared object for this processor"),
        "{}",
        text(&source)
    );
    // A download that was broken off: the loader would map what is not there. Without its last parts, which are for
    // debuggers, it is whole.
    let whole = std::fs::read(plain().path()).unwrap();
    let cut = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libcut.so");
    let mut refused = 0;
    for length in (0..whole.len()).step_by(200) {
        std::fs::write(&cut, &whole[..length]).unwrap();
        let text = text(&cut);
        refused += usize::from(text.ends_with("libcut.so: it is no shared object for this processor"));
        assert!(
            refused == length / 200 + 1 || text.contains("namespace `plain` is declared already"),
            "{text}"
        );
    }
    assert!(refused * 200 > whole.len() / 2);
    let undefined = build::build("cc", "undefined.c", "libundefined.so", &[]);
    let text = text(&undefined);
    assert!(text.contains("libundefined.so: undefined symbol: _ZN3c105ErrorD1Ev"), "{text}");
    assert!(text.contains("only libraries that keep to the stable ABI load here"), "{text}");
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let mut open = open.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    assert_eq!(open.find(|file| file.to_string_lossy().contains("libundefined.so")), None, "a copy is left");
}

#[test]
fn a_listener_cannot_load_a_library_while_another_one_registers() {
    let (first, second) = (build("listened", &[]), build("loaded_by_a_listener", &[]));
    let again = second.clone();
    let (told, heard) = mpsc::channel();
    let listener = Dispatcher::global().listen(move |event| match event {
        RegistrationEvent::Registered(operator) if operator.to_string() == "listened::add_one" => {
            let _ = told.send(load(&second).map(drop));
        }
        _ => {}
    });
    let (ended, ends) = mpsc::channel();
    std::thread::spawn(move || ended.send(load(&first).map(drop)));
    ends.recv_timeout(Duration::from_secs(60)).expect("the listener waits for the load").unwrap();
    let error = heard.recv().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains("this thread is loading a library"), "{error}");
    drop(listener);
    load(&again).unwrap();
}
