//! Runs C++ libraries that use PyTorch's own headers, without PyTorch, if there are these headers.
//!
//! `PYTORCH_PYTHON` names a Python that has `torch`; by default `python3` is used. `.ci/pytorch` makes one.
#![cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![expect(unsafe_code, reason = "loads libraries")]

#[path = "extensions/build.rs"]
mod build;

use std::process::Command;
use std::sync::OnceLock;

use torch_library::{
    DType, Device, Dispatcher, Error, ErrorKind, FromReturn, Layout, MemoryFormat, OperatorHandle, Result,
    Tensor, Value,
};
use torch_library_kernels as _;

/// The folder of an installed PyTorch, or the reason why there is none.
fn pytorch() -> Result<String, String> {
    let python = std::env::var("PYTORCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let program = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])";
    match Command::new(&python).args(["-c", program]).output() {
        Ok(asked) if asked.status.success() => Ok(String::from_utf8_lossy(&asked.stdout).trim().to_owned()),
        Ok(asked) => {
            let text = String::from_utf8_lossy(&asked.stderr);
            Err(format!("{python}: {}", text.lines().last().unwrap_or("it failed")))
        }
        Err(error) => Err(format!("{python}: {error}")),
    }
}

/// The options with which `torch.utils.cpp_extension` links a library.
const LINKED: [&str; 5] = ["-Wl,--no-as-needed", "-lc10", "-ltorch", "-ltorch_cpu", "-ltorch_python"];
/// Links nothing of PyTorch, and a C++ runtime and an unwinder statically.
const STATIC: [&str; 2] = ["-static-libstdc++", "-static-libgcc"];

/// Builds the library for the functions of a PyTorch version, and loads it.
fn load(torch: &str, namespace: &str, version: u64, linked: &[&str]) {
    let own = [
        format!("-I{torch}/include"),
        format!("-L{torch}/lib"),
        format!("-DTORCH_TARGET_VERSION=0x02{version:02x}000000000000"),
        format!("-DNAMESPACE={namespace}"),
    ];
    let mut options: Vec<&str> = own.iter().map(String::as_str).collect();
    options.extend(["-std=c++20", "-Wno-unused-parameter"]);
    options.extend(linked);
    let library = build::build("c++", "stable.cpp", &format!("lib{namespace}.so"), &options);
    // SAFETY: it is a library of this folder, which keeps to the ABI.
    let loaded = unsafe { torch_library_stable::load(library) }.unwrap();
    assert_eq!((loaded.operators().len(), loaded.kernels()), (17, 16));
}

/// The namespaces of the libraries: for the oldest conventions, and for the newest that the headers have.
fn namespaces() -> &'static [&'static str] {
    static LOADED: OnceLock<Vec<&'static str>> = OnceLock::new();
    LOADED.get_or_init(|| match pytorch() {
        Ok(torch) => {
            load(&torch, "cpp10", 10, &LINKED);
            load(&torch, "cpp10_static", 10, &STATIC);
            let header =
                std::fs::read_to_string(format!("{torch}/include/torch/headeronly/version.h")).unwrap();
            let minor = header.lines().find_map(|line| line.strip_prefix("#define TORCH_VERSION_MINOR "));
            load(&torch, "cpp_newest", minor.unwrap().trim().parse().unwrap(), &LINKED);
            vec!["cpp10", "cpp10_static", "cpp_newest"]
        }
        Err(why) => {
            println!("skipped, since there are no headers of PyTorch: {why}");
            Vec::new()
        }
    })
}

fn operator(namespace: &str, name: &str) -> OperatorHandle {
    Dispatcher::global().find(&format!("{namespace}::{name}")).unwrap()
}

fn call<T: FromReturn>(namespace: &str, name: &str, arguments: Vec<Value<'_>>) -> Result<T> {
    operator(namespace, name).call_with(arguments, [])?.pop_as()
}

fn fail(namespace: &str, name: &str, arguments: Vec<Value<'_>>) -> Error {
    operator(namespace, name).call_with(arguments, []).map(drop).unwrap_err()
}

#[test]
fn no_pytorch_is_in_the_process() {
    namespaces();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains("/libtorch") && !maps.contains("/libc10"));
}

#[test]
fn kernels_compute() {
    for namespace in namespaces() {
        let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from([10.0, 20.0]));
        let z: Tensor = call(namespace, "axpy", vec![(&x).into(), (&y).into()]).unwrap();
        assert_eq!(z.to_vec::<f64>().unwrap(), [12.0, 24.0]);
        let mut x = x;
        let scaled: Tensor = call(namespace, "scale_", vec![Value::TensorMut(&mut x), 3.0.into()]).unwrap();
        assert!(scaled.is_same(&x));
        assert_eq!(x.to_vec::<f64>().unwrap(), [3.0, 6.0]);
        let first: Tensor = call(namespace, "first_rows", vec![(&x).into(), 1i64.into()]).unwrap();
        assert!(first.shares_storage_with(&x));
        assert_eq!(first.to_vec::<f64>().unwrap(), [3.0]);
    }
}

