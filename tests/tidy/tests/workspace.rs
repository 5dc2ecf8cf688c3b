//! Checks the crates that users compile, from the schema language to the operators; the collectives, the crates for PyTorch, and the Python module.

use std::fs;
use std::path::{Path, PathBuf};

use torch_library_tidy::{Sources, layers, safety, text};

/// The folders of the crates.
const CRATES: [&str; 12] = [
    "runtime",
    "runtime/schema",
    "macros",
    "kernels/loops",
    "kernels/aten",
    "kernels/nn",
    "kernels/linalg",
    "kernels/fourier",
    "kernels",
    "kernels/distributed",
    "runtime/stable",
    "runtime/python",
];

/// Other crates that contain `unsafe` code.
const OTHERS: [&str; 5] =
    ["kernels/cuda", "kernels/distributed/mpi", "kernels/wgpu", "runtime/export", "runtime/pytorch"];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn sources(name: &str) -> Sources {
    Sources::read(&folder(name).join("src/lib.rs")).unwrap()
}

/// The order is that of the `mod` lines in `lib.rs`.
#[test]
fn each_module_uses_only_those_listed_above_it() {
    for name in CRATES {
        let (sources, files) = (sources(name), text::files(&folder(name).join("src")).unwrap());
        assert!(sources.modules().count() * 2 > files.len(), "{name}: not all modules were read");
        let arrows = layers::arrows_back(&sources);
        assert!(arrows.is_empty(), "{name}/src:\n{}", arrows.join("\n"));
    }
}

#[test]
fn no_modules_of_a_folder_use_each_other_in_a_circle() {
    for name in CRATES {
        let circles = layers::circles(&sources(name));
        assert!(circles.is_empty(), "{name}/src:\n{}", circles.join("\n"));
    }
}

/// Compares with the rows of the table in ARCHITECTURE.md, each of which may name several modules.
#[test]
fn the_table_of_modules_is_the_list_in_lib_rs() {
    let text = fs::read_to_string(folder("ARCHITECTURE.md")).unwrap();
    let table = text.lines().skip_while(|line| !line.starts_with("| module |")).skip(2);
    let names = table.map_while(|line| line.strip_prefix("| ")?.split(" |").next());
    let rows: Vec<&str> =
        names.flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`')).collect();
    let mut modules = sources("runtime").root().children.clone();
    modules.retain(|module| module != "memory"); // a page of the documentation
    assert_eq!(rows, modules);
}

/// Checks first lines, widths, and lengths of functions and files.
#[test]
fn files_are_easy_to_read() {
    let mut problems = Vec::new();
    for name in CRATES {
        for part in ["src", "tests", "benches"].map(|part| folder(name).join(part)) {
            let files = if part.is_dir() { text::files(&part).unwrap() } else { Vec::new() };
            for file in files {
                let short = Path::new(name).join(file.strip_prefix(folder(name)).unwrap());
                problems.extend(text::problems(&short, &fs::read_to_string(&file).unwrap()).unwrap());
            }
        }
    }
    assert!(problems.is_empty(), "{} places:\n{}", problems.len(), problems.join("\n"));
}

/// Also checks that each call of one has its reason, in all crates that have any.
#[test]
fn unsafe_functions_list_what_they_ask_for() {
    let mut problems = Vec::new();
    for name in CRATES.iter().chain(&OTHERS) {
        let files = text::files(&folder(name).join("src")).unwrap();
        assert!(files.len() > 2, "{name}: not all files were read");
        for file in files {
            let short = Path::new(name).join(file.strip_prefix(folder(name)).unwrap());
            problems.extend(safety::problems(&short, &fs::read_to_string(&file).unwrap()).unwrap());
        }
    }
    assert!(problems.is_empty(), "{} places:\n{}", problems.len(), problems.join("\n"));
}

/// An extension module takes Python's symbols from the process that loads it, so no program can be linked from it:
/// neither the one with its unit tests, nor the one with its benchmarks, which `cargo build --all-targets` builds.
#[test]
fn no_programs_are_made_of_extension_modules() {
    let workspace = fs::read_to_string(folder("Cargo.toml")).unwrap();
    let members = workspace.lines().find_map(|line| line.strip_prefix("members = ")).unwrap();
    let mut modules = Vec::new();
    for member in members.split('"').skip(1).step_by(2).filter(|member| !member.ends_with('*')) {
        let manifest = fs::read_to_string(folder(member).join("Cargo.toml")).unwrap();
        let is_module =
            ["\"extension-module\"", "torch-library-python = "].iter().any(|it| manifest.contains(it));
        if manifest.contains("\"cdylib\"") && is_module {
            let has = |setting: &&str| manifest.lines().any(|line| line.starts_with(*setting));
            let settings = ["test = false", "bench = false", "doctest = false"];
            assert!(settings.iter().all(has), "{member}: the library needs all of {settings:?}");
            modules.push(member);
        }
    }
    assert_eq!(modules, ["runtime/python", "examples/python"]);
}

/// `torch_library!` refuses methods that could not be called, since tensors have their own of the same name.
#[test]
fn the_macros_know_the_methods_of_tensors() {
    let list = fs::read_to_string(folder("macros/src/library/model/own_methods.rs")).unwrap();
    let known: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let mut methods = Vec::new();
    for file in text::files(&folder("runtime/src")).unwrap() {
        methods.extend(public_methods(&fs::read_to_string(file).unwrap(), "Tensor"));
    }
    methods.sort_unstable();
    assert_eq!(known, methods);
}

/// The public methods of a type in a file, without functions that take no `self`.
fn public_methods(file: &str, of: &str) -> Vec<String> {
    let items = syn::parse_file(file).unwrap().items.into_iter();
    let own = items.filter_map(|item| match item {
        syn::Item::Impl(item) if item.trait_.is_none() => Some(item),
        _ => None,
    });
    let of = |item: &syn::ItemImpl| matches!(&*item.self_ty, syn::Type::Path(path) if path.path.is_ident(of));
    let members = own.filter(of).flat_map(|item| item.items);
    let methods = members.filter_map(|member| match member {
        syn::ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    let public = methods.filter(|method| matches!(method.vis, syn::Visibility::Public(_)));
    public
        .filter(|method| method.sig.receiver().is_some())
        .map(|method| method.sig.ident.to_string())
        .collect()
}
