//! The element types that a program is built with.
//!
//! PyTorch: ExecuTorch's selective build by dtype.

use super::{DType, NAMES};
use crate::error::Result;

/// The names of the types, separated by spaces or commas; all types if it is not set.
const CHOSEN: Option<&str> = option_env!("TORCH_LIBRARY_DTYPES");

/// A bit for each type that is built, at its number.
const BUILT: u64 = match CHOSEN {
    Some(names) => with_parts(built(names)),
    None => u64::MAX,
};

/// The types of numbers, and those that these promote to or are computed in.
const ALWAYS: u64 = bit(DType::Bool) | bit(DType::Int64) | bit(DType::Float32) | bit(DType::Float64);

impl DType {
    /// Whether the program has kernels for this type. It has them for all types unless it is built for a selection.
    ///
    /// The environment variable `TORCH_LIBRARY_DTYPES` selects types by PyTorch's names while the program is compiled:
    /// `TORCH_LIBRARY_DTYPES="uint8 bfloat16"`. `bool`, `int64`, `float32` and `float64` are always included, and
    /// `complex64` includes `complex128`. For other types no kernel is compiled, and making a tensor of one is an
    /// error.
    ///
    /// ```
    /// use torch_library::DType;
    ///
    /// assert!(DType::Float32.is_built());
    /// assert!(DType::all().all(DType::is_built) || option_env!("TORCH_LIBRARY_DTYPES").is_some());
    /// ```
    ///
    /// PyTorch: ExecuTorch's `et_operator_library` with dtypes.
    #[inline(always)]
    pub const fn is_built(self) -> bool {
        BUILT >> self.number() & 1 == 1
    }

    /// # Errors
    /// The program is built without this type.
    #[inline(always)]
    pub(crate) fn ensure_built(self) -> Result<()> {
        match self.is_built() {
            true => Ok(()),
            false => left_out(self),
        }
    }
}

#[cold]
fn left_out(dtype: DType) -> Result<()> {
    crate::bail!(
        DType,
        "this program is built without {dtype}: TORCH_LIBRARY_DTYPES was \"{}\" when it was compiled, add {dtype} there",
        CHOSEN.unwrap_or_default()
    )
}

const fn bit(dtype: DType) -> u64 {
    1 << dtype.number()
}

/// The types in a list of names, and those that are always included.
const fn built(names: &str) -> u64 {
    let (names, mut built, mut start, mut at) = (names.as_bytes(), ALWAYS, 0, 0);
    while at <= names.len() {
        if at == names.len() || matches!(names[at], b' ' | b',') {
            if start < at {
                built |= bit(named(names, start, at));
            }
            start = at + 1;
        }
        at += 1;
    }
    built
}

/// The type with the name from `start` to `end`.
const fn named(names: &[u8], start: usize, end: usize) -> DType {
    let mut index = 0;
    while index < NAMES.len() {
        let (dtype, aliases) = NAMES[index];
        let mut alias = 0;
        while alias < aliases.len() {
            if is_part(names, start, end, aliases[alias].as_bytes()) {
                return dtype;
            }
            alias += 1;
        }
        index += 1;
    }
    panic!(
        "TORCH_LIBRARY_DTYPES has the name of an unknown dtype: expected PyTorch's names, as in `uint8 bfloat16`"
    )
}

const fn is_part(names: &[u8], start: usize, end: usize, name: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() && start + at < end && names[start + at] == name[at] {
        at += 1;
    }
    at == name.len() && start + at == end
}

/// Adds the component types of complex halves, and the types that complex numbers are computed in.
const fn with_parts(mut built: u64) -> u64 {
    const COMPLEX: u64 = bit(DType::Complex32) | bit(DType::BComplex32) | bit(DType::Complex64);
    if built & bit(DType::Complex32) != 0 {
        built |= bit(DType::Float16);
    }
    if built & bit(DType::BComplex32) != 0 {
        built |= bit(DType::BFloat16);
    }
    if built & COMPLEX != 0 {
        built |= bit(DType::Complex64) | bit(DType::Complex128);
    }
    built
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<&'static str> {
        let built = with_parts(built(list));
        DType::all().filter(|dtype| built & bit(*dtype) != 0).map(DType::name).collect()
    }

    #[test]
    fn numbers_are_built_always() {
        assert_eq!(names(""), ["bool", "int64", "float32", "float64"]);
        assert_eq!(names("int64 float32"), names(""));
    }

    #[test]
    fn any_of_the_names_does() {
        assert_eq!(names("half, short"), ["bool", "int16", "int64", "float16", "float32", "float64"]);
        assert_eq!(names(" uint8,,"), ["bool", "uint8", "int64", "float32", "float64"]);
    }

    #[test]
    fn complex_types_bring_what_they_are_computed_in() {
        assert_eq!(
            names("chalf"),
            ["bool", "int64", "float16", "float32", "float64", "complex32", "complex64", "complex128"]
        );
    }

    #[test]
    #[should_panic = "the name of an unknown dtype"]
    fn other_names_are_refused() {
        built("uint8 int7");
    }
}
