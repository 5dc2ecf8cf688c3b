//! Python's arithmetic and comparison operators, with the operators of `aten`.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "what pyo3 writes for methods, which rustc takes for ours where a macro of ours wrote the method"
)]

use std::sync::OnceLock;

use pyo3::basic::CompareOp;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::arguments::{Arguments, Lent};
use crate::element::number;
use crate::namespace::operator;
use crate::operator::Operator;
use crate::tensor::PyTensor;

type Object<'py> = Bound<'py, PyAny>;
type Operand<'py> = Bound<'py, PyTensor>;

/// An operator that Python's operators call, looked up once.
pub(crate) struct Known {
    name: &'static str,
    operator: OnceLock<Py<Operator>>,
}

impl Known {
    pub(crate) const fn new(name: &'static str) -> Known {
        Known { name, operator: OnceLock::new() }
    }

    pub(crate) fn call<'py>(&self, py: Python<'py>, arguments: &[Lent<'_, 'py>]) -> PyResult<Py<PyAny>> {
        let operator = match self.operator.get() {
            Some(operator) => operator,
            None => {
                let missing = |_| PyRuntimeError::new_err(format!("aten::{} is not linked in", self.name));
                let found = operator(py, &format!("aten::{}", self.name)).map_err(missing)?.unbind();
                self.operator.get_or_init(|| found)
            }
        };
        operator.get().invoke(py, Arguments::positional(arguments)).map_err(|error| *error)
    }
}

fn unary<'py>(known: &Known, operand: &Operand<'py>) -> PyResult<Py<PyAny>> {
    known.call(operand.py(), &[operand.as_any().as_borrowed()])
}

/// If the operator does not take the operands, Python tries the other operand's method.
fn binary<'py>(known: &Known, left: &Operand<'py>, right: &Object<'py>) -> PyResult<Py<PyAny>> {
    let py = left.py();
    if !right.is_exact_instance_of::<PyTensor>() && number(right).is_none() {
        return Ok(py.NotImplemented());
    }
    known.call(py, &[left.as_any().as_borrowed(), right.as_borrowed()])
}

/// With reversed operands: a number becomes a tensor first, since the operators need a tensor `self`.
fn reflected<'py>(known: &Known, left: &Object<'py>, right: &Operand<'py>) -> PyResult<Py<PyAny>> {
    let py = left.py();
    let Some(number) = number(left) else { return Ok(py.NotImplemented()) };
    let left = Bound::new(py, PyTensor(torch_library::Tensor::wrapped_number(number)))?.into_any();
    known.call(py, &[left.as_borrowed(), right.as_any().as_borrowed()])
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
                    binary(&KNOWN, slf, other)
                }

                fn $reflected<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Py<PyAny>> {
                    static KNOWN: Known = Known::new($operator);
                    reflected(&KNOWN, other, slf)
                }
            )+
            $(
                fn $unary<'py>(slf: &Bound<'py, Self>) -> PyResult<Py<PyAny>> {
                    static KNOWN: Known = Known::new($one);
                    unary(&KNOWN, slf)
                }
            )+
            $(
                fn $in_place<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
                    static KNOWN: Known = Known::new($written);
                    KNOWN.call(slf.py(), &[slf.as_any().as_borrowed(), other.as_borrowed()]).map(drop)
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
        __ifloordiv__ "floor_divide_";
        __imod__ "remainder_";
        __iand__ "bitwise_and_";
        __ior__ "bitwise_or_";
        __ixor__ "bitwise_xor_";
        __ilshift__ "bitwise_left_shift_";
        __irshift__ "bitwise_right_shift_";
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
        if modulo.is_none() { binary(&KNOWN, slf, other) } else { Ok(slf.py().NotImplemented()) }
    }

    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Object<'py>,
        modulo: &Object<'py>,
    ) -> PyResult<Py<PyAny>> {
        static KNOWN: Known = Known::new("pow");
        if modulo.is_none() { reflected(&KNOWN, other, slf) } else { Ok(slf.py().NotImplemented()) }
    }

    fn __ipow__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>, _modulo: &Object<'py>) -> PyResult<()> {
        static KNOWN: Known = Known::new("pow_");
        KNOWN.call(slf.py(), &[slf.as_any().as_borrowed(), other.as_borrowed()]).map(drop)
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
        binary(known, slf, other)
    }

    /// The transposed matrix.
    #[getter(T)]
    fn transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Py<PyAny>> {
        static KNOWN: Known = Known::new("numpy_T");
        unary(&KNOWN, slf)
    }

    /// The tensor with the matrices in the last two dimensions transposed.
    #[getter(mT)]
    fn matrices_transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Py<PyAny>> {
        static KNOWN: Known = Known::new("mT");
        unary(&KNOWN, slf)
    }
}
