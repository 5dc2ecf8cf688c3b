//! Which type was meant by a name that is none.

use crate::edit_distance;

/// The help for a type that resembles none.
pub(super) const COMMON_TYPES: &str = "common types are Tensor, SymInt, int, float, bool, str, Scalar, ScalarType, \
                                       Device and Generator, with `T?` for an optional and `T[]` for a list";

/// Names that people use for a type, in C++, Python and Rust, and the type.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("Tensor", &["torch.Tensor"]),
    ("Tensor[]", &["TensorList", "ITensorListRef"]),
    ("SymInt` or `int", &["int64_t"]),
    (
        "int",
        &[
            "long", "size_t", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize",
            "integer",
        ],
    ),
    ("int[]", &["IntArrayRef"]),
    ("float", &["double", "f32", "f64", "SymFloat"]),
    ("bool", &["boolean"]),
    ("str", &["string", "String", "string_view"]),
    ("Scalar", &["number", "Number"]),
    ("ScalarType", &["dtype", "DType"]),
    ("T[]", &["List", "list", "Vec", "vector", "ArrayRef"]),
    ("T?", &["Optional", "optional", "Option"]),
    ("(A, B)", &["Tuple", "tuple"]),
    ("()", &["void"]),
    ("Tensor` without `const` and `&", &["const"]),
];

/// Names to compare a misspelt one with.
const COMMON: [&str; 20] = [
    "Tensor",
    "int",
    "SymInt",
    "float",
    "complex",
    "bool",
    "str",
    "Scalar",
    "ScalarType",
    "Layout",
    "MemoryFormat",
    "Device",
    "Generator",
    "Stream",
    "Storage",
    "Any",
    "Dict",
    "Future",
    "Union",
    "SymBool",
];

/// The type that was probably meant.
#[cold]
pub(super) fn similar_type(name: &str) -> Option<&'static str> {
    // A type of PyTorch in C++ is called as in schemas, but for its namespace.
    let name = name.rsplit("::").next().unwrap_or(name);
    if let Some((known, _)) = OTHER_NAMES.iter().find(|(_, others)| others.contains(&name)) {
        return Some(known);
    }
    let lower = name.to_lowercase();
    let distances = COMMON.iter().map(|&known| (edit_distance(&known.to_lowercase(), &lower), known));
    distances.min().filter(|&(distance, known)| distance <= known.len().div_ceil(4)).map(|(_, known)| known)
}
