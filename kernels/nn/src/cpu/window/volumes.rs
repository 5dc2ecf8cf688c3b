//! Tensors of images as volumes, for kernels that look at the neighbours of each pixel: planes are volumes of depth
//! one.
//!
//! Where channels lie last in memory, a pixel has one element for each of them, side by side, and so has every
//! pixel of the result; else each channel is a volume of its own, whose pixels have one element.

#![expect(unsafe_code, reason = "makes results of which nothing is written yet")]

use torch_library::geometry::{saturating_numel, strides_for};
use torch_library::{DType, Element, MemoryFormat, Result, Tensor, ensure};

use crate::loops::parts::{Parts, PartsMut};
use crate::loops::{self, parallel};

/// How the elements of some tensors are volumes, which lie one after the other in memory.
pub(super) struct Volumes {
    /// How many dimensions are directions of pixels: those at the end.
    ndim: usize,
    format: MemoryFormat,
    /// How many elements a pixel has.
    pub(super) lanes: usize,
}

/// A result while it is computed.
pub(super) struct Written<T> {
    pub(super) parts: PartsMut<T>,
    laid: Tensor,
}

impl Volumes {
    /// Of tensors in the memory format of one with channels and maybe a batch in front of them, or row-major.
    pub(super) fn new(tensor: &Tensor, ndim: usize, keeps_format: bool) -> Self {
        match tensor.suggest_memory_format() {
            format if keeps_format && format != MemoryFormat::Contiguous && tensor.dim() == ndim + 2 => {
                Volumes { ndim, format, lanes: tensor.sizes()[1] as usize }
            }
            _ => Volumes { ndim, format: MemoryFormat::Contiguous, lanes: 1 },
        }
    }

    /// A tensor of zeros, with the sizes of another in front of these.
    pub(super) fn zeros(&self, input: &Tensor, pixels: &[i64], dtype: DType) -> Result<Tensor> {
        let sizes = [&input.sizes()[..input.dim() - self.ndim], pixels].concat();
        Tensor::empty_strided(&sizes, &strides_for(&sizes, self.format)?, dtype, input.device())
    }

    /// As [`zeros`](Self::zeros), of nothing yet.
    ///
    /// # Safety
    /// - Every element is written before any is read, and before safe code gets the tensor.
    pub(super) unsafe fn uninit(&self, input: &Tensor, pixels: &[i64], dtype: DType) -> Result<Tensor> {
        let sizes = [&input.sizes()[..input.dim() - self.ndim], pixels].concat();
        // SAFETY: the caller promises to write every element before anybody reads.
        unsafe { Tensor::uninit_strided(&sizes, &strides_for(&sizes, self.format)?, dtype, input.device()) }
    }

    /// The elements of a tensor, as another type.
    pub(super) fn read<T: Element>(&self, tensor: &Tensor) -> Result<Parts<T>> {
        let laid = self.laid(tensor)?;
        Parts::row_major(&laid, self.len(&laid, self.ndim))
    }

    /// Where the elements of a tensor of zeros are computed as another type: in its own memory if they lie there
    /// so. A part has so many directions: all for a volume, one for a line.
    pub(super) fn write<T: Element>(&self, tensor: &Tensor, directions: usize) -> Result<Written<T>> {
        let mut laid = self.laid(tensor)?;
        if laid.dtype() != T::DTYPE || !laid.is_contiguous(MemoryFormat::Contiguous) {
            laid = Tensor::zeros(laid.sizes(), T::DTYPE, laid.device())?;
        }
        Ok(Written { parts: PartsMut::of(&laid, self.len(&laid, directions))?, laid })
    }

    /// Writes what was computed to its tensor, if it is not there yet.
    pub(super) fn store<T>(&self, written: Written<T>, tensor: &Tensor) -> Result<()> {
        let Written { parts, laid } = written;
        drop(parts); // with its lease
        match laid.shares_storage_with(tensor) {
            true => Ok(()),
            false => loops::assign(&self.laid(tensor)?, &laid),
        }
    }

    /// A view in which elements of a pixel are neighbours.
    fn laid(&self, tensor: &Tensor) -> Result<Tensor> {
        let (mut sizes, mut strides) = (tensor.sizes().to_vec(), tensor.strides().to_vec());
        if self.lanes > 1 {
            sizes[1..].rotate_left(1);
            strides[1..].rotate_left(1);
        }
        tensor.strided_view(&sizes, &strides, tensor.storage_offset())
    }

    /// How many elements there are in so many directions.
    fn len(&self, laid: &Tensor, directions: usize) -> usize {
        let dims = directions + usize::from(self.lanes > 1);
        saturating_numel(laid.sizes().iter().rev().take(dims)) as usize
    }
}

/// Calls a closure with the number of each of so many volumes, on several threads if they have elements enough.
pub(super) fn each(count: usize, len: usize, f: impl Fn(usize) + Sync) {
    parallel::shares(count, (parallel::GRAIN / len.max(1)).max(1), |range| range.for_each(&f));
}

/// The last sizes of a tensor that has channels, and maybe a batch in front of them.
pub(super) fn pixels<'a>(operator: &str, tensor: &'a Tensor, ndim: usize) -> Result<&'a [i64]> {
    let sizes = tensor.sizes();
    ensure!(
        sizes.len() == ndim + 1 || sizes.len() == ndim + 2,
        Shape,
        "{operator}: sizes {sizes:?}, expected channels and {ndim} dimensions, and maybe a batch"
    );
    Ok(&sizes[sizes.len() - ndim..])
}
