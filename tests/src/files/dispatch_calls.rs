//! `dispatch_calls`: which kernels a call visits, and with which keys.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;
use torch_library::guard::{ForceDispatchKeyGuard, LocalDispatchKeySet};
use torch_library::{
    DispatchKey, DispatchKeySet, Dispatcher, Library, LibraryKind, OperatorHandle, Result, RuntimeKernel,
    Stack,
};

use crate::report::{Check, Report, Unmet, equal};
use crate::rows::Row;
use crate::{stock, values};

/// The kernels that ran, each with its key set.
type Log = Arc<Mutex<Vec<(i64, DispatchKeySet)>>>;

pub(crate) fn replay(rows: &[Json], report: &mut Report) {
    for row in rows {
        let kernel = |kernel: &Json| format!("{} at {}", kernel["kernel"], kernel["key"]).replace('"', "");
        let kernels: Vec<_> = row["regs"].as_array().into_iter().flatten().map(kernel).collect();
        report.row(row, &format!("{} with {}", row["schema"], kernels.join(", ")), || check(row));
    }
}

fn check(row: &Json) -> Check {
    let (dispatcher, _stock) = stock::dispatcher()?;
    let mut library = Library::open(dispatcher, LibraryKind::Fragment, "NS", None)?;
    library.define(row.text("schema")?)?;
    let log = Log::default();
    for registration in row.list("regs")? {
        library.implement("op", registration.key("key")?, kernel(registration, &log)?)?;
    }
    for (index, call) in row.list("calls")?.iter().enumerate() {
        let outcome = self::call(dispatcher, call, &log);
        outcome.map_err(|unmet| unmet.at(format!("call {}", index + 1)))?;
    }
    Ok(())
}

fn kernel(registration: &Json, log: &Log) -> Check<RuntimeKernel> {
    let (number, log) = (registration.integer("reg")?, log.clone());
    let write = move |keys| log.lock().unwrap_or_else(PoisonError::into_inner).push((number, keys));
    Ok(match registration.text("kernel")? {
        "stop" => RuntimeKernel::boxed(move |operator, keys, stack| {
            write(keys);
            stop(operator, stack)
        }),
        "redispatch" => RuntimeKernel::boxed(move |operator, keys, stack| {
            write(keys);
            redispatch(operator, keys, stack)
        }),
        "fallthrough" => RuntimeKernel::fallthrough(),
        other => return Err(Unmet::failed(format!("a kernel {other:?}"), "none of this name")),
    })
}

/// Returns the first argument.
fn stop(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.arguments(stack)?.len();
    stack.drop_last(arguments.saturating_sub(1));
    Ok(())
}

fn redispatch(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let layer = keys.highest_functionality();
    if layer <= DispatchKey::NestedTensor {
        return stop(operator, stack);
    }
    operator.redispatch_boxed(keys & DispatchKeySet::full_after(layer), stack)
}

fn call(dispatcher: &Dispatcher, call: &Json, log: &Log) -> Check {
    let mut arguments = Vec::new();
    let mut named = Vec::new();
    for argument in call.list("args")? {
        match argument["kwarg"].as_str() {
            Some(name) => named.push((name, values::decode(argument)?)),
            None => arguments.push(values::decode(argument)?),
        }
    }
    let operator = dispatcher.find("NS::op")?;
    log.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let tls = call.field("tls")?;
    let tls = LocalDispatchKeySet { included: tls.keys("included")?, excluded: tls.keys("excluded")? };
    let guard = ForceDispatchKeyGuard::new(tls);
    let outcome = operator.call_with(arguments, named);
    drop(guard);
    let log: Vec<_> = log.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
    let got: Vec<_> = log.iter().map(|(reg, keys)| (*reg, keys.raw(), keys.highest_priority())).collect();
    let want = call.list("log")?.iter();
    let want = want.map(|entry| Ok((entry.integer("reg")?, entry.keys("keyset")?.raw(), entry.key("at")?)));
    equal("log", got, want.collect::<Check<Vec<_>>>()?)?;
    equal("success", outcome.is_ok(), call.flag("ok"))
}
