//! `dispatch_tables`: programs of registrations, and the resulting dispatch tables.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use torch_library::guard::NoGradGuard;
use torch_library::table::{Mask, Source};
use torch_library::{
    BackendComponent, DispatchKey, DispatchKeySet, Dispatcher, Library, LibraryKind, OperatorHandle, Result,
    RowInfo, RuntimeKernel, Stack, bail,
};

use crate::report::{Check, Report, Unmet, equal, error_iff};
use crate::rows::Row;
use crate::{stock, values};

/// The rows' name for their namespace.
const NAMESPACE: &str = "NS";
/// The operator whose table the snapshots show.
const OPERATOR: &str = "NS::op";

pub(crate) fn replay(rows: &[Json], report: &mut Report) {
    // The first row describes the process that was recorded.
    for row in rows.iter().filter(|row| row["kind"] != "env") {
        let label = format!("{} ({})", row["kind"], row["steps"].as_array().map_or(0, Vec::len));
        report.row(row, &format!("{label} {}", steps(row)), || check(row));
    }
}

/// A short form of a row's steps.
fn steps(row: &Json) -> String {
    let steps = row["steps"].as_array().into_iter().flatten();
    let step = |step: &Json| {
        let fields = ["do", "reg", "kind", "ns", "schema", "op", "key", "kernel", "lib", "args", "kwargs"];
        let fields = fields.iter().filter(|field| step.has(field)).map(|field| step[field].to_string());
        fields.collect::<Vec<_>>().join(" ").replace('"', "")
    };
    steps.map(step).collect::<Vec<_>>().join("; ")
}

fn check(row: &Json) -> Check {
    let (dispatcher, stock) = stock::dispatcher()?;
    let mut program = Program { dispatcher, libraries: BTreeMap::new() };
    for (index, step) in row.list("steps")?.iter().enumerate() {
        let at = |unmet: Unmet| unmet.at(format!("step {}", index + 1));
        program.step(step).map_err(at)?;
        if step.has("after") {
            program.compare(&step["after"]).map_err(at)?;
        }
    }
    if row.get("table").is_some() {
        program.compare(row)?;
    }
    drop(stock);
    Ok(())
}

/// The registry of one row.
struct Program {
    dispatcher: &'static Dispatcher,
    /// The libraries that each registration number made; if it opened a library, that is the first.
    libraries: BTreeMap<i64, Vec<Library>>,
}

impl Program {
    /// Performs a step. If PyTorch rejects it, it must fail here and change nothing.
    fn step(&mut self, step: &Json) -> Check {
        let wants_error = step.get("error").is_some();
        let before = if wants_error { self.everything() } else { String::new() };
        error_iff(step.text("do")?, wants_error, self.take(step)?)?;
        if wants_error {
            equal("the registry after the error", self.everything(), before)?;
        }
        Ok(())
    }

    fn take(&mut self, step: &Json) -> Check<Result<()>> {
        Ok(match step.text("do")? {
            "library" => self.open(step),
            "def" => self.register(step, LibraryKind::Fragment, NAMESPACE, |library, step| {
                library.define(step["schema"].as_str().unwrap_or_default()).map(drop)
            }),
            "impl" => self.register(step, LibraryKind::Implementation, NAMESPACE, |library, step| {
                let operator = step["op"].as_str().unwrap_or("op");
                library.implement(operator, key(step)?, kernel(step)?)
            }),
            "fallback" => self.register(step, LibraryKind::Implementation, "_", |library, step| {
                library.fallback(key(step)?, kernel(step)?)
            }),
            "deregister" => {
                self.libraries.remove(&step.integer("reg")?);
                Ok(())
            }
            "find_schema" => {
                let operator = format!("{NAMESPACE}::{}", step.text("op")?);
                self.dispatcher.find(&operator).and_then(|operator| operator.schema().map(drop))
            }
            "call" => self.call(step),
            other => return Err(Unmet::failed(format!("a step {other:?}"), "none of this name")),
        })
    }

    fn open(&mut self, step: &Json) -> Result<()> {
        let kind = match step["kind"].as_str() {
            Some("DEF") => LibraryKind::Definition,
            Some("FRAGMENT") => LibraryKind::Fragment,
            Some("IMPL") => LibraryKind::Implementation,
            _ => bail!(Argument, "{} is no kind of library", step["kind"]),
        };
        let key = if step.has("key") { Some(key(step)?) } else { None };
        let library = Library::open(self.dispatcher, kind, step["ns"].as_str().unwrap_or(NAMESPACE), key)?;
        self.libraries.entry(number(step, "reg")).or_default().push(library);
        Ok(())
    }

    /// Registers something in the library that the step names, or in one of its own.
    fn register(
        &mut self,
        step: &Json,
        kind: LibraryKind,
        namespace: &str,
        register: fn(&mut Library, &Json) -> Result<()>,
    ) -> Result<()> {
        if step.has("lib") {
            let libraries = self.libraries.get_mut(&number(step, "lib"));
            return match libraries.and_then(|libraries| libraries.first_mut()) {
                Some(library) => register(library, step),
                None => bail!(Argument, "library {} is not open", step["lib"]),
            };
        }
        let mut library = Library::open(self.dispatcher, kind, namespace, None)?;
        register(&mut library, step)?;
        self.libraries.entry(number(step, "reg")).or_default().push(library);
        Ok(())
    }

