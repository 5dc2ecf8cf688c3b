//! The layering rule: a module names only modules listed above it, and sibling modules do not form cycles.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Arrow, Module, Sources};

/// For each child of a folder, the siblings that it names, with a place for each.
type Siblings<'a> = BTreeMap<&'a str, BTreeMap<String, Arrow>>;

/// Each file in which a layer names one that the crate's root lists below it.
#[must_use]
pub fn arrows_back(sources: &Sources) -> Vec<String> {
    let order = &sources.root().children;
    let height = |layer: &str| order.iter().position(|other| other == layer);
    let mut found = BTreeSet::new();
    for module in sources.modules().filter(|module| !module.path.is_empty()) {
        let layer = &module.path[0];
        for Arrow { to, file, line } in sources.arrows(module) {
            let Some(other) = to.first() else { continue };
            if height(other) > height(layer) {
                let place = (file, line);
                found.insert((place, format!("`{layer}` uses `{other}`, which is listed below it")));
            }
        }
    }
    found.into_iter().map(|((file, line), what)| format!("{}:{line}: {what}", file.display())).collect()
}

/// The shortest cycle through each module of a folder, if there is one.
#[must_use]
pub fn circles(sources: &Sources) -> Vec<String> {
    let arrows: Vec<_> = sources.modules().map(|module| (module, sources.arrows(module))).collect();
    sources.modules().flat_map(|folder| circles_in(folder, &siblings(&arrows, folder))).collect()
}

fn siblings<'a>(arrows: &[(&Module, BTreeSet<Arrow>)], folder: &'a Module) -> Siblings<'a> {
    let mut siblings = Siblings::new();
    let depth = folder.path.len();
    for child in &folder.children {
        let is_inside =
            |module: &Module| module.path.starts_with(&folder.path) && module.path.get(depth) == Some(child);
        let to: &mut BTreeMap<_, _> = siblings.entry(child).or_default();
        for arrow in arrows.iter().filter(|(module, _)| is_inside(module)).flat_map(|(_, arrows)| arrows) {
            let sibling = arrow.to.get(depth).filter(|_| arrow.to.starts_with(&folder.path));
            if let Some(sibling) = sibling.filter(|sibling| *sibling != child) {
                to.entry(sibling.clone()).or_insert_with(|| arrow.clone());
            }
        }
    }
    siblings
}

fn circles_in(folder: &Module, siblings: &Siblings<'_>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in siblings.keys() {
        let Some(circle) = shortest_circle(start, siblings) else { continue };
        if seen.insert(circle.iter().copied().collect::<BTreeSet<_>>()) {
            found.push(describe(folder, &circle, siblings));
        }
    }
    found
}

/// The shortest cycle from a module back to itself.
fn shortest_circle<'a>(start: &'a str, siblings: &'a Siblings<'_>) -> Option<Vec<&'a str>> {
    let mut ways = vec![vec![start]];
    let mut visited = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in siblings.get(*way.last()?)?.keys() {
                if next == start {
                    return Some(way);
                }
                if visited.insert(next) {
                    longer.push(way.iter().copied().chain([&**next]).collect());
                }
            }
        }
        ways = longer;
    }
    None
}

fn describe(folder: &Module, circle: &[&str], siblings: &Siblings<'_>) -> String {
    let folder = match &*folder.path {
        [] => "the crate's root".to_owned(),
        path => format!("`{}`", path.join("::")),
    };
    let arrows = circle.iter().zip(circle.iter().cycle().skip(1)).map(|(from, to)| {
        let Arrow { file, line, .. } = &siblings[from][*to];
        format!("`{from}` uses `{to}` at {}:{line}", file.display())
    });
    format!("in {folder} {}", arrows.collect::<Vec<_>>().join(", "))
}
