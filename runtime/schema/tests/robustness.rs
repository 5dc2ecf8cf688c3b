//! Random texts never cause a panic, and every accepted one is printed so that it can be parsed back.

use torch_library_schema::token::lex;
use torch_library_schema::{Mode, Schema};

const PYTORCH: &str = include_str!("schemas.txt");

/// Fragments that are inserted into a schema to break it.
const FRAGMENTS: [&str; 64] = [
    "(",
    ")",
    "[",
    "]",
    "[]",
    "[2]",
    "[0]",
    "?",
    "!",
    "*",
    "|",
    ",",
    ":",
    "::",
    ".",
    "...",
    "->",
    "=",
    "-",
    "#",
    "\n",
    " ",
    "\\",
    "\"",
    "'",
    "(a!)",
    "(a -> *)",
    "(b|*)",
    "Tensor",
    "int",
    "SymInt[2]",
    "float",
    "complex",
    "bool",
    "str",
    "Scalar",
    "ScalarType",
    "Device",
    "Dict(str, ",
    "Union(int, ",
    "Future(",
    "None",
    "True",
    "=1",
    "=-1.5",
    "=1e10",
    "=2j",
    "=[1, 1]",
    "=[]",
    "=\"a\\n\\377\"",
    "='cpu'",
    "=float32",
    "=0x1e",
    "=1E5",
    "=-0.",
    "99999999999",
    "1e999",
    "é",
    "\0",
    "\r",
    "t",
    "__torch__.torch.classes.c10d.Work",
    "x, ",
    "*, ",
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    fn boundary(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn mutate(&mut self, text: &mut String, seeds: &[&str]) {
        let (a, b) = (self.boundary(text), self.boundary(text));
        let (start, end) = (a.min(b), a.max(b));
        match self.below(8) {
            0 => drop(text.drain(start..end)),
            1 => {
                let other = seeds[self.below(seeds.len())];
                let from = self.boundary(other);
                text.replace_range(start.., &other[from..]);
            }
            2 => {
                let copy = text[start..end].to_owned();
                text.insert_str(a, &copy);
            }
            _ => text.insert_str(start, FRAGMENTS[self.below(FRAGMENTS.len())]),
        }
    }
}

fn check(text: &str, mode: Mode) -> bool {
    let parsed = Schema::parse(text, mode);
    assert_eq!(
        parsed.is_ok(),
        Schema::parse_or_name(text, mode).is_ok_and(|either| either.is_ok()),
        "{text:?}"
    );
    let schema = match parsed {
        Ok(schema) => schema,
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end <= text.len(), "{text:?}");
            assert!(error.render(text).contains('^'));
            return false;
        }
    };
    let printed = schema.to_string();
    assert_eq!(Schema::parse(&printed, mode).as_ref(), Ok(&schema), "{text:?} is printed as {printed:?}");
    assert!(!schema.pytorch().to_string().is_empty());
    // A text may end with a line break, which a list of tokens may not contain.
    if !text.contains('\n') {
        assert_eq!(Schema::parse_tokens(&lex(text), mode), Ok(schema));
    }
    true
}

#[test]
fn a_hundred_thousand_broken_schemas() {
    let seeds: Vec<&str> = PYTORCH.lines().collect();
    let mut random = Random(1);
    let mut accepted = [0; 2];
    for round in 0..100_000 {
        let mut text = seeds[round % seeds.len()].to_owned();
        // Long texts mostly have a single mistake; short ones are correct more often.
        if random.below(2) == 0 {
            text = "f(int a, Tensor(a!) b, *, str c) -> Tensor(a!)".to_owned();
        }
        for _ in 0..=random.below(3) {
            random.mutate(&mut text, &seeds);
        }
        let is_strict = check(&text, Mode::Strict);
        let is_pytorch = check(&text, Mode::PyTorch);
        assert!(is_pytorch || !is_strict, "strict mode accepts more than PyTorch: {text:?}");
        accepted[0] += usize::from(is_strict);
        accepted[1] += usize::from(is_pytorch);
    }
    assert!(
        accepted[0] > 3_000 && accepted[1] > accepted[0],
        "too few were accepted to show anything: {accepted:?}"
    );
}

/// `count` items, each with its own number.
fn many(count: usize, of: impl Fn(usize) -> String, separator: &str) -> String {
    (0..count).map(of).collect::<Vec<_>>().join(separator)
}

#[test]
fn what_is_too_much_is_refused_before_it_is_compared() {
    let arguments = |count| format!("f({}) -> ()", many(count, |index| format!("int a{index}"), ", "));
    let returns = |count| format!("f() -> ({})", many(count, |index| format!("int r{index}"), ", "));
    let sets = |count| {
        let names = many(count - 1, |index| format!("s{index}"), "|");
        format!("f(Tensor({names}) x) -> Tensor(s0)")
    };
    let tuple = |count| format!("f(({}) x) -> ()", many(count, |_| "int".to_owned(), ", "));
    let union = |count| format!("f(Union({}, str) x) -> ()", many(count - 1, |_| "int".to_owned(), ", "));
    for mode in [Mode::Strict, Mode::PyTorch] {
        for (text, what) in [
            (&arguments as &dyn Fn(usize) -> String, "more than 256 arguments"),
            (&returns, "more than 256 returns"),
            (&sets, "more than 256 names of alias sets"),
            (&tuple, "more than 256 members of tuples and Unions"),
            (&union, "more than 256 members of tuples and Unions"),
        ] {
            let most = Schema::parse(&text(256), mode);
            assert!(most.is_ok(), "{what}: {most:?}");
            let many = text(4_000);
            let error = Schema::parse(&many, mode).unwrap_err();
            assert_eq!(error.message, what);
            assert_eq!(Schema::parse(&text(257), mode).unwrap_err().message, what);
            assert!(error.render(&many).len() < 2_000, "{}", error.render(&many));
        }
    }
}

#[test]
fn a_text_of_any_length_gives_a_short_error() {
    let long = "x".repeat(100_000);
    let error = Schema::parse(&format!("f(int {long}) -> ()"), Mode::Strict).unwrap_err();
    assert_eq!(error.message, "the text has 100013 bytes, and a schema at most 65536");

    let long = "x".repeat(60_000);
    let type_of = many(12_000, |_| "int".to_owned(), "|");
    let texts = [
        format!("f({long} x) -> ()"),
        format!("f(Tensor {long}, int {long}) -> ()").replace(&long, &"y".repeat(30_000)),
        format!("f(int x=\"{long}\") -> ()"),
        format!("f(int x=1{}) -> ()", "0".repeat(60_000)),
        format!("f(int x) -> () \"{long}\""),
        long.clone(),
        format!("f.__{long}() -> ()"),
        format!("f(Tensor x) -> Tensor({long})"),
        format!("f(Tensor({type_of}) x) -> ()"),
        format!("f({}int x) -> ()", " ".repeat(30_000) + &"(".repeat(30_000)),
        format!("f({}) -> ()", "int x, ".repeat(200) + "int y"),
        format!("f({}) -> ()", "*, ".repeat(20_000) + "int y"),
        format!("f(Tensor x){}", ".x".repeat(30_000)),
        format!("f({} x) -> ()", many(30_000, |_| "x".to_owned(), ".")),
    ];
    for text in texts {
        let error = Schema::parse(&text, Mode::Strict).unwrap_err();
        let lengths = (error.to_string().len(), error.render(&text).len());
        assert!(error.to_string().len() > 10);
        assert!(lengths.0 < 20_000 && lengths.1 < 40_000, "{lengths:?}: {}", &text[..40]);
        assert!(error.iter().count() <= 17);
    }
}
