//! Buckets: gradients that are sent together.

use torch_library::Tensor;

/// Divides parameters, in this order, into buckets of one type and of at most `limit` bytes; a larger parameter has a
/// bucket of its own.
pub(crate) fn assign(order: &[usize], parameters: &[Tensor], limit: usize) -> Vec<Vec<usize>> {
    let mut buckets: Vec<(usize, Vec<usize>)> = Vec::new();
    for index in order {
        let tensor = &parameters[*index];
        let bytes = crate::bytes::nbytes(tensor);
        match buckets.last_mut() {
            Some((filled, members))
                if filled.saturating_add(bytes) <= limit
                    && parameters[members[0]].dtype() == tensor.dtype() =>
            {
                *filled += bytes;
                members.push(*index);
            }
            _ => buckets.push((bytes, vec![*index])),
        }
    }
    buckets.into_iter().map(|(_, members)| members).collect()
}

#[cfg(test)]
mod tests {
    use torch_library::prelude::*;

    use super::*;

    #[test]
    fn buckets_hold_one_type_and_so_many_bytes() -> Result<()> {
        let sizes_and_types = [
            (2, DType::Float32),
            (2, DType::Float32),
            (9, DType::Float32),
            (1, DType::Float64),
            (1, DType::Float32),
        ];
        let parameters: Vec<Tensor> = sizes_and_types
            .iter()
            .map(|(size, dtype)| Tensor::zeros(&[*size], *dtype, Device::CPU))
            .collect::<Result<_>>()?;
        assert_eq!(assign(&[0, 1, 2, 3, 4], &parameters, 16), [vec![0, 1], vec![2], vec![3], vec![4]]);
        Ok(())
    }
}
