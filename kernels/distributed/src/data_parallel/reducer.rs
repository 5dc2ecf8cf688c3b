//! The state of gradients during a pass: arrived, being sent, or averaged.

use std::time::{Duration, Instant};

use torch_library::autocast;
use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::buckets;
use crate::data_parallel::{DataParallelOptions, Statistics};
use crate::group::ProcessGroup;
use crate::label::labelled;
use crate::ops::c10d;
use crate::work::Work;

/// A bucket whose gradients are being sent.
struct Travelling {
    bucket: usize,
    work: Work,
    flat: Tensor,
}

/// Averages gradients between their arrival and the step.
///
/// PyTorch: `c10d::Reducer`.
pub(crate) struct Reducer {
    group: ProcessGroup,
    names: Vec<String>,
    parameters: Vec<Tensor>,
    options: DataParallelOptions,
    buckets: Vec<Vec<usize>>,
    /// The bucket of each parameter.
    bucket_of: Vec<usize>,
    /// The number of gradients that each bucket waits for in this pass.
    missing: Vec<usize>,
    /// The order in which gradients arrived in this pass.
    arrived: Vec<usize>,
    /// Whether the gradient of each parameter is among them.
    has_arrived: Vec<bool>,
    /// The next bucket to send; all ranks send them in the same order.
    next: usize,
    travelling: Vec<Travelling>,
    has_seen_the_order: bool,
    pub(crate) statistics: Statistics,
}

impl Reducer {
    /// # Errors
    /// Ranks with different parameters.
    pub(crate) fn new(
        named: Vec<(String, Tensor)>,
        group: &ProcessGroup,
        options: DataParallelOptions,
    ) -> Result<Reducer> {
        let (names, parameters): (Vec<_>, Vec<_>) = named.into_iter().unzip();
        for (name, parameter) in names.iter().zip(&parameters) {
            let mut list = [parameter.detach()?];
            let label = format!("parameter `{name}`");
            labelled(&label, || {
                c10d::broadcast_::with(&mut list, group.name(), 0, 0).async_op(false).call().map(drop)
            })?;
        }
        // The gradients of parameters that are used last usually arrive first.
        let order: Vec<usize> = (0..parameters.len()).rev().collect();
        let mut reducer = Reducer {
            buckets: buckets::assign(&order, &parameters, options.bucket_bytes),
            bucket_of: Vec::new(),
            missing: Vec::new(),
            group: group.clone(),
            names,
            parameters,
            options,
            arrived: Vec::new(),
            has_arrived: Vec::new(),
            next: 0,
            travelling: Vec::new(),
            has_seen_the_order: false,
            statistics: Statistics::default(),
        };
        reducer.begin_pass();
        Ok(reducer)
    }

    /// Waits for the gradients of all parameters again.
    fn begin_pass(&mut self) {
        self.next = 0;
        self.arrived.clear();
        self.has_arrived = vec![false; self.parameters.len()];
        self.missing = self.buckets.iter().map(Vec::len).collect();
        self.bucket_of = vec![0; self.parameters.len()];
        for (bucket, members) in self.buckets.iter().enumerate() {
            members.iter().for_each(|index| self.bucket_of[*index] = bucket);
        }
    }

    /// Records the arrival of a parameter's gradient, and sends buckets that it completes.
    pub(crate) fn arrive(&mut self, index: usize) -> Result<()> {
        ensure!(
            !self.has_arrived[index],
            Autograd,
            "a second gradient of parameter `{}` came before `finish`\n  help: backward passes whose gradients are \
             added up are run within `no_sync`, all but the last",
            self.names[index]
        );
        self.arrived.push(index);
        self.has_arrived[index] = true;
        self.missing[self.bucket_of[index]] -= 1;
        while self.missing.get(self.next) == Some(&0) {
            self.launch()?;
        }
        Ok(())
    }

