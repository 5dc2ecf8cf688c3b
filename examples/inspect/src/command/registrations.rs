//! `inspect registrations`: the kernels registered for exactly a key, or all kernels.

use serde_json::{Value, json};
use torch_library::{DispatchKey, Dispatcher, RegistrationInfo, Result};

use super::table::with_flags;
use crate::answer::Answer;
use crate::columns::Columns;
use crate::json;

pub(crate) fn answer(key: Option<&str>) -> Result<Answer> {
    let key: Option<DispatchKey> = key.map(str::parse).transpose()?;
    let dispatcher = Dispatcher::global();
    let registrations = dispatcher.registrations(key);
    let mut fallbacks = dispatcher.fallbacks();
    fallbacks.retain(|fallback| key.is_none_or(|key| fallback.key == key));
    let of_fallback = fallbacks
        .iter()
        .map(|kernel| ["every operator".to_owned(), kernel.key.to_string(), with_flags(kernel)]);
    let lines: Columns = registrations.iter().map(line).chain(of_fallback).collect();
    let text = match key {
        Some(key) => format!("Kernels for {key}\n\n{lines}"),
        None => format!("Kernels\n\n{lines}"),
    };
    let json = json!({
        "kernels": json(&registrations),
        "fallbacks": fallbacks.iter().map(json::kernel).collect::<Value>(),
    });
    Ok(Answer::new(text, json))
}

/// A row with operator, key and kernel.
pub(crate) fn line(registration: &RegistrationInfo) -> [String; 3] {
    let RegistrationInfo { name, kernel, .. } = registration;
    [name.clone(), kernel.key.to_string(), with_flags(kernel)]
}

pub(crate) fn json(registrations: &[RegistrationInfo]) -> Value {
    let entry = |registration: &RegistrationInfo| {
        let mut kernel = json::kernel(&registration.kernel);
        kernel["operator"] = registration.name.clone().into();
        kernel
    };
    registrations.iter().map(entry).collect()
}
