//! `dispatch_keys`: every key, backend and set of the key arithmetic.

use serde_json::Value as Json;
use torch_library::guard::{self, LocalDispatchKeySet};
use torch_library::{
    BackendComponent, DType, Device, DispatchKey, DispatchKeyCategory, DispatchKeySet, Tensor,
};

use crate::report::{Check, Report, Unmet, equal};
use crate::rows::Row;

type Replay = fn(&Json) -> Check;

/// The lists in the document, and how to replay an element of each.
const LISTS: [(&str, Replay); 11] = [
    ("keys", key),
    ("backends", backend),
    ("named_keysets", named_keyset),
    ("alias_expansion", alias_expansion),
    ("is_included_in_alias", is_included_in_alias),
    ("parse_key", parse_key),
    ("key_for_device", key_for_device),
    ("keysets", keyset),
    ("keyset_ops", keyset_op),
    ("tensor_keysets", tensor_keyset),
    ("tls_keysets", tls_keyset),
];

pub(crate) fn replay(document: &[Json], report: &mut Report) {
    for (list, check) in LISTS {
        let rows = document.iter().filter_map(|document| document[list].as_array()).flatten();
        for (index, row) in rows.enumerate() {
            // Placeholders that mark blocks are not keys here.
            if row["category"] != "placeholder" {
                report.row(row, &format!("{list}[{index}]"), || check(row));
            }
        }
    }
}

fn key(row: &Json) -> Check {
    let key = key_of(row.integer("value")?)?;
    equal("name", key.to_string().as_str(), row.text("name")?)?;
    equal("category", category(key), row.text("category")?)?;
    equal("functionality", key.functionality(), row.key("functionality")?)?;
    equal("backend", backend_name(key.backend()).as_str(), row.text("backend_component")?)?;
    equal("is a backend key", key.is_backend(), row.flag("is_backend_key"))?;
    equal("is a runtime key", key.is_runtime(), row.flag("is_runtime_key"))?;
    if row.has("table_index") {
        equal("slot", DispatchKeySet::from(key).table_index() as i64, row.integer("table_index")?)?;
    }
    equal("set", DispatchKeySet::from(key).raw(), row.keys("set_repr")?.raw())?;
    equal("runtime keys", values(key.expansion()), integers(row, "runtime_set")?)?;
    equal("runtime set", key.expansion().raw(), row.keys("runtime_set_repr")?.raw())?;
    let below = key.backends_below_autograd();
    equal("backends below", values(below), integers(row, "backend_set_from_autograd")?)?;
    equal("set of backends below", below.raw(), row.keys("backend_set_from_autograd_repr")?.raw())?;
    if row.has("full_after_repr") {
        equal("full after", DispatchKeySet::full_after(key).raw(), row.keys("full_after_repr")?.raw())?;
    }
    Ok(())
}

fn backend(row: &Json) -> Check {
    let backend = match row.integer("value")? {
        0 => None,
        value => Some(BackendComponent::ALL[value as usize - 1]),
    };
    let dense = backend.map_or(DispatchKey::Undefined, |backend| DispatchKey::Dense.on(backend));
    let set = backend.map_or(DispatchKeySet::EMPTY, DispatchKeySet::from_backend);
    equal("name", backend_name(backend).as_str(), row.text("name")?)?;
    equal("set", set.raw(), row.keys("set_repr")?.raw())?;
    equal("autograd key", dense.autograd_key(), row.key("autograd_key")?)?;
    equal("autograd keys", dense.autograd_related().raw(), row.keys("autograd_related_repr")?.raw())?;
    equal("autocast keys", dense.autocast_related().raw(), row.keys("autocast_related_repr")?.raw())?;
    for functionality in
        ["Dense", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "AutogradFunctionality"]
    {
        let Some(backend) = backend else { break };
        let key = functionality.parse::<DispatchKey>()?.on(backend);
        equal(functionality, i64::from(key.value()), row.integer(functionality)?)?;
    }
    Ok(())
}

