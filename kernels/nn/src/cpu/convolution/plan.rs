//! Plans: the offsets of the pixels under windows, one list for rows and one for steps, and the pixels that are copied
//! first.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::planes::{Segment, Strides};
use super::receptive_field::{Along, Even, Layout, ReceptiveField, ReceptiveFields, Run};
use crate::cpu::matmul::implicit_gemm::WIDTH;
use crate::inlined::from_fn;

/// Plans with at most this many rows are cached by each thread, since making them takes longer than computing with
/// them.
const FEW: usize = 256;

/// The most plans that a thread keeps, and the most steps and copies that each has.
const KEPT: usize = 16;
const LARGEST: usize = 8192;

/// Everything that a plan depends on, except the lines.
#[derive(Clone, PartialEq)]
pub(super) struct Meeting {
    fields: [ReceptiveField; 3],
    /// The first spatial dimension that exists.
    lead: usize,
    channels: usize,
    /// The layout of the copy in each spatial dimension, if a copy is needed.
    layouts: Option<[Layout; 3]>,
    /// The direction of vectors; if it is lines, only the starts of lines are listed.
    along: Along,
    source: Strides,
}

/// A plan for some lines: where their pixels are, in the form that
/// [`ImplicitMatrix`](crate::cpu::matmul::implicit_gemm::ImplicitMatrix) takes.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) rows: Vec<usize>,
    pub(super) steps: Vec<usize>,
    pub(super) segments: Vec<Segment>,
    /// The lines that the plan is for.
    pub(super) lines: Range<usize>,
    /// The runs that are copied from each channel, and the distance between the copies of channels, which have zeros
    /// between the runs.
    pub(super) runs: Vec<Run>,
    pub(super) plane: usize,
}

thread_local! {
    /// The plans that this thread made most recently.
    static PLANS: RefCell<Vec<(Meeting, Rc<Plan>)>> = const { RefCell::new(Vec::new()) };
}

impl Meeting {
    /// A plan maker for `channels` channels at a time; with vectors along groups, each channel is a group.
    pub(super) fn new(source: Strides, fields: ReceptiveFields, channels: usize, along: Along) -> Self {
        let ReceptiveFields { each: fields, lead } = fields;
        let is_dense = source.pitches[2] == 1 && fields[2].row_step == 1;
        let lies_so = match along {
            Along::Channels => true,
            Along::Lines => is_dense,
            Along::Groups => false, // groups are interleaved in a copy
        };
        let layout = |dim: usize| {
            fields[dim].layout(if dim < 2 && along == Along::Lines { Along::Channels } else { along })
        };
        let is_copied = !lies_so || !fields.iter().all(|field| field.is_inside());
        Meeting { fields, lead, channels, layouts: is_copied.then(|| from_fn(layout)), along, source }
    }

    pub(super) fn channels(&self) -> usize {
        self.channels
    }

    /// The number of channels that are interleaved.
    pub(super) fn side(&self) -> usize {
        if self.along == Along::Groups { WIDTH } else { 1 }
    }

    pub(super) fn is_copied(&self) -> bool {
        self.layouts.is_some()
    }

    /// The number of lines of an image.
    pub(super) fn lines(&self) -> usize {
        self.fields[self.lead].rows
    }

    /// The number of rows of a line.
    pub(super) fn per_line(&self) -> usize {
        self.fields[self.lead + 1..].iter().map(|field| field.rows).product::<usize>()
    }

    /// The plan of some lines, counted through all images: where their pixels are, or where they are copied to.
    pub(super) fn plan(&self, lines: Range<usize>) -> Rc<Plan> {
        if lines.len() * self.per_line() > FEW {
            return Rc::new(self.found(lines));
        }
        let kept = PLANS.try_with(|plans| {
            let mut plans = plans.borrow_mut();
            if let Some((_, plan)) =
                plans.iter().find(|(meeting, plan)| plan.lines == lines && meeting == self)
            {
                return plan.clone();
            }
            let plan = Rc::new(self.found(lines.clone()));
            if plan.steps.len() + plan.runs.len() <= LARGEST {
                if plans.len() == KEPT {
                    plans.remove(0);
                }
                plans.push((self.clone(), plan.clone()));
            }
            plan
        });
        kept.unwrap_or_else(|_| Rc::new(self.found(lines))) // a thread-local may be gone while its thread exits
    }

