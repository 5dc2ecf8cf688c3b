//! Convolutions of `bfloat16`, some places of a line at a time.
//!
//! # How it works
//!
//! 1. The images are in channels-last memory with zeros for the padding. There the taps of one line of the
//!    window, with all their channels, are contiguous, and from one place to the next it is always the same distance:
//!    they are the rows of a matrix, which needs no copy of its own.
//! 2. The weight is packed as panels. The steps of its sum are in the order of that memory: for
//!    each line of the window a *piece*, which is filled up with zeros to whole AMX tiles.
//! 3. Up to [`ROWS`] places of a line are computed at a time, for all channels: piece after piece is added to their
//!    sums, which stay in `float32` until the bias has been added and they are rounded.
#![expect(
    unsafe_code,
    reason = "multiplies rows that are read through pointers, and writes to parts of tensors from several threads"
)]

use std::arch::x86_64::{
    __m512, __m512bh, __m512i, _mm512_add_ps, _mm512_cvtne2ps_pbh, _mm512_mask_storeu_epi16,
    _mm512_storeu_si512,
};

use half::bf16;
use torch_library::prelude::*;

use super::{Correlation, directions};
use crate::cpu::matmul::amx::{DEPTH, ROWS, Sums, WIDTH};
use crate::cpu::matmul::implicit_gemm::Aligned;
use crate::cpu::matmul::pairs::{Rows, Unit};
use crate::inlined::from_fn;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::transpose::transpose;

/// The number of steps of a sum that are multiplied at a time: those of a block of rows leave room in the first-level
/// cache for the panels.
const STEPS: usize = 512;

/// What threads share.
pub(super) struct Tiles {
    unit: Unit,
    image: Parts<bf16>,
    /// The sizes of a padded image.
    padded: [usize; 3],
    out: PartsMut<bf16>,
    /// The strides of images, channels, and places in the result.
    strides: [usize; 5],
    /// The bias of all channels; in each group as many as the panels have, of which the last do not count.
    bias: Vec<f32>,
    batch: usize,
    groups: usize,
    channels: usize,
    /// The output channels of a group, and those that its panels have.
    kernels: usize,
    pub(super) rows: usize,
    places: [usize; 3],
    kernel: [usize; 3],
    stride: [usize; 3],
    dilation: [usize; 3],
    /// The number of steps of a piece, with those that fill up the last tile.
    pub(super) depth: usize,
}

/// A thread's scratch memory.
pub(super) struct Scratch {
    sums: Vec<Sums>,
    /// Rows that are filled up with zeros.
    rows: Vec<u16>,
    turned: Box<Sums>,
}

impl Scratch {
    pub(super) fn new(tiles: &Tiles) -> Self {
        let empty = Sums([[0.0; WIDTH]; ROWS]);
        Scratch { sums: vec![empty.clone(); tiles.rows / WIDTH], rows: Vec::new(), turned: Box::new(empty) }
    }
}

impl Tiles {
    /// From images that are channels-last and padded, to memory of the result.
    pub(super) fn new(
        unit: Unit,
        correlation: &Correlation,
        images: &Tensor,
        out: &Tensor,
        bias_of_channels: Vec<f32>,
    ) -> Result<Self> {
        let [groups, batch] = [correlation.groups, correlation.batch].map(|count| count as usize);
        let [channels, kernels] = correlation.channels.map(|count| count as usize);
        let rows = kernels.next_multiple_of(WIDTH);
        let mut bias = vec![0.0; groups * rows];
        for (to, from) in bias.chunks_exact_mut(rows).zip(bias_of_channels.chunks_exact(kernels)) {
            to[..kernels].copy_from_slice(from);
        }
        let padded = correlation.padded().map(|size| size as usize);
        let [z, y, x] = directions(correlation.lead, out);
        let kernel = correlation.axes.map(|axis| axis.kernel as usize);
        Ok(Tiles {
            unit,
            image: Parts::of(images, padded[0] * padded[1] * padded[2] * channels)?,
            padded,
            strides: [out.strides()[0], out.strides()[1], z, y, x].map(|stride| stride as usize),
            out: PartsMut::of(&in_order_of_memory(out)?, 1)?,
            bias,
            batch,
            groups,
            channels,
            kernels,
            rows,
            places: correlation.places.map(|size| size as usize),
            kernel,
            stride: correlation.axes.map(|axis| axis.stride as usize),
            dilation: correlation.axes.map(|axis| axis.dilation as usize),
            depth: (kernel[2] * channels).next_multiple_of(DEPTH),
        })
    }

