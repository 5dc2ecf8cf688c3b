//! Runs an ONNX model with rten: `rten-peer MODEL.onnx INPUTS.safetensors SECONDS` prints the nanoseconds of each run,
//! after a warm-up, one per line. `RTEN_NUM_THREADS` sets the number of threads.

use std::error::Error;
use std::time::{Duration, Instant};

use rten::{Model, Value, ValueOrView};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, model, inputs, seconds] = &arguments[..] else {
        return Err("MODEL.onnx INPUTS.safetensors SECONDS".into());
    };
    let seconds = Duration::from_secs_f64(seconds.parse()?);
    let model = Model::load_file(model)?;
    let bytes = std::fs::read(inputs)?;
    let mut tensors = SafeTensors::deserialize(&bytes)?.tensors();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let values = tensors.iter().map(|(_, view)| value(view)).collect::<Result<Vec<_>, _>>()?;
    let run = || {
        let given = values.iter().map(|value| ValueOrView::from(value.as_view()));
        let inputs = model.input_ids().iter().copied().zip(given).collect();
        model.run(inputs, model.output_ids(), None).map(drop)
    };
    run()?;
    let begun = Instant::now();
    while begun.elapsed() < seconds {
        let start = Instant::now();
        run()?;
        println!("{}", start.elapsed().as_nanos());
    }
    Ok(())
}

/// Converts a tensor to rten's types, whose only integers are of 32 bits.
fn value(view: &TensorView<'_>) -> Result<Value, Box<dyn Error>> {
    let (shape, bytes) = (view.shape(), view.data());
    match view.dtype() {
        Dtype::F32 => {
            let numbers = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
            Ok(Value::from_shape(shape, numbers.collect::<Vec<_>>())?)
        }
        Dtype::I64 => {
            let numbers = bytes.as_chunks().0.iter().map(|bytes| i32::try_from(i64::from_le_bytes(*bytes)));
            Ok(Value::from_shape(shape, numbers.collect::<Result<Vec<_>, _>>()?)?)
        }
        dtype => Err(format!("rten has no {dtype:?}").into()),
    }
}
