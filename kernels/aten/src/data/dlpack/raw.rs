//! The structures of DLPack as they lie in memory, and which of its types are ours.

use std::ffi::c_void;

use torch_library::prelude::*;

/// Where memory is: `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawDevice {
    /// 1 is the CPU.
    pub device_type: i32,
    /// Which of several.
    pub device_id: i32,
}

impl RawDevice {
    /// The memory of the CPU.
    pub const CPU: RawDevice = RawDevice { device_type: 1, device_id: 0 };
}

/// What elements are: `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawType {
    /// 0 integer, 1 unsigned, 2 floating point, 4 bfloat, 5 complex, 6 boolean.
    pub code: u8,
    /// The size of an element.
    pub bits: u8,
    /// How many numbers one element has; 1 for all that is carried here.
    pub lanes: u16,
}

/// The types that both sides have: code, bits.
const TYPES: [(DType, u8, u8); 15] = [
    (DType::Bool, 6, 8),
    (DType::UInt8, 1, 8),
    (DType::UInt16, 1, 16),
    (DType::UInt32, 1, 32),
    (DType::UInt64, 1, 64),
    (DType::Int8, 0, 8),
    (DType::Int16, 0, 16),
    (DType::Int32, 0, 32),
    (DType::Int64, 0, 64),
    (DType::Float16, 2, 16),
    (DType::BFloat16, 4, 16),
    (DType::Float32, 2, 32),
    (DType::Float64, 2, 64),
    (DType::Complex64, 5, 64),
    (DType::Complex128, 5, 128),
];

impl RawType {
    /// What DLPack calls elements of a type.
    ///
    /// ```
    /// use torch_library::DType;
    /// use torch_library_kernels::data::dlpack::RawType;
    ///
    /// let raw = RawType::of(DType::BFloat16)?;
    /// assert_eq!((raw.code, raw.bits, raw.lanes), (4, 16, 1));
    /// assert_eq!(raw.dtype()?, DType::BFloat16);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// A type that DLPack has not.
    ///
    /// PyTorch: `at::getDLDataType`.
    pub fn of(dtype: DType) -> Result<RawType> {
        match TYPES.iter().find(|(known, ..)| *known == dtype) {
            Some(&(_, code, bits)) => Ok(RawType { code, bits, lanes: 1 }),
            None => bail!(DType, "DLPack has no {dtype}"),
        }
    }

    /// The type of these elements.
    ///
    /// # Errors
    /// A type that is not here, or elements of several numbers.
    ///
    /// PyTorch: `at::toScalarType`.
    pub fn dtype(self) -> Result<DType> {
        let RawType { code, bits, lanes } = self;
        match TYPES.iter().find(|known| (known.1, known.2, 1) == (code, bits, lanes)) {
            Some((dtype, ..)) => Ok(*dtype),
            None => bail!(NotSupported, "DLPack elements of {self:?}, which are not supported"),
        }
    }
}

/// A tensor that does not own its memory: `DLTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct RawTensor {
    /// The memory.
    pub data: *mut c_void,
    /// Where it is.
    pub device: RawDevice,
    /// The number of dimensions.
    pub ndim: i32,
    /// What the elements are.
    pub dtype: RawType,
    /// As many sizes.
    pub shape: *mut i64,
    /// As many strides in elements; null if row-major without gaps.
    pub strides: *mut i64,
    /// How many bytes behind `data` the first element is.
    pub byte_offset: u64,
}

/// A tensor and how to free it: `DLManagedTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct RawManagedTensor {
    /// The tensor.
    pub dl_tensor: RawTensor,
    /// What belongs to who made it.
    pub manager_ctx: *mut c_void,
    /// Called once by who has it last.
    pub deleter: Option<unsafe extern "C" fn(*mut RawManagedTensor)>,
}

/// The same of DLPack 1.0 and later, which says its version first: `DLManagedTensorVersioned`.
#[repr(C)]
#[derive(Debug)]
pub struct RawManagedTensorVersioned {
    /// What is after it is another structure where this is not 1.
    pub major: u32,
    /// Larger ones have more flags.
    pub minor: u32,
    /// What belongs to who made it.
    pub manager_ctx: *mut c_void,
    /// Called once by who has it last.
    pub deleter: Option<unsafe extern "C" fn(*mut RawManagedTensorVersioned)>,
    /// Bits, of which [`READ_ONLY`] is one.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: RawTensor,
}

/// The flag of memory that is not to be written: `DLPACK_FLAG_BITMASK_READ_ONLY`.
pub const READ_ONLY: u64 = 1;