    fn call(&self, step: &Json) -> Result<()> {
        let _guard = NoGradGuard::new();
        let arguments = step["args"].as_array().into_iter().flatten();
        let arguments = arguments.map(values::decode).collect::<Result<Vec<_>>>()?;
        let named = step["kwargs"].as_object().into_iter().flatten();
        let named = named.map(|(name, value)| Ok((name.as_str(), values::decode(value)?)));
        let named = named.collect::<Result<Vec<_>>>()?;
        self.dispatcher.find(OPERATOR)?.call_with(arguments, named).map(drop)
    }

    /// The whole visible state of the registry.
    fn everything(&self) -> String {
        let table = self.dispatcher.table(OPERATOR).ok();
        format!("{:?} {:?} {table:?}", self.dispatcher.operators(), self.dispatcher.fallbacks())
    }

    fn compare(&self, snapshot: &Json) -> Check {
        if !snapshot.has("table") {
            return equal("the operator is known", self.dispatcher.table(OPERATOR).is_ok(), false);
        }
        let table = self.dispatcher.table(OPERATOR)?;
        for want in snapshot.list("table")? {
            let key = want.key("key")?;
            let row = table.row(key).ok_or_else(|| Unmet::failed("a row", format!("none for {key}")))?;
            let want = (want.text("source")?, want["reg"].as_i64(), want.flag("fallthrough"));
            let source = source(row);
            equal(&key.to_string(), (source.as_str(), registration(row), is_fallthrough(row)), want)?;
        }
        compare_masks(&table.mask, snapshot.field("fallthrough_mask")?)?;
        if snapshot.has("has_kernel_for") {
            // The rows list runtime and alias keys, without `Undefined`, which stands for an alias.
            let keys = DispatchKey::all().filter(|key| key.is_alias() || key.is_runtime()).skip(1);
            let keys = keys.filter(|key| table.has_kernel_for(*key)).map(|key| key.to_string());
            equal("keys with kernels", sorted(keys), sorted(snapshot.texts("has_kernel_for")?))?;
        }
        Ok(())
    }
}

fn key(step: &Json) -> Result<DispatchKey> {
    step["key"].as_str().unwrap_or_default().parse()
}

fn number(step: &Json, name: &str) -> i64 {
    step[name].as_i64().unwrap_or_default()
}

fn kernel(step: &Json) -> Result<RuntimeKernel> {
    let kernel = match step["kernel"].as_str() {
        Some("fallthrough") => RuntimeKernel::fallthrough(),
        Some("unboxed") => RuntimeKernel::with_signature("op(Tensor _0) -> Tensor", first_argument)?,
        _ => RuntimeKernel::boxed(first_argument),
    };
    Ok(kernel.named(&step["reg"].to_string()))
}

/// Returns the first argument.
fn first_argument(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.arguments(stack)?.len();
    stack.drop_last(arguments.saturating_sub(1));
    Ok(())
}

fn source(row: &RowInfo) -> String {
    match row.source {
        Source::Kernel => "kernel".to_owned(),
        Source::Alias(alias) => format!("alias:{alias}"),
        Source::BackendFallback => "backend fallback".to_owned(),
        Source::AmbiguousAutogradOther => "ambiguous".to_owned(),
        Source::Missing => "missing".to_owned(),
    }
}

/// The number of the winning registration; `None` for the stock fallbacks.
fn registration(row: &RowInfo) -> Option<i64> {
    row.kernel.as_ref()?.function.parse().ok()
}

fn is_fallthrough(row: &RowInfo) -> bool {
    row.kernel.as_ref().is_some_and(|kernel| kernel.is_fallthrough)
}

fn compare_masks(mask: &Mask, want: &Json) -> Check {
    equal("mask", mask.shared().raw(), want.keys("non_fallthrough_raw")?.raw())?;
    equal("skipped keys", removed(mask.shared()), sorted(want.texts("removed")?))?;
    let differ = mask.requires_bitset_per_backend();
    equal("masks differ", differ, want.flag("requires_bitset_per_backend"))?;
    for backend in BackendComponent::ALL {
        let want = if want.has("per_backend_all") {
            want.texts("per_backend_all")?
        } else {
            want.field("per_backend_removed")?.texts(backend.name())?
        };
        equal(backend.name(), removed(mask.for_backend(backend)), sorted(want))?;
    }
    Ok(())
}

/// The functionalities that a mask removes.
fn removed(mask: DispatchKeySet) -> Vec<String> {
    let functionalities = (DispatchKey::FPGA as u8 - 1)..=DispatchKey::PythonDispatcher as u8;
    let functionalities = functionalities.filter_map(DispatchKey::from_value);
    let removed = functionalities.filter(|functionality| !mask.has(*functionality));
    sorted(removed.map(|key| key.to_string()))
}

fn sorted<T: Ord>(list: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut list: Vec<T> = list.into_iter().collect();
    list.sort();
    list
}