    /// The number of lines of places in all images and groups.
    pub(super) fn lines(&self) -> usize {
        self.batch * self.groups * self.places[0] * self.places[1]
    }

    /// The number of lines of the window.
    fn pieces(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// The number of multiplications for a line of places.
    pub(super) fn work_of_line(&self) -> usize {
        self.places[2] * self.pieces() * self.depth * self.rows
    }

    /// Packs a weight that was filled up with zeros: for each group its panels, each of which has the lines of all
    /// pieces.
    pub(super) fn pack<'a>(&self, weight: &Tensor, memory: &'a mut Aligned) -> Result<&'a [[u32; WIDTH]]> {
        let lines = self.pieces() * self.depth / 2;
        let weight = Parts::<bf16>::of(weight, WIDTH * 2 * lines)?;
        let panels = memory.numbers::<u32>(weight.count() * lines * WIDTH).as_chunks_mut().0;
        for (n, panel) in panels.chunks_exact_mut(lines).enumerate() {
            let (from, to) = (weight.at(n).cast::<u32>(), panel.as_mut_ptr().cast());
            // SAFETY: part `n` has `WIDTH` rows of `lines` pairs, under a lease that excludes writers, and the panel
            // has as many lines of `WIDTH` pairs; pairs need not be aligned.
            unsafe { transpose(from, lines as isize, [WIDTH, lines], to, WIDTH) };
        }
        Ok(panels)
    }

    /// Computes all channels of a line of places.
    ///
    /// # Safety
    /// - The processor has the unit's instructions and these features.
    /// - `line` is less than the number of lines, and `panels` are what [`pack`](Self::pack) returned.
    /// - Nothing else uses the line of the result.
    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")]
    pub(super) unsafe fn line(&self, line: usize, panels: &[[u32; WIDTH]], scratch: &mut Scratch) {
        let (y, rest) = (line % self.places[1], line / self.places[1]);
        let (z, image) = (rest % self.places[0], rest / self.places[0]);
        let (batch, group) = (image / self.groups, image % self.groups);
        let pitch = self.pieces() * self.depth / 2;
        let panels = &panels[group * self.rows / WIDTH * pitch..][..self.rows / WIDTH * pitch];
        let (width, step) = (self.kernel[2] * self.channels, self.stride[2] * self.channels);
        for x in (0..self.places[2]).step_by(ROWS) {
            let count = ROWS.min(self.places[2] - x);
            for piece in 0..self.pieces() {
                let place = [z, y, x];
                let tap = [piece / self.kernel[1], piece % self.kernel[1], 0];
                let pixel: [usize; 3] = from_fn(|n| place[n] * self.stride[n] + tap[n] * self.dilation[n]);
                let offset = (pixel[0] * self.padded[1] + pixel[1]) * self.padded[2] + pixel[2];
                let from = self.image.at(image).wrapping_add(offset * self.channels).cast::<u16>();
                for start in (0..width).step_by(STEPS) {
                    let columns = STEPS.min(width - start);
                    let panels = &panels[(piece * self.depth + start) / 2..];
                    // SAFETY: the window of each of these places lies within the padded image, whose lease excludes
                    // writers: `columns` elements from `start` on of the taps of one of its lines. The caller
                    // guarantees the instructions, and panels that have the lines for all pieces.
                    unsafe {
                        let rows = Rows::new(
                            self.unit,
                            from.wrapping_add(start),
                            step as isize,
                            count,
                            columns,
                            &mut scratch.rows,
                        );
                        rows.multiply(panels, pitch, &mut scratch.sums, piece + start > 0);
                    }
                }
            }
            let place =
                self.strides[0] * batch + self.strides[2] * z + self.strides[3] * y + self.strides[4] * x;
            // SAFETY: these places of the line exist, and the caller guarantees the instructions, and that nothing else
            // uses the line.
            unsafe { self.store(place, count, group, scratch) };
        }
    }

    /// Adds the bias to the sums of `count` places, and writes them.
    ///
    /// # Safety
    /// - The processor has these features.
    /// - From the offset `place` on, the result has `count` places, in all channels of the group; nothing else uses
    ///   them.
    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")]
    unsafe fn store(&self, place: usize, count: usize, group: usize, scratch: &mut Scratch) {
        let [_, of_channel, _, _, of_place] = self.strides;
        let Scratch { sums, turned: columns, .. } = scratch;
        for (n, sums) in sums.iter().enumerate() {
            let first = n * WIDTH;
            let (channels, bias) = (WIDTH.min(self.kernels - first), &self.bias[group * self.rows + first..]);
            let out = self.out.at(0).wrapping_add(place + (group * self.kernels + first) * of_channel);
            if of_channel == 1 {
                let bias: &[f32; WIDTH] = bias.first_chunk().expect("each panel has its bias");
                for (r, sums) in sums.0[..count].iter().enumerate() {
                    // SAFETY: the caller guarantees place `r`, whose channels are contiguous.
                    unsafe { write(out.wrapping_add(r * of_place), channels, rounded(sums, bias)) };
                }
                continue;
            }
            let (from, to) = (sums.0.as_ptr().cast::<f32>(), columns.0.as_mut_ptr().cast());
            // SAFETY: both are `ROWS` rows of `WIDTH` numbers, and as many of one as of the other.
            unsafe { transpose(from, WIDTH as isize, [ROWS, WIDTH], to, ROWS) };
            for (j, (sums, bias)) in columns.0.iter().zip(bias).take(channels).enumerate() {
                let (out, rounded) = (out.wrapping_add(j * of_channel), rounded(sums, &[*bias; WIDTH]));
                if of_place == 1 {
                    // SAFETY: the caller guarantees `count` places of channel `j`, which are contiguous.
                    unsafe { write(out, count, rounded) };
                } else {
                    // SAFETY: a register has the size of `WIDTH` numbers of two bytes, for which any bits are valid.
                    let bits = unsafe { std::mem::transmute::<__m512bh, [u16; WIDTH]>(rounded) };
                    for (r, sum) in bits[..count].iter().enumerate() {
                        // SAFETY: the caller guarantees place `r` of channel `j`.
                        unsafe { out.wrapping_add(r * of_place).cast::<u16>().write(*sum) };
                    }
                }
            }
        }
    }
}

