//! The structures of DLPack, with their C layout, and the correspondence of its types to dtypes.

use std::ffi::c_void;

use torch_library::prelude::*;

/// The location of memory: `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawDevice {
    /// The kind of device; 1 is the CPU.
    pub device_type: i32,
    /// The index among the devices of this kind.
    pub device_id: i32,
}

impl RawDevice {
    /// The memory of the CPU.
    pub const CPU: RawDevice = RawDevice { device_type: 1, device_id: 0 };
}

/// The type of elements: `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawType {
    /// The kind: 0 signed integer, 1 unsigned integer, 2 floating-point, 4 bfloat, 5 complex, 6 boolean.
    pub code: u8,
    /// The size of a number in bits.
    pub bits: u8,
    /// The number of lanes of a vector type; 1 for all types that are supported here.
    pub lanes: u16,
}

/// The dtypes that both sides have, with their codes and bits.
const TYPES: [(DType, u8, u8); 20] = [
    (DType::Bool, 6, 8),
    (DType::UInt8, 1, 8),
    (DType::UInt16, 1, 16),
    (DType::UInt32, 1, 32),
    (DType::UInt64, 1, 64),
    (DType::Int8, 0, 8),
    (DType::Int16, 0, 16),
    (DType::Int32, 0, 32),
    (DType::Int64, 0, 64),
    (DType::Float8E4M3Fn, 10, 8),
    (DType::Float8E4M3Fnuz, 11, 8),
    (DType::Float8E5M2, 12, 8),
    (DType::Float8E5M2Fnuz, 13, 8),
    (DType::Float8E8M0Fnu, 14, 8),
    (DType::Float16, 2, 16),
    (DType::BFloat16, 4, 16),
    (DType::Float32, 2, 32),
    (DType::Float64, 2, 64),
    (DType::Complex64, 5, 64),
    (DType::Complex128, 5, 128),
];

impl RawType {
    /// The DLPack type of elements of a dtype.
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
    /// A dtype that DLPack lacks.
    ///
    /// PyTorch: `at::getDLDataType`.
    pub fn of(dtype: DType) -> Result<RawType> {
        match TYPES.iter().find(|(known, ..)| *known == dtype) {
            Some(&(_, code, bits)) => Ok(RawType { code, bits, lanes: 1 }),
            None => bail!(DType, "DLPack has no {dtype}"),
        }
    }

    /// The dtype of these elements.
    ///
    /// # Errors
    /// A type that is not supported here, or a vector type.
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
    /// The start of the memory.
    pub data: *mut c_void,
    /// The device of the memory.
    pub device: RawDevice,
    /// The number of dimensions.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: RawType,
    /// The sizes, one for each dimension.
    pub shape: *mut i64,
    /// The strides in elements, one for each dimension; null if the tensor is contiguous.
    pub strides: *mut i64,
    /// The distance in bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// A tensor and its deleter: `DLManagedTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct RawManagedTensor {
    /// The tensor.
    pub dl_tensor: RawTensor,
    /// Private data of the library that made the structure.
    pub manager_ctx: *mut c_void,
    /// Frees the structure; its last owner calls this once.
    pub deleter: Option<unsafe extern "C" fn(*mut RawManagedTensor)>,
}

/// The structure of DLPack 1.0 and later, which starts with its version: `DLManagedTensorVersioned`.
#[repr(C)]
#[derive(Debug)]
pub struct RawManagedTensorVersioned {
    /// The major version; if it is not 1, the fields after the version are different.
    pub major: u32,
    /// The minor version; later ones define more flags.
    pub minor: u32,
    /// Private data of the library that made the structure.
    pub manager_ctx: *mut c_void,
    /// Frees the structure; its last owner calls this once.
    pub deleter: Option<unsafe extern "C" fn(*mut RawManagedTensorVersioned)>,
    /// Flag bits, of which [`READ_ONLY`] is one.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: RawTensor,
}

/// The flag of memory that must not be written: `DLPACK_FLAG_BITMASK_READ_ONLY`.
pub const READ_ONLY: u64 = 1;
