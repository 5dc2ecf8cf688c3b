//! The module tree of a crate, read from its sources.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use syn::visit::Visit;
use syn::{Attribute, Item};

use crate::Result;
use crate::paths::{self, Named, Paths};

/// The longest chain of re-exports that is followed; a longer one is a cycle.
const HOPS: usize = 16;

/// A module, without its child modules.
#[derive(Default)]
pub struct Module {
    /// Its path from the crate's root.
    pub path: Vec<String>,
    /// Its file, relative to the folder of the sources.
    pub file: PathBuf,
    /// Its child modules that are not for tests, in the order of their `mod` lines.
    pub children: Vec<String>,
    items: BTreeSet<String>,
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    named: Vec<Named>,
}

/// A crate's module tree.
pub struct Sources {
    modules: BTreeMap<Vec<String>, Module>,
    /// Macros with `#[macro_export]`, which are at the root whichever module defines them.
    exported: BTreeMap<String, Vec<String>>,
    /// The modules that the globs of each module lead to, computed on demand.
    globs: RefCell<BTreeMap<Vec<String>, Rc<[Reached]>>>,
}

/// The modules that a path leads through.
type Reached = Vec<Vec<String>>;

/// A reference from one module to another, or to something in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The module that is named.
    pub to: Vec<String>,
    /// The file that names it.
    pub file: PathBuf,
    /// The line in that file.
    pub line: usize,
}

impl Sources {
    /// Reads the modules of the crate whose root is this file.
    ///
    /// # Errors
    /// The file of a module is missing or is not Rust.
    pub fn read(root: &Path) -> Result<Self> {
        let folder = root.parent().unwrap_or(Path::new(""));
        let file = |path: &Path| {
            let full = folder.join(path);
            fs::read_to_string(&full).map_err(|error| format!("{}: {error}", full.display()))
        };
        let name = root.file_name().map(PathBuf::from).unwrap_or_default();
        Sources::parse(&name, &file)
    }

    /// Reads the modules with a function that returns the text of each file.
    ///
    /// # Errors
    /// The file of a module is missing or is not Rust.
    pub fn parse(root: &Path, file: &dyn Fn(&Path) -> Result<String>) -> Result<Self> {
        let mut sources =
            Sources { modules: BTreeMap::new(), exported: BTreeMap::new(), globs: RefCell::default() };
        sources.read_file(Vec::new(), root.to_owned(), PathBuf::new(), file)?;
        Ok(sources)
    }

    /// All modules, the root first.
    pub fn modules(&self) -> impl Iterator<Item = &Module> {
        self.modules.values()
    }

    /// The root: its children are the crate's layers.
    ///
    /// # Panics
    /// Never: there is always a root.
    #[must_use]
    pub fn root(&self) -> &Module {
        &self.modules[&[][..]]
    }

    /// A module's references within this crate: to the modules that define what it names, and those that re-export it.
    #[must_use]
    pub fn arrows(&self, module: &Module) -> BTreeSet<Arrow> {
        let mut arrows = BTreeSet::new();
        for Named { path, line } in &module.named {
            let mut reached = Vec::new();
            self.follow(&module.path, path, HOPS, &mut reached);
            let arrow = |to| Arrow { to, file: module.file.clone(), line: *line };
            arrows.extend(reached.into_iter().filter(|to| *to != module.path).map(arrow));
        }
        arrows
    }

    /// Resolves a path, from the module where it is written.
    fn follow(&self, from: &[String], path: &[String], hops: usize, reached: &mut Reached) {
        let mut here = from.to_vec();
        for (at, name) in path.iter().enumerate() {
            let module = &self.modules[&here];
            match &**name {
                "crate" => here.clear(),
                "self" => {}
                "super" => {
                    here.pop();
                }
                _ if module.children.contains(name) => here.push(name.clone()),
                _ => {
                    if let Some(mut target) = self.import(module, name, hops) {
                        target.extend_from_slice(&path[at + 1..]);
                        self.follow(&here, &target, hops - 1, reached);
                    } else if let Some(module) = self.exported.get(name).filter(|_| here.is_empty()) {
                        reached.push(module.clone());
                    }
                    break;
                }
            }
        }
        reached.push(here);
    }