/// A view of the result whose strides are those of row-major order.
fn in_order_of_memory(out: &Tensor) -> Result<Tensor> {
    let mut dims: Vec<usize> = (0..out.dim()).collect();
    dims.sort_by_key(|dim| (std::cmp::Reverse(out.strides()[*dim]), *dim));
    let [sizes, strides] =
        [out.sizes(), out.strides()].map(|list| dims.iter().map(|dim| list[*dim]).collect::<Vec<_>>());
    out.strided_view(&sizes, &strides, out.storage_offset())
}

/// Sums with their bias, rounded to `bfloat16`.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn rounded(sums: &[f32; WIDTH], bias: &[f32; WIDTH]) -> __m512bh {
    // SAFETY: a row has the size of two registers, for which any bits are valid.
    let sums = unsafe { std::mem::transmute::<[f32; WIDTH], [__m512; 2]>(*sums) };
    // SAFETY: so has this row. (`map` would not be inlined into a function with these features.)
    let bias = unsafe { std::mem::transmute::<[f32; WIDTH], [__m512; 2]>(*bias) };
    _mm512_cvtne2ps_pbh(_mm512_add_ps(sums[1], bias[1]), _mm512_add_ps(sums[0], bias[0]))
}

/// Writes the first `count` elements of a register.
///
/// # Safety
/// - `count` is at least 1 and at most [`WIDTH`], and as many elements can be written from `out` on, which nothing else
///   uses.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn write(out: *mut bf16, count: usize, elements: __m512bh) {
    // SAFETY: both are registers of one size, for which any bits are valid.
    let bits = unsafe { std::mem::transmute::<__m512bh, __m512i>(elements) };
    // SAFETY: only the first `count` elements are written, which the caller guarantees; `bfloat16` has the layout of
    // its bits.
    unsafe {
        match count {
            WIDTH => _mm512_storeu_si512(out.cast(), bits),
            _ => _mm512_mask_storeu_epi16(out.cast(), u32::MAX >> (WIDTH - count), bits),
        }
    }
}
