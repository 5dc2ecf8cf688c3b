//! Alias annotations: `(a)`, `(a!)`, `(a! -> a|b)`, `!`.

use super::{Parser, Result};
use crate::alias::{AliasInfo, AliasSet};
use crate::schema::Mode;
use crate::token::TokenKind;

impl<'t> Parser<'t, '_> {
    /// The annotation that stands here, if one does.
    pub(super) fn alias_info(&mut self) -> Result<Option<AliasInfo>> {
        if self.eat(b'!') {
            return Ok(Some(self.fresh_set()));
        }
        if !self.eat(b'(') {
            return Ok(None);
        }
        let before = self.alias_set()?;
        let is_write = self.eat(b'!');
        let after = if self.eat_kind(TokenKind::Arrow) { self.alias_set()? } else { before.clone() };
        if !self.eat(b')') {
            let error = self.unexpected("`)` after an alias set");
            return Err(error.with_help("an alias annotation is `(a)`, `(a!)`, `(a|b)`, `(*)` or `(a -> b)`"));
        }
        Ok(Some(AliasInfo { before, after, is_write, contained: Vec::new() }))
    }

    /// The shorthand `Tensor!`: written to, in a set of its own. PyTorch leaves it in no set afterwards.
    fn fresh_set(&mut self) -> AliasInfo {
        let before = AliasSet::one(&format!("${}", self.fresh_sets));
        self.fresh_sets += 1;
        AliasInfo { before, is_write: true, ..AliasInfo::default() }
    }

    /// `a`, `a|b`, `*`. After `*` no further name is read: it swallows them.
    fn alias_set(&mut self) -> Result<AliasSet> {
        let first = self.set_name(false)?;
        if self.peek() != TokenKind::Punct(b'|') {
            return Ok(AliasSet::one(first));
        }
        let mut names = vec![first];
        while self.eat(b'|') {
            let seen_wildcard = names.contains(&AliasSet::WILDCARD);
            if !seen_wildcard || self.peek() == TokenKind::Punct(b'*') {
                names.push(self.set_name(seen_wildcard)?);
            }
        }
        Ok(AliasSet::new(names))
    }

    fn set_name(&mut self, only_wildcard: bool) -> Result<&'t str> {
        if self.eat(b'*') || only_wildcard {
            return Ok(AliasSet::WILDCARD);
        }
        let span = self.span();
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
