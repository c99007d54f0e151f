//! Units of a model and declarations of variables.

use trefoil_source::Span;

use super::{Inline, Parsed, Parser, Wrong};
use crate::codes::EXPECTED;
use crate::syntax::token::Kind;
use crate::syntax::tree::{
    ChannelType, Claim, ClaimBody, Declaration, Declared, Expression, ExpressionKind, Initial, MtypeSet, Process,
    Sequence, TypeName, Unit, Visibility, Word,
};

impl Parser<'_> {
    /// One unit; none where only a semicolon or an inline stands.
    pub(super) fn unit(&mut self) -> Parsed<Option<Unit>> {
        let token = self.peek().clone();
        let Some(name) = token.name().cloned() else {
            if self.take(";") || self.take("->") {
                return Ok(None);
            }
            return self.no_unit();
        };
        self.lost &= !self.starts_unit();
        Ok(Some(match &*name {
            "active" | "proctype" | "D_proctype" => Unit::Process(self.process()?),
            "init" => {
                self.next();
                self.init_takes_no_parameters();
                let priority = self.priority()?;
                let (body, end) = self.body()?;
                let name = Word { text: ":init:".into(), span: token.span };
                Unit::Process(Process {
                    name,
                    active: None,
                    deterministic: false,
                    parameters: Some(Vec::new()),
                    priority,
                    provided: None,
                    body,
                    end,
                })
            }
            "never" => {
                self.next();
                let name = if self.peek().is("{") { None } else { Some(self.word("a name")?) };
                let (body, _) = self.body()?;
                Unit::Claim(Claim { name, span: token.span, body: ClaimBody::Never(body) })
            }
            "ltl" => {
                self.next();
                let name = if self.peek().is("{") { None } else { Some(self.word("a name")?) };
                self.need("{")?;
                self.temporal = true;
                let formula = self.expression();
                self.temporal = false;
                let formula = formula?;
                self.take(";");
                self.need("}")?;
                Unit::Claim(Claim { name, span: token.span, body: ClaimBody::Formula(formula) })
            }
            "trace" | "notrace" => {
                self.next();
                let (body, end) = self.body()?;
                Unit::Trace { forbidden: &*name == "notrace", body, span: token.span, end }
            }
            "typedef" => {
                self.next();
                let name = self.word("a name for the type")?;
                self.records.insert(name.text.clone(), ());
                self.need("{")?;
                let mut fields = Vec::new();
                while !self.peek().is("}") {
                    fields.push(self.declaration()?);
                    while self.take(";") {}
                }
                self.need("}")?;
                Unit::Typedef { name, fields }
            }
            "inline" => {
                self.inline()?;
                return Ok(None);
            }
            "mtype" if self.is_mtype_set() => {
                self.next();
                let set = if self.take(":") { Some(self.word("a name for the set")?) } else { None };
                self.take("=");
                self.need("{")?;
                let mut names = Vec::new();
                while !self.peek().is("}") {
                    names.push(self.word("a name")?);
                    while self.take(",") {}
                }
                self.need("}")?;
                Unit::Mtype(MtypeSet { set, names })
            }
            "c_code" | "c_decl" | "c_state" | "c_track" => {
                return self.refuse_c(&name, token.span);
            }
            _ if self.begins_declaration() => {
                let declaration = self.declaration()?;
                let ends = self.peek().is(";") || self.peek().is("->") || self.peek().kind == Kind::End;
                if !ends && !self.starts_unit() && !self.begins_declaration() {
                    return self.expected("`;` behind the declaration");
                }
                Unit::Declare(declaration)
            }
            _ => return self.no_unit(),
        }))
    }

    /// Reports text between units; of the rest of a body that a brace closed too early, only the first part.
    fn no_unit<T>(&mut self) -> Parsed<T> {
        if self.lost || self.foreign_type() {
            return Err(Wrong);
        }
        self.lost = true;
        self.expected("a declaration, a proctype or `init`")
    }

    /// `mtype = {`, `mtype : set = {`, `mtype {`
    fn is_mtype_set(&self) -> bool {
        let after = |ahead: usize| {
            self.peek_at(ahead).is("{") || (self.peek_at(ahead).is("=") && self.peek_at(ahead + 1).is("{"))
        };
        after(1) || (self.peek_at(1).is(":") && after(3))
    }

    fn process(&mut self) -> Parsed<Process> {
        let mut active = None;
        let from = self.peek().span;
        if self.take_name("active") {
            active = Some(Expression { kind: ExpressionKind::Number(1), span: from });
            if self.take("[") {
                active = Some(self.expression()?);
                self.need("]")?;
            }
        }
        let deterministic = self.peek().is_name("D_proctype");
        if !self.take_name("proctype") && !self.take_name("D_proctype") {
            return self.expected("`proctype`");
        }
        let name = self.word("a name for the proctype")?;
        let heading = self.at;
        let (parameters, priority, provided) = match self.heading(&name) {
            Ok((parameters, priority, provided)) => (Some(parameters), priority, provided),
            Err(Wrong) => {
                // The body is checked all the same.
                while !self.peek().is("{") && self.peek().kind != Kind::End && !self.starts_unit() {
                    self.next();
                }
                (heading..self.at).for_each(|at| self.poison(at));
                (None, None, None)
            }
        };
        if !self.peek().is("{") && parameters.is_none() {
            return Err(Wrong);
        }
        let (body, end) = self.body()?;
        Ok(Process { name, active, deterministic, parameters, priority, provided, body, end })
    }

    /// What stands between the name of a proctype and its body.
    fn heading(&mut self, name: &Word) -> Parsed<(Vec<Declaration>, Option<i32>, Option<Expression>)> {
        let mut parameters = Vec::new();
        if self.peek().is("{") {
            let help = format!("write `proctype {}()`", name.text);
            self.report(format!("the proctype `{}` has no list of parameters", name.text), name.span, help);
        } else {
            self.need("(")?;
            while !self.peek().is(")") {
                parameters.push(self.declaration()?);
                while self.take(";") || self.take(",") {}
            }
            self.need(")")?;
        }
        let priority = self.priority()?;
        let mut provided = None;
        if self.take_name("provided") {
            self.need("(")?;
            provided = Some(self.expression()?);
            self.need(")")?;
        }
        Ok((parameters, priority, provided))
    }

    fn priority(&mut self) -> Parsed<Option<i32>> {
        if self.take_name("priority") { Ok(Some(self.number("a number for the priority")?)) } else { Ok(None) }
    }

    fn body(&mut self) -> Parsed<(Sequence, Span)> {
        self.closers.clear();
        let body = self.block()?;
        Ok((body, self.tokens[self.at.saturating_sub(1)].span))
    }

    /// `inline f(a, b) { … }`: its tokens are kept.
    fn inline(&mut self) -> Parsed<()> {
        self.next();
        let name = self.word("a name for the inline")?;
        self.need("(")?;
        let mut parameters = Vec::new();
        while !self.peek().is(")") {
            parameters.push(self.word("a parameter")?.text);
            if !self.take(",") {
                break;
            }
        }
        self.need(")")?;
        if !self.peek().is("{") {
            return self.expected("`{`");
        }
        let (from, mut depth) = (self.at, 0);
        loop {
            match self.peek().kind {
                Kind::Mark("{") => depth += 1,
                Kind::Mark("}") => depth -= 1,
                Kind::End => {
                    let message = format!("the inline `{}` is not closed by `}}`", name.text);
                    return self.complain(EXPECTED, message, name.span);
                }
                _ => {}
            }
            self.next();
            if depth == 0 {
                break;
            }
        }
        let body = self.tokens[from..self.at].into();
        self.inlines.insert(name.text, Inline { parameters, body });
        Ok(())
    }

    /// Does a declaration of variables begin here?
    pub(super) fn begins_declaration(&self) -> bool {
        let mut ahead = 0;
        while matches!(self.peek_at(ahead).name().map(|name| &**name), Some("hidden" | "show" | "local")) {
            ahead += 1;
        }
        let Some(name) = self.peek_at(ahead).name() else { return false };
        match &**name {
            "bit" | "bool" | "byte" | "short" | "int" | "unsigned" | "pid" | "chan" | "mtype" => true,
            _ => self.records.contains_key(name) && self.peek_at(ahead + 1).name().is_some(),
        }
    }

    pub(super) fn declaration(&mut self) -> Parsed<Declaration> {
        let from = self.peek().span;
        let mut visibility = Visibility::Plain;
        loop {
            visibility = match self.peek().name().map(|name| &**name) {
                Some("hidden") => Visibility::Hidden,
                Some("show") => Visibility::Show,
                Some("local") => Visibility::Local,
                _ => break,
            };
            self.next();
        }
        let type_name = self.type_name()?;
        let mut variables = Vec::new();
        loop {
            variables.push(self.declared()?);
            // In a list of parameters another declaration may follow a comma.
            if !self.peek().is(",") || !self.continues() {
                break;
            }
            self.next();
        }
        Ok(Declaration { visibility, type_name, variables, span: self.since(from) })
    }

    /// Is what follows the comma another variable of the same declaration?
    fn continues(&self) -> bool {
        let Some(name) = self.peek_at(1).name() else { return true };
        let types = matches!(
            &**name,
            "bit"
                | "bool"
                | "byte"
                | "short"
                | "int"
                | "unsigned"
                | "pid"
                | "chan"
                | "mtype"
                | "hidden"
                | "show"
                | "local"
        );
        !(types || self.records.contains_key(name) && self.peek_at(2).name().is_some())
    }

    pub(super) fn type_name(&mut self) -> Parsed<TypeName> {
        let Some(name) = self.peek().name().cloned() else { return self.expected("a type") };
        Ok(match &*name {
            "bit" => {
                self.next();
                TypeName::Bit
            }
            "bool" => {
                self.next();
                TypeName::Bool
            }
            "byte" => {
                self.next();
                TypeName::Byte
            }
            "short" => {
                self.next();
                TypeName::Short
            }
            "int" => {
                self.next();
                TypeName::Int
            }
            "unsigned" => {
                self.next();
                TypeName::Unsigned
            }
            "pid" => {
                self.next();
                TypeName::Pid
            }
            "chan" => {
                self.next();
                TypeName::Channel
            }
            "mtype" => {
                self.next();
                TypeName::Mtype(if self.take(":") { Some(self.word("the name of an mtype set")?) } else { None })
            }
            _ if self.records.contains_key(&name) => TypeName::Record(self.word("a type")?),
            _ => return self.expected("a type"),
        })
    }

    fn declared(&mut self) -> Parsed<Declared> {
        let name = self.word("a name for the variable")?;
        let (mut length, mut width, mut initial) = (None, None, None);
        if self.take("[") {
            length = Some(self.expression()?);
            self.need("]")?;
        } else if self.take(":") {
            let span = self.peek().span;
            width = Some((self.number("a number of bits")?, span));
        }
        if self.take("=") {
            initial = Some(if self.peek().is("[") {
                Initial::Channel(self.channel_type()?)
            } else if self.take("{") {
                let mut list = Vec::new();
                while !self.peek().is("}") {
                    list.push(self.expression()?);
                    if !self.take(",") {
                        break;
                    }
                }
                self.need("}")?;
                Initial::List(list)
            } else {
                Initial::Value(self.expression()?)
            });
        }
        Ok(Declared { name, length, width, initial })
    }

    fn channel_type(&mut self) -> Parsed<ChannelType> {
        let from = self.need("[")?;
        let capacity = self.expression()?;
        self.need("]")?;
        self.need_name("of")?;
        self.need("{")?;
        let mut fields = Vec::new();
        loop {
            let span = self.peek().span;
            fields.push((self.type_name()?, span));
            if !self.take(",") {
                break;
            }
        }
        self.need("}")?;
        Ok(ChannelType { capacity, fields, span: self.since(from) })
    }
}
