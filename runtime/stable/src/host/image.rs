//! A shared object that consists only of names: those of our functions, with their addresses in this process.
//!
//! A library that was linked with PyTorch looks for the functions in a library that it needs, and finds them there. No
//! symbol of the program is involved: nothing has to be exported, and nothing of a PyTorch in the same process is
//! shadowed. The addresses are *absolute* symbols, which the loader does not relocate.

use crate::host::elf::MACHINE;

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SYMBOL: usize = 24;

/// Empty entries at the end of the dynamic section, as linkers leave them.
const SPARE: usize = 2;

/// The bytes of a shared object with this name, which defines these functions.
pub(crate) fn image(soname: &str, functions: &[(&str, u64)]) -> Vec<u8> {
    let mut names = vec![0];
    let mut name = |text: &str| {
        let place = names.len();
        names.extend_from_slice(text.as_bytes());
        names.push(0);
        place as u64
    };
    let soname = name(soname);
    let symbols: Vec<(u64, u64)> = functions.iter().map(|(text, address)| (name(text), *address)).collect();

    let symbols_at = HEADER + 2 * PROGRAM_HEADER;
    let hash_at = symbols_at + SYMBOL * (symbols.len() + 1);
    let table = hash_table(functions);
    let dynamic_at = (hash_at + table.len()).next_multiple_of(8);
    let names_at = dynamic_at + 16 * (6 + SPARE);
    let dynamic = [
        (14, soname),             // DT_SONAME
        (4, hash_at as u64),      // DT_HASH
        (5, names_at as u64),     // DT_STRTAB
        (6, symbols_at as u64),   // DT_SYMTAB
        (10, names.len() as u64), // DT_STRSZ
        (11, SYMBOL as u64),      // DT_SYMENT
    ];
    let size = names_at + names.len();

    let mut file = header();
    file.extend(program_header(1, 0, size, 0x1000)); // PT_LOAD
    file.extend(program_header(2, dynamic_at, names_at - dynamic_at, 8)); // PT_DYNAMIC
    file.extend([0; SYMBOL]); // the first symbol is a null one
    for (name, address) in symbols {
        file.extend((name as u32).to_le_bytes());
        file.extend([0x12, 0]); // a global function
        file.extend(0xfff1u16.to_le_bytes()); // with an absolute address
        file.extend(address.to_le_bytes());
        file.extend(0u64.to_le_bytes());
    }
    file.extend(table);
    file.resize(dynamic_at, 0);
    for (tag, value) in dynamic {
        file.extend((tag as u64).to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.resize(names_at, 0);
    file.extend(names);
    file
}

/// A shared object for this processor, whose two program headers follow.
fn header() -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend(3u16.to_le_bytes()); // a shared object
    file.extend(MACHINE.to_le_bytes());
    file.extend(1u32.to_le_bytes());
    file.extend(0u64.to_le_bytes()); // no entry point
    file.extend((HEADER as u64).to_le_bytes());
    file.extend(0u64.to_le_bytes()); // no sections
    file.extend(0u32.to_le_bytes());
    for number in [HEADER, PROGRAM_HEADER, 2, 64, 0, 0] {
        file.extend((number as u16).to_le_bytes());
    }
    file
}

/// A part of the file that is readable and writable, mapped at its position in the file.
fn program_header(kind: u32, at: usize, size: usize, align: u64) -> Vec<u8> {
    /// The loader writes addresses into the dynamic section.
    const READ_WRITE: u32 = 6;
    let mut header = [kind.to_le_bytes(), READ_WRITE.to_le_bytes()].concat();
    for number in [at as u64, at as u64, at as u64, size as u64, size as u64, align] {
        header.extend(number.to_le_bytes());
    }
    header
}

/// The hash table with which the loader finds a name: buckets, and for each symbol the next one in its bucket.
fn hash_table(functions: &[(&str, u64)]) -> Vec<u8> {
    let buckets = functions.len().max(1);
    let mut first = vec![0u32; buckets];
    let mut next = vec![0u32; functions.len() + 1];
    for (index, (name, _)) in functions.iter().enumerate() {
        let bucket = &mut first[hash(name) as usize % buckets];
        next[index + 1] = std::mem::replace(bucket, index as u32 + 1);
    }
    let mut table = Vec::new();
    let counts = [buckets as u32, next.len() as u32];
    for number in counts.into_iter().chain(first).chain(next) {
        table.extend(number.to_le_bytes());
    }
    table
}

/// The hash of the System V ABI.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0, |hash: u32, byte| {
        let hash = (hash << 4).wrapping_add(byte.into());
        let high = hash & 0xf000_0000;
        (hash ^ high >> 24) & !high
    })
}
