//! The checksum of a checkpoint: CRC-32 of the whole file, which detects any damage of up to 32 adjacent bits.
//!
//! It is at the beginning of the file's metadata, and counts as zeros while it is computed. Two entries say that a file
//! has a checksum, so that a damaged bit cannot turn it into a file of another program, which has none.

use std::ops::Range;

use torch_library::prelude::*;

/// The entries of the metadata that every checkpoint begins with.
pub(super) const ENTRIES: [(&str, &str); 2] = [("checksum", "crc32:00000000"), ("writer", "torch-library")];
/// The bytes between the length of the header and the eight digits.
const BEFORE: &[u8] = br#"{"__metadata__":{"checksum":"crc32:"#;
const DIGITS: Range<usize> = size_of::<u64>() + BEFORE.len()..size_of::<u64>() + BEFORE.len() + 8;

/// Writes the checksum into a file that begins with [`ENTRIES`].
pub(super) fn seal(file: &mut [u8]) {
    debug_assert!(has_place(file), "a checkpoint begins with its checksum");
    let digits = digits(file);
    file[DIGITS].copy_from_slice(digits.as_bytes());
}

/// Compares the checksum of a file with its bytes; a file without one passes.
///
/// # Errors
/// Damaged files.
pub(super) fn check(file: &[u8]) -> Result<()> {
    if has_place(file) {
        let (there, computed) = (String::from_utf8_lossy(&file[DIGITS]), digits(file));
        ensure!(
            there == computed,
            Io,
            "the file is damaged: its checksum is {there:?}, that of its bytes is \"{computed}\""
        );
    }
    Ok(())
}

/// Refuses a file with only one of the two entries that mark a checksum, or with them in another place.
///
/// # Errors
/// Damaged files, and checkpoints that another program rewrote with the old metadata.
pub(super) fn check_metadata(file: &[u8], has_entry: impl Fn(&str) -> bool) -> Result<()> {
    let [checksum, writer] = ENTRIES.map(|(name, _)| has_entry(name));
    ensure!(
        has_place(file) || !(checksum || writer),
        Io,
        "the file is damaged, or another program rewrote it: its metadata announces a checksum, which is not in its \
         place\n  \
         help: without \"checksum\" and \"writer\" in its metadata it is read as it is"
    );
    Ok(())
}

fn has_place(file: &[u8]) -> bool {
    file.get(..DIGITS.end).is_some_and(|start| start[size_of::<u64>()..].starts_with(BEFORE))
}

fn digits(file: &[u8]) -> String {
    let mut hasher = crc32fast::Hasher::new();
    [&file[..DIGITS.start], b"00000000", &file[DIGITS.end..]]
        .into_iter()
        .for_each(|part| hasher.update(part));
    format!("{:08x}", hasher.finalize())
}
