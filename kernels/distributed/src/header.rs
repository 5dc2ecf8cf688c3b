//! What a rank is about to do: the few bytes that ranks compare before they trust each other with data.

use std::fmt;

use torch_library::prelude::*;

/// What a rank is about to do, for the others to compare with what they are about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The operator: `_c10d_functional::all_reduce`.
    pub(crate) operator: String,
    /// The how many-th collective of the group this is, counted from 0.
    pub(crate) sequence: u64,
    /// Element types and sizes of the tensors: `float32 [3, 4]`.
    pub(crate) tensors: String,
    /// The rest that has to be the same: the reduction, the root.
    pub(crate) detail: String,
    /// What the caller says it is for, see [`labelled`](crate::labelled): the names of parameters.
    pub(crate) label: String,
    /// How many rows go to and come from each rank, where that is not the same for all.
    pub(crate) splits: Option<[Vec<i64>; 2]>,
}

/// Between the fields of a header.
const FIELD: char = '\u{1f}';

impl Header {
    /// As bytes, to send.
    fn encode(&self) -> Vec<u8> {
        let numbers = |list: &Vec<i64>| list.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        let splits = self.splits.as_ref().map(|[to, from]| format!("{};{}", numbers(to), numbers(from)));
        let sequence = self.sequence.to_string();
        let fields = [&self.operator, &sequence, &self.tensors, &self.detail, &self.label];
        let mut text: String = fields
            .iter()
            .flat_map(|field| field.replace(FIELD, " ").chars().chain([FIELD]).collect::<Vec<_>>())
            .collect();
        text.push_str(splits.as_deref().unwrap_or("-"));
        text.into_bytes()
    }

    /// From what another rank sent; nothing, where that is no header.
    fn decode(bytes: &[u8]) -> Option<Header> {
        let fields: Vec<&str> = std::str::from_utf8(bytes).ok()?.split(FIELD).collect();
        let [operator, sequence, tensors, detail, label, splits] = fields[..] else { return None };
        let numbers = |text: &str| -> Option<Vec<i64>> {
            text.split(',').filter(|number| !number.is_empty()).map(|number| number.parse().ok()).collect()
        };
        let splits = match splits.split_once(';') {
            Some((to, from)) => Some([numbers(to)?, numbers(from)?]),
            None => None,
        };
        Some(Header {
            operator: operator.into(),
            sequence: sequence.parse().ok()?,
            tensors: tensors.into(),
            detail: detail.into(),
            label: label.into(),
            splits,
        })
    }

    /// Behind it, what it is the header of.
    pub(crate) fn envelope(&self, payload: &[u8]) -> Vec<u8> {
        let header = self.encode();
        [&(header.len() as u64).to_le_bytes(), &header[..], payload].concat()
    }

    /// Takes an envelope apart; nothing, where it is none.
    pub(crate) fn open(message: &[u8]) -> Option<(Header, &[u8])> {
        let (length, rest) = message.split_first_chunk()?;
        let (header, payload) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        Some((Header::decode(header)?, payload))
    }

    /// Whether the other may go on with this one. Labels are for people, and splits are compared in pairs.
    pub(crate) fn matches(&self, other: &Header) -> bool {
        let parts = |header: &Header| {
            let Header { operator, sequence, tensors, detail, .. } = header.clone();
            (operator, sequence, tensors, detail, header.splits.is_some())
        };
        parts(self) == parts(other)
    }
}

/// For people: operator, number, tensors, parameter.
impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (collective {})", self.operator, self.sequence)?;
        if !self.tensors.is_empty() {
            write!(f, " of {}", self.tensors)?;
        }
        if !self.detail.is_empty() {
            write!(f, ", {}", self.detail)?;
        }
        if !self.label.is_empty() {
            write!(f, ", for {}", self.label)?;
        }
        Ok(())
    }
}

/// Types and sizes of tensors, as a header has them. Lists are cut, with their length and number of elements.
pub(crate) fn describe(tensors: &[&Tensor]) -> String {
    const SHOWN: usize = 16;
    let mut text: Vec<String> =
        tensors.iter().take(SHOWN).map(|tensor| format!("{} {:?}", tensor.dtype(), tensor.sizes())).collect();
    if tensors.len() > SHOWN {
        let elements: i64 = tensors.iter().map(|tensor| tensor.numel()).sum();
        text.push(format!("… {} tensors with {elements} elements", tensors.len()));
    }
    text.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_its_way() {
        let header = Header {
            operator: "c10d::alltoall_".into(),
            sequence: 7,
            tensors: "float32 [3]".into(),
            detail: String::new(),
            label: "parameter `a`".into(),
            splits: Some([vec![1, 2], vec![2, 1]]),
        };
        assert_eq!(Header::open(&header.envelope(b"numbers")), Some((header.clone(), &b"numbers"[..])));
        assert_eq!(header.to_string(), "c10d::alltoall_ (collective 7) of float32 [3], for parameter `a`");
        assert_eq!(Header::open(b"no envelope, nor a header"), None);
    }
}
