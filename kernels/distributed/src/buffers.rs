//! The buffers of a collective: copies of tensors, or the memory of one tensor.

use torch_library::prelude::*;

use crate::bytes;
use crate::lent::Lent;

/// The input of a collective, and the memory for its results.
pub(crate) struct Buffers {
    /// The input; empty if the collective works in place.
    pub(crate) input: Vec<u8>,
    output: Output,
}

enum Output {
    Copy(Vec<u8>),
    /// The memory of a tensor: results need not be copied.
    Lent(Lent),
}

impl Buffers {
    /// The buffers of a message to send.
    pub(crate) fn message(inputs: &[&Tensor]) -> Result<Buffers> {
        Ok(Buffers { input: bytes::pack(inputs)?, output: Output::Copy(Vec::new()) })
    }

    /// The buffers of a collective that overwrites its input. If the input is a single tensor that is also the output,
    /// and whose memory is not in use, the collective works there, and `outputs` becomes empty.
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

    /// The buffers of a collective that does not overwrite its input.
    pub(crate) fn apart(inputs: &[&Tensor], outputs: &[Tensor]) -> Result<Buffers> {
        let room = bytes::length(outputs)?;
        Ok(Buffers { input: bytes::pack(inputs)?, output: Output::Copy(vec![0; room]) })
    }

    /// The input, and the memory for the results.
    ///
    /// # Errors
    /// None in practice.
    pub(crate) fn parts(&mut self) -> Result<(&[u8], &mut [u8])> {
        let output = match &mut self.output {
            Output::Copy(bytes) => bytes,
            Output::Lent(lent) => lent.bytes()?,
        };
        Ok((&self.input, output))
    }

    /// The results of a group with one rank: each collective returns its input.
    pub(crate) fn into_results_of_one(self) -> Vec<u8> {
        if self.input.is_empty() { self.into_results() } else { self.input }
    }

    /// The results that are to be copied to tensors. Ends the lease of lent memory.
    pub(crate) fn into_results(self) -> Vec<u8> {
        match self.output {
            Output::Copy(bytes) => bytes,
            Output::Lent(_) => Vec::new(),
        }
    }
}

/// Whether two handles refer to the same elements.
fn is_same(a: &Tensor, b: &Tensor) -> bool {
    let place = |tensor: &Tensor| {
        (tensor.dtype(), tensor.storage_offset(), tensor.sizes().to_vec(), tensor.strides().to_vec())
    };
    a.shares_storage_with(b) && place(a) == place(b)
}
