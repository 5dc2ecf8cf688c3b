//! Headers: descriptions of calls, which ranks compare before they exchange data.

use std::fmt;

use torch_library::prelude::*;

/// A description of the call that a rank is about to make, to be compared with those of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The operator: `_c10d_functional::all_reduce`.
    pub(crate) operator: String,
    /// The sequence number of the collective in its group, from 0 on.
    pub(crate) sequence: u64,
    /// Element types and sizes of the tensors: `float32 [3, 4]`.
    pub(crate) tensors: String,
    /// Everything else that has to be the same, such as the reduction or the root.
    pub(crate) detail: String,
    /// The purpose of the collective, see [`labelled`](crate::labelled), such as the names of parameters.
    pub(crate) label: String,
    /// The numbers of rows sent to and received from each rank, if they differ between ranks.
    pub(crate) splits: Option<[Vec<i64>; 2]>,
}

/// The separator of the fields of a header.
const FIELD: char = '\u{1f}';

impl Header {
    /// Encodes the header as bytes.
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

    /// Decodes a header; `None` if the bytes are not one.
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

    /// The header, followed by the payload.
    pub(crate) fn envelope(&self, payload: &[u8]) -> Vec<u8> {
        let header = self.encode();
        [&(header.len() as u64).to_le_bytes(), &header[..], payload].concat()
    }

    /// Splits an envelope into header and payload; `None` if it is not one.
    pub(crate) fn open(message: &[u8]) -> Option<(Header, &[u8])> {
        let (length, rest) = message.split_first_chunk()?;
        let (header, payload) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        Some((Header::decode(header)?, payload))
    }

    /// Whether two headers describe the same collective. Labels are only for messages, and splits are compared in pairs
    /// of ranks.
    pub(crate) fn matches(&self, other: &Header) -> bool {
        let parts = |header: &Header| {
            let Header { operator, sequence, tensors, detail, .. } = header.clone();
            (operator, sequence, tensors, detail, header.splits.is_some())
        };
        parts(self) == parts(other)
    }
}

/// The header for error messages: operator, sequence number, tensors, label.
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

/// Types and sizes of tensors, for a header. Long lists are truncated, with their length and number of elements.
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
