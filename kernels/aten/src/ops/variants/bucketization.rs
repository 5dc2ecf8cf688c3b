//! The out variants of operators that look elements up.
#![expect(unreachable_pub, reason = "what extends this namespace exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Variant, variants};

variants! {
    super::unique::aten;
    bucketize_Scalar_out: bucketize_Scalar =>
        "bucketize.Scalar_out(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor(a!) out) -> Tensor(a!)";
    bucketize_Tensor_out: bucketize_Tensor =>
        "bucketize.Tensor_out(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor(a!) out) -> Tensor(a!)";
    isin_Scalar_Tensor_out: isin_Scalar_Tensor =>
        "isin.Scalar_Tensor_out(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor(a!) out) -> Tensor(a!)";
    isin_Tensor_Scalar_out: isin_Tensor_Scalar =>
        "isin.Tensor_Scalar_out(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False, Tensor(a!) out) -> Tensor(a!)";
    isin_Tensor_Tensor_out: isin_Tensor_Tensor =>
        "isin.Tensor_Tensor_out(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor(a!) out) -> Tensor(a!)";
    searchsorted_Scalar_out: searchsorted_Scalar =>
        "searchsorted.Scalar_out(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None, Tensor(a!) out) -> Tensor(a!)";
    searchsorted_Tensor_out: searchsorted_Tensor =>
        "searchsorted.Tensor_out(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None, Tensor(a!) out) -> Tensor(a!)";
}
