//! The directory of a zip file: the position of each record. It supports what PyTorch writes, which is stored
//! (uncompressed) records.
//!
//! It need only map names to offsets into existing memory, and a hostile file must not be able to make it grow.
//! Existing crates do more: `zip` reads by seeking, and writes; `rc-zip` has some forty dependencies, for dates and
//! for names in old encodings; `piz` panics on the zeros that PyTorch writes for dates.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::{Error, ErrorKind, Result, bail, ensure};

/// The signatures of the last record of a zip file, of its 64-bit form, and of the locator of the latter.
const END: &[u8] = b"PK\x05\x06";
const END64: &[u8] = b"PK\x06\x06";
const LOCATOR64: &[u8] = b"PK\x06\x07";
/// The signatures of a row of the directory, and of the record itself.
const ROW: &[u8] = b"PK\x01\x02";
const RECORD: &[u8] = b"PK\x03\x04";
/// The sizes of these, without names and comments.
const END_LEN: usize = 22;
const LOCATOR64_LEN: usize = 20;
const ROW_LEN: usize = 46;
const RECORD_LEN: usize = 30;
/// The maximum length of the comment at the end.
const LONGEST_COMMENT: usize = 0xffff;
/// The number of the extra field with 64-bit sizes.
const SIZES64: usize = 1;
/// The flag of an encrypted record.
const ENCRYPTED: u64 = 1;

/// A record of a zip file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The range of its bytes in the file.
    pub range: Range<usize>,
    /// The checksum of the bytes.
    pub crc: u32,
}

/// The records of a zip file by name.
///
/// # Errors
/// The file is not a zip file, or ends too early; records that are compressed, encrypted, have the same name, overlap,
/// or exceed the file.
pub fn records(file: &[u8]) -> Result<HashMap<String, Record>> {
    let (rows, directory) = directory(file)?;
    let mut at = directory;
    let mut records = HashMap::new();
    for row in 0..rows {
        let (name, record, next) = read_row(file, at)
            .map_err(|error| error.context(format_args!("row {row} of the zip directory")))?;
        at = next;
        ensure!(
            records.insert(name.clone(), record).is_none(),
            Argument,
            "the zip file has two records with the name {:?}",
            crate::shortened(&name)
        );
    }
    check_apart(&records)?;
    Ok(records)
}

/// Checks that no byte belongs to two records: to read all records would otherwise take longer than to read the file,
/// by any factor.
fn check_apart(records: &HashMap<String, Record>) -> Result<()> {
    let mut ranges: Vec<_> =
        records.values().map(|record| &record.range).filter(|range| !range.is_empty()).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let are_apart = ranges.windows(2).all(|pair| pair[0].end <= pair[1].start);
    ensure!(are_apart, Argument, "records of the zip file overlap");
    Ok(())
}

/// Whether a record's name ends like this; records that [`records`] refuses count, too.
pub fn has_record(file: &[u8], end: &str) -> bool {
    let Ok((rows, mut at)) = directory(file) else { return false };
    for _ in 0..rows {
        let Ok((name, next)) = name_of(file, at) else { return false };
        if name.ends_with(end) {
            return true;
        }
        at = next;
    }
    false
}

/// The number of rows of the directory, and the position of the first.
fn directory(file: &[u8]) -> Result<(u64, usize)> {
    let window = file.len().saturating_sub(END_LEN + LONGEST_COMMENT);
    let found = (window..=file.len().saturating_sub(END_LEN)).rev().find(|at| file[*at..].starts_with(END));
    let Some(end) = found else {
        bail!(Argument, "this is not a zip file, as archives of torch.export are, or its end is missing")
    };
    let (mut rows, mut start) = (number(file, end + 10, 2)?, number(file, end + 16, 4)?);
    if (rows == 0xffff || start == 0xffff_ffff)
        && let Some(locator) = end.checked_sub(LOCATOR64_LEN)
        && file[locator..].starts_with(LOCATOR64)
    {
        let end64 = offset(file, number(file, locator + 8, 8)?)?;
        ensure!(
            file[end64..].starts_with(END64),
            Argument,
            "the zip64 end record is not where the zip file says"
        );
        (rows, start) = (number(file, end64 + 32, 8)?, number(file, end64 + 48, 8)?);
    }
    ensure!(
        rows <= (file.len() / ROW_LEN) as u64,
        Argument,
        "a zip directory of {rows} rows does not fit into a file of {} bytes",
        file.len()
    );
    Ok((rows, offset(file, start)?))
}

