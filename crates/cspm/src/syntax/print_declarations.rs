//! Declarations and types as text.

use super::names::Symbol;
use super::printer::{LINE, Place, Printer, Shown, Work, deeper};
use super::store::List;
use super::tree::*;

impl Printer<'_> {
    pub(super) fn declaration(&mut self, id: DeclarationId, indent: u32) {
        use Work::{Expression as Show, Text};
        let span = self.tree.declaration_span(id);
        let node = *self.tree.declaration(id);
        if let Declaration::Function { name, clauses } = node {
            let clauses = self.tree.list(clauses).iter();
            return self.then(clauses.map(|&clause| Work::Equation(name.name, clause, indent)).collect());
        }
        self.start(span, indent);
        let free = |id| Show(Shown::free(id, indent));
        match node {
            Declaration::Error { .. } => self.text("-- (a declaration that could not be read)"),
            Declaration::Function { .. } => {}
            Declaration::Binding { pattern, body } => {
                let mut work = vec![Work::Pattern(pattern, 0)];
                self.body(&mut work, body, indent);
                self.then(work);
            }
            Declaration::Channel { names, fields } => {
                let mut work = vec![Text("channel ")];
                self.names(&mut work, names, indent);
                if let Some(fields) = fields {
                    work.extend([self.token_before(" : ", fields, indent), free(fields)]);
                }
                self.then(work);
            }
            Declaration::Datatype { name, constructors } => self.datatype("datatype ", name, constructors, indent),
            Declaration::Subtype { name, constructors } => self.datatype("subtype ", name, constructors, indent),
            Declaration::Nametype { name, set } => {
                let equals = self.token_before(" = ", set, indent);
                self.then(vec![Text("nametype "), Work::Name(name, indent), equals, free(set)]);
            }
            Declaration::External(names) => self.keyword_and_names("external ", names, indent),
            Declaration::Transparent(names) => self.keyword_and_names("transparent ", names, indent),
            Declaration::Assert { negated, check, options } => self.assertion(negated, check, options, indent),
            Declaration::Print(shown) => self.then(vec![Text("print "), free(shown)]),
            Declaration::Include { path, .. } => self.then(vec![Text("include "), Work::Path(path)]),
            Declaration::Module { name, parameters, private, exported } => {
                let mut work = vec![Text("module "), Work::Name(name, indent)];
                if !parameters.is_empty() {
                    work.push(Text("("));
                    self.patterns(&mut work, parameters, indent);
                    work.push(Text(")"));
                }
                let inside = |list| {
                    let list = self.tree.list(list).iter();
                    list.map(|&id| Work::Declaration(id, deeper(indent))).collect::<Vec<Work>>()
                };
                work.extend(inside(private));
                let end = Place::end_of(span);
                let first = self.tree.list(exported).first();
                let exports = first.map_or(end, |&first| Place::start_of(self.tree.declaration_span(first)));
                work.extend([Work::Comments(exports, deeper(indent)), Work::Line(indent), Text("exports")]);
                work.extend(inside(exported));
                work.extend([Work::Comments(end, deeper(indent)), Work::Line(indent), Text("endmodule")]);
                self.then(work);
            }
            Declaration::Instance { name, module, arguments } => {
                let equals = Work::Token { text: " = ", before: Place::start_of(module.span), indent };
                let mut work = vec![Text("instance "), Work::Name(name, indent), equals, Work::Name(module, indent)];
                if !arguments.is_empty() {
                    work.push(Text("("));
                    self.all_free(&mut work, arguments, indent);
                    work.push(Text(")"));
                }
                self.then(work);
            }
            Declaration::Timed { durations, declarations } => {
                let mut work = vec![Text("Timed")];
                if let Some(durations) = durations {
                    work.extend([Text("("), free(durations), Text(")")]);
                }
                work.push(Text(" {"));
                let list = self.tree.list(declarations).iter();
                work.extend(list.map(|&id| Work::Declaration(id, deeper(indent))));
                let end = Place::end_of(span);
                work.extend([Work::Comments(end, deeper(indent)), Work::Line(indent), Text("}")]);
                self.then(work);
            }
            Declaration::Annotation { names, constraints, annotated } => {
                let mut work = Vec::new();
                self.names(&mut work, names, indent);
                work.push(Text(" :: "));
                let constraints = self.tree.list(constraints);
                if constraints.len() > 1 {
                    work.push(Text("("));
                }
                for (at, constraint) in constraints.iter().enumerate() {
                    if at > 0 {
                        work.push(Text(", "));
                    }
                    let kind = match constraint.kind {
                        ConstraintKind::Eq => "Eq ",
                        ConstraintKind::Ord => "Ord ",
                        ConstraintKind::Set => "Set ",
                        ConstraintKind::Complete => "Complete ",
                        ConstraintKind::Yieldable => "Yieldable ",
                    };
                    work.extend([Text(kind), Work::Symbol(constraint.variable.name)]);
                }
                work.push(Text(match constraints.len() {
                    0 => "",
                    1 => " => ",
                    _ => ") => ",
                }));
                work.push(Work::Type(annotated, 0));
                self.then(work);
            }
        }
    }

    /// Starts the line of a declaration, after the comments before it.
    fn start(&mut self, span: trefoil_source::Span, indent: u32) {
        self.comments_before(span.start, indent);
        self.blank_line(span.start);
        self.line(indent);
    }

    pub(super) fn equation(&mut self, name: Symbol, clause: Clause, indent: u32) {
        self.start(clause.span, indent);
        let mut work = vec![Work::Symbol(name)];
        let groups = self.tree.list(clause.parameters);
        for (at, &group) in groups.iter().enumerate() {
            work.push(Work::Text("("));
            self.patterns(&mut work, group, indent);
            // The tree does not know where the bracket stands; a comment before it is one before the body.
            work.push(match at + 1 == groups.len() {
                true => self.token_before(")", clause.body, indent),
                false => Work::Text(")"),
            });
        }
        self.body(&mut work, clause.body, indent);
        self.then(work);
    }

    fn body(&mut self, work: &mut Vec<Work>, body: ExpressionId, indent: u32) {
        if self.widths.of(body) + indent + 10 > LINE {
            let inner = deeper(indent);
            let equals = self.token_before(" =", body, indent);
            work.extend([equals, Work::Line(inner), Work::Expression(Shown::free(body, inner))]);
        } else {
            work.extend([self.token_before(" = ", body, indent), Work::Expression(Shown::free(body, indent))]);
        }
    }

    fn names(&self, work: &mut Vec<Work>, names: List<Named<Symbol>>, indent: u32) {
        for (at, &name) in self.tree.list(names).iter().enumerate() {
            if at > 0 {
                work.push(Work::Token { text: ", ", before: Place::start_of(name.span), indent });
            }
            work.push(Work::Name(name, indent));
        }
    }

    fn keyword_and_names(&mut self, keyword: &'static str, names: List<Named<Symbol>>, indent: u32) {
        let mut work = vec![Work::Text(keyword)];
        self.names(&mut work, names, indent);
        self.then(work);
    }

    fn all_free(&self, work: &mut Vec<Work>, items: List<ExpressionId>, indent: u32) {
        for (at, &item) in self.tree.list(items).iter().enumerate() {
            if at > 0 {
                work.push(self.token_before(", ", item, indent));
            }
            work.push(Work::Expression(Shown::free(item, indent)));
        }
    }

    fn datatype(
        &mut self,
        keyword: &'static str,
        name: Named<Symbol>,
        constructors: List<Constructor<Symbol>>,
        indent: u32,
    ) {
        let constructors = self.tree.list(constructors);
        let width = constructors.iter().fold(0, |sum, constructor| {
            let fields = constructor.fields.map_or(0, |fields| self.widths.of(fields) + 1);
            sum + self.tree.names.text(constructor.name.name).len() as u32 + fields + 3
        });
        let wide = width + 20 > LINE;
        let mut work = vec![Work::Text(keyword), Work::Name(name, indent)];
        for (at, constructor) in constructors.iter().enumerate() {
            let before = Place::start_of(constructor.name.span);
            if at > 0 && wide {
                let inner = deeper(indent);
                work.extend([Work::Comments(before, inner), Work::Line(inner), Work::Text("| ")]);
            } else {
                work.push(Work::Token { text: if at > 0 { " | " } else { " = " }, before, indent });
            }
            work.push(Work::Name(constructor.name, indent));
            if let Some(fields) = constructor.fields {
                work.extend([Work::Text("."), Work::Expression(Shown::free(fields, indent))]);
            }
        }
        self.then(work);
    }

    fn assertion(&mut self, negated: bool, check: Check, options: List<CheckOption>, indent: u32) {
        use Work::Text;
        let free = |id| Work::Expression(Shown::free(id, indent));
        let mut work = vec![Text(if negated { "assert not " } else { "assert " })];
        match check {
            Check::Error => work.push(Text("_")),
            Check::Refinement { specification, model, implementation } => {
                self.subject(&mut work, specification, negated, indent);
                let open = self.token_before(" [", implementation, indent);
                work.extend([open, Text(model_text(model)), Text("= "), free(implementation)]);
            }
            Check::Property { process, property, model } => {
                self.subject(&mut work, process, negated, indent);
                work.push(Text(match property {
                    Property::DeadlockFree => " :[deadlock free",
                    Property::LivelockFree => " :[divergence free",
                    Property::Deterministic => " :[deterministic",
                }));
                in_model(&mut work, model);
                work.push(Text("]"));
            }
            Check::HasTrace { process, model, trace } => {
                self.subject(&mut work, process, negated, indent);
                work.push(Text(" :[has trace"));
                in_model(&mut work, model);
                work.extend([Text("]: "), free(trace)]);
            }
            Check::Symmetric { expression, types } => {
                self.subject(&mut work, expression, negated, indent);
                work.push(Text(" :[symmetric]: "));
                self.all_free(&mut work, types, indent);
            }
        }
        for &option in self.tree.list(options) {
            match option {
                CheckOption::TauPriority(events) => {
                    work.extend([self.token_before(" :[tau priority over]: ", events, indent), free(events)]);
                }
                CheckOption::PartialOrderReduce(None) => work.push(Text(" :[partial order reduce]")),
                CheckOption::PartialOrderReduce(Some(strategy)) => {
                    work.extend([Text(" :[partial order reduce ["), Work::Symbol(strategy), Text("]]")]);
                }
                CheckOption::SymmetryReduce(types) if types.is_empty() => work.push(Text(" :[symmetry reduce]")),
                CheckOption::SymmetryReduce(types) => {
                    work.push(Text(" :[symmetry reduce]: "));
                    self.all_free(&mut work, types, indent);
                }
            }
        }
        self.then(work);
    }

    /// What is asserted about; a `not` that belongs to it must not be taken for the assertion's.
    fn subject(&self, work: &mut Vec<Work>, subject: ExpressionId, negated: bool, indent: u32) {
        let mut first = subject;
        let starts_with_not = loop {
            if self.tree.expression_brackets.around(first.index()).is_some() {
                break false;
            }
            first = match *self.tree.expression(first) {
                Expression::Unary { operator, .. } => break operator == UnaryOperator::Not,
                Expression::Binary { left, .. }
                | Expression::Synchronised { left, .. }
                | Expression::Alphabetised { left, .. }
                | Expression::Link { left, .. } => left,
                Expression::Prefix { channel, .. } => channel,
                _ => break false,
            };
        };
        let shown = Work::Expression(Shown::free(subject, indent));
        if starts_with_not && !negated {
            work.extend([Work::Text("("), shown, Work::Text(")")]);
        } else {
            work.push(shown);
        }
    }

    pub(super) fn type_expression(&mut self, id: TypeId, least: u8) {
        use Work::{Text, Type as Show};
        let node = *self.tree.type_of(id);
        let own = match node {
            Type::Function(..) => 0,
            Type::Dotable(..) | Type::Extendable(..) => 1,
            Type::Dot(..) => 2,
            _ => 3,
        };
        let pairs = self.tree.type_brackets.around(id.index()).map_or(u32::from(own < least), |(pairs, _)| pairs);
        for _ in 0..pairs {
            self.text("(");
            self.then(vec![Text(")")]);
        }
        let listed = |items: List<TypeId>| {
            let mut work = vec![Text("(")];
            for (at, &item) in self.tree.list(items).iter().enumerate() {
                if at > 0 {
                    work.push(Text(", "));
                }
                work.push(Show(item, 0));
            }
            work.push(Text(")"));
            work
        };
        let work = match node {
            Type::Error => vec![Text("_")],
            Type::Name(name) => vec![Work::Symbol(name)],
            Type::Set(item) => vec![Text("{"), Show(item, 0), Text("}")],
            Type::Sequence(item) => vec![Text("<"), Show(item, 0), Text(">")],
            Type::Tuple(items) => listed(items),
            Type::Function(arguments, result) => {
                let mut work = listed(arguments);
                work.extend([Text(" -> "), Show(result, 0)]);
                work
            }
            Type::Dot(left, right) => vec![Show(left, 3), Text("."), Show(right, 2)],
            Type::Dotable(left, right) => vec![Show(left, 2), Text(" => "), Show(right, 1)],
            Type::Extendable(left, right) => vec![Show(left, 2), Text(" =>* "), Show(right, 1)],
            Type::Map(key, value) => vec![Text("(| "), Show(key, 2), Text(" => "), Show(value, 0), Text(" |)")],
        };
        self.then(work);
    }
}

fn model_text(model: Model) -> &'static str {
    match model {
        Model::Traces => "T",
        Model::Failures => "F",
        Model::FailuresDivergences => "FD",
        Model::Revivals => "V",
        Model::RevivalsDivergences => "VD",
        Model::Refusals => "R",
        Model::RefusalsDivergences => "RD",
    }
}

fn in_model(work: &mut Vec<Work>, model: Option<Model>) {
    if let Some(model) = model {
        work.extend([Work::Text(" ["), Work::Text(model_text(model)), Work::Text("]")]);
    }
}
