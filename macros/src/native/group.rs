//! The variants of one operation: functional, in-place and `out`. Checks what they must have in common, and adds the
//! variants that `autogen` asks for.

use std::collections::HashMap;

use super::entry::Entry;
use super::func::{Kind, Signature};
use super::generate;
use super::keys;
use super::name::Name;
use super::text::Mistake;

/// The entries of a file that are variants of each other, by position.
#[derive(Default)]
struct Group {
    members: Vec<(Kind, usize)>,
    /// Whether nothing is generated for these operators, whatever `autogen` says, because of what they are: views or
    /// composites, for example.
    is_apart: bool,
}

/// Two `out` variants whose functional variant has a different name in PyTorch.
const OUT_ALONE: [&str; 2] = ["adaptive_avg_pool3d_backward.grad_input", "_slow_conv2d_backward.grad_input"];
/// An in-place operator whose functional variant takes an argument before `self`.
const IN_PLACE_ALONE: &str = "polygamma_";

/// Adds what `autogen` asks for, and checks every group.
pub(crate) fn complete(entries: &mut Vec<Entry>, mistakes: &mut Vec<Mistake>) {
    let mut groups = groups(entries, mistakes);
    for group in &mut groups {
        add_generated(entries, group, mistakes);
    }
    for group in &groups {
        mistakes.extend(check(entries, group).err());
    }
}

fn groups(entries: &[Entry], mistakes: &mut Vec<Mistake>) -> Vec<Group> {
    let mut positions: HashMap<(&str, Signature), usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let key = (&*entry.namespace, entry.func.signature());
        let group = *positions.entry(key).or_insert_with(|| {
            groups.push(Group::default());
            groups.len() - 1
        });
        let kind = entry.func.kind();
        match groups[group].find(kind) {
            None => groups[group].members.push((kind, at)),
            Some(other) => mistakes.push(entry.spot.mistake(format!(
                "`{}` is the same operation as `{}`: nothing but the overload tells them apart",
                entry.func.name, entries[other].func.name
            ))),
        }
    }
    groups
}

impl Group {
    fn find(&self, kind: Kind) -> Option<usize> {
        self.members.iter().find(|(own, _)| *own == kind).map(|(_, at)| *at)
    }

    fn entries<'e>(&self, entries: &'e [Entry]) -> impl Iterator<Item = &'e Entry> {
        self.members.iter().map(|(_, at)| &entries[*at])
    }
}

fn is_apart(members: &[&Entry]) -> bool {
    let are_manual = members.iter().all(|entry| entry.manual_cpp_binding);
    let has_view = members.iter().any(|entry| entry.is_view() && entry.func.name.operator() != "set_");
    let are_implicit = members.iter().all(|entry| entry.has_key(keys::IMPLICIT));
    let is_core = members.iter().any(|entry| entry.has_tag("core"));
    are_manual || has_view || (are_implicit && !is_core)
}

/// The missing variants that can be generated from an existing one.
fn add_generated(entries: &mut Vec<Entry>, group: &mut Group, mistakes: &mut Vec<Mistake>) {
    group.is_apart = is_apart(&group.entries(entries).collect::<Vec<_>>());
    if group.is_apart {
        return;
    }
    let out = group.find(Kind::Out);
    if let (Some(out), [_]) = (out, &group.members[..]) {
        let entry = &entries[out];
        if !OUT_ALONE.contains(&&*entry.func.name.to_string()) {
            mistakes.push(entry.spot.mistake(format!(
                "`{}` writes to `out`, but no operator with the same arguments returns its result",
                entry.func.name
            )));
        }
        return;
    }
    let base = [Kind::Mutable, Kind::InPlace, Kind::Out, Kind::Functional]
        .into_iter()
        .find_map(|kind| group.find(kind));
    let Some(base) = base.filter(|base| entries[*base].func.name.to_string() != IN_PLACE_ALONE) else {
        return;
    };
    let asks_for_out = entries[base].autogen.iter().find(|(name, _)| name.to_string().contains("out"));
    let base_entry = &entries[base];
    if let Some((name, spot)) = asks_for_out.filter(|_| out.is_none()) {
        if base_entry.func.kind() != Kind::InPlace && !base_entry.func.returns_tensor() {
            let message =
                format!("`{name}` cannot be generated: `{}` returns no tensor", base_entry.func.name);
            mistakes.push(spot.mistake(message));
            group.is_apart = true;
            return;
        }
        let generated = generate::out(base_entry);
        group.members.push((Kind::Out, entries.len()));
        entries.push(generated);
    }
    if group.find(Kind::Functional).is_none() && group.find(Kind::Out).is_some() {
        let generated = generate::functional(&entries[base]);
        group.members.push((Kind::Functional, entries.len()));
        entries.push(generated);
    }
}

/// Checks the rules that all variants of one operation must satisfy.
fn check(entries: &[Entry], group: &Group) -> Result<(), Mistake> {
    let entry = |kind| group.find(kind).map(|at| &entries[at]);
    if !group.is_apart || (entry(Kind::Functional).is_some() && entry(Kind::Out).is_some()) {
        check_generated(entries, group)?;
    }
    let [(_, first), _, ..] = group.members[..] else { return Ok(()) };
    let Some(functional) = entry(Kind::Functional) else {
        let message = "none of these variants returns a new result: add the functional one";
        return Err(entries[first].spot.mistake(message));
    };
    let Some(out) = entry(Kind::Out) else { return Ok(()) };
    for member in group.entries(entries) {
        let is_structured = member.structured || member.structured_delegate.is_some();
        if is_structured != out.structured {
            let (one, other) = if is_structured { (member, out) } else { (out, member) };
            let message = format!(
                "`{}` is structured and `{}` is not: either all variants are, or none",
                one.func.name, other.func.name
            );
            return Err(member.spot.mistake(message));
        }
        if let Some((delegate, spot)) =
            member.structured_delegate.as_ref().filter(|(name, _)| *name != out.func.name)
        {
            let message =
                format!("delegates to `{delegate}`, but its variant with `out` is `{}`", out.func.name);
            return Err(spot.mistake(message));
        }
    }
    if let Some(mutable) = entry(Kind::Mutable)
        && !functional.func.name.functional
    {
        let message = format!(
            "`{}` writes to an argument, so the variant that does not must be called `{}_functional`",
            mutable.func.name, mutable.func.name.base
        );
        return Err(functional.spot.mistake(message));
    }
    Ok(())
}

/// `autogen` must name exactly what was generated.
fn check_generated(entries: &[Entry], group: &Group) -> Result<(), Mistake> {
    let members = || group.entries(entries);
    let made: Vec<&Name> =
        members().filter(|entry| entry.generated_from.is_some()).map(|entry| &entry.func.name).collect();
    let asked = || members().flat_map(|entry| &entry.autogen);
    if let Some((name, spot)) = asked().find(|(name, _)| !made.contains(&name)) {
        let exists = members().find(|entry| entry.func.name == *name);
        let possible = made.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
        return Err(spot.mistake(match exists {
            Some(_) => format!("`{name}` is declared, so `autogen` must not name it"),
            None if made.is_empty() => format!("`{name}` cannot be generated from this operator"),
            None => format!("`{name}` cannot be generated from this operator, only {possible}"),
        }));
    }
    if let Some(name) = made.iter().find(|name| !asked().any(|(asked, _)| asked == **name))
        && let Some(base) = members().find(|entry| entry.generated_from.is_none())
    {
        return Err(base
            .spot
            .mistake(format!("`{name}` is generated from this operator as well: `autogen` must name it")));
    }
    Ok(())
}
