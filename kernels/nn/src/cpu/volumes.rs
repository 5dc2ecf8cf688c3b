//! Tensors of images as volumes, for kernels that read the neighbours of each pixel; planes are volumes of depth one.
//!
//! If channels are last in memory, a pixel has one element (*lane*) for each of them, which are contiguous, and so has
//! every pixel of the result; otherwise each channel is a volume of its own, whose pixels have one element.

#![expect(unsafe_code, reason = "makes results of which nothing is written yet")]

use torch_library::geometry::{saturating_numel, strides_for};
use torch_library::{DType, Element, MemoryFormat, Result, Tensor, ensure};

use crate::loops::parts::{Parts, PartsMut};
use crate::loops::{self, parallel};

/// How the elements of tensors are divided into volumes, which follow each other in memory.
pub(super) struct Volumes {
    /// The number of spatial dimensions, which are the last ones.
    ndim: usize,
    format: MemoryFormat,
    /// The number of elements of a pixel.
    pub(super) lanes: usize,
}

/// A result that is being computed.
pub(super) struct Written<T> {
    pub(super) parts: PartsMut<T>,
    laid: Tensor,
}

impl Volumes {
    /// Volumes of tensors in the memory format of `tensor`, which has channels and maybe a batch in front of its
    /// pixels, or of row-major tensors.
    pub(super) fn new(tensor: &Tensor, ndim: usize, keeps_format: bool) -> Self {
        match tensor.suggest_memory_format() {
            format if keeps_format && format != MemoryFormat::Contiguous && tensor.dim() == ndim + 2 => {
                Volumes { ndim, format, lanes: tensor.sizes()[1] as usize }
            }
            _ => Volumes { ndim, format: MemoryFormat::Contiguous, lanes: 1 },
        }
    }

    /// The same division of elements, whose results have the format that a tensor's strides suggest: for a volume
    /// without a batch, that of a batch of images.
    pub(super) fn stored_like(self, tensor: &Tensor) -> Self {
        Volumes { format: tensor.suggest_memory_format(), ..self }
    }

    /// A tensor of zeros, with the batch and channels of `input`, and `pixels` as its last sizes.
    pub(super) fn zeros(&self, input: &Tensor, pixels: &[i64], dtype: DType) -> Result<Tensor> {
        let sizes = [&input.sizes()[..input.dim() - self.ndim], pixels].concat();
        Tensor::empty_strided(&sizes, &strides_for(&sizes, self.format)?, dtype, input.device())
    }

    /// Like [`zeros`](Self::zeros), but uninitialised.
    ///
    /// # Safety
    /// - Every element is written before any is read, and before safe code gets the tensor.
    pub(super) unsafe fn uninit(&self, input: &Tensor, pixels: &[i64], dtype: DType) -> Result<Tensor> {
        let sizes = [&input.sizes()[..input.dim() - self.ndim], pixels].concat();
        // SAFETY: the caller promises to write every element before any is read.
        unsafe { Tensor::uninit_strided(&sizes, &strides_for(&sizes, self.format)?, dtype, input.device()) }
    }

    /// The elements of a tensor as `T`, divided into volumes.
    pub(super) fn read<T: Element>(&self, tensor: &Tensor) -> Result<Parts<T>> {
        let laid = self.laid(tensor)?;
        Parts::row_major(&laid, self.len(&laid, self.ndim))
    }

    /// Memory in which the elements of a tensor of zeros are computed as `T`: its own, if type and layout allow. Each
    /// part has the last `directions` spatial dimensions: all for a volume, one for a line.
    pub(super) fn write<T: Element>(&self, tensor: &Tensor, directions: usize) -> Result<Written<T>> {
        let mut laid = self.laid(tensor)?;
        if laid.dtype() != T::DTYPE || !laid.is_contiguous(MemoryFormat::Contiguous) {
            laid = Tensor::zeros(laid.sizes(), T::DTYPE, laid.device())?;
        }
        Ok(Written { parts: PartsMut::of(&laid, self.len(&laid, directions))?, laid })
    }

    /// Copies a computed result to its tensor, unless it was computed there.
    pub(super) fn store<T>(&self, written: Written<T>, tensor: &Tensor) -> Result<()> {
        let Written { parts, laid } = written;
        drop(parts); // ends its lease
        match laid.shares_storage_with(tensor) {
            true => Ok(()),
            false => loops::assign(&self.laid(tensor)?, &laid),
        }
    }

    /// A view in which the elements of a pixel are contiguous.
    fn laid(&self, tensor: &Tensor) -> Result<Tensor> {
        let (mut sizes, mut strides) = (tensor.sizes().to_vec(), tensor.strides().to_vec());
        if self.lanes > 1 {
            sizes[1..].rotate_left(1);
            strides[1..].rotate_left(1);
        }
        tensor.strided_view(&sizes, &strides, tensor.storage_offset())
    }

    /// The number of elements in the last `directions` spatial dimensions.
    fn len(&self, laid: &Tensor, directions: usize) -> usize {
        let dims = directions + usize::from(self.lanes > 1);
        saturating_numel(laid.sizes().iter().rev().take(dims)) as usize
    }
}

/// Calls a closure with the number of each of `count` volumes, on several threads if they have enough elements.
pub(super) fn each(count: usize, len: usize, f: impl Fn(usize) + Sync) {
    parallel::shares(count, (parallel::GRAIN / len.max(1)).max(1), |range| range.for_each(&f));
}

/// The last sizes of a tensor that has channels, and maybe a batch in front of them.
pub(super) fn pixels<'a>(operator: &str, tensor: &'a Tensor, ndim: usize) -> Result<&'a [i64]> {
    let sizes = tensor.sizes();
    ensure!(
        sizes.len() == ndim + 1 || sizes.len() == ndim + 2,
        Shape,
        "{operator}: sizes {sizes:?}, expected channels and {ndim} dimensions, with or without a batch"
    );
    Ok(&sizes[sizes.len() - ndim..])
}
