//! The matrix products that convolutions are made of.
//!
//! Threads share them without the calling thread's dispatch state, since they call no operators.
#![expect(unsafe_code, reason = "hands parts of tensors to the matrix product, and to threads")]

use std::cell::Cell;
use std::ops::Range;

use torch_library::geometry::{contiguous_strides, saturating_numel};
use torch_library::prelude::*;

use super::Convolution;
use crate::cpu::axis::Axis;
use crate::cpu::convolution::input_tile::{InputTile, InputTiles, Laid};
use crate::cpu::convolution::planes::{Planes, Target};
use crate::cpu::convolution::receptive_field::{Along, Layout, ReceptiveField, ReceptiveFields};
use crate::cpu::matmul::GRAIN;
use crate::cpu::matmul::implicit_gemm::{Aligned, ImplicitMatrix, Product, Shape, WIDTH, lend};
use crate::inlined::from_fn;
use crate::loops::parts::Parts;
use crate::loops::transpose::transpose;
use crate::loops::{self, parallel};
use crate::number::Number;

mod weight;

/// The number of steps of a sum before it is written back to memory: a packed panel of this depth stays in the cache.
const DEPTH: usize = 256;

/// The number of rows that are computed at a time: enough that the time to pack a panel for them does not matter.
const ROWS: usize = 512;

/// Like [`ROWS`], with vectors along lines, whose panels are small.
const ROWS_IN_LINES: usize = 4096;

/// Like [`ROWS`], with vectors along groups, whose sums stay in the cache.
const ROWS_OF_GROUPS: usize = 1024;

/// The number of multiplications that take as long as moving a pixel.
const MOVING: usize = 16;

/// The most bytes of scratch memory that each thread keeps for its next convolution.
const KEPT: usize = 1 << 20;

/// Up to this many columns, vectors run along lines of pixels instead of along channels.
const FEW: usize = 4;

/// From this many groups of one channel on, vectors run along the groups.
const MANY: usize = 8;

/// The most phases of the stride with which vectors still run along groups in a transposed convolution: all phases are
/// then computed at once, which takes this many times as many sums, most of them of zeros.
const PHASES: i64 = 8;

/// How a convolution is split into products: group by group, or several groups side by side.
#[derive(Clone, Copy)]
struct Grouped {
    count: usize,
    /// The channels of each group that are summed over, and its output channels.
    channels: usize,
    columns: usize,
    along: Along,
}

