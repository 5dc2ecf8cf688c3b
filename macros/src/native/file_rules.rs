//! Checks across the entries of a file: names, delegates, views and their copies.

use std::collections::HashMap;

use super::entry::Entry;
use super::func::{Kind, Signature};
use super::keys;
use super::text::Mistake;

/// The checks before variants are generated. Removes duplicate declarations.
pub(crate) fn check(entries: &mut Vec<Entry>, mistakes: &mut Vec<Mistake>) {
    let mut seen: HashMap<(String, String), (usize, String)> = HashMap::new();
    entries.retain(|entry| {
        let (ident, name) = (entry.default_kernel(), entry.func.name.to_string());
        let first = seen.entry((entry.namespace.clone(), ident.clone()));
        let (line, first) = first.or_insert_with(|| (entry.spot.line, name.clone()));
        let lines = entry.spot.line - *line;
        let above = format!("{lines} line{} above", if lines == 1 { "" } else { "s" });
        if lines > 0 && name == *first {
            mistakes.push(entry.spot.mistake(format!("`{name}` is declared twice, first {above}")));
        } else if lines > 0 {
            mistakes.push(entry.spot.mistake(format!(
                "`{ident}` in Rust would name both this operator, `{name}`, and `{first}` {above}"
            )));
        }
        lines == 0
    });
    let entries = &**entries;
    let seen: HashMap<_, _> =
        entries.iter().map(|entry| ((&*entry.namespace, entry.func.name.to_string()), entry)).collect();
    for entry in entries {
        mistakes.extend(delegate(entry, &seen));
        mistakes.extend(in_place_view(entry, entries));
    }
}

fn delegate(entry: &Entry, entries: &HashMap<(&str, String), &Entry>) -> Option<Mistake> {
    let (name, spot) = entry.structured_delegate.as_ref()?;
    match entries.get(&(&*entry.namespace, name.to_string())) {
        None => Some(spot.mistake(format!("there is no operator `{name}` to delegate to"))),
        Some(target) if !target.structured => {
            Some(spot.mistake(format!("`{name}` is not structured: it needs `structured: True`")))
        }
        Some(_) => None,
    }
}

/// An operator that turns its argument into another view of itself must be in-place and have a functional variant.
fn in_place_view(entry: &Entry, entries: &[Entry]) -> Option<Mistake> {
    let name = &entry.func.name;
    let is_apart = matches!(&*name.to_string(), "resize_" | "resize_as_") || name.operator() == "set_";
    if !entry.has_tag("inplace_view") || is_apart {
        return None;
    }
    if !name.in_place {
        return Some(
            entry.spot.mistake(format!("`inplace_view` is for names that end with `_`, not for `{name}`")),
        );
    }
    let is_partner = |other: &Entry| {
        let other = &other.func.name;
        other.base == name.base && other.dunder == name.dunder && !other.in_place && !other.functional
    };
    if entries.iter().any(is_partner) {
        return None;
    }
    Some(entry.spot.mistake(format!(
        "`{name}` changes a view in place, but there is no `{}` that returns a view",
        name.base
    )))
}

/// The role of an operator among those that make the same kind of view.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    View,
    InPlaceView,
    Other(Kind),
}

/// Checks views against their in-place variants and their copies, in all entries including the generated ones.
pub(crate) fn check_views(entries: &[Entry], mistakes: &mut Vec<Mistake>) {
    let mut positions: HashMap<(&str, Signature), usize> = HashMap::new();
    let mut groups: Vec<HashMap<Part, &Entry>> = Vec::new();
    for entry in entries {
        let part = match (entry.is_view(), entry.func.name.in_place) {
            (true, true) if !entry.has_tag("inplace_view") => {
                let message =
                    format!("`{}` changes a view in place: add `tags: inplace_view`", entry.func.name);
                mistakes.push(entry.spot.mistake(message));
                continue;
            }
            (true, true) => Part::InPlaceView,
            (true, false) => Part::View,
            (false, _) => Part::Other(entry.func.kind()),
        };
        let group = *positions.entry((&*entry.namespace, view_signature(entry))).or_insert_with(|| {
            groups.push(HashMap::new());
            groups.len() - 1
        });
        if let Some(other) = groups[group].insert(part, entry) {
            mistakes.push(entry.spot.mistake(format!(
                "`{}` and `{}` are the same operation on views",
                entry.func.name, other.func.name
            )));
        }
    }
    let groups = groups.iter().filter_map(|group| Some((group.get(&Part::View)?, group)));
    for (view, group) in groups {
        let copy = group.get(&Part::Other(Kind::Functional)).copied();
        mistakes.extend(check_view(view, group.get(&Part::InPlaceView).copied(), copy).err());
    }
}

/// The signature that a view and its copy share.
fn view_signature(entry: &Entry) -> Signature {
    let mut signature = entry.func.signature();
    if signature.base.ends_with("_copy") {
        signature.base = signature.base.replace("_copy", "");
    } else if signature.base.ends_with("_scatter") {
        signature.base = signature.base.replace("scatter", "inverse");
    }
    signature
}

fn check_view(view: &Entry, in_place: Option<&Entry>, copy: Option<&Entry>) -> Result<(), Mistake> {
    let name = &view.func.name;
    match copy {
        None if needs_copy(view) => {
            let mut copy = name.plain(name.overload.clone());
            copy.base += "_copy";
            return Err(view.spot.mistake(format!(
                "`{name}` returns a view, so there must also be `{copy}`, which takes the same arguments and returns \
                 a copy"
            )));
        }
        None => {}
        Some(copy)
            if !copy.func.name.base.ends_with("_copy") && !copy.func.name.base.ends_with("_scatter") =>
        {
            let message =
                format!("the copy of a view is called `{}_copy`, not `{}`", name.base, copy.func.name);
            return Err(copy.spot.mistake(message));
        }
        Some(copy) if !copy.has_tag("view_copy") => {
            let message = format!("`{}` copies what `{name}` views: add `tags: view_copy`", copy.func.name);
            return Err(copy.spot.mistake(message));
        }
        Some(_) => {}
    }
    let Some(in_place) = in_place else { return Ok(()) };
    let differs = |key: &&&str| view.has_key(key) && !in_place.has_key(key);
    match [keys::IMPLICIT, keys::IMPLICIT_NESTED].iter().find(|key| differs(key)) {
        None => Ok(()),
        Some(key) => Err(in_place
            .spot
            .mistake(format!("`{name}` has a kernel for {key}: `{}` needs one as well", in_place.func.name))),
    }
}

/// Whether functionalization needs a copying variant of this view.
fn needs_copy(view: &Entry) -> bool {
    !view.has_key(keys::IMPLICIT)
        && !view.has_tag("inplace_view")
        && !view.func.name.base.ends_with("_inverse")
}
