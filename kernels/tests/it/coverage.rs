//! The table of operators, generated from the registry.

use std::fmt::Write;

use expect_test::expect_file;
use torch_library::Dispatcher;
use torch_library::prelude::*;
use torch_library_kernels as _;

const HEAD: &str = "# Operators

Written from the registry by `UPDATE_EXPECT=1 cargo test -p torch-library-kernels coverage`; a test checks that it is up to date.

*Computed by* says at which keys an operator has kernels: on a backend (`CPU`, and `Meta` for shapes only), or made of other operators
(*composite*; *implicit* if derivatives and batching rules are those of its parts). *Layers* says what is registered above: a derivative
(`Autograd`), a batching rule (`vmap`), a cast under autocast. The last columns say whether there are variants that write in place or to `out`.
Operators without kernels are declared for layers and other crates.

";

/// The name of a backend that computes an operator, and of a layer that supports it, by their key.
fn of_key(key: DispatchKey) -> (Option<&'static str>, Option<&'static str>) {
    match key {
        DispatchKey::CPU => (Some("CPU"), None),
        DispatchKey::Meta => (Some("Meta"), None),
        DispatchKey::CompositeExplicitAutograd => (Some("composite"), None),
        DispatchKey::CompositeImplicitAutograd => (Some("composite, implicit"), None),
        DispatchKey::Autograd => (None, Some("Autograd")),
        DispatchKey::FuncTorchBatched | DispatchKey::FuncTorchBatchedDecomposition => (None, Some("vmap")),
        DispatchKey::AutocastCPU => (None, Some("autocast")),
        _ => (None, None),
    }
}

fn table() -> Result<String> {
    let dispatcher = Dispatcher::global();
    let handles = dispatcher.operators().into_iter().map(|info| info.operator);
    let mut names: Vec<String> = handles
        .filter(|operator| operator.namespace() == "aten")
        .map(|operator| match operator.overload() {
            "" => operator.name().to_owned(),
            overload => format!("{}.{overload}", operator.name()),
        })
        .collect();
    names.sort();
    let has = |is: &dyn Fn(&str) -> bool| if names.iter().any(|name| is(name)) { "yes" } else { "" };
    let (mut rows, mut with_kernels) = (String::new(), 0);
    for name in &names {
        let kernels = dispatcher.table(&format!("aten::{name}"))?.kernels;
        let list = |pick: &dyn Fn(DispatchKey) -> Option<&'static str>| {
            let mut found: Vec<&str> = kernels.iter().filter_map(|kernel| pick(kernel.key)).collect();
            found.sort();
            found.dedup();
            found.join(", ")
        };
        let computed = list(&|key| of_key(key).0);
        with_kernels += usize::from(!computed.is_empty());
        let base = name.split('.').next().unwrap_or(name);
        let in_place = if base.ends_with('_') {
            "is"
        } else {
            has(&|other| other.split('.').next() == Some(&format!("{base}_")))
        };
        let out = has(&|other| {
            other.split_once('.').is_some_and(|(other, overload)| other == base && overload.ends_with("out"))
        });
        let layers = list(&|key| of_key(key).1);
        writeln!(rows, "| `{name}` | {computed} | {layers} | {in_place} | {out} |")
            .expect("a string takes all");
    }
    let count = format!("{} operators, {with_kernels} of them with kernels.\n\n", names.len());
    let columns = "| operator | computed by | layers | in place | out |\n|---|---|---|---|---|\n";
    Ok([HEAD, &count, columns, &rows].concat())
}

#[test]
fn the_table_of_operators_is_up_to_date() -> Result<()> {
    expect_file!["../../../docs/operators.md"].assert_eq(&table()?);
    Ok(())
}
