//! The mutations of `rules.txt`: parses them, and plants them in the text of a file.

use std::path::Path;

use crate::Result;

/// How a mutation is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `from → to`: by a switch at run time.
    Switched,
    /// `from ⇒ to`: in a build of its own.
    Built,
}

/// A planted bug.
#[derive(Debug)]
pub(crate) struct Flip {
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The crate whose tests detect it, and parts of the tests' names.
    pub(crate) tests: Vec<String>,
    pub(crate) changes: Vec<Change>,
}

/// One place of a mutation.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) file: String,
    from: String,
    to: String,
}

impl Flip {
    pub(crate) fn package(&self) -> &str {
        &self.tests[0]
    }

    pub(crate) fn filters(&self) -> &[String] {
        &self.tests[1..]
    }
}

pub(crate) fn read(file: &Path) -> Result<Vec<Flip>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<Flip>> {
    let mut flips: Vec<Flip> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let fault = || format!("not NAME | FILE | TESTS | FROM → TO: {line}");
        let mut parts = line.splitn(4, " | ").map(str::trim);
        let [Some(name), Some(file), Some(tests), Some(change)] = std::array::from_fn(|_| parts.next())
        else {
            return Err(fault());
        };
        let (kind, (from, to)) = match (change.split_once('→'), change.split_once('⇒')) {
            (Some(change), None) => (Kind::Switched, change),
            (None, Some(change)) => (Kind::Built, change),
            _ => return Err(fault()),
        };
        let change = Change { file: file.into(), from: from.trim().into(), to: to.trim().into() };
        let tests: Vec<String> = tests.split_whitespace().map(String::from).collect();
        let number = flips.len() + 1;
        match flips.iter_mut().find(|flip| flip.name == name) {
            // A mutation in several places has a line for each, one below the other.
            Some(flip) if flip.number + 1 == number && flip.kind == kind => flip.changes.push(change),
            None if !tests.is_empty() => {
                flips.push(Flip { number, name: name.into(), kind, tests, changes: vec![change] });
            }
            _ => return Err(fault()),
        }
    }
    Ok(flips)
}

impl Change {
    /// Makes this change in a text; its pattern must match at exactly one place.
    pub(crate) fn apply(&self, text: &str, flip: &Flip) -> Result<String> {
        let places = places(text, &self.from);
        let [(start, end)] = places[..] else {
            return Err(format!(
                "{}: fits {} places of {}: {}",
                flip.name,
                places.len(),
                self.file,
                self.from
            ));
        };
        let (from, to) =
            (&text[start..end], self.to.replace("FLIP", &format!("crate::__flip({})", flip.number)));
        let switch = format!("if crate::__flip({}) {{ {to} }} else {{ {from} }}", flip.number);
        let is_statement = from.ends_with([';', '}']);
        let new = match flip.kind {
            Kind::Built => to,
            // The replacement contains its own switch.
            Kind::Switched if self.to.contains("FLIP") => to,
            Kind::Switched if is_statement => switch,
            Kind::Switched => format!("({switch})"),
        };
        Ok(format!("{}{new}{}", &text[..start], &text[end..]))
    }
}

/// Where a pattern matches in a text, if every blank in the pattern stands for any white space.
fn places(text: &str, pattern: &str) -> Vec<(usize, usize)> {
    let mut words = pattern.split_whitespace();
    let Some(first) = words.next() else { return Vec::new() };
    let rest: Vec<&str> = words.collect();
    let end = |start: usize| {
        rest.iter().try_fold(start + first.len(), |at, word| {
            let blank = text[at..].len() - text[at..].trim_start().len();
            (blank > 0 && text[at + blank..].starts_with(word)).then_some(at + blank + word.len())
        })
    };
    text.match_indices(first).filter_map(|(start, _)| Some((start, end(start)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(rule: &str, text: &str) -> Result<String> {
        let flip = &parse(&format!("a name | a.rs | runtime a::test | {rule}"))?[0];
        flip.changes[0].apply(text, flip)
    }

    #[test]
    fn expressions_and_statements_get_a_switch() {
        assert_eq!(
            changed("a + b → a - b", "f(a +\n  b)").unwrap(),
            "f((if crate::__flip(1) { a - b } else { a +\n  b }))"
        );
        assert_eq!(changed("g(); →", "g(); h();").unwrap(), "if crate::__flip(1) {  } else { g(); } h();");
        assert_eq!(
            changed("skip(1) → skip(usize::from(!FLIP))", "skip(1)").unwrap(),
            "skip(usize::from(!crate::__flip(1)))"
        );
        assert_eq!(changed("A = 1 ⇒ A = 2", "A = 1,").unwrap(), "A = 2,");
    }

    #[test]
    fn what_fits_nowhere_or_twice_is_an_error() {
        assert!(changed("x → y", "z").unwrap_err().contains("fits 0 places of a.rs"));
        assert!(changed("x → y", "x x").unwrap_err().contains("fits 2 places of a.rs"));
    }

    /// The program that plants them runs rarely, so a change to the sources would leave a rule behind.
    #[test]
    fn every_rule_fits_the_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let flips = read(&root.join("tests/mutations/rules.txt")).unwrap();
        let changes = flips.iter().flat_map(|flip| flip.changes.iter().map(move |change| (flip, change)));
        let fault = |(flip, change): (&Flip, &Change)| {
            let text = std::fs::read_to_string(root.join(&change.file)).map_err(|error| error.to_string());
            text.and_then(|text| change.apply(&text, flip)).err()
        };
        let faults: Vec<String> = changes.filter_map(fault).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn a_flip_may_have_several_places() {
        let rules =
            "one | a.rs | runtime t | a → b\none | b.rs | runtime t | c → d\ntwo | a.rs | kernels t | e ⇒ f";
        let flips = parse(rules).unwrap();
        assert_eq!(flips.iter().map(|flip| flip.changes.len()).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((flips[1].package(), flips[1].number, flips[1].kind), ("kernels", 2, Kind::Built));
        assert!(parse("no change | a.rs | runtime t | a").is_err());
        assert!(parse(&format!("{rules}\none | a.rs | runtime t | g → h")).unwrap_err().contains("one"));
    }
}
