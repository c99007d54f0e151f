//! Sort expressions and declarations of variables.

use crate::syntax::codes;
use crate::syntax::token::Kind;
use crate::syntax::tree::{Basic, Container, Sort, SortId, StructConstructor, Variables};

use super::{Parser, Reads};

impl Parser<'_> {
    /// Reads a sort: `A # B -> C`, where `->` groups to the right and `#` binds more tightly.
    pub fn sort(&mut self) -> Reads<SortId> {
        self.nest(|parser| {
            let start = parser.here();
            let mut domain = vec![parser.simple_sort()?];
            while parser.accept(Kind::Hash) {
                domain.push(parser.simple_sort()?);
            }
            if parser.accept(Kind::Arrow) {
                let codomain = parser.sort()?;
                let span = start.to(parser.before());
                return Ok(parser.tree.add_sort(Sort::Function(domain, codomain), span));
            }
            if domain.len() == 1 {
                return Ok(domain[0]);
            }
            let span = start.to(parser.before());
            Ok(parser.tree.add_sort(Sort::Product(domain), span))
        })
    }

    fn simple_sort(&mut self) -> Reads<SortId> {
        let start = self.here();
        let sort = match self.peek() {
            Kind::Bool => self.basic(Basic::Bool),
            Kind::Pos => self.basic(Basic::Pos),
            Kind::Nat => self.basic(Basic::Nat),
            Kind::Int => self.basic(Basic::Int),
            Kind::Real => self.basic(Basic::Real),
            Kind::List => self.container(Container::List)?,
            Kind::Set => self.container(Container::Set)?,
            Kind::FSet => self.container(Container::FSet)?,
            Kind::Bag => self.container(Container::Bag)?,
            Kind::FBag => self.container(Container::FBag)?,
            Kind::Name => Sort::Name(self.name()?.symbol),
            Kind::Struct => self.structured()?,
            Kind::Open => {
                self.advance();
                let inside = self.sort()?;
                self.expect(Kind::Close)?;
                Sort::Brackets(inside)
            }
            _ => return Err(self.expected("a sort")),
        };
        let span = start.to(self.before());
        Ok(self.tree.add_sort(sort, span))
    }

    fn basic(&mut self, basic: Basic) -> Sort {
        self.advance();
        Sort::Basic(basic)
    }

    fn container(&mut self, container: Container) -> Reads<Sort> {
        self.advance();
        if self.peek() != Kind::Open {
            let message = format!("`{}` needs the sort of its elements", container.text());
            let help = format!("write `{}(S)`", container.text());
            return Err(self.report(codes::EXPECTED, message, self.before(), Some(help)));
        }
        self.advance();
        let inside = self.sort()?;
        self.expect(Kind::Close)?;
        Ok(Sort::Container(container, inside))
    }

    fn structured(&mut self) -> Reads<Sort> {
        self.advance();
        let mut constructors = vec![self.struct_constructor()?];
        while self.accept(Kind::Bar) {
            constructors.push(self.struct_constructor()?);
        }
        Ok(Sort::Struct(constructors))
    }

    fn struct_constructor(&mut self) -> Reads<StructConstructor> {
        let name = self.name()?;
        let mut arguments = Vec::new();
        if self.accept(Kind::Open) {
            loop {
                let projection = if self.peek_after(1) == Kind::Colon { Some(self.name()?) } else { None };
                if projection.is_some() {
                    self.advance();
                }
                arguments.push((projection, self.sort()?));
                if !self.accept(Kind::Comma) {
                    break;
                }
            }
            self.expect(Kind::Close)?;
        }
        let recogniser = if self.accept(Kind::Question) { Some(self.name()?) } else { None };
        Ok(StructConstructor { name, arguments, recogniser })
    }

    /// Reads `x, y: S, z: T`.
    pub fn variables(&mut self) -> Reads<Vec<Variables>> {
        let mut variables = Vec::new();
        loop {
            let names = self.names()?;
            if self.peek() == Kind::Dot {
                let last = names[names.len() - 1];
                let name = self.tree.names.text(last.symbol).to_string();
                let message = format!("the sort of `{name}` is missing");
                return Err(self.report(codes::NO_SORT, message, last.span, Some(format!("write `{name}: S`"))));
            }
            self.expect(Kind::Colon)?;
            let sort = self.sort()?;
            variables.push(Variables { names, sort });
            if !self.accept(Kind::Comma) {
                return Ok(variables);
            }
        }
    }
}
