//! Shared objects as files: reading the libraries that one needs, and changing them in a copy.

use torch_library::{Error, ErrorKind, Result};

/// The bytes of a shared object, and the position of its dynamic section.
pub(crate) struct SharedObject {
    bytes: Vec<u8>,
    /// The position of the entries in the file, and their number.
    dynamic: (usize, usize),
    /// The position of the names in the file, and their length.
    names: (usize, usize),
}

/// Tags of the dynamic section.
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;
/// A hint to the loader, which works without it.
const DT_RELACOUNT: u64 = 0x6fff_fff9;

/// Segments of the file.
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;

const PROGRAM_HEADER: usize = 56;
const ENTRY: usize = 16;

/// The ELF number of this processor architecture.
pub(crate) const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

impl SharedObject {
    /// Parses the headers.
    ///
    /// # Errors
    /// The bytes are not a shared object for this processor.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<SharedObject> {
        let no_object = || Error::new(ErrorKind::Io, "it is no shared object for this processor");
        let object = SharedObject { bytes, dynamic: (0, 0), names: (0, 0) };
        let is_object = object.bytes.starts_with(b"\x7fELF\x02\x01") && object.half(16) == Some(3);
        if !is_object || object.half(18) != Some(MACHINE) {
            return Err(no_object());
        }
        object.with_sections().ok_or_else(no_object)
    }

    fn with_sections(mut self) -> Option<SharedObject> {
        let (table, count) = (usize::try_from(self.word(32)?).ok()?, usize::from(self.half(56)?));
        if usize::from(self.half(54)?) != PROGRAM_HEADER {
            return None;
        }
        self.bytes.get(table..table.checked_add(count * PROGRAM_HEADER)?)?;
        let headers: Vec<usize> = (0..count).map(|index| table + index * PROGRAM_HEADER).collect();
        for header in &headers {
            let kind = self.number(*header)?;
            let (offset, size) = (self.word(header + 8)? as usize, self.word(header + 32)? as usize);
            // The loader maps what is said to be in the file; an access to what is not there ends the process.
            if [PT_LOAD, PT_DYNAMIC].contains(&kind) {
                self.bytes.get(offset..offset.checked_add(size)?)?;
            }
            if kind == PT_DYNAMIC {
                self.dynamic = (offset, size / ENTRY);
            }
        }
        let value = |tag| self.entries().find(|(_, found, _)| *found == tag).map(|(_, _, value)| value);
        let (address, size) = (value(DT_STRTAB)?, value(DT_STRSZ)?);
        let mut offset = None;
        for header in &headers {
            let (start, at, length) =
                (self.word(header + 16)?, self.word(header + 8)?, self.word(header + 32)?);
            let is_here =
                self.number(*header)? == PT_LOAD && (start..start.checked_add(length)?).contains(&address);
            if is_here {
                offset = Some((address - start + at) as usize);
            }
        }
        self.names = (offset?, size as usize);
        self.bytes.get(self.names.0..self.names.0.checked_add(self.names.1)?)?;
        Some(self)
    }

    fn half(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
    }

    fn number(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    fn word(&self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
    }

    /// The entries of the dynamic section: position, tag and value of each.
    fn entries(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        let (start, count) = self.dynamic;
        let all = (0..count).map(move |index| start + index * ENTRY);
        all.map_while(|at| Some((at, self.word(at)?, self.word(at + 8)?)))
            .take_while(|(_, tag, _)| *tag != DT_NULL)
    }

    fn name(&self, offset: u64) -> &str {
        let (start, size) = self.names;
        let names = &self.bytes[start..start + size];
        let name = names.get(offset as usize..).unwrap_or_default();
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        std::str::from_utf8(&name[..end]).unwrap_or_default()
    }

    /// The names of the libraries that it needs.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &str> {
        self.entries().filter(|(_, tag, _)| *tag == DT_NEEDED).map(|(_, _, value)| self.name(value))
    }

    /// The search paths for these libraries in the file.
    pub(crate) fn search_paths(&self) -> impl Iterator<Item = &str> {
        let paths = self.entries().filter(|(_, tag, _)| [DT_RPATH, DT_RUNPATH].contains(tag));
        paths.flat_map(|(_, _, value)| self.name(value).split(':'))
    }

    /// Replaces the needed libraries for which `is_replaced` holds by one library, or adds one if there are none. The
    /// new name is one for which the file has room; it is returned. If none is replaced and the file has no functions
    /// with this prefix, nothing is changed, and the result is `None`.
    ///
    /// # Errors
    /// There is no room for an entry.
    pub(crate) fn redirect(
        &mut self,
        is_replaced: impl Fn(&str) -> bool,
        prefix: &str,
    ) -> Result<Option<String>> {
        let needed =
            self.entries().filter(|(_, tag, value)| *tag == DT_NEEDED && is_replaced(self.name(*value)));
        let replaced: Vec<(usize, u64)> = needed.map(|(at, _, value)| (at, value)).collect();
        if let Some((_, first)) = replaced.first() {
            // The part of a name after `lib` is also a name, which no other library has.
            let name = first + "lib".len() as u64;
            replaced.iter().for_each(|(at, _)| self.write(at + 8, name));
            return Ok(Some(self.name(name).to_owned()));
        }
        let Some(name) = self.find_name(prefix) else { return Ok(None) };
        let at = self.room().ok_or_else(|| {
            let help = "link it with `-ltorch_cpu`";
            Error::new(ErrorKind::NotSupported, format!("it does not say that it needs PyTorch; {help}"))
        })?;
        self.write(at, DT_NEEDED);
        self.write(at + 8, name);
        Ok(Some(self.name(name).to_owned()))
    }

    fn write(&mut self, at: usize, word: u64) {
        self.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }

    /// The position of a name that has a prefix.
    fn find_name(&self, prefix: &str) -> Option<u64> {
        let (start, size) = self.names;
        let names = &self.bytes[start..start + size];
        let sought = [b"\0", prefix.as_bytes()].concat();
        let place = names.windows(sought.len()).position(|window| window == sought)?;
        Some(place as u64 + 1)
    }

    /// The position of an unused entry: linkers leave some empty, or one has only a hint.
    fn room(&self) -> Option<usize> {
        let (start, count) = self.dynamic;
        let used = self.entries().count();
        // The last one stays empty, since it ends the section.
        let empty = (used + 1 < count).then_some(start + used * ENTRY);
        let hint = || self.entries().find(|(_, tag, _)| *tag == DT_RELACOUNT).map(|(at, _, _)| at);
        empty.or_else(hint)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_shared_object_is_refused() {
        for bytes in [&b""[..], b"\x7fELF", b"\x7fELF\x02\x01", &[0; 100]] {
            let refused = SharedObject::parse(bytes.to_vec());
            let text = refused.err().map(|error| error.to_string());
            assert_eq!(text.as_deref(), Some("it is no shared object for this processor"));
        }
    }

    #[test]
    fn an_image_of_ours_is_read_again() {
        let image = crate::host::image::image("mine.so", &[("torch_one", 0x1234)]);
        let mut object = SharedObject::parse(image).unwrap();
        assert_eq!(object.needed().count(), 0);
        let redirected = object.redirect(|_| true, "torch_o").unwrap();
        assert_eq!(redirected.as_deref(), Some("torch_one"));
        assert!(object.redirect(|_| false, "torch_o").is_err(), "one entry stays empty");
        let again = SharedObject::parse(object.bytes().to_vec()).unwrap();
        assert_eq!(again.needed().collect::<Vec<_>>(), ["torch_one"]);
        assert_eq!(object.redirect(|name| name == "torch_one", "x").unwrap().as_deref(), Some("ch_one"));
    }

    #[test]
    fn a_hint_makes_room() {
        let image = crate::host::image::image("mine.so", &[("torch_one", 0x1234)]);
        let mut object = SharedObject::parse(image).unwrap();
        object.redirect(|_| true, "torch_o").unwrap();
        let (at, ..) = object.entries().find(|(_, tag, _)| *tag == DT_NEEDED).unwrap();
        object.write(at, DT_RELACOUNT);
        assert_eq!(object.redirect(|_| false, "torch_o").unwrap().as_deref(), Some("torch_one"));
        assert_eq!(object.needed().collect::<Vec<_>>(), ["torch_one"]);
    }

    #[test]
    fn cut_off_files_are_refused() {
        let image = crate::host::image::image("mine.so", &[("torch_one", 0x1234)]);
        for length in 0..image.len() {
            assert!(SharedObject::parse(image[..length].to_vec()).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn positions_beyond_the_file_are_refused() {
        let image = crate::host::image::image("mine.so", &[("torch_one", 0x1234)]);
        let (program_header, dynamic) = (64, 64 + PROGRAM_HEADER);
        // The table of segments; where a segment is in the file, and how long it is.
        for at in [32, program_header + 8, program_header + 32, dynamic + 8, dynamic + 32] {
            for beyond in [image.len() as u64 + 1, 1 << 40, u64::MAX - 7, u64::MAX] {
                let mut wrong = image.clone();
                wrong[at..at + 8].copy_from_slice(&beyond.to_le_bytes());
                let parsed = SharedObject::parse(wrong);
                let redirected = parsed.and_then(|mut object| object.redirect(|_| false, "torch_one"));
                assert!(redirected.is_err(), "{beyond:#x} at {at}");
            }
        }
    }
}
