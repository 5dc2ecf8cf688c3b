//! An archive as a folder: its records by name, and what says that it is an archive of this kind.

use std::collections::HashMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use torch_library::prelude::*;

use crate::memory::Memory;
use crate::wire::{ExportedProgram, Versioned};
use crate::zip::{self, Record};

/// The version of the JSON that is read; all of PyTorch 2.10 to 2.15 write it, with members added from time to time.
const MAJOR: u64 = 8;
/// What is JSON in an archive is not larger, so that a file cannot ask for much more memory than it has itself.
const LARGEST_JSON: usize = 1 << 30;

/// An archive that is being read.
pub(crate) struct Archive {
    pub(crate) memory: Memory,
    root: String,
    records: HashMap<String, Record>,
}

impl Archive {
    /// Looks at what a file is.
    ///
    /// # Errors
    /// Anything but an archive that `torch.export.save` wrote.
    pub(crate) fn new(memory: Memory) -> Result<Archive> {
        let records = zip::records(memory.bytes())?;
        let root =
            records.keys().filter_map(|name| name.strip_suffix("/archive_format")).min().map(str::to_owned);
        let Some(root) = root else {
            let has = |end: &str| records.keys().any(|name| name.ends_with(end));
            let what = match () {
                () if has("serialized_exported_program.json") => {
                    "it was exported by a PyTorch before 2.8, whose archives look otherwise: export it again"
                }
                () if has("constants.pkl") => "it is a TorchScript archive: use torch.export instead",
                () if has("data.pkl") => "torch.save wrote it, so it has weights and no program",
                () => "it has no record `archive_format`",
            };
            bail!(Argument, "this is no archive of torch.export.save: {what}")
        };
        let archive = Archive { memory, root, records };
        for (name, known) in [("archive_format", "pt2"), ("byteorder", "little")] {
            if archive.record(name).is_none() && name == "byteorder" {
                continue;
            }
            let found = String::from_utf8_lossy(archive.content(name)?).into_owned();
            ensure!(
                found.trim() == known,
                NotSupported,
                "the archive's {name} is {:?}, {known:?} is known",
                crate::shortened(&found)
            );
        }
        Ok(archive)
    }

    fn record(&self, name: &str) -> Option<&Record> {
        self.records.get(&format!("{}/{name}", self.root))
    }

    /// The bytes of a record that must be there and intact.
    fn content(&self, name: &str) -> Result<&[u8]> {
        let Some(record) = self.record(name) else {
            bail!(Argument, "the archive has no record {:?}", crate::shortened(name))
        };
        let content = &self.memory.bytes()[record.range.clone()];
        ensure!(
            crc32fast::hash(content) == record.crc,
            Argument,
            "record {name:?} is damaged: its checksum is another"
        );
        Ok(content)
    }

    /// Where a record's bytes are.
    pub(crate) fn range(&self, name: &str) -> Option<Range<usize>> {
        self.record(name).map(|record| record.range.clone())
    }

    /// The name of the program: `model`, unless the archive has one of another name.
    ///
    /// # Errors
    /// There is none, or several.
    pub(crate) fn model(&self) -> Result<String> {
        let folder = format!("{}/models/", self.root);
        let name = |record: &String| Some(record.strip_prefix(&folder)?.strip_suffix(".json")?.to_owned());
        let mut names: Vec<String> = self.records.keys().filter_map(name).collect();
        names.sort();
        match (names.iter().any(|name| name == "model"), names.as_slice()) {
            (true, _) => Ok("model".to_owned()),
            (false, [one]) => Ok(one.clone()),
            (false, []) => bail!(Argument, "the archive has no program: no record in `models/`"),
            (false, several) => {
                bail!(NotSupported, "the archive has several programs, {several:?}, and none is `model`")
            }
        }
    }

    /// The program of this name, and by which PyTorch and in which version it was written.
    ///
    /// # Errors
    /// Another version; what is no such JSON.
    pub(crate) fn program(&self, model: &str) -> Result<(ExportedProgram, String)> {
        let name = format!("models/{model}.json");
        let Versioned { schema_version: version, torch_version } = self.json(&name)?;
        ensure!(
            version.major == MAJOR,
            NotSupported,
            "the archive has version {}.{} of PyTorch's schema, written by {}; {MAJOR}.x is read here, \
             which 2.10 to 2.15 write",
            version.major,
            version.minor,
            if torch_version.is_empty() { "an old PyTorch" } else { crate::shortened(&torch_version) }
        );
        Ok((self.json(&name)?, format!("{}.{}", version.major, version.minor)))
    }

    /// A record that is JSON.
    ///
    /// # Errors
    /// It is not there, damaged, or something else.
    pub(crate) fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let content = self.content(name)?;
        ensure!(
            content.len() <= LARGEST_JSON,
            NotSupported,
            "record {name:?} has {} bytes of JSON",
            content.len()
        );
        serde_json::from_slice(content).map_err(|error| {
            Error::new(ErrorKind::Argument, format!("record {name:?}: {error}")).with_source(error)
        })
    }

    /// Whether there is such a record.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.record(name).is_some()
    }
}