    /// The path from which a module imports a name that it does not define.
    fn import(&self, module: &Module, name: &str, hops: usize) -> Option<Vec<String>> {
        if hops == 0 || module.items.contains(name) {
            return None;
        }
        if let Some(import) = module.imports.get(name) {
            return Some(import.clone());
        }
        let has = |module: &Vec<String>| self.modules[module].items.contains(name);
        let reached = self.globs(module);
        let (glob, _) = module.globs.iter().zip(&*reached).find(|(_, reached)| reached.iter().any(has))?;
        Some(glob.iter().cloned().chain([name.to_owned()]).collect())
    }

    /// The modules that a module's globs lead to, cached: each name that the module does not define needs them.
    fn globs(&self, module: &Module) -> Rc<[Reached]> {
        if let Some(known) = self.globs.borrow().get(&module.path) {
            return known.clone();
        }
        // Globs in a cycle lead nowhere.
        self.globs.borrow_mut().insert(module.path.clone(), Rc::new([]));
        let follow = |glob: &Vec<String>| {
            let mut reached = Vec::new();
            self.follow(&module.path, glob, HOPS, &mut reached);
            reached
        };
        let found: Rc<[Reached]> = module.globs.iter().map(follow).collect();
        self.globs.borrow_mut().insert(module.path.clone(), found.clone());
        found
    }

    fn read_file(
        &mut self,
        path: Vec<String>,
        file: PathBuf,
        folder: PathBuf,
        text_of: &dyn Fn(&Path) -> Result<String>,
    ) -> Result<()> {
        let text = text_of(&file)?;
        let parsed = syn::parse_file(&text)
            .map_err(|error| format!("{}:{}: {error}", file.display(), error.span().start().line))?;
        self.add(path, &file, &folder, &parsed.items, text_of)
    }

    /// Adds a module and its children, whose files are in `folder`.
    fn add(
        &mut self,
        path: Vec<String>,
        file: &Path,
        folder: &Path,
        items: &[Item],
        text_of: &dyn Fn(&Path) -> Result<String>,
    ) -> Result<()> {
        let mut module = Module { path: path.clone(), file: file.to_owned(), ..Module::default() };
        for item in items {
            module.take(item);
            if let Item::Macro(rules) = item
                && let Some(name) = &rules.ident
                && rules.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"))
            {
                self.exported.insert(name.to_string(), path.clone());
            }
            let Item::Mod(inner) = item else { continue };
            let name = inner.ident.to_string();
            if paths::is_test(&inner.attrs) || module.children.contains(&name) {
                continue; // the second one is the same module for another system
            }
            let inside: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
            module.children.push(name.clone());
            match &inner.content {
                Some((_, items)) => self.add(inside, file, &folder.join(&name), items, text_of)?,
                None => {
                    let here = file.parent().unwrap_or(Path::new(""));
                    let (other, folder) = match named_file(&inner.attrs) {
                        Some(path) => {
                            (here.join(&path), here.join(&path).parent().unwrap_or(here).to_owned())
                        }
                        None => (folder.join(format!("{name}.rs")), folder.join(&name)),
                    };
                    self.read_file(inside, other, folder, text_of)?;
                }
            }
        }
        self.modules.insert(path, module);
        Ok(())
    }
}

impl Module {
    /// Records what an item of this module defines, imports and names.
    fn take(&mut self, item: &Item) {
        if let Item::Use(import) = item
            && !paths::is_test(&import.attrs)
        {
            for (name, Named { path, .. }) in paths::imports(&import.tree) {
                match &*name {
                    "*" => self.globs.push(path),
                    _ => _ = self.imports.insert(name, path),
                }
            }
        }
        self.items.extend(defined(item));
        let mut named = Paths::default();
        named.visit_item(item);
        self.named.extend(named.found);
    }
}

/// The name that an item defines.
fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// The file that `#[path]` names.
fn named_file(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}
