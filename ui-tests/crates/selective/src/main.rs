//! Calls some operators of a library, names another, and checks what was linked.
#![forbid(unsafe_code)]
#![deny(warnings)]

use reached::reached;
use reached_elsewhere as _;
use torch_library::Dispatcher;
use torch_library::prelude::*;

fn operators() -> Vec<String> {
    Dispatcher::global().operators().iter().map(|operator| operator.operator.to_string()).collect()
}

/// Whether the program contains a string. It is given reversed, since otherwise the program would always contain it.
fn is_linked(backwards: &str) -> bool {
    let text: Vec<u8> = backwards.bytes().rev().collect();
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    program.windows(text.len()).any(|bytes| bytes == text)
}

fn main() -> Result<()> {
    println!("{:?}", operators());
    let x = Tensor::from([1.0f32]);
    x.set_requires_grad(true)?;
    let y = reached::outer(&x)?;
    println!("outer: {:?} by {}", y.to_vec::<f32>()?, y.grad_fn()?.unwrap().name());
    println!("replaced: {:?}", reached::replaced(&x)?.to_vec::<f32>()?);
    println!("{:?}", operators());

    let mut out = Tensor::from([0.0f32]);
    reached::doubled_out(&Tensor::from([1.0f32]), &mut out)?;
    println!("doubled: {:?}", out.to_vec::<f32>()?);
    println!("named: {}", Dispatcher::global().find("reached::named").is_ok());
    torch_library::link!(reached::named);
    println!("named: {}", Dispatcher::global().find("reached::named").is_ok());
    println!("unreached: {}", Dispatcher::global().find("reached::unreached").is_ok());

    println!("a text that is there: {}", is_linked(":decalper"));
    println!("in a block: {}", is_linked("KCOLB A NI LENREK DEHCAERNU"));
    println!("a derivative: {}", is_linked("EVITAVIRED DEHCAERNU"));
    println!("the derivative of what is called: {}", is_linked("RENNI FO EVITAVIRED EHT"));
    println!("by itself: {}", is_linked("FLESTI YB LENREK DEHCAERNU"));
    Ok(())
}
