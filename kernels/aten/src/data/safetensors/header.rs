//! The header of a safetensors file: its length, then JSON with the place of each tensor, and metadata of the writer.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::Read;

use safetensors::SafeTensors;
use safetensors::tensor::Metadata;
use serde::Deserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use torch_library::prelude::*;

use super::failed;

/// The size in bytes of the length field before the header.
const LENGTH: usize = size_of::<u64>();
/// The longest header that is read, as in the format's own readers.
const LONGEST: u64 = 100_000_000;

/// Reads a file of `len` bytes. The elements are read only if the header describes as many.
pub fn read(mut reader: impl Read, len: u64) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut more = |file: &mut Vec<u8>, count: u64| {
        let read = reader.by_ref().take(count).read_to_end(file)?;
        ensure!(read as u64 == count, Io, "the file ends after {} bytes", file.len());
        Ok(())
    };
    more(&mut file, (LENGTH as u64).min(len))?;
    let header = length(&file)?;
    ensure!(
        header <= len - LENGTH as u64,
        Argument,
        "safetensors: a header of {header} bytes in a file of {len}"
    );
    more(&mut file, header)?;
    let elements = check(&file[LENGTH..])?.data_len() as u64;
    ensure!(
        (LENGTH as u64 + header).checked_add(elements) == Some(len),
        Argument,
        "safetensors: the header is that of a file with {elements} bytes of elements, there are {}",
        len - LENGTH as u64 - header
    );
    file.try_reserve_exact(elements as usize)
        .map_err(|error| Error::new(ErrorKind::Io, error.to_string()).with_source(error))?;
    more(&mut file, elements)?;
    Ok(file)
}

/// The length that a file gives for its header.
fn length(file: &[u8]) -> Result<u64> {
    let Some(length) = file.first_chunk::<LENGTH>() else {
        bail!(Argument, "safetensors: {} bytes are too few for the length of a header", file.len());
    };
    let length = u64::from_le_bytes(*length);
    ensure!(
        length <= LONGEST,
        Argument,
        "safetensors: a header of {length} bytes, at most {LONGEST} are read"
    );
    Ok(length)
}

/// Parses a file after a check of its header.
pub(super) fn parse(file: &[u8]) -> Result<SafeTensors<'_>> {
    let header = usize::try_from(length(file)?).ok().and_then(|length| file[LENGTH..].get(..length));
    let Some(header) = header else {
        bail!(Argument, "safetensors: a header of {} bytes in a file of {}", length(file)?, file.len());
    };
    check(header)?;
    SafeTensors::deserialize(file).map_err(failed)
}

/// The metadata that the writer of a file added to its header.
pub fn metadata(file: &[u8]) -> Result<BTreeMap<String, String>> {
    let (_, header) = SafeTensors::read_metadata(file).map_err(failed)?;
    Ok(header.metadata().iter().flatten().map(|(name, text)| (name.clone(), text.clone())).collect())
}

/// Rejects an invalid header, and two tensors of the same name, of which the format's parser would take the second.
fn check(header: &[u8]) -> Result<Metadata> {
    let invalid = |error| Error::new(ErrorKind::Argument, format!("safetensors: header: {error}"));
    serde_json::Deserializer::from_slice(header).deserialize_map(DistinctNames).map_err(invalid)?;
    serde_json::from_slice(header).map_err(invalid)
}

struct DistinctNames;

impl<'de> Visitor<'de> for DistinctNames {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensors by name")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut seen = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            map.next_value::<IgnoredAny>()?;
            if let Some(name) = seen.replace(name) {
                let name = super::super::shortened(&name);
                return Err(M::Error::custom(format_args!("two tensors have the name {name:?}")));
            }
        }
        Ok(())
    }
}

/// Inserts metadata at the beginning of a file's header, in the given order.
pub(super) fn with_metadata(file: &[u8], metadata: &[(&str, &str)]) -> Result<Vec<u8>> {
    if metadata.is_empty() {
        return Ok(file.to_vec());
    }
    let json = |text: &str| {
        serde_json::to_string(text)
            .map_err(|error| Error::new(ErrorKind::Argument, error.to_string()).with_source(error))
    };
    let mut entries = Vec::with_capacity(metadata.len());
    for (name, text) in metadata {
        entries.push(format!("{}:{}", json(name)?, json(text)?));
    }
    let (header, elements) = file[LENGTH..].split_at(length(file)? as usize);
    let tensors = header.trim_ascii_end().strip_prefix(b"{").unwrap_or_default();
    let comma = if tensors == b"}" { "" } else { "," };
    let mut header = format!("{{\"__metadata__\":{{{}}}{comma}", entries.join(",")).into_bytes();
    header.extend_from_slice(tensors);
    header.resize(header.len().next_multiple_of(LENGTH), b' '); // so that the elements are aligned
    Ok([&(header.len() as u64).to_le_bytes()[..], &header, elements].concat())
}