fn named_keyset(row: &Json) -> Check {
    let set = match row.text("what")? {
        "full" => DispatchKeySet::FULL,
        "autograd_dispatch_keyset" => DispatchKeySet::AUTOGRAD,
        "autocast_dispatch_keyset" => DispatchKeySet::AUTOCAST,
        "default_included_set" => DispatchKeySet::DEFAULT_INCLUDED,
        "default_excluded_set" => DispatchKeySet::DEFAULT_EXCLUDED,
        "autograd_dispatch_keyset_with_ADInplaceOrView" => DispatchKeySet::AUTOGRAD_AND_AD_INPLACE_OR_VIEW,
        "python_ks" => DispatchKeySet::PYTHON,
        "autogradother_backends" => DispatchKeySet::AUTOGRAD_OTHER_BACKENDS,
        "after_autograd_keyset" => DispatchKeySet::AFTER_AUTOGRAD,
        "after_ADInplaceOrView_keyset" => DispatchKeySet::AFTER_AD_INPLACE_OR_VIEW,
        "after_func_keyset" => DispatchKeySet::AFTER_FUNCTIONALIZE,
        "backend_bitset_mask" => DispatchKeySet::ALL_BACKENDS,
        "functorch_transforms_ks" => DispatchKeySet::FUNCTORCH_TRANSFORMS,
        "backend_functionality_keys" => DispatchKeySet::BACKEND_FUNCTIONALITIES,
        other => return Err(Unmet::failed(format!("a set named {other}"), "no such constant")),
    };
    equal("set", set.raw(), row.keys("raw_repr")?.raw())?;
    equal("keys", names(set), row.texts("keys")?)
}

fn alias_expansion(row: &Json) -> Check {
    let alias = row.key("alias")?;
    equal("set", alias.expansion().raw(), row.keys("raw_repr")?.raw())?;
    equal("keys", names(alias.expansion()), row.texts("runtime_set")?)?;
    let covered = DispatchKey::all().filter(|key| alias.covers(*key)).map(|key| key.to_string());
    equal("covered", sorted(covered.collect()), sorted(row.texts("included_runtime_keys")?))
}

fn is_included_in_alias(row: &Json) -> Check {
    let alias = key_of(row.integer("alias")?)?;
    let included = DispatchKey::all().filter(|key| key.is_included_in_alias(alias));
    equal(
        "included",
        included.map(|key| i64::from(key.value())).collect::<Vec<_>>(),
        integers(row, "included")?,
    )
}

fn parse_key(row: &Json) -> Check {
    let parsed = row.text("text")?.parse::<DispatchKey>().ok().map(|key| i64::from(key.value()));
    let want = if row.text("want")? == "parses" { Some(row.integer("value")?) } else { None };
    equal("value", parsed, want)
}

fn key_for_device(row: &Json) -> Check {
    let key = DispatchKey::for_device(row.text("device")?).ok();
    let want = if row.has("key") { Some(row.key("key")?) } else { None };
    equal("key", key, want)
}

fn keyset(row: &Json) -> Check {
    let set = row.keys("raw_repr")?;
    equal("keys", names(set), row.texts("key_names")?)?;
    equal("highest priority", undefined(set.highest_priority()).as_str(), row.text("highest_priority")?)?;
    equal("highest functionality", set.highest_functionality(), row.key("highest_functionality")?)?;
    equal("highest backend", backend_name(set.highest_backend()).as_str(), row.text("highest_backend")?)?;
    let highest = undefined(set.highest_priority_backend());
    equal("highest priority of a backend", highest.as_str(), row.text("highest_priority_backend")?)?;
    equal("legacy extract", undefined(set.legacy_extract()).as_str(), row.text("legacy_extract")?)?;
    equal("table index", set.table_index() as i64, row.integer("table_index")?)?;
    equal("backend index", set.backend_index() as i64, row.integer("backend_index")?)
}

fn keyset_op(row: &Json) -> Check {
    let a = row.keys("a")?;
    let set = |set: DispatchKeySet| Json::from(set.raw().to_string());
    let got = match row.text("op")? {
        "or" => set(a | row.keys("x")?),
        "and" => set(a & row.keys("x")?),
        "xor" => set(a ^ row.keys("x")?),
        "sub" => set(a - row.keys("x")?),
        "has_all" => a.has_all(row.keys("x")?).into(),
        "has_any" => a.has_any(row.keys("x")?).into(),
        "has_key" => a.has(row.key("x")?).into(),
        "add_key" => set(a.add(row.key("x")?)),
        "remove_key" => set(a.remove(row.key("x")?)),
        "full_after" => set(DispatchKeySet::full_after(row.key("x")?)),
        other => return Err(Unmet::failed(format!("an operation {other}"), "none of this name")),
    };
    equal("result", &got, row.field("result")?)
}

