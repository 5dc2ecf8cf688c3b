//! Signs of arithmetic and comparison, by the operators of `aten`.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "what pyo3 writes for methods, which rustc takes for ours where a macro of ours wrote the method"
)]

use std::sync::OnceLock;

use pyo3::basic::CompareOp;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::element::number;
use crate::namespace::operator;
use crate::operator::Operator;
use crate::overload::Named;
use crate::tensor::PyTensor;

type Object<'py> = Bound<'py, PyAny>;

/// An operator that signs call, looked up once.
pub(crate) struct Known {
    name: &'static str,
    operator: OnceLock<Py<Operator>>,
}

impl Known {
    pub(crate) const fn new(name: &'static str) -> Known {
        Known { name, operator: OnceLock::new() }
    }

    pub(crate) fn call<'py>(&self, py: Python<'py>, arguments: &[Object<'py>]) -> PyResult<Py<PyAny>> {
        let operator = match self.operator.get() {
            Some(operator) => operator,
            None => {
                let found = operator(py, "aten", self.name)?;
                let missing = || PyRuntimeError::new_err(format!("aten::{} is not linked in", self.name));
                let found = found.ok_or_else(missing)?.unbind();
                self.operator.get_or_init(|| found)
            }
        };
        operator.get().invoke(py, arguments, &Named::new())
    }
}

/// Whether an operand is one that operators take. Of anything else Python asks the other side.
fn is_operand(object: &Object<'_>) -> bool {
    object.is_exact_instance_of::<PyTensor>() || number(object).is_some()
}

fn binary<'py>(known: &Known, left: &Object<'py>, right: &Object<'py>) -> PyResult<Py<PyAny>> {
    let py = left.py();
    if !(is_operand(left) && is_operand(right)) {
        return Ok(py.NotImplemented());
    }
    known.call(py, &[left.clone(), right.clone()])
}

/// The other way round: a number becomes a tensor first, since operators have one as `self`.
fn reflected<'py>(known: &Known, left: &Object<'py>, right: &Object<'py>) -> PyResult<Py<PyAny>> {
    let py = left.py();
    let Some(number) = number(left) else { return Ok(py.NotImplemented()) };
    let left = Bound::new(py, PyTensor(torch_library::Tensor::wrapped_number(number)))?.into_any();
    known.call(py, &[left, right.clone()])
}

macro_rules! signs {
    (binary { $($method:ident $reflected:ident $operator:literal;)+ }
     in_place { $($in_place:ident $written:literal;)+ }
     unary { $($unary:ident $one:literal;)+ }) => {
        #[pymethods]
        impl PyTensor {
            $(
                fn $method<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Py<PyAny>> {
                    static KNOWN: Known = Known::new($operator);
                    binary(&KNOWN, slf.as_any(), other)
                }

                fn $reflected<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Py<PyAny>> {
                    static KNOWN: Known = Known::new($operator);
                    reflected(&KNOWN, other, slf.as_any())
                }
            )+
            $(
                fn $unary<'py>(slf: &Bound<'py, Self>) -> PyResult<Py<PyAny>> {
                    static KNOWN: Known = Known::new($one);
                    KNOWN.call(slf.py(), &[slf.as_any().clone()])
                }
            )+
            $(
                fn $in_place<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
                    static KNOWN: Known = Known::new($written);
                    KNOWN.call(slf.py(), &[slf.as_any().clone(), other.clone()]).map(drop)
                }
            )+
        }
    };
}

signs! {
    binary {
        __add__ __radd__ "add";
        __sub__ __rsub__ "sub";
        __mul__ __rmul__ "mul";
        __truediv__ __rtruediv__ "true_divide";
        __floordiv__ __rfloordiv__ "floor_divide";
        __mod__ __rmod__ "remainder";
        __matmul__ __rmatmul__ "matmul";
        __and__ __rand__ "bitwise_and";
        __or__ __ror__ "bitwise_or";
        __xor__ __rxor__ "bitwise_xor";
        __lshift__ __rlshift__ "bitwise_left_shift";
        __rshift__ __rrshift__ "bitwise_right_shift";
    }
    in_place {
        __iadd__ "add_";
        __isub__ "sub_";
        __imul__ "mul_";
        __itruediv__ "div_";
    }
    unary {
        __neg__ "neg";
        __abs__ "abs";
        __invert__ "bitwise_not";
    }
}

#[pymethods]
impl PyTensor {
    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Object<'py>,
        modulo: &Object<'py>,
    ) -> PyResult<Py<PyAny>> {
        static KNOWN: Known = Known::new("pow");
        if modulo.is_none() { binary(&KNOWN, slf.as_any(), other) } else { Ok(slf.py().NotImplemented()) }
    }

    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Object<'py>,
        modulo: &Object<'py>,
    ) -> PyResult<Py<PyAny>> {
        static KNOWN: Known = Known::new("pow");
        if modulo.is_none() { reflected(&KNOWN, other, slf.as_any()) } else { Ok(slf.py().NotImplemented()) }
    }

    fn __richcmp__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>, sign: CompareOp) -> PyResult<Py<PyAny>> {
        static KNOWN: [Known; 6] = [
            Known::new("lt"),
            Known::new("le"),
            Known::new("eq"),
            Known::new("ne"),
            Known::new("gt"),
            Known::new("ge"),
        ];
        let known = match sign {
            CompareOp::Lt => &KNOWN[0],
            CompareOp::Le => &KNOWN[1],
            CompareOp::Eq => &KNOWN[2],
            CompareOp::Ne => &KNOWN[3],
            CompareOp::Gt => &KNOWN[4],
            CompareOp::Ge => &KNOWN[5],
        };
        binary(known, slf.as_any(), other)
    }

    /// The matrix with rows and columns exchanged.
    #[getter(T)]
    fn transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Py<PyAny>> {
        static KNOWN: Known = Known::new("numpy_T");
        KNOWN.call(slf.py(), &[slf.as_any().clone()])
    }

    /// The matrices in the last two dimensions with rows and columns exchanged.
    #[getter(mT)]
    fn matrices_transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Py<PyAny>> {
        static KNOWN: Known = Known::new("mT");
        KNOWN.call(slf.py(), &[slf.as_any().clone()])
    }
}
