//! The element types of buffers, as format strings of Python's module `struct`.

use std::ffi::CStr;

use torch_library::DType;

/// Element types with their format strings. Strings whose meaning depends on the platform are distinguished by size.
const FORMATS: [(DType, &CStr); 14] = [
    (DType::Bool, c"?"),
    (DType::UInt8, c"B"),
    (DType::Int8, c"b"),
    (DType::Int16, c"h"),
    (DType::UInt16, c"H"),
    (DType::Int32, c"i"),
    (DType::UInt32, c"I"),
    (DType::Int64, c"q"),
    (DType::UInt64, c"Q"),
    (DType::Float16, c"e"),
    (DType::Float32, c"f"),
    (DType::Float64, c"d"),
    (DType::Complex64, c"Zf"),
    (DType::Complex128, c"Zd"),
];

/// The format string of a type; NumPy and the buffer protocol do not have all types.
pub(crate) fn format_of(dtype: DType) -> Option<&'static CStr> {
    FORMATS.iter().find(|(known, _)| *known == dtype).map(|(_, format)| *format)
}

/// The names of all types that have a format string.
pub(crate) fn names() -> String {
    FORMATS.map(|(dtype, _)| dtype.name()).join(", ")
}

/// The element type of a buffer, from its format string and the size of an element.
pub(crate) fn dtype_of(format: &CStr, size: usize) -> Option<DType> {
    let text = format.to_str().ok()?;
    let native = if cfg!(target_endian = "little") { '<' } else { '>' };
    let letters = text.trim_start_matches(['@', '=', native]);
    let signed = matches!(letters, "b" | "h" | "i" | "l" | "q" | "n");
    let unsigned = matches!(letters, "B" | "H" | "I" | "L" | "Q" | "N");
    let fits = |dtype: DType| dtype.size() == size;
    let of_kind = |dtype: DType| match (signed, unsigned) {
        (true, _) => dtype.is_integer() && dtype.is_signed(),
        (_, true) => dtype.is_integer() && !dtype.is_signed(),
        _ => FORMATS.iter().any(|(known, format)| *known == dtype && format.to_str() == Ok(letters)),
    };
    FORMATS.iter().map(|(dtype, _)| *dtype).find(|dtype| fits(*dtype) && of_kind(*dtype))
}
