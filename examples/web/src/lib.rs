//! The model that reads handwritten digits, for a web page, which sets pixels, runs the model and shows the result.
//!
//! Only numbers cross between the page and this module, one per call, so neither side accesses the other's memory.
#![expect(
    unsafe_code,
    reason = "names without a mangling may clash with others, as `read` would with that of C: these begin with `page_`"
)]

use std::cell::RefCell;

use torch_library::guard;
use torch_library::prelude::*;
use torch_library_export::include_model;
use torch_library_kernels::data::safetensors;

/// Pixels of an image: eight rows of eight.
const PIXELS: usize = 64;
const CLASSES: usize = 10;

include_model! {
    /// Takes images of 8 by 8 pixels from 0 to 16, and returns the probability of each of the ten digits.
    struct Digits = "../models/digits.pt2";
}

/// The state behind the page.
struct Desk {
    digits: Option<Digits>,
    pixels: [f32; PIXELS],
    likely: [f32; CLASSES],
    message: String,
}

thread_local! {
    static DESK: RefCell<Desk> = const {
        RefCell::new(Desk {
            digits: None,
            pixels: [0.0; PIXELS],
            likely: [0.0; CLASSES],
            message: String::new(),
        })
    };
}

impl Desk {
    fn read(&mut self) -> Result<()> {
        let digits = match &mut self.digits {
            Some(digits) => digits,
            none => none.insert(Digits::load()?),
        };
        let image = Tensor::from_vec(self.pixels.to_vec(), &[1, 1, 8, 8])?;
        let likely = guard::inference_mode(|| digits.forward(&image))?.to_vec::<f32>()?;
        self.likely.iter_mut().zip(likely).for_each(|(kept, new)| *kept = new);
        Ok(())
    }

    /// Loads the pixels of a recorded image.
    fn sample(&mut self, number: usize) -> Result<()> {
        let file = safetensors::from_bytes(include_bytes!("../../models/digits.inputs.safetensors"))?;
        let images = file["00"].to_vec::<f32>()?;
        let count = images.len() / PIXELS;
        let Some(image) = images.chunks_exact(PIXELS).nth(number) else {
            torch_library::bail!(Index, "there are {count} images, and none of number {number}");
        };
        self.pixels.copy_from_slice(image);
        Ok(())
    }
}

/// Does some work, and returns whether it succeeded; if not, it keeps the error message.
fn done(work: impl FnOnce(&mut Desk) -> Result<()>) -> bool {
    DESK.with_borrow_mut(|desk| {
        let result = work(desk);
        desk.message = result.as_ref().err().map(Error::to_string).unwrap_or_default();
        result.is_ok()
    })
}

/// Sets a pixel, from 0 (paper) to 16 (ink). A position outside of the image is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn page_set_pixel(place: usize, ink: f32) {
    DESK.with_borrow_mut(|desk| {
        if let Some(pixel) = desk.pixels.get_mut(place) {
            *pixel = ink.clamp(0.0, 16.0);
        }
    });
}

/// A pixel; zero outside of the image.
#[unsafe(no_mangle)]
pub extern "C" fn page_pixel(place: usize) -> f32 {
    DESK.with_borrow(|desk| desk.pixels.get(place).copied().unwrap_or_default())
}

/// Loads the pixels of a recorded image, of which there are eight.
#[unsafe(no_mangle)]
pub extern "C" fn page_take_sample(number: usize) -> bool {
    done(|desk| desk.sample(number))
}

/// Runs the model on the image.
#[unsafe(no_mangle)]
pub extern "C" fn page_read() -> bool {
    done(Desk::read)
}

/// The probability that the image is this digit, as of the last [`page_read`].
#[unsafe(no_mangle)]
pub extern "C" fn page_likelihood(digit: usize) -> f32 {
    DESK.with_borrow(|desk| desk.likely.get(digit).copied().unwrap_or_default())
}

/// A byte of the last error message; zero after its end.
#[unsafe(no_mangle)]
pub extern "C" fn page_message_byte(place: usize) -> u8 {
    DESK.with_borrow(|desk| desk.message.as_bytes().get(place).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_as_pytorch_reads_them() {
        let file =
            safetensors::from_bytes(include_bytes!("../../models/digits.outputs.safetensors")).unwrap();
        let recorded = file["00"].to_vec::<f32>().unwrap();
        for (number, expected) in recorded.chunks_exact(CLASSES).enumerate() {
            assert!(page_take_sample(number) && page_read());
            for (digit, expected) in expected.iter().enumerate() {
                assert!((page_likelihood(digit) - expected).abs() <= 1e-5, "image {number}, digit {digit}");
            }
        }
    }

    #[test]
    fn a_sample_that_is_not_there_has_a_message() {
        assert!(!page_take_sample(8));
        let message: Vec<u8> =
            (0..).map(|place| page_message_byte(place)).take_while(|byte| *byte != 0).collect();
        assert_eq!(String::from_utf8(message).unwrap(), "there are 8 images, and none of number 8");
    }

    #[test]
    fn places_outside_are_ignored() {
        page_set_pixel(PIXELS, 16.0);
        page_set_pixel(0, 99.0);
        assert_eq!((page_pixel(PIXELS), page_pixel(0), page_likelihood(CLASSES)), (0.0, 16.0, 0.0));
    }
}