    /// Sends the next bucket, with zeros for a parameter without a gradient.
    fn launch(&mut self) -> Result<()> {
        let bucket = self.next;
        let flat = no_grad(|| {
            let parts = self.buckets[bucket].iter().map(|index| {
                let parameter = &self.parameters[*index];
                parameter.grad().map_or_else(|| aten::zeros_like(parameter), Ok)?.reshape(&[-1])
            });
            let flat = aten::cat(&parts.collect::<Result<Vec<_>>>()?)?;
            convert(&flat, self.options.communication_dtype.unwrap_or_else(|| dtype_now(&flat)))
        })?;
        let mut list = [flat.detach()?];
        let begin = || c10d::allreduce_(&mut list, self.group.name(), "avg", None).map(|(_, ticket)| ticket);
        let work = Work::take(labelled(&self.label(bucket), begin)?)?;
        self.travelling.push(Travelling { bucket, work, flat });
        self.next += 1;
        Ok(())
    }

    /// A description of a bucket, for errors.
    fn label(&self, bucket: usize) -> String {
        const SHOWN: usize = 4;
        let members = &self.buckets[bucket];
        let names = members.iter().take(SHOWN).map(|index| format!("`{}`", self.names[*index]));
        let more = members.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("the gradients of {}{more} (bucket {bucket})", names.collect::<Vec<_>>().join(", "))
    }

    /// Sends the remaining buckets, and waits for all.
    pub(crate) fn finish(&mut self) -> Result<()> {
        while self.next < self.buckets.len() {
            self.launch()?;
        }
        let begun = Instant::now();
        let mut busy = Duration::ZERO;
        for Travelling { bucket, work, flat } in std::mem::take(&mut self.travelling) {
            busy += work.wait_timed()?;
            no_grad(|| self.give_back(bucket, &flat))?;
        }
        self.statistics.waited += begun.elapsed();
        self.statistics.communication += busy;
        self.statistics.steps += 1;
        let followed = match std::mem::replace(&mut self.has_seen_the_order, true) {
            true => Ok(()),
            false => self.follow(),
        };
        self.begin_pass();
        followed
    }

    /// Replaces the gradients by the averages.
    fn give_back(&self, bucket: usize, flat: &Tensor) -> Result<()> {
        let mut start = 0;
        for index in &self.buckets[bucket] {
            let parameter = &self.parameters[*index];
            let length = parameter.numel();
            let mean = aten::narrow(flat, 0, start, length)?.reshape(parameter.sizes())?;
            start += length;
            match parameter.grad() {
                Some(mut grad) => aten::copy_(&mut grad, &mean).map(drop)?,
                None => parameter.set_grad(Some(convert(&aten::clone(&mean)?, parameter.dtype())?))?,
            }
        }
        Ok(())
    }

    /// Rearranges the buckets by the order in which gradients arrived on rank 0.
    fn follow(&mut self) -> Result<()> {
        let others = (0..self.parameters.len()).rev().filter(|index| !self.has_arrived[*index]);
        let order: Vec<i64> = self.arrived.iter().copied().chain(others).map(|index| index as i64).collect();
        if order.is_empty() {
            return Ok(());
        }
        let mut list = [Tensor::from(order)];
        labelled("the order of gradients", || {
            c10d::broadcast_::with(&mut list, self.group.name(), 0, 0).async_op(false).call().map(drop)
        })?;
        let order: Vec<usize> = list[0].to_vec::<i64>()?.into_iter().map(|index| index as usize).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        ensure!(
            sorted.into_iter().eq(0..self.parameters.len()),
            Argument,
            "rank 0 has other parameters: the order in which their gradients arrived is {order:?}"
        );
        self.buckets = buckets::assign(&order, &self.parameters, self.options.bucket_bytes);
        Ok(())
    }

    pub(crate) fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }

    pub(crate) fn buckets(&self) -> Vec<Vec<String>> {
        let name = |index: &usize| self.names[*index].clone();
        self.buckets.iter().map(|bucket| bucket.iter().map(name).collect()).collect()
    }
}

/// The type in which a tensor is sent under this thread's settings: its own, or autocast's.
fn dtype_now(tensor: &Tensor) -> DType {
    let device = tensor.device().kind;
    match autocast::is_enabled(device) && autocast::is_eligible(tensor, device) {
        true => autocast::dtype(device),
        false => tensor.dtype(),
    }
}

fn convert(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    match tensor.dtype() == dtype {
        true => Ok(tensor.clone()),
        false => aten::_to_copy::with(tensor).dtype(dtype).call(),
    }
}
