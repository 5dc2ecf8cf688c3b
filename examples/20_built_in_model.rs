//! A model exported by PyTorch, as a type of this program: no file is read at run time.

use torch_library::guard;
use torch_library::prelude::*;
use torch_library_export::include_model;
use torch_library_kernels::data::safetensors;

include_model! {
    /// Reads handwritten digits. The archive is checked at compile time: it is complete, its operators are linked, and
    /// `forward` has the model's inputs and outputs.
    struct Digits = "models/digits.pt2";
}

fn main() -> Result<()> {
    let digits = Digits::load()?;
    for input in digits.program().inputs() {
        println!("takes   {input}");
    }
    for output in digits.program().outputs() {
        println!("returns {output}");
    }

    let file = safetensors::from_bytes(include_bytes!("models/digits.inputs.safetensors"))?;
    let likely = guard::inference_mode(|| digits.forward(&file["00"]))?;
    for row in likely.to_vec::<f32>()?.chunks(10) {
        let class = (0..10).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap_or_default();
        println!("a {class}: {}", "#".repeat((row[class] * 40.0) as usize));
    }

    // An input that does not fit the model is an error, as for any exported program.
    let wide = Tensor::from_vec(vec![0f32; 81], &[1, 1, 9, 9])?;
    println!("{}", digits.forward(&wide).unwrap_err());
    Ok(())
}

// Prints:
// takes   images: float32[s34 (1 to 1024), 1, 8, 8]
// returns result: float32[s34 (1 to 1024), 10]
// a 8: #############################
// a 8: ######################################
// a 4: #######################################
// a 9: #######################################
// a 0: #######################################
// a 8: ##############################
// a 9: ####################################
// a 8: ####################################
// size 2 of input `images` is 9, but the program was exported for 8 only
