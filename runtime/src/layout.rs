//! Layouts and memory formats: how elements are arranged in memory.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// The data structure of a tensor.
///
/// Only `Strided` tensors are implemented; the others exist so that schemas and arguments can name them.
///
/// PyTorch: `c10::Layout`, `torch.layout`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are PyTorch's")]
pub enum Layout {
    #[default]
    Strided = 0,
    Sparse = 1,
    SparseCsr = 2,
    Mkldnn = 3,
    SparseCsc = 4,
    SparseBsr = 5,
    SparseBsc = 6,
    Jagged = 7,
}

/// The order of dimensions in memory.
///
/// PyTorch: `c10::MemoryFormat`, `torch.memory_format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MemoryFormat {
    /// The last dimension has the smallest stride: NCHW.
    #[default]
    Contiguous = 0,
    /// The same as the input's.
    Preserve = 1,
    /// The second of four dimensions has the smallest stride: NHWC.
    ChannelsLast = 2,
    /// The second of five dimensions has the smallest stride: NDHWC.
    ChannelsLast3d = 3,
}

/// Conversions between the values, numbers and names of a PyTorch enumeration.
macro_rules! named {
    ($ty:ident, $what:literal, $kind:ident: $($variant:ident $name:literal),+) => {
        impl $ty {
            /// Every value, in the order of PyTorch's numbers.
            pub const ALL: &[$ty] = &[$($ty::$variant),+];

            /// The value with this PyTorch number.
            pub const fn from_number(number: u8) -> Option<$ty> {
                let index = number as usize;
                if index < $ty::ALL.len() { Some($ty::ALL[index]) } else { None }
            }

            /// PyTorch's number.
            pub const fn number(self) -> u8 {
                self as u8
            }

            /// PyTorch's name, without `torch.`.
            pub const fn name(self) -> &'static str {
                match self { $($ty::$variant => $name),+ }
            }
        }

        /// PyTorch's name, without `torch.`.
        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        /// Parses PyTorch's name, with or without `torch.`.
        impl FromStr for $ty {
            type Err = Error;

            fn from_str(text: &str) -> Result<$ty> {
                let name = text.strip_prefix("torch.").unwrap_or(text);
                match name {
                    $($name => Ok($ty::$variant),)+
                    _ => Err(Error::new(
                        ErrorKind::$kind,
                        format!(concat!("unknown ", $what, " {:?}, expected one of {}"), text, [$($name),+].join(", ")),
                    )),
                }
            }
        }
    };
}

named!(Layout, "layout", Argument:
    Strided "strided", Sparse "sparse_coo", SparseCsr "sparse_csr", Mkldnn "_mkldnn", SparseCsc "sparse_csc",
    SparseBsr "sparse_bsr", SparseBsc "sparse_bsc", Jagged "jagged");

named!(MemoryFormat, "memory format", Argument:
    Contiguous "contiguous_format", Preserve "preserve_format", ChannelsLast "channels_last",
    ChannelsLast3d "channels_last_3d");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back() {
        for layout in Layout::ALL {
            assert_eq!(Layout::from_number(layout.number()), Some(*layout));
            assert_eq!(layout.name().parse::<Layout>().unwrap(), *layout);
        }
        for format in MemoryFormat::ALL {
            assert_eq!(MemoryFormat::from_number(format.number()), Some(*format));
            assert_eq!(format!("torch.{format}").parse::<MemoryFormat>().unwrap(), *format);
        }
        let error = "nhwc".parse::<MemoryFormat>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown memory format \"nhwc\", expected one of contiguous_format, preserve_format, channels_last, channels_last_3d"
        );
    }
}