fn tensor_keyset(row: &Json) -> Check {
    let tracked = || -> torch_library::Result<Tensor> {
        let tensor = Tensor::from([1f32, 2.0]);
        tensor.set_requires_grad(true)?;
        Ok(tensor)
    };
    let view = |tensor: &Tensor| tensor.strided_view(&[1], &[1], 0);
    let tensor = match row.text("what")? {
        "cpu float" => Tensor::from([1f32]),
        "cpu int64" => Tensor::from([1i64]),
        "cpu bool 0-dim" => Tensor::from(true),
        "cpu float requires_grad" | "Parameter" => tracked()?,
        "detached" | "view of requires_grad" => view(&tracked()?)?,
        "view taken of a normal tensor inside inference_mode" => {
            let tensor = tracked()?;
            guard::inference_mode(|| view(&tensor))?
        }
        "inference tensor" => guard::inference_mode(|| Tensor::from([1f32])),
        "meta" => Tensor::empty(&[1], DType::Float32, Device::META)?,
        other => return Err(Unmet::Skipped(format!("no way to make a {other}"))),
    };
    equal("set", tensor.key_set().raw(), row.keys("raw_repr")?.raw())?;
    equal("keys", names(tensor.key_set()), row.texts("keys")?)
}

fn tls_keyset(row: &Json) -> Check {
    let now = LocalDispatchKeySet::current;
    let what = row.text("what")?;
    // `WORD` or `WORD(KEY)`.
    let (word, key) = what.split_once('(').unwrap_or((what, "Undefined)"));
    let key: DispatchKey = key.trim_end_matches(')').parse()?;
    let got = match word {
        "default" => now(),
        "no_grad" => guard::no_grad(now),
        "inference_mode" => guard::inference_mode(now),
        "autocast cpu" => {
            let (included, excluded) = (now().included, now().excluded.remove(DispatchKey::AutocastCPU));
            let _guard = guard::ForceDispatchKeyGuard::new(LocalDispatchKeySet { included, excluded });
            now()
        }
        "AutoDispatchBelowAutograd" => {
            let _guard = guard::AutoDispatchBelowAutograd::new();
            now()
        }
        "AutoDispatchBelowADInplaceOrView" => {
            let _guard = guard::AutoDispatchBelowADInplaceOrView::new();
            now()
        }
        "ExcludeDispatchKeyGuard" => guard::exclude(key, now),
        "IncludeDispatchKeyGuard" => guard::include(key, now),
        other => return Err(Unmet::Skipped(format!("no such state of a thread: {other}"))),
    };
    equal("included", got.included.raw(), row.keys("included_raw")?.raw())?;
    equal("excluded", got.excluded.raw(), row.keys("excluded_raw")?.raw())
}

fn key_of(value: i64) -> Check<DispatchKey> {
    let key = u8::try_from(value).ok().and_then(DispatchKey::from_value);
    key.ok_or_else(|| Unmet::failed(format!("a key of value {value}"), "none"))
}

fn category(key: DispatchKey) -> &'static str {
    match key.category() {
        DispatchKeyCategory::Undefined => "undefined",
        DispatchKeyCategory::Functionality => "functionality",
        DispatchKeyCategory::PerBackendFunctionality => "per_backend_functionality",
        DispatchKeyCategory::PerBackendRuntime => "per_backend_runtime",
        DispatchKeyCategory::Alias => "alias",
    }
}

fn backend_name(backend: Option<BackendComponent>) -> String {
    backend.map_or_else(|| "InvalidBit".to_owned(), |backend| backend.to_string())
}

/// PyTorch names a per-backend functionality without a backend by the marker that starts its block.
fn undefined(key: DispatchKey) -> String {
    match key {
        DispatchKey::Dense => "Undefined".to_owned(),
        DispatchKey::AutogradFunctionality => "AutogradUndefined".to_owned(),
        key if key.is_per_backend_functionality() => format!("{key}Undefined"),
        key => key.to_string(),
    }
}

fn names(keys: DispatchKeySet) -> Vec<String> {
    keys.iter().map(|key| key.to_string()).collect()
}

fn values(keys: DispatchKeySet) -> Vec<i64> {
    keys.iter().map(|key| i64::from(key.value())).collect()
}

fn integers(row: &Json, name: &str) -> Check<Vec<i64>> {
    row.list(name)?
        .iter()
        .map(|value| value.as_i64().ok_or_else(|| Unmet::failed("an integer", value)))
        .collect()
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}