    fn found(&self, lines: Range<usize>) -> Plan {
        let mut plan = Plan { lines: lines.clone(), ..Plan::default() };
        let (mut line, mut first) = (lines.start, 0);
        while line < lines.end {
            let (item, from) = (line / self.lines(), line % self.lines());
            let len = (self.lines() - from).min(lines.end - line);
            let count = len * self.per_line();
            plan.segments.push(Segment { item, lines: from..from + len, first, count, listed: 0..0 });
            (line, first) = (line + len, first + count);
        }
        match self.layouts {
            Some(layouts) => self.find_copies(layouts, &mut plan),
            None => self.find_places(&mut plan),
        }
        plan
    }

    /// Finds where the pixels are, without a copy.
    fn find_places(&self, plan: &mut Plan) {
        let (layouts, pitches) = ([Layout::Pixels; 3], self.source.pitches);
        let [a, b, c] = from_fn(|dim| self.fields[dim].low() as usize * pitches[dim]);
        let low = a + b + c;
        let lead = self.fields[self.lead].row_step as usize * pitches[self.lead];
        for segment in &mut plan.segments {
            let base = segment.item * self.source.item + segment.lines.start * lead + low;
            self.list_rows(layouts, pitches, base, segment, &mut plan.rows);
        }
        self.list_steps(layouts, pitches, self.source.channel, &mut plan.steps);
    }

    /// Finds what is copied, with the segments of a channel one after the other in the copy.
    fn find_copies(&self, layouts: [Layout; 3], plan: &mut Plan) {
        let extent = |dim: usize, rows: usize| layouts[dim].extent(self.fields[dim], rows);
        let mut pitches = [self.side(); 3];
        for dim in (0..2).rev() {
            pitches[dim] = pitches[dim + 1] * extent(dim + 1, self.fields[dim + 1].rows);
        }
        let mut top = 0;
        for segment in &mut plan.segments {
            let runs = from_fn(|dim| {
                let all = 0..self.fields[dim].rows;
                layouts[dim]
                    .runs(self.fields[dim], if dim == self.lead { segment.lines.clone() } else { all })
            });
            self.list_runs(&runs, pitches, [top, segment.item * self.source.item], &mut plan.runs);
            self.list_rows(layouts, pitches, top, segment, &mut plan.rows);
            top += extent(self.lead, segment.lines.len()) * pitches[self.lead];
        }
        self.list_steps(layouts, pitches, top, &mut plan.steps);
        plan.plane = top;
    }

    /// Appends the offsets of the rows of a segment.
    fn list_rows(
        &self,
        layouts: [Layout; 3],
        pitches: [usize; 3],
        base: usize,
        segment: &mut Segment,
        rows: &mut Vec<usize>,
    ) {
        let first = rows.len();
        let lists = from_fn(|dim| {
            let count = match dim {
                2 if self.along == Along::Lines => 1,
                _ if dim == self.lead => segment.lines.len(),
                _ => self.fields[dim].rows,
            };
            let step = (layouts[dim].row_pitch(self.fields[dim]) * pitches[dim]) as isize;
            Even { first: 0, step, count }
        });
        Even::sums(base, lists, rows);
        segment.listed = first..rows.len();
    }

    /// Writes the offsets of the taps of all channels, relative to a row.
    fn list_steps(&self, layouts: [Layout; 3], pitches: [usize; 3], channel: usize, steps: &mut Vec<usize>) {
        let taps = from_fn(|dim| {
            let Even { first, step, count } = layouts[dim].taps(self.fields[dim]);
            Even { first: first * pitches[dim], step: step * pitches[dim] as isize, count }
        });
        (0..self.channels).for_each(|n| Even::sums(n * channel, taps, steps));
    }

    /// Appends the runs that are copied of each line, counted from the starts of the copy and of the source.
    fn list_runs(
        &self,
        [outer, middle, inner]: &[Vec<Run>; 3],
        pitches: [usize; 3],
        [top, item]: [usize; 2],
        runs: &mut Vec<Run>,
    ) {
        let [far, near, next] = self.source.pitches;
        for (a, b) in outer.iter().flat_map(Run::each) {
            for (c, d) in middle.iter().flat_map(Run::each) {
                runs.extend(inner.iter().map(|run| Run {
                    to: top + a * pitches[0] + c * pitches[1] + run.to * pitches[2],
                    from: item + b * far + d * near + run.from * next,
                    step: run.step * next,
                    len: run.len,
                    gap: run.gap * pitches[2],
                }));
            }
        }
    }
}
