//! What a collective reads and writes: copies of tensors, or the memory of one.

use torch_library::prelude::*;

use crate::bytes;
use crate::lent::Lent;

/// What a collective reads, and where its results go.
pub(crate) struct Buffers {
    /// Empty for what is in place.
    pub(crate) input: Vec<u8>,
    output: Output,
}

enum Output {
    Copy(Vec<u8>),
    /// Results need not be copied to anywhere.
    Lent(Lent),
}

impl Buffers {
    /// A message to send.
    pub(crate) fn message(inputs: &[&Tensor]) -> Result<Buffers> {
        Ok(Buffers { input: bytes::pack(inputs)?, output: Output::Copy(Vec::new()) })
    }

    /// Of a collective that overwrites what it reads. Where that is one tensor for which results are meant, too,
    /// and whose memory nobody uses, it works there: `outputs` is empty then.
    pub(crate) fn in_place(inputs: &[&Tensor], outputs: &mut Vec<Tensor>) -> Result<Buffers> {
        let lent = match (inputs, &outputs[..]) {
            ([input], [output]) if is_same(input, output) => Lent::new(input),
            _ => None,
        };
        let output = match lent {
            Some(lent) => {
                outputs.clear();
                Output::Lent(lent)
            }
            None => Output::Copy(bytes::pack(inputs)?),
        };
        Ok(Buffers { input: Vec::new(), output })
    }

    /// Of any other.
    pub(crate) fn apart(inputs: &[&Tensor], outputs: &[Tensor]) -> Result<Buffers> {
        let room = outputs.iter().map(bytes::nbytes).sum();
        Ok(Buffers { input: bytes::pack(inputs)?, output: Output::Copy(vec![0; room]) })
    }

    /// The input, and where results go.
    ///
    /// # Errors
    /// None of its own.
    pub(crate) fn parts(&mut self) -> Result<(&[u8], &mut [u8])> {
        let output = match &mut self.output {
            Output::Copy(bytes) => bytes,
            Output::Lent(lent) => lent.bytes()?,
        };
        Ok((&self.input, output))
    }

    /// The results where there is one rank: each collective gives what it got.
    pub(crate) fn into_results_of_one(self) -> Vec<u8> {
        if self.input.is_empty() { self.into_results() } else { self.input }
    }

    /// Results that are to be copied to tensors. Memory that was lent is given back.
    pub(crate) fn into_results(self) -> Vec<u8> {
        match self.output {
            Output::Copy(bytes) => bytes,
            Output::Lent(_) => Vec::new(),
        }
    }
}

/// Whether two handles are of the same elements.
fn is_same(a: &Tensor, b: &Tensor) -> bool {
    let place = |tensor: &Tensor| {
        (tensor.dtype(), tensor.storage_offset(), tensor.sizes().to_vec(), tensor.strides().to_vec())
    };
    a.shares_storage_with(b) && place(a) == place(b)
}