#[test]
fn the_headers_conversions_and_ours_agree() {
    for namespace in namespaces() {
        let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from([10.0]));
        let mut returns =
            operator(namespace, "reversed").call_with([vec![x.clone(), y.clone()].into()], []).unwrap();
        assert_eq!(returns.pop_as::<i64>().unwrap(), 2);
        let all: Vec<Tensor> = returns.pop_as().unwrap();
        assert!(all[0].is_same(&y) && all[1].is_same(&x));
        let given = vec![
            (&x).into(),
            (-4i64).into(),
            0.5.into(),
            true.into(),
            "für".into(),
            vec![1i64, 2].into(),
            DType::BFloat16.into(),
            Device::CPU.into(),
        ];
        let described: String = call(namespace, "describe", given).unwrap();
        assert_eq!(described, "tensor of 2, -4, 0.500000, true, für, [1;2;], BFloat16, cpu -1");
        let device: Device = "cuda:1".parse().unwrap();
        let mut absent: Vec<Value<'_>> = (0..5).map(|_| Value::None).collect();
        absent.extend([Vec::<i64>::new().into(), DType::Int64.into(), device.into()]);
        let described: String = call(namespace, "describe", absent).unwrap();
        assert_eq!(described, "no tensor, no int, no float, no bool, no str, [], Long, other 1");
        let some: Option<Tensor> = call(namespace, "maybe", vec![true.into(), (&x).into()]).unwrap();
        assert!(some.unwrap().is_same(&x));
        assert!(
            call::<Option<Tensor>>(namespace, "maybe", vec![false.into(), (&x).into()]).unwrap().is_none()
        );
    }
}

#[test]
fn the_headers_numbers_are_ours() {
    for namespace in namespaces() {
        assert_eq!(call::<String>(namespace, "other_numbers", vec![]).unwrap(), "", "{namespace}");
    }
}

#[test]
fn lists_and_formats_pass_both_ways() {
    for namespace in namespaces() {
        let x = Tensor::from([1.0]);
        let given: Vec<Value<'static>> = vec![
            vec![0.5, -0.0].into(),
            vec![true, false, true].into(),
            vec!["für".to_owned(), String::new()].into(),
            vec![Some(x.clone()), None].into(),
            vec![1i64, i64::MIN].into(),
            Layout::SparseCsr.into(),
            MemoryFormat::ChannelsLast3d.into(),
        ];
        let mut expected: Vec<String> = given.iter().map(|value| format!("{value:?}")).collect();
        expected[1] = format!("{:?}", Value::from("101".to_owned()));
        let returns = operator(namespace, "passed").call_with(given, []).unwrap();
        let found: Vec<String> = returns.into_iter().map(|value| format!("{value:?}")).collect();
        assert_eq!(found, expected);
        let weak = x.downgrade();
        drop(x);
        assert!(weak.upgrade().is_none(), "a handle was left");
    }
}

#[test]
fn memory_that_it_lends_goes_back() {
    for namespace in namespaces() {
        let x: Tensor = call(namespace, "lend", vec![3i64.into()]).unwrap();
        assert_eq!(x.to_vec::<f64>().unwrap(), [0.0; 3]);
        drop(x);
        assert_eq!(call::<i64>(namespace, "count_freed", vec![]).unwrap(), 4);
    }
}

#[test]
fn all_operators_of_the_headers_are_called() {
    for namespace in namespaces() {
        let x = Tensor::from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let newest =
            std::fs::read_to_string(format!("{}/include/torch/headeronly/version.h", pytorch().unwrap()));
        let is_newest = newest.unwrap().contains("TORCH_VERSION_MINOR 15");
        let y: Tensor = call(namespace, "more_of_aten", vec![(&x).into()]).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), [if is_newest { 27.0 } else { 26.0 }], "{namespace}");
    }
}

#[test]
fn operators_of_aten_are_called() {
    for namespace in namespaces() {
        // Transposed, with 9 in the first row, the rows have the maxima 9 and 4; with -1 in front their sum is 12.
        let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
        let y: Tensor = call(namespace, "through_aten", vec![(&x).into()]).unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), [12.0]);
        assert_eq!(x.to_vec::<f64>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    }
}

#[test]
fn exceptions_become_errors() {
    for namespace in namespaces() {
        let cases = [
            "not that",
            "several bases",
            "an exception of C++ of the type i",
            "kept",
            "checked",
            "caught: there is no operator cpp::missing",
        ];
        for (which, text) in cases.into_iter().enumerate() {
            let error = fail(namespace, "throw_", vec![(which as i64).into()]);
            let expected = format!("{namespace}::throw_: {text}");
            assert!(error.to_string().starts_with(&expected), "{error}\n  instead of {expected}");
            let place =
                format!("in the kernel for CompositeExplicitAutograd of {}", env!("CARGO_TARGET_TMPDIR"));
            assert!(error.to_string().contains(&place), "{error}");
            assert_eq!(call::<i64>(namespace, "uncaught", vec![]).unwrap(), 0);
        }
        let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from([[1.0]]));
        let error = fail(namespace, "axpy", vec![(&x).into(), (&y).into()]);
        // Two C++ runtimes in one process share some variables, and then one of them prints no numbers.
        let is_alone = !namespace.ends_with("static");
        assert!(!is_alone || error.to_string().contains("sizes differ: 2 and 1"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Kernel);
    }
}

#[test]
fn what_the_host_refuses_keeps_its_kind() {
    for namespace in namespaces() {
        let mut x = Tensor::from([1.0]);
        let error = fail(namespace, "refused_", vec![Value::TensorMut(&mut x)]);
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert!(error.to_string().contains("narrow"), "{error}");
        x.fill(2.0).unwrap(); // nothing is leased any more
    }
}

#[test]
fn a_library_has_the_functions_of_its_version() {
    for namespace in namespaces() {
        let version: i64 = call(namespace, "version", vec![]).unwrap();
        assert_eq!(version == (2 << 8) + 10, namespace.starts_with("cpp10"));
        let tags = operator(namespace, "tagged").tags();
        assert_eq!(tags.is_empty(), version < (2 << 8) + 12, "{tags:?}");
        let error = fail(namespace, "tagged", vec![Tensor::from([1.0]).into()]);
        assert_eq!(error.kind(), ErrorKind::MissingKernel);
    }
}
