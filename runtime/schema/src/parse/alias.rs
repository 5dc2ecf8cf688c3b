//! Alias annotations: `(a)`, `(a!)`, `(a! -> a|b)`, `!`.

use super::{Parser, Result};
use crate::alias::{AliasInfo, AliasSet};
use crate::schema::Mode;
use crate::token::TokenKind;

impl<'t> Parser<'t> {
    /// Parses the annotation at the present position, if there is one.
    #[inline]
    pub(super) fn alias_info(&mut self) -> Result<Option<Box<AliasInfo>>> {
        match self.peek() {
            TokenKind::OpenParen => self.annotation().map(Some),
            TokenKind::Bang => Ok(Some(self.fresh_set())),
            _ => Ok(None),
        }
    }

    /// Parses `(a! -> b)`.
    fn annotation(&mut self) -> Result<Box<AliasInfo>> {
        self.advance();
        let before = self.alias_set()?;
        let is_write = self.eat(TokenKind::Bang);
        let after = if self.eat(TokenKind::Arrow) { self.alias_set()? } else { before.clone() };
        if !self.eat(TokenKind::CloseParen) {
            let help = "an alias annotation is `(a)`, `(a!)`, `(a|b)`, `(*)` or `(a -> b)`";
            return Err(self.unexpected_with_help("`)` after an alias set", help));
        }
        Ok(Box::new(AliasInfo { before, after, is_write, contained: Vec::new() }))
    }

    /// Parses the shorthand `Tensor!`: written to, in a fresh set. For PyTorch it is in no set after the call.
    fn fresh_set(&mut self) -> Box<AliasInfo> {
        self.advance();
        let before = AliasSet::one(&format!("${}", self.fresh_sets));
        self.fresh_sets += 1;
        Box::new(AliasInfo { before, is_write: true, ..AliasInfo::default() })
    }

    /// Parses `a`, `a|b` or `*`. After `*` further names are ignored, since it includes them.
    fn alias_set(&mut self) -> Result<AliasSet> {
        let first = self.set_name(false)?;
        if self.peek() != TokenKind::Pipe {
            return Ok(AliasSet::one(first));
        }
        let mut names = vec![first];
        let mut seen_wildcard = first == AliasSet::WILDCARD;
        while self.eat(TokenKind::Pipe) {
            if !seen_wildcard || self.peek() == TokenKind::Star {
                let name = self.set_name(seen_wildcard)?;
                seen_wildcard |= name == AliasSet::WILDCARD;
                names.push(name);
            }
        }
        Ok(AliasSet::new(names))
    }

    fn set_name(&mut self, only_wildcard: bool) -> Result<&'t str> {
        if self.eat(TokenKind::Star) || only_wildcard {
            return Ok(AliasSet::WILDCARD);
        }
        self.limit(self.alias_names, "names of alias sets")?;
        self.alias_names += 1;
        let span = self.here();
        let name = self.name("the name of an alias set")?;
        if !self.in_returns {
            self.declared_sets.push(name);
        } else if self.mode == Mode::Strict && !self.declared_sets.contains(&name) {
            self.problem(
                span,
                format!("no argument is in the alias set `{name}`"),
                format!("annotate the argument it aliases, as in `Tensor({name}) self`"),
            );
        }
        Ok(name)
    }
}
