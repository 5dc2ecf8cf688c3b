//! An archive as a folder: its records by name, and the checks that it is an archive of this kind.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorKind, Result, bail, ensure};
use crate::wire::{ExportedProgram, PayloadConfig, PayloadMeta, Versioned};
use crate::zip::{self, Record};

/// The version of the JSON that is supported; all of PyTorch 2.10 to 2.15 write it, with fields added over time.
const MAJOR: u64 = 8;
/// The maximum size of JSON in an archive, so that a file cannot request much more memory than its own size.
const LARGEST_JSON: usize = 1 << 30;

/// The record that every TorchScript file has, and the error for one.
const TORCH_SCRIPT: &str = "/constants.pkl";
const NOT_TORCH_SCRIPT: &str = "this is TorchScript, which torch.jit.save wrote, not torch.export: export the model with \
                                torch.export.export, and write it with torch.export.save";

/// An archive that is being read.
#[derive(Debug)]
pub struct Archive<'b> {
    bytes: &'b [u8],
    root: String,
    records: HashMap<String, Record>,
}

impl<'b> Archive<'b> {
    /// Opens an archive that is in memory, and checks that it is of a kind and version that can be read.
    ///
    /// # Errors
    /// The bytes are not an archive that `torch.export.save` wrote.
    pub fn new(bytes: &'b [u8]) -> Result<Archive<'b>> {
        let records = zip::records(bytes).map_err(|error| match zip::has_record(bytes, TORCH_SCRIPT) {
            true => Error::new(ErrorKind::Argument, NOT_TORCH_SCRIPT), // it has compressed records
            false => error,
        })?;
        let root =
            records.keys().filter_map(|name| name.strip_suffix("/archive_format")).min().map(str::to_owned);
        let Some(root) = root else {
            ensure!(!zip::has_record(bytes, TORCH_SCRIPT), Argument, "{NOT_TORCH_SCRIPT}");
            let has = |end: &str| records.keys().any(|name| name.ends_with(end));
            let what = match () {
                () if has("serialized_exported_program.json") => {
                    "it was exported by a PyTorch before 2.8, whose archives have another format: export it again \
                     with 2.10 or later"
                }
                () if has("data.pkl") => "it was written by torch.save, so it has weights but no program",
                () => "it has no record `archive_format`",
            };
            bail!(Argument, "this is not an archive of torch.export.save: {what}")
        };
        let archive = Archive { bytes, root, records };
        for (name, known) in [("archive_format", "pt2"), ("byteorder", "little")] {
            if archive.record(name).is_none() && name == "byteorder" {
                continue;
            }
            let found = String::from_utf8_lossy(archive.content(name)?).into_owned();
            ensure!(
                found.trim() == known,
                NotSupported,
                "the archive's {name} is {:?}, expected {known:?}",
                crate::shortened(&found)
            );
        }
        Ok(archive)
    }

    fn record(&self, name: &str) -> Option<&Record> {
        self.records.get(&format!("{}/{name}", self.root))
    }

    /// The bytes of a record that must exist and be intact.
    fn content(&self, name: &str) -> Result<&'b [u8]> {
        let Some(record) = self.record(name) else {
            bail!(Argument, "the archive has no record {:?}", crate::shortened(name))
        };
        let content = &self.bytes[record.range.clone()];
        ensure!(
            crc32fast::hash(content) == record.crc,
            Argument,
            "record {name:?} is damaged: its checksum does not match"
        );
        Ok(content)
    }

    /// The position of a record's bytes.
    pub fn range(&self, name: &str) -> Option<Range<usize>> {
        self.record(name).map(|record| record.range.clone())
    }

    /// The names of all programs, in order.
    fn models(&self) -> Vec<String> {
        let folder = format!("{}/models/", self.root);
        let name = |record: &String| Some(record.strip_prefix(&folder)?.strip_suffix(".json")?.to_owned());
        let mut names: Vec<String> = self.records.keys().filter_map(name).collect();
        names.sort();
        names
    }

