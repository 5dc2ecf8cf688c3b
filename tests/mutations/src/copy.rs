//! Makes the copy of the tree in which the mutations are planted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::rules::{Flip, Kind};

/// The function that every crate with mutations gets: whether the mutation with this number is on.
const SWITCH: &str = "
#[doc(hidden)]
pub fn __flip(number: u32) -> bool {
    static ON: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *ON.get_or_init(|| std::env::var(\"FLIP\").ok().and_then(|text| text.parse().ok()).unwrap_or(0)) == number
}
";

pub(crate) struct Copy<'f> {
    root: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) build: PathBuf,
    flips: &'f [Flip],
}

impl<'f> Copy<'f> {
    pub(crate) fn new(root: &Path, flips: &'f [Flip]) -> Result<Self> {
        let (folder, build) = (root.join("target/mutations/copy"), root.join("target/mutations/build"));
        let copy = Copy { root: root.into(), folder, build, flips };
        let kept: BTreeSet<PathBuf> = copy.files()?.into_iter().collect();
        for stale in files_below(&copy.folder).into_iter().filter(|file| !kept.contains(file)) {
            std::fs::remove_file(copy.folder.join(&stale))
                .map_err(|error| format!("{}: {error}", stale.display()))?;
        }
        Ok(copy)
    }

    /// Copies the tree with all switches and optionally one mutation that has none. Files that do not change keep
    /// their time, so that cargo rebuilds little.
    pub(crate) fn plant(&self, built: Option<&Flip>) -> Result<()> {
        let mut changed = self.changed(built)?;
        for file in self.files()? {
            let content = match changed.remove(&file) {
                Some(text) => text.into_bytes(),
                None => read(&self.root.join(&file))?,
            };
            let to = self.folder.join(&file);
            if std::fs::read(&to).is_ok_and(|known| known == content) {
                continue;
            }
            let parent = to.parent().unwrap_or(&self.folder);
            std::fs::create_dir_all(parent)
                .and_then(|()| std::fs::write(&to, content))
                .map_err(|error| format!("{}: {error}", to.display()))?;
        }
        match changed.keys().next() {
            Some(file) => Err(format!("{} is not in the tree", file.display())),
            None => Ok(()),
        }
    }

    /// The files with mutations, by name, and the roots of their crates.
    fn changed(&self, built: Option<&Flip>) -> Result<BTreeMap<PathBuf, String>> {
        let (mut changed, mut faults) = (BTreeMap::new(), Vec::new());
        // Mutations with a build of their own come first: a switch nearby would hide their patterns.
        let switched = self.flips.iter().filter(|flip| flip.kind == Kind::Switched);
        for flip in built.into_iter().chain(switched) {
            for change in &flip.changes {
                let text = self.text(&mut changed, &change.file)?;
                match change.apply(text, flip) {
                    Ok(flipped) => *text = flipped,
                    // Two mutations at the same place: the one that is built hides the one with a switch.
                    Err(_) if built.is_some() => continue,
                    Err(fault) => faults.push(fault),
                }
                let root = self.text(&mut changed, &self.crate_root(&change.file)?)?;
                if !root.ends_with(SWITCH) {
                    root.push_str(SWITCH);
                }
            }
        }
        // All mutations with a build of their own must match, whichever are selected.
        for flip in self.flips.iter().filter(|flip| flip.kind == Kind::Built) {
            let mut alone = BTreeMap::new();
            for change in &flip.changes {
                let text = self.text(&mut alone, &change.file)?;
                match change.apply(text, flip) {
                    Ok(flipped) => *text = flipped,
                    Err(fault) => faults.push(fault),
                }
            }
        }
        if faults.is_empty() { Ok(changed) } else { Err(faults.join("\n")) }
    }

    fn text<'c>(&self, changed: &'c mut BTreeMap<PathBuf, String>, file: &str) -> Result<&'c mut String> {
        use std::collections::btree_map::Entry;
        Ok(match changed.entry(file.into()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                new.insert(String::from_utf8_lossy(&read(&self.root.join(file))?).into_owned())
            }
        })
    }

    /// The crate root for a file: `a/src/lib.rs` for `a/src/b/c.rs`, or the `main.rs` next to a program's module.
    fn crate_root(&self, file: &str) -> Result<String> {
        let folders = Path::new(file).ancestors().skip(1);
        let roots = folders.flat_map(|folder| ["lib.rs", "main.rs"].map(|root| folder.join(root)));
        let root = roots.into_iter().find(|root| self.root.join(root).is_file());
        root.map(|root| root.display().to_string()).ok_or_else(|| format!("{file} is in no crate"))
    }

    /// The files of the tree, including those that are not in git yet.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&self.root)
            .output()
            .map_err(|error| format!("git: {error}"))?;
        let names = String::from_utf8_lossy(&listed.stdout).into_owned();
        Ok(names.split('\0').map(PathBuf::from).filter(|file| self.root.join(file).is_file()).collect())
    }
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// The files in a folder, relative to it.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_path_buf()];
    let mut files = Vec::new();
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => files.extend(entry.path().strip_prefix(folder).map(PathBuf::from)),
            }
        }
    }
    files
}
