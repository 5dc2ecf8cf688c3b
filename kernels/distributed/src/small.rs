//! Small collectives, which rank 0 computes for all while it compares their headers, in one round trip.

use torch_library::prelude::*;

use crate::reduction::reduce;
use crate::transport::Call;

/// The most bytes, of all ranks together, for which this is done. Beyond, it is faster if each rank has a part of the
/// work.
const FEW: usize = 16 << 10;

/// Whether rank 0 computes a collective; the same on all ranks that make the same call.
pub(crate) fn is_small(call: &Call, input: &[u8], output: &[u8], ranks: usize) -> bool {
    let is_regular = !matches!(call, Call::AllToAll { .. }); // each rank knows only its own lengths
    is_regular && input.len().max(output.len()) * ranks <= FEW
}

/// The bytes that rank 0 needs from a rank.
pub(crate) fn contribution<'a>(call: &Call, rank: usize, input: &'a [u8], output: &'a [u8]) -> &'a [u8] {
    match call {
        Call::Broadcast { root } if rank != *root => &[],
        _ if call.is_in_place() => output,
        _ => input,
    }
}

/// The result of each rank, from the contributions of all.
///
/// # Errors
/// Numbers that cannot be reduced this way, ranks that contributed different amounts.
pub(crate) fn results(call: &Call, given: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
    let ranks = given.len();
    let reduced = |op, dtype| {
        let mut out = vec![0; given.first().map_or(0, Vec::len)];
        reduce(op, dtype, &given.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut out).map(|()| out)
    };
    Ok(match call {
        Call::AllReduce { dtype, op } => vec![reduced(*op, *dtype)?; ranks],
        Call::ReduceScatter { dtype, op } => {
            let all = reduced(*op, *dtype)?;
            let length = all.len() / ranks;
            (0..ranks).map(|rank| all[rank * length..(rank + 1) * length].to_vec()).collect()
        }
        Call::Broadcast { root } => vec![given[*root].clone(); ranks],
        Call::AllGather => vec![given.concat(); ranks],
        Call::Barrier => vec![Vec::new(); ranks],
        Call::AllToAll { .. } => bail!(Internal, "rank 0 does not know what goes to whom"),
    })
}