    /// The name of the program: `wanted`, if the archive has it; without one `model`, or that of the only program.
    ///
    /// # Errors
    /// There is no such program, or there are several.
    pub fn model(&self, wanted: Option<&str>) -> Result<String> {
        let names = self.models();
        let has = |name: &str| names.iter().any(|other| other == name);
        match (wanted, names.as_slice()) {
            (_, []) if self.is_compiled() => {
                bail!(
                    NotSupported,
                    "the archive has no program, only code that torch._inductor compiled from one: write the program \
                     itself, with torch.export.save"
                )
            }
            (_, []) => bail!(Argument, "the archive has no program: no record in `models/`"),
            (Some(wanted), _) if has(wanted) => Ok(wanted.to_owned()),
            (Some(wanted), names) => {
                bail!(Argument, "the archive has no program {:?}, only {names:?}", crate::shortened(wanted))
            }
            (None, _) if has("model") => Ok("model".to_owned()),
            (None, [one]) => Ok(one.clone()),
            (None, several) => {
                bail!(
                    NotSupported,
                    "the archive has several programs, {several:?}, and none is `model`: choose one, with \
                     `Loader::program` or `run --program`"
                )
            }
        }
    }

    /// Whether `torch._inductor.aoti_compile_and_package` wrote the archive.
    fn is_compiled(&self) -> bool {
        let folder = format!("{}/data/aotinductor/", self.root);
        self.records.keys().any(|name| name.starts_with(&folder))
    }

    /// The program with this name, and the version of PyTorch that wrote it.
    ///
    /// # Errors
    /// Another version of the schema; JSON of another form.
    pub fn program(&self, model: &str) -> Result<(ExportedProgram, String)> {
        let name = format!("models/{model}.json");
        let Versioned { schema_version: version, torch_version } = self.json(&name)?;
        ensure!(
            version.major == MAJOR,
            NotSupported,
            "the archive has version {}.{} of PyTorch's schema, written by {}; expected {MAJOR}.x, which PyTorch \
             2.10 to 2.15 write",
            version.major,
            version.minor,
            if torch_version.is_empty() { "an old PyTorch" } else { crate::shortened(&torch_version) }
        );
        Ok((self.json(&name)?, format!("{}.{}", version.major, version.minor)))
    }

    /// A record that consists of JSON.
    ///
    /// # Errors
    /// The record does not exist, is damaged, or has another form.
    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let content = self.content(name)?;
        ensure!(
            content.len() <= LARGEST_JSON,
            NotSupported,
            "record {name:?} has {} bytes of JSON, at most {LARGEST_JSON} are read",
            content.len()
        );
        serde_json::from_slice(content)
            .map_err(|error| Error::of_json(format_args!("record {name:?}"), error))
    }

    /// The descriptions of the tensors in one of the folders `weights` and `constants`, by name.
    ///
    /// # Errors
    /// A record is JSON of another form.
    pub fn payload(&self, folder: &str, model: &str) -> Result<BTreeMap<String, PayloadMeta>> {
        let name = format!("data/{folder}/{model}_{folder}_config.json");
        if self.record(&name).is_none() {
            return Ok(BTreeMap::new());
        }
        self.json(&name).map(|PayloadConfig { config }| config)
    }

    /// Reads every record once and compares checksums, which mapping an archive does not do.
    ///
    /// # Errors
    /// A record is damaged.
    pub fn verify(&self) -> Result<()> {
        let mut inside =
            self.records.keys().filter_map(|name| name.strip_prefix(&self.root)?.strip_prefix('/'));
        inside.try_for_each(|name| self.content(name).map(drop))
    }

    /// The bytes of the whole archive, which ranges refer to.
    pub fn bytes(&self) -> &'b [u8] {
        self.bytes
    }
}
