//! YAML as a tree whose nodes know their place in the text.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::text::{Mistake, Spot};

/// A node of the document.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) content: Content,
    pub(crate) spot: Spot,
}

/// The kind and content of a node.
#[derive(Debug)]
pub(crate) enum Content {
    Text {
        text: String,
        /// Whether the scalar is unquoted, so that `True` is not a string.
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// The maximum depth of nesting: real files are not deeper, and the stack is finite.
const DEEPEST: usize = 32;

/// Reads a document.
///
/// # Errors
/// The text is not valid YAML, or uses features that declarations do not need: anchors, several documents.
pub(crate) fn parse(text: &str) -> Result<Node, Mistake> {
    let mut events = Events(Parser::new_from_str(text));
    let mut root = None;
    loop {
        let (event, spot) = events.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            Event::StreamEnd => {
                let empty = Node { content: Content::List(Vec::new()), spot };
                return Ok(root.unwrap_or(empty));
            }
            _ if root.is_some() => return Err(spot.mistake("expected one document, this is a second one")),
            event => root = Some(events.node(event, spot, 0)?),
        }
    }
}

struct Events<'t>(Parser<'t, saphyr_parser::StrInput<'t>>);

impl<'t> Events<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Spot), Mistake> {
        match self.0.next_event() {
            Some(Ok((event, span))) => Ok((event, spot(span))),
            Some(Err(error)) => Err(mistake(&error)),
            None => Ok((Event::StreamEnd, Spot { line: 0, column: 0, length: 0 })),
        }
    }

    /// The node that starts with an event.
    fn node(&mut self, event: Event<'t>, spot: Spot, depth: usize) -> Result<Node, Mistake> {
        if depth > DEEPEST {
            return Err(spot.mistake("lists and mappings are nested too deep"));
        }
        let content = match event {
            Event::Scalar(text, style, ..) => {
                Content::Text { text: text.into_owned(), plain: style == ScalarStyle::Plain }
            }
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                while let Some(item) = self.item(&Event::SequenceEnd, depth)? {
                    items.push(item);
                }
                Content::List(items)
            }
            Event::MappingStart(..) => {
                let mut pairs: Vec<(Node, Node)> = Vec::new();
                while let Some(key) = self.item(&Event::MappingEnd, depth)? {
                    if let Some(name) = key.text()
                        && let Some((first, _)) = pairs.iter().find(|(other, _)| other.text() == Some(name))
                    {
                        let line = first.spot.line;
                        let distance = key.spot.line - line;
                        let plural = if distance == 1 { "" } else { "s" };
                        let message = format!("`{name}` is given twice, first {distance} line{plural} above");
                        return Err(key.spot.mistake(message));
                    }
                    let (event, spot) = self.next()?;
                    let value = self.node(event, spot, depth + 1)?;
                    pairs.push((key, value));
                }
                Content::Map(pairs)
            }
            Event::Alias(_) => {
                return Err(spot.mistake("expected the value itself, YAML aliases are not supported"));
            }
            _ => return Err(spot.mistake("expected a value")),
        };
        Ok(Node { content, spot })
    }

    /// The next node of a list, or `None` at its end.
    fn item(&mut self, end: &Event<'_>, depth: usize) -> Result<Option<Node>, Mistake> {
        let (event, spot) = self.next()?;
        if event == *end { Ok(None) } else { self.node(event, spot, depth + 1).map(Some) }
    }
}

fn spot(span: Span) -> Spot {
    let (start, end) = (span.start, span.end);
    let length = if start.line() == end.line() { end.col().saturating_sub(start.col()) } else { usize::MAX };
    Spot { line: start.line().saturating_sub(1), column: start.col(), length }
}

fn mistake(error: &ScanError) -> Mistake {
    let at = error.marker();
    Spot { line: at.line().saturating_sub(1), column: at.col(), length: 1 }.mistake(error.info())
}

impl Node {
    /// The text of a scalar of any type.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The kind of node, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.content {
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
            Content::Text { plain: false, .. } => "a string",
            Content::Text { text, .. } if boolean(text).is_some() => "a bool",
            Content::Text { text, .. } if text.parse::<f64>().is_ok() => "a number",
            Content::Text { text, .. } if matches!(&**text, "" | "~" | "null" | "Null" | "NULL") => "nothing",
            Content::Text { .. } => "a string",
        }
    }

    /// The text of a scalar that is not a bool, number or null.
    ///
    /// # Errors
    /// It is something else.
    pub(crate) fn as_text(&self) -> Result<&str, Mistake> {
        match self.text() {
            Some(text) if self.kind() == "a string" => Ok(text),
            _ => Err(self.spot.mistake(format!("expected a string, found {}", self.kind()))),
        }
    }

    /// # Errors
    /// It is not a bool.
    pub(crate) fn as_bool(&self) -> Result<bool, Mistake> {
        let value = match &self.content {
            Content::Text { text, plain: true } => boolean(text),
            _ => None,
        };
        value.ok_or_else(|| self.spot.mistake(format!("expected True or False, found {}", self.kind())))
    }

    /// # Errors
    /// It is not a list.
    pub(crate) fn as_list(&self) -> Result<&[Node], Mistake> {
        match &self.content {
            Content::List(items) => Ok(items),
            _ => Err(self.spot.mistake(format!("expected a list, found {}", self.kind()))),
        }
    }

    /// # Errors
    /// It is not a mapping.
    pub(crate) fn as_map(&self) -> Result<&[(Node, Node)], Mistake> {
        match &self.content {
            Content::Map(pairs) => Ok(pairs),
            _ => Err(self.spot.mistake(format!("expected a mapping, found {}", self.kind()))),
        }
    }
}

/// The keywords of YAML 1.1, which PyTorch's generator reads.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}