/// The name of a row of the directory, and the position of the next row.
fn name_of(file: &[u8], at: usize) -> Result<(&str, usize)> {
    ensure!(file.get(at..).is_some_and(|rest| rest.starts_with(ROW)), Argument, "it is missing");
    let field = |from: usize| number(file, at + from, 2).map(|len| len as usize);
    let (name_len, extra_len, comment_len) = (field(28)?, field(30)?, field(32)?);
    let name = bytes(file, at + ROW_LEN, name_len)?;
    let Ok(name) = std::str::from_utf8(name) else { bail!(Argument, "the name of the record is not UTF-8") };
    Ok((name, at + ROW_LEN + name_len + extra_len + comment_len))
}

/// A row of the directory: the record's name, the record, and the position of the next row.
fn read_row(file: &[u8], at: usize) -> Result<(String, Record, usize)> {
    let (name, next) = name_of(file, at)?;
    let field = |from: usize, len: usize| number(file, at + from, len);
    let (flags, method, crc) = (field(8, 2)?, field(10, 2)?, field(16, 4)? as u32);
    let mut sizes = [field(24, 4)?, field(20, 4)?, field(42, 4)?];
    widen(&mut sizes, bytes(file, at + ROW_LEN + name.len(), field(30, 2)? as usize)?)?;
    let [len, stored_len, start] = sizes;
    let shown = crate::shortened(name);
    ensure!(
        method == 0 && len == stored_len,
        NotSupported,
        "record {shown:?} is compressed, expected it to be stored uncompressed"
    );
    ensure!(flags & ENCRYPTED == 0, NotSupported, "record {shown:?} is encrypted");
    let start = offset(file, start)?;
    ensure!(file[start..].starts_with(RECORD), Argument, "record {shown:?} is not where the directory says");
    // The record repeats its name, and has extra fields of its own, which align the bytes that follow.
    let begins =
        start + RECORD_LEN + number(file, start + 26, 2)? as usize + number(file, start + 28, 2)? as usize;
    let end =
        usize::try_from(len).ok().and_then(|len| begins.checked_add(len)).filter(|end| *end <= file.len());
    let Some(end) = end else {
        bail!(
            Argument,
            "record {shown:?} of {len} bytes ends beyond the file, which has {} bytes",
            file.len()
        )
    };
    Ok((name.to_owned(), Record { range: begins..end, crc }, next))
}

/// Replaces sizes that do not fit 32 bits by those from the extra field, which has them in this order.
fn widen(sizes: &mut [u64; 3], mut extra: &[u8]) -> Result<()> {
    while extra.len() >= 4 {
        let (kind, len) = (number(extra, 0, 2)? as usize, number(extra, 2, 2)? as usize);
        let content = bytes(extra, 4, len)?;
        if kind == SIZES64 {
            let wide = sizes.iter_mut().filter(|size| **size == 0xffff_ffff);
            for (place, size) in wide.enumerate() {
                *size = number(content, 8 * place, 8)?;
            }
        }
        extra = &extra[4 + len..];
    }
    Ok(())
}

/// Converts an offset in the file.
fn offset(file: &[u8], at: u64) -> Result<usize> {
    let inside = usize::try_from(at).ok().filter(|at| *at < file.len());
    inside.ok_or_else(|| {
        Error::new(
            ErrorKind::Argument,
            format!("offset {at} is outside of the zip file, which has {} bytes", file.len()),
        )
    })
}

