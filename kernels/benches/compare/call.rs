//! A call of any operator, written as text: what [`sweep.py`](sweep.py) measures.
//!
//! `aten::add.Tensor f32[64,64] f32[64]' alpha=2` names an operator and its arguments, by position or by name:
//! tensors of a dtype and sizes, lists of them in braces, lists of numbers, numbers, words in quotes, dtypes,
//! `none`. After the sizes of a tensor may stand `'` (its last two dimensions transposed), `^` (its dimensions 1 and 2
//! transposed, as the heads of attention are), `/` (the first half of rows that are twice as long), `@` (channels
//! last), `+` (numbers from 0.1 to 0.9) and, for whole numbers, `<N` (from 0 to N - 1; else from 1 to 9).

use torch_library::prelude::*;
use torch_library::{Dispatcher, OperatorHandle, Value};
use torch_library_kernels::aten;

use crate::rows::typed;
use crate::serve;

/// The row that makes this call, or nothing where the text is none.
pub(crate) fn row(text: &str) -> Option<serve::Row<Error>> {
    let call = text.contains("::").then(|| text.to_owned())?;
    Some(serve::Row::new(text, move || Call::parse(&call), Call::make))
}

struct Call {
    operator: OperatorHandle,
    arguments: Vec<(Option<String>, Value<'static>)>,
}

impl Call {
    fn parse(text: &str) -> Result<Call> {
        let mut words = text.split_whitespace();
        let operator = Dispatcher::global().find(words.next().unwrap_or_default())?;
        let arguments = words.map(|word| match word.split_once('=') {
            Some((name, word)) => Ok((Some(name.to_owned()), value(word)?)),
            None => Ok((None, value(word)?)),
        });
        Ok(Call { operator, arguments: arguments.collect::<Result<_>>()? })
    }

    fn make(&self) -> Result<usize> {
        // Handles of their own: an operator may write to its argument.
        let value = |value: &Value<'static>| match value {
            Value::Tensor(tensor) => Value::Tensor(tensor.clone()),
            Value::Tensors(tensors) => Value::from(tensors.to_vec()),
            other => other.borrowed().into_owned(),
        };
        let by_position = self.arguments.iter().filter(|(name, _)| name.is_none()).map(|(_, it)| value(it));
        let by_name = self.arguments.iter().filter_map(|(name, it)| Some((name.as_deref()?, value(it))));
        Ok(self.operator.call_with(by_position, by_name)?.len())
    }
}

fn value(word: &str) -> Result<Value<'static>> {
    let inside = |open, close| word.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(tensors) = inside('{', '}') {
        return Ok(tensors.split(';').map(tensor).collect::<Result<Vec<_>>>()?.into());
    }
    if let Some(text) = inside('"', '"') {
        return Ok(text.to_owned().into());
    }
    if let Some(numbers) = inside('[', ']') {
        return list(numbers);
    }
    match word {
        "none" => Ok(Value::None),
        "true" => Ok(Value::Bool(true)),
        "false" => Ok(Value::Bool(false)),
        _ if word.contains('[') => Ok(tensor(word)?.into()),
        _ => match (word.parse::<i64>(), word.parse::<f64>()) {
            (Ok(number), _) => Ok(Value::Int(number)),
            (_, Ok(number)) => Ok(Value::Float(number)),
            _ => Ok(Value::DType(dtype(word)?)),
        },
    }
}

fn list(numbers: &str) -> Result<Value<'static>> {
    let numbers: Vec<&str> = numbers.split(',').filter(|number| !number.is_empty()).collect();
    if numbers.iter().all(|number| matches!(*number, "true" | "false")) && !numbers.is_empty() {
        return Ok(numbers.iter().map(|number| *number == "true").collect::<Vec<bool>>().into());
    }
    if let Ok(ints) = numbers.iter().map(|number| number.parse()).collect::<Result<Vec<i64>, _>>() {
        return Ok(ints.into());
    }
    match numbers.iter().map(|number| number.parse()).collect::<Result<Vec<f64>, _>>() {
        Ok(floats) => Ok(floats.into()),
        Err(_) => bail!(Argument, "[{}] is no list of numbers", numbers.join(",")),
    }
}

fn dtype(word: &str) -> Result<DType> {
    match word {
        "f32" => Ok(DType::Float32),
        "f64" => Ok(DType::Float64),
        "f16" => Ok(DType::Float16),
        "bf16" => Ok(DType::BFloat16),
        "c64" => Ok(DType::Complex64),
        "i64" => Ok(DType::Int64),
        "i32" => Ok(DType::Int32),
        "u8" => Ok(DType::UInt8),
        _ => word.parse(),
    }
}

fn tensor(word: &str) -> Result<Tensor> {
    let Some((kind, (sizes, marks))) =
        word.split_once('[').and_then(|(kind, rest)| Some((kind, rest.split_once(']')?)))
    else {
        bail!(Argument, "{word} is no tensor");
    };
    let sizes = sizes.split(',').filter(|size| !size.is_empty()).map(|size| size.parse::<i64>());
    let Ok(sizes) = sizes.collect::<Result<Vec<i64>, _>>() else {
        bail!(Argument, "{word} has a size that is no number");
    };
    let mut sizes = sizes;
    if let Some(last) = sizes.last_mut().filter(|_| marks.contains('/')) {
        *last *= 2;
    }
    let dtype = dtype(kind)?;
    let below = marks.split_once('<').and_then(|(_, below)| below.parse().ok());
    let numbers = if dtype == DType::Bool {
        aten::gt_Scalar(&aten::randn(&sizes)?, 0.into())?
    } else if !dtype.is_floating_point() && !dtype.is_complex() {
        aten::to_dtype(&aten::randint_low(i64::from(below.is_none()), below.unwrap_or(10), &sizes)?, dtype)?
    } else if marks.contains('+') {
        aten::to_dtype(
            &aten::add_Scalar(&aten::mul_Scalar(&aten::rand(&sizes)?, 0.8.into())?, 0.1.into())?,
            dtype,
        )?
    } else {
        typed(&sizes, dtype)?
    };
    match () {
        () if marks.contains('\'') => aten::transpose_int(&numbers, -1, -2),
        () if marks.contains('^') => aten::transpose_int(&numbers, 1, 2),
        () if marks.contains('/') => {
            aten::chunk::with(&numbers, 2).dim(-1).call().map(|mut halves| halves.swap_remove(0))
        }
        () if marks.contains('@') => {
            aten::contiguous::with(&numbers).memory_format(MemoryFormat::ChannelsLast).call()
        }
        () => Ok(numbers),
    }
}
