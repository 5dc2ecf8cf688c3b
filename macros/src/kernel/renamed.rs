//! The name that a package gives to torch-library in its manifest: `#[torch_fallback]` names no path that would lead
//! to the crate, and rustc's error for an unknown crate would not say what to write.

use std::path::Path;

/// The crate's other name, if the manifest of the package that is compiled gives it one and has it under no other.
pub(super) fn found() -> Option<String> {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR")?;
    of_manifest(&std::fs::read_to_string(Path::new(&folder).join("Cargo.toml")).ok()?)
}

fn of_manifest(text: &str) -> Option<String> {
    let mut table = Vec::new();
    let mut renamed = None;
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            table = header.trim_end_matches(']').split('.').map(bare).collect();
        }
        let Some(at) = table.iter().position(|part| part.ends_with("dependencies")) else { continue };
        // A dependency is a line of the table of dependencies, or has a table of its own.
        let in_line = || line.split_once('=').and_then(|(key, _)| key.split('.').next()).map(bare);
        let Some(name) = table.get(at + 1).copied().or_else(in_line) else { continue };
        if name.replace('-', "_") == "torch_library" {
            return None;
        }
        let squeezed: String = line.chars().filter(|letter| !letter.is_whitespace()).collect();
        if squeezed.contains("package=\"torch-library\"") {
            renamed = Some(name.replace('-', "_"));
        }
    }
    renamed
}

/// A key without spaces and quotes.
fn bare(key: &str) -> &str {
    key.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_each_form_of_a_dependency() {
        let name = |text: &str| of_manifest(text);
        let renamed = Some("my_tl".to_owned());
        assert_eq!(
            name("[dependencies]\nmy-tl = { package = \"torch-library\", version = \"0.1\" }"),
            renamed
        );
        assert_eq!(name("[target.'cfg(unix)'.dependencies.my-tl]\npackage = \"torch-library\""), renamed);
        assert_eq!(name("[dependencies]\ntl = { package = \"torch-library-loops\" }"), None);
        assert_eq!(name("[package]\nname = \"torch-library\"\n[dependencies]\nhalf = \"2\""), None);
    }

    #[test]
    fn a_package_that_also_has_the_crate_under_its_own_name_needs_no_other() {
        let renamed = "[dependencies]\ntl = { package = \"torch-library\" }\n";
        assert_eq!(of_manifest(renamed), Some("tl".to_owned()));
        for plain in ["[dev-dependencies]\ntorch-library.workspace = true", "[dependencies.torch-library]"] {
            assert_eq!(of_manifest(&format!("{renamed}{plain}")), None);
        }
    }
}