fn bytes(file: &[u8], at: usize, len: usize) -> Result<&[u8]> {
    let found = at.checked_add(len).and_then(|end| file.get(at..end));
    found.ok_or_else(|| Error::new(ErrorKind::Argument, "the zip file ends too early"))
}

/// A little-endian number of `len` bytes.
fn number(file: &[u8], at: usize, len: usize) -> Result<u64> {
    Ok(bytes(file, at, len)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zip file with one record, whose row has the given sizes.
    fn file(name: &str, content: &[u8], method: u16, len: u32) -> Vec<u8> {
        let mut file = RECORD.to_vec();
        file.extend([0; 22]);
        file.extend([name.len() as u8, 0, 0, 0]);
        file.extend(name.as_bytes());
        file.extend(content);
        let directory = file.len() as u32;
        file.extend(ROW);
        file.extend([0; 6]);
        file.extend(method.to_le_bytes());
        file.extend([0; 4]);
        file.extend(crc32fast::hash(content).to_le_bytes());
        file.extend(len.to_le_bytes());
        file.extend(len.to_le_bytes());
        file.extend([name.len() as u8, 0]);
        file.extend([0; 16]);
        file.extend(name.as_bytes());
        file.extend(END);
        file.extend([0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]);
        file.extend(directory.to_le_bytes());
        file.extend([0, 0]);
        file
    }

    #[test]
    fn a_record_lies_where_its_header_ends() {
        let file = file("a/b", b"content", 0, 7);
        let records = records(&file).unwrap();
        assert_eq!(&file[records["a/b"].range.clone()], b"content");
        assert_eq!(records["a/b"].crc, crc32fast::hash(b"content"));
    }

    #[test]
    fn a_record_that_is_refused_is_there_all_the_same() {
        let compressed = file("model/constants.pkl", b"content", 8, 7);
        assert!(has_record(&compressed, "/constants.pkl") && !has_record(&compressed, "/data.pkl"));
        for len in 0..compressed.len() {
            assert!(!has_record(&compressed[..len], "/constants.pkl"));
        }
    }

    #[test]
    fn a_byte_belongs_to_one_record() {
        let one = file("a", b"content", 0, 7);
        let row = one.len() - END_LEN - ROW_LEN - 1;
        let (before, end) = (&one[..row], &one[one.len() - END_LEN..]);
        let two = |name: u8, content: usize| {
            let mut second = one[row..one.len() - END_LEN].to_vec();
            second[ROW_LEN] = name;
            (20..28).step_by(4).for_each(|at| second[at] = content as u8);
            let mut file = [before, &one[row..one.len() - END_LEN], &second, end].concat();
            let rows = file.len() - END_LEN + 10;
            file[rows] = 2;
            records(&file).map(|records| records.len()).map_err(|error| error.to_string())
        };
        assert_eq!(two(b'b', 7).unwrap_err(), "records of the zip file overlap");
        assert_eq!(two(b'b', 1).unwrap_err(), "records of the zip file overlap");
        assert_eq!(two(b'b', 0), Ok(2), "a record without bytes");
        assert!(two(b'a', 7).unwrap_err().contains("the name \"a\""));
    }

    #[test]
    fn what_is_not_stored_or_not_there_is_refused() {
        let refusal = |file: &[u8]| records(file).unwrap_err().to_string();
        assert!(refusal(&file("a", b"content", 8, 7)).contains("is compressed"));
        assert!(refusal(&file("a", b"content", 0, 7000)).contains("ends beyond the file"));
        assert!(refusal(b"PK").contains("not a zip file"));
        let whole = file("a", b"content", 0, 7);
        for len in 0..whole.len() {
            assert!(records(&whole[..len]).is_err());
        }
    }
}