impl Convolution<'_> {
    /// The convolution, from images to places, in the opmath type or already in that of the image.
    pub(super) fn convolve<T: Number>(
        &self,
        image: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        if let Some(out) = self.pointwise(image, weight, bias)? {
            return Ok(out);
        }
        if let Some(out) = self.depthwise(image, weight, bias)? {
            return Ok(out);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(out) = self.tiled(image, weight, bias)? {
            return Ok(out);
        }
        let out = self.uninit::<T>(&self.places_sizes())?;
        let grouped = self.grouped(self.channels);
        let length = grouped.channels * self.taps();
        let weight = Parts::<T>::row_major(weight, grouped.columns * length)?;
        let job = Job::new(self, grouped, image, &out, self.places(), bias)?;
        // SAFETY: `weight` has `grouped.columns * length` elements for each group, of which these are some columns and
        // steps; the lease that it holds excludes writers. The panel has room for `WIDTH` columns of up to `DEPTH`
        // steps.
        job.run(|group, columns, steps, panel| unsafe {
            let from = weight.at(group).wrapping_add(columns.start * length + steps.start);
            transpose(from, length as isize, [columns.len(), steps.len()], panel, WIDTH);
        });
        Ok(out)
    }

    /// The transposed convolution, from places to images, in the opmath type or already in that of the places.
    pub(super) fn spread<T: Number>(
        &self,
        places: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        if let Some(out) = self.pointwise_spread(places, weight, bias)? {
            return Ok(out);
        }
        if let Some(out) = self.depthwise_spread(places, weight, bias)? {
            return Ok(out);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(out) = self.tiled_spread(places, weight, bias)? {
            return Ok(out);
        }
        let out = self.uninit::<T>(&self.image_sizes())?;
        let [channels, kernels] = self.channels;
        let (grouped, taps) = (self.grouped([kernels, channels]), self.taps());
        let weight = Parts::<T>::row_major(weight, grouped.channels * grouped.columns * taps)?;
        // Converted once, where the type is another, and not for each set of pixels.
        let places = &in_type::<T>(places)?;
        for fields in self.pixels(grouped.along) {
            let job = Job::new(self, grouped, places, &out, fields, bias)?;
            let steps = self.steps_of(fields, grouped.channels, grouped.columns * taps);
            job.run(|group, columns, range, panel: *mut T| {
                let (from, mut to) = (weight.at(group).wrapping_add(columns.start * taps), panel);
                for steps in steps[range].chunk_by(|step, next| step + 1 == *next) {
                    // SAFETY: the offsets of `steps_of` stay within the weight's group, counted from its column's first
                    // tap; the lease that `weight` holds excludes writers. The panel has room for `WIDTH` columns of up
                    // to `DEPTH` steps.
                    unsafe {
                        if let [step] = *steps {
                            for column in 0..columns.len() {
                                to.add(column).write(from.add(step + column * taps).read());
                            }
                            to = to.add(WIDTH);
                            continue;
                        }
                        transpose(from.add(steps[0]), taps as isize, [columns.len(), steps.len()], to, WIDTH);
                        to = to.add(steps.len() * WIDTH);
                    }
                }
            });
        }
        Ok(out)
    }

    /// An uninitialised tensor for the result, in its final memory format if it needs no conversion.
    fn uninit<T: Number>(&self, sizes: &[i64]) -> Result<Tensor> {
        let strides = match self.input.dtype() == T::DTYPE {
            true => self.strides_like_operands(sizes, T::DTYPE)?,
            false => contiguous_strides(sizes),
        };
        // SAFETY: the products of all jobs write every element, since each pixel or place is a row of one of them.
        // After an error the tensor is dropped.
        unsafe { Tensor::uninit_strided(sizes, &strides, T::DTYPE, self.input.device()) }
    }

    /// The split of a convolution that sums over `channels[0]` and results in `channels[1]`.
    fn grouped(&self, channels: [i64; 2]) -> Grouped {
        let count = self.groups as usize;
        let [channels, columns] = from_fn(|n| channels[n] as usize / count);
        if count >= MANY && [channels, columns] == [1, 1] {
            return Grouped { count: count.div_ceil(WIDTH), channels, columns: WIDTH, along: Along::Groups };
        }
        // A sequence is split within its only line, so its pixels must be read in place, without a stride.
        let is_in_lines = columns <= FEW && (self.lead < 2 || self.axes[2].stride == 1);
        Grouped { count, channels, columns, along: if is_in_lines { Along::Lines } else { Along::Channels } }
    }

    pub(super) fn taps(&self) -> usize {
        let [a, b, c] = self.axes;
        a.kernel as usize * b.kernel as usize * c.kernel as usize
    }

    /// The receptive field of each spatial dimension, from its window and the sizes of image and places.
    fn fields(&self, field: impl Fn(usize, Axis, i64, i64) -> ReceptiveField) -> ReceptiveFields {
        let each = from_fn(|dim| field(dim, self.axes[dim], self.image[dim], self.places[dim]));
        ReceptiveFields { each, lead: self.lead }
    }

    fn places(&self) -> ReceptiveFields {
        self.fields(|_, axis, image, places| ReceptiveField::of_places(axis, image, places))
    }

    /// The receptive fields of pixels in the places: one for the pixels of each phase of the strides, or one for all
    /// pixels, with zeros between places.
    fn pixels(&self, along: Along) -> Vec<ReceptiveFields> {
        let strides: [i64; 3] = from_fn(|dim| self.axes[dim].stride);
        if along == Along::Groups && saturating_numel(&strides) <= PHASES {
            let all =
                self.fields(|_, axis, image, places| ReceptiveField::of_all_pixels(axis, image, places));
            if all.each.iter().all(|field| field.layout(along) == Layout::Pixels) {
                return vec![all];
            }
        }
        let phases = |dim: usize| 0..strides[dim].min(self.image[dim]);
        let pairs = phases(0).flat_map(|a| phases(1).map(move |b| [a, b]));
        let all = pairs.flat_map(|[a, b]| phases(2).map(move |c| [a, b, c]));
        all.map(|phase| {
            self.fields(|dim, axis, image, places| ReceptiveField::of_pixels(axis, image, places, phase[dim]))
        })
        .collect()
    }

    /// The offsets of the weights for the steps of a sum over `kernels` kernels, which are `pitch` apart.
    fn steps_of(&self, fields: ReceptiveFields, kernels: usize, pitch: usize) -> Vec<usize> {
        let mut steps: Vec<usize> = (0..kernels).map(|kernel| kernel * pitch).collect();
        let mut pitch = self.taps();
        for (field, axis) in fields.each.iter().zip(&self.axes) {
            pitch /= axis.kernel as usize;
            let [first, step] = field.of_tap;
            let taps = |start: usize| (0..field.taps).map(move |tap| start + (first + tap * step) * pitch);
            steps = steps.into_iter().flat_map(taps).collect();
        }
        steps
    }
}

/// The planes of a tensor in the opmath type, with any strides.
fn planes<T: Number>(tensor: &Tensor) -> Result<Planes<T>> {
    Planes::of(&in_type::<T>(tensor)?)
}

fn in_type<T: Number>(tensor: &Tensor) -> Result<Tensor> {
    if tensor.dtype() == T::DTYPE { Ok(tensor.clone()) } else { loops::copy(tensor, T::DTYPE) }
}

/// A matrix product of the im2col matrix, which is never stored, and a weight.
struct Job<T> {
    input_tiles: InputTiles<T>,
    target: Target<T>,
    /// The bias as a single part, with an element for each channel of the target.
    bias: Option<Parts<T>>,
    grouped: Grouped,
    batch: usize,
    steps: usize,
}

impl Grouped {
    /// The number of rows that are computed at a time.
    fn rows(self) -> usize {
        match self.along {
            Along::Channels => ROWS,
            Along::Lines => ROWS_IN_LINES,
            Along::Groups => ROWS_OF_GROUPS,
        }
    }

    fn shape(self) -> Shape {
        if self.along == Along::Groups { Shape::Columns } else { Shape::Rows }
    }

    /// The number of panels of up to [`WIDTH`] columns in all groups.
    fn panels(self) -> usize {
        self.count * self.columns.div_ceil(WIDTH)
    }

    /// Panel number `n`, where there are `channels` channels.
    fn panel(self, n: usize, channels: usize) -> Panel {
        let panels = self.columns.div_ceil(WIDTH);
        let (group, start) = (n / panels, n % panels * WIDTH);
        let channel = group * self.columns + start;
        let len = WIDTH.min(self.columns - start).min(channels - channel);
        Panel { group, columns: start..start + len, channel }
    }
}

/// A panel: some columns of a group.
struct Panel {
    group: usize,
    columns: Range<usize>,
    /// The channel of the first column.
    channel: usize,
}

/// A thread's scratch memory.
#[derive(Default)]
struct Scratch {
    input_tile: InputTile,
    panel: Aligned,
    sums: Aligned,
}

thread_local! {
    /// The scratch memory that this thread used last, if it is not too large to keep.
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

impl Scratch {
    /// Lends this thread's scratch memory to a closure.
    fn lend(f: impl FnOnce(&mut Scratch)) {
        lend(&SCRATCH, |kept| kept.input_tile.size() + kept.panel.size() + kept.sums.size() <= KEPT, f);
    }
}

impl<T: Number> Job<T> {
    fn new(
        convolution: &Convolution<'_>,
        grouped: Grouped,
        source: &Tensor,
        out: &Tensor,
        fields: ReceptiveFields,
        bias: Option<&Tensor>,
    ) -> Result<Self> {
        let target = Target::new(Planes::written(out)?, fields);
        let bias = bias.map(|bias| Parts::<T>::row_major(bias, target.channels())).transpose()?;
        let is_whole = bias.as_ref().is_none_or(|bias| bias.count() == 1);
        convolution.check_converted_bias(is_whole, target.channels() as i64)?;
        Ok(Job {
            input_tiles: InputTiles::new(planes(source)?, fields, grouped.channels, grouped.along),
            target,
            bias,
            grouped,
            batch: convolution.batch as usize,
            steps: grouped.channels * fields.each.iter().map(|field| field.taps).product::<usize>(),
        })
    }

    /// Computes the product; a closure packs the panels, for a group, some columns and some steps.
    fn run(&self, pack: impl Fn(usize, Range<usize>, Range<usize>, *mut T) + Sync) {
        let (lines, per_line) = (self.batch * self.input_tiles.lines(), self.input_tiles.per_line());
        let (panels, threads) = (self.grouped.panels(), rayon::current_num_threads());
        let line_work = per_line * (self.steps + MOVING) * self.grouped.columns.min(WIDTH);
        let mut blocks = lines.div_ceil((self.grouped.rows() / per_line).max(1));
        if panels * lines * line_work > 2 * GRAIN {
            blocks = blocks.next_multiple_of(threads).min(lines); // a block's pixels stay in a thread's cache
        }
        let len = lines.div_ceil(blocks);
        let count = lines.div_ceil(len) * panels;
        parallel::shares(count, (GRAIN / (len * line_work)).max(1), |range| {
            Scratch::lend(|scratch| {
                for n in range {
                    let start = n / panels * len;
                    let lines = start..(start + len).min(lines);
                    let panel = self.grouped.panel(n % panels, self.target.channels());
                    // SAFETY: the input tiles have this group and these lines, and their source is leased as long as
                    // the job exists, so nothing writes to it; these lines of these channels of the leased target are
                    // this thread's alone.
                    unsafe {
                        let laid = self.input_tiles.lay(panel.group, lines, &mut scratch.input_tile);
                        match self.grouped.along {
                            Along::Lines => self.lines(&laid, panel, scratch, &pack),
                            _ => self.tiles(&laid, panel, scratch, &pack),
                        }
                    }
                }
            });
        });
    }

    /// Computes a block of rows from the input tile that was laid out.
    ///
    /// # Safety
    /// - The input tile that was laid out and the leased source still exist.
    /// - The panel's channels are channels of the target, and nothing else uses the rows of the block in these.
    unsafe fn tiles(
        &self,
        laid: &Laid<T>,
        Panel { group, columns, channel }: Panel,
        scratch: &mut Scratch,
        pack: &impl Fn(usize, Range<usize>, Range<usize>, *mut T),
    ) {
        let (plan, panel) = (&laid.plan, scratch.panel.numbers(self.steps.min(DEPTH) * WIDTH));
        let sums = scratch.sums.numbers::<T>(plan.rows.len() * WIDTH);
        let bias = self.bias.as_ref().map(|bias| bias.at(0).wrapping_add(channel));
        if bias.is_some() || self.steps == 0 {
            for row in sums.chunks_exact_mut(WIDTH) {
                for (j, sum) in row[..columns.len()].iter_mut().enumerate() {
                    // SAFETY: the bias has an element for each channel of the target, as `Job::new` ensured, and its
                    // lease excludes writers; the caller promises that `channel + j` is such a channel.
                    *sum = bias.map_or(T::ZERO, |bias| unsafe { bias.add(j).read() });
                }
            }
        }
        for (i, steps) in plan.steps.chunks(DEPTH).enumerate() {
            pack(group, columns.clone(), i * DEPTH..i * DEPTH + steps.len(), panel.as_mut_ptr());
            let a = ImplicitMatrix { data: laid.data, rows: &plan.rows, steps };
            let (panel, out, adds) = (panel.as_ptr(), sums.as_mut_ptr(), bias.is_some() || i > 0);
            let shape = self.grouped.shape();
            // SAFETY: the lists point to pixels that were laid out, which the caller promises still exist; the panel
            // was packed for these steps, and there is a row of `WIDTH` sums for each row, both in this thread's own
            // scratch memory.
            unsafe { Product { a, panel, columns: columns.len(), out, adds, shape }.compute() };
        }
        // SAFETY: there is a row of sums for each of the segments' rows; the caller promises that nothing else uses
        // these rows of the channels.
        unsafe { self.target.write(&plan.segments, channel, columns.len(), sums.as_ptr()) };
    }

    /// Like [`tiles`](Self::tiles), for few columns.
    ///
    /// # Safety
    /// - The input tile that was laid out and the leased source still exist.
    /// - The panel's channels are channels of the target, and nothing else uses the rows of the block in these.
    /// - The lists of the plan hold the starts of lines.
    unsafe fn lines(
        &self,
        laid: &Laid<T>,
        Panel { group, columns, channel }: Panel,
        scratch: &mut Scratch,
        pack: &impl Fn(usize, Range<usize>, Range<usize>, *mut T),
    ) {
        let (plan, columns) = (&laid.plan, columns.len());
        let count: usize = plan.segments.iter().map(|segment| segment.count).sum();
        let sums = scratch.sums.numbers::<T>(if self.target.is_dense { 0 } else { columns * count });
        let panel = scratch.panel.numbers(self.steps.min(DEPTH) * WIDTH);
        let bias = self.bias.as_ref().map(|bias| bias.at(0).wrapping_add(channel));
        for segment in &plan.segments {
            let (out, pitch) = match self.target.is_dense {
                true => (self.target.at(segment, channel), self.target.pitch()),
                false => (sums.as_mut_ptr().wrapping_add(segment.first), count),
            };
            if bias.is_some() || self.steps == 0 {
                for j in 0..columns {
                    // SAFETY: the bias has an element for each channel, as `Job::new` ensured, under its lease; `out`
                    // has `segment.count` rows for each column, `pitch` apart: in the target if it is dense, where they
                    // are this thread's alone, or else in the sums, which have as many.
                    unsafe {
                        let bias = bias.map_or(T::ZERO, |bias| bias.add(j).read());
                        (0..segment.count).for_each(|row| out.add(j * pitch + row).write(bias));
                    }
                }
            }
            for (i, steps) in plan.steps.chunks(DEPTH).enumerate() {
                pack(group, 0..columns, i * DEPTH..i * DEPTH + steps.len(), panel.as_mut_ptr());
                let a = ImplicitMatrix { data: laid.data, rows: &plan.rows[segment.listed.clone()], steps };
                let (panel, adds) = (panel.as_ptr(), bias.is_some() || i > 0);
                let shape = Shape::Lines { len: segment.count / segment.listed.len(), pitch };
                // SAFETY: the lists point to pixels that were laid out, which the caller promises still exist; the
                // panel was packed for these steps, and `out` has `segment.count` rows for each column, which nothing
                // else uses.
                unsafe { Product { a, panel, columns, out, adds, shape }.compute() };
            }
        }
        if !self.target.is_dense {
            // SAFETY: the sums have a column of `count` rows for each channel; the caller promises that nothing else
            // uses these rows.
            unsafe { self.target.write_columns(&plan.segments, channel, columns, sums) };
        }
    }
}
