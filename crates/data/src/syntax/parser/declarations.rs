//! The sections of a data specification.

use trefoil_source::{Diagnostic, Place};

use crate::syntax::codes;
use crate::syntax::token::Kind;
use crate::syntax::tree::{DataSection, Equation, Functions, Power, SortDeclaration};

use super::{Parser, Reads};

impl Parser<'_> {
    /// Reads a data section if one starts here.
    pub fn data_section(&mut self) -> Option<DataSection> {
        Some(match self.peek() {
            Kind::Sort => DataSection::Sorts(self.section(Parser::sort_declaration)),
            Kind::Cons => DataSection::Constructors(self.section(Parser::functions)),
            Kind::Map => DataSection::Maps(self.section(Parser::functions)),
            Kind::Var | Kind::Eqn => self.equations(),
            _ => return None,
        })
    }

    /// Reads the keyword of a section and its declarations up to the next section. A declaration with a mistake is left
    /// out.
    pub fn section<T>(&mut self, declaration: impl Fn(&mut Self) -> Reads<T>) -> Vec<T> {
        let keyword = self.advance();
        let mut declarations = Vec::new();
        let mut failed = false;
        while self.peek() != Kind::End && !self.peek().starts_section() {
            let start = self.position();
            match declaration(self) {
                Ok(declaration) => declarations.push(declaration),
                Err(_) => {
                    failed = true;
                    self.recover(start);
                }
            }
        }
        if declarations.is_empty() && !failed {
            let message = format!("a `{}` section declares nothing", keyword.kind.text());
            self.report(codes::EXPECTED, message, keyword.span, None);
        }
        declarations
    }

    fn sort_declaration(&mut self) -> Reads<SortDeclaration> {
        let names = self.names()?;
        let start = names[0].span;
        if names.len() == 1 && self.accept(Kind::Is) {
            let sort = self.sort()?;
            let end = self.expect(Kind::Semicolon)?;
            return Ok(SortDeclaration::Alias(names[0], sort, start.to(end)));
        }
        let end = self.expect(Kind::Semicolon)?;
        Ok(SortDeclaration::New(names, start.to(end)))
    }

    fn functions(&mut self) -> Reads<Functions> {
        let names = self.names()?;
        self.expect(Kind::Colon)?;
        let sort = self.sort()?;
        let end = self.expect(Kind::Semicolon)?;
        let span = names[0].span.to(end);
        Ok(Functions { names, sort, span })
    }

    fn equations(&mut self) -> DataSection {
        let mut variables = Vec::new();
        if self.peek() == Kind::Var {
            let keyword = self.here();
            variables = self.section(|parser| {
                let start = parser.here();
                let variables = parser.variables()?;
                let end = parser.expect(Kind::Semicolon)?;
                Ok((variables, start.to(end)))
            });
            if self.peek() != Kind::Eqn {
                let message = "variables without equations";
                let diagnostic = Diagnostic::error(codes::VARIABLES_ALONE, message, Place::Span(keyword));
                self.diagnostics.push(diagnostic.help("an `eqn` section follows a `var` section"));
                return DataSection::Equations { variables, equations: Vec::new() };
            }
        }
        let equations = self.section(Parser::equation);
        DataSection::Equations { variables, equations }
    }

    /// Reads `c -> l = r;`.
    fn equation(&mut self) -> Reads<Equation> {
        let start = self.here();
        let mut left = self.expression(Power::LOOSEST)?;
        let mut condition = None;
        if self.accept(Kind::Arrow) {
            condition = Some(left);
            left = self.expression(Power::LOOSEST)?;
        }
        if self.peek() == Kind::Equal && condition.is_none() {
            return Err(self.expected("`=`"));
        }
        if self.peek() == Kind::Semicolon {
            let message = "an equation needs `=` and a right side".to_string();
            let help = Some("a condition is followed by `->`; for a Boolean fact write `… = true`".to_string());
            return Err(self.report(codes::EXPECTED, message, start.to(self.before()), help));
        }
        let equals = self.here();
        self.expect(Kind::Is)?;
        let right = self.expression(Power::LOOSEST)?;
        if self.peek() == Kind::Arrow && condition.is_none() {
            let message = "`=` in the condition of an equation".to_string();
            return Err(self.report(
                codes::SINGLE_EQUALS,
                message,
                equals,
                Some("equality is written `==`".to_string()),
            ));
        }
        if self.peek() == Kind::Is {
            return Err(self.single_equals());
        }
        let end = self.expect(Kind::Semicolon)?;
        Ok(Equation { condition, left, right, span: start.to(end) })
    }
}
