//! Random trees, printed and parsed again.
//!
//! The generator builds from the leaves up and left to right, in the order in which the parser does, so that equal
//! trees have equal vectors.

mod support;

use support::parse_text;
use trefoil_cspm::syntax::*;
use trefoil_source::{FileId, Span};

/// A small generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

const NOWHERE: Span = Span { file: FileId(0), start: 0, end: 0 };
const NAMES: &[&str] = &["a", "b", "P", "Q", "x'", "card", "M::c", "_u", "s1"];

struct Grower {
    tree: Tree<Symbol>,
    random: Random,
}

impl Grower {
    fn name(&mut self, plain: bool) -> Symbol {
        let at = self.random.below(NAMES.len());
        let text = if plain && NAMES[at].contains("::") { "a" } else { NAMES[at] };
        self.tree.names.intern(text)
    }

    fn add(&mut self, node: Expression<Symbol>) -> ExpressionId {
        self.tree.add_expression(node, NOWHERE)
    }

    fn several<T>(&mut self, least: usize, mut grow: impl FnMut(&mut Grower) -> T) -> Vec<T> {
        let count = least + self.random.below(3);
        (0..count).map(|_| grow(self)).collect()
    }

    fn expressions(&mut self, least: usize, size: usize) -> List<ExpressionId> {
        let items = self.several(least, |grower| grower.expression(size));
        self.tree.add_list(items)
    }

    fn pairs(&mut self, least: usize, size: usize) -> List<Pair> {
        let pairs = self.several(least, |grower| {
            let left = grower.expression(size);
            Pair(left, grower.expression(size))
        });
        self.tree.add_list(pairs)
    }

    fn statements(&mut self, least: usize, size: usize) -> List<Statement> {
        let statements = self.several(least, |grower| {
            if grower.random.below(3) == 0 {
                return Statement::Condition(grower.expression(size));
            }
            let pattern = grower.pattern(size);
            Statement::Generator { pattern, set: grower.expression(size) }
        });
        self.tree.add_list(statements)
    }

    fn optional_statements(&mut self, size: usize) -> List<Statement> {
        if self.random.below(2) == 0 { List::EMPTY } else { self.statements(1, size) }
    }

    fn pattern(&mut self, size: usize) -> PatternId {
        let node = match if size == 0 { self.random.below(6) } else { self.random.below(13) } {
            0 => Pattern::Wildcard,
            1 => Pattern::Integer(self.random.below(9) as i64 - 4),
            2 => Pattern::Boolean(self.random.below(2) == 0),
            3 => Pattern::Character(['c', '\'', '\\', '\n', 'é'][self.random.below(5)]),
            4 => Pattern::String(self.tree.names.intern("a \"b\" \\ \n")),
            5 | 6 => Pattern::Name(self.name(false)),
            7 => {
                let items = self.several(2, |grower| grower.pattern(size / 2));
                Pattern::Tuple(self.tree.add_list(items))
            }
            8 => {
                let items = self.several(0, |grower| grower.pattern(size / 2));
                Pattern::Set(self.tree.add_list(items))
            }
            9 => {
                let items = self.several(0, |grower| grower.pattern(size / 2));
                Pattern::Sequence(self.tree.add_list(items))
            }
            kind => {
                let left = self.pattern(size / 2);
                let right = self.pattern(size / 2);
                match kind {
                    10 => Pattern::Concatenate(left, right),
                    11 => Pattern::Dot(left, right),
                    _ => Pattern::Both(left, right),
                }
            }
        };
        self.tree.add_pattern(node, NOWHERE)
    }

    fn expression(&mut self, size: usize) -> ExpressionId {
        if size == 0 {
            let node = match self.random.below(6) {
                0 => Expression::Integer(self.random.below(100) as u32),
                1 => Expression::Boolean(self.random.below(2) == 0),
                2 => Expression::Character(['c', '\'', '"', '\t'][self.random.below(4)]),
                3 => Expression::String(self.tree.names.intern("-- {- \"")),
                _ => Expression::Name(self.name(false)),
            };
            return self.add(node);
        }
        let less = self.random.below(size);
        let node = match self.random.below(22) {
            0 => {
                let operators = [UnaryOperator::Not, UnaryOperator::Negate, UnaryOperator::Length];
                let operator = operators[self.random.below(3)];
                Expression::Unary { operator, operand: self.expression(size - 1) }
            }
            1..=7 => {
                use BinaryOperator::*;
                const ALL: [BinaryOperator; 24] = [
                    Hide,
                    Project,
                    Interleave,
                    InternalChoice,
                    ExternalChoice,
                    Interrupt,
                    SlidingChoice,
                    Sequential,
                    Guard,
                    Dot,
                    Or,
                    And,
                    Equal,
                    NotEqual,
                    Less,
                    LessOrEqual,
                    Greater,
                    GreaterOrEqual,
                    Add,
                    Subtract,
                    Multiply,
                    Divide,
                    Remainder,
                    Concatenate,
                ];
                let operator = ALL[self.random.below(ALL.len())];
                let left = self.expression(less);
                Expression::Binary { operator, left, right: self.expression(size - 1 - less) }
            }
            8 => {
                use SynchronisedOperator::*;
                let operator = [Parallel, Exception, ExternalChoice, Interrupt][self.random.below(4)];
                let left = self.expression(less);
                let events = self.expression(size / 4);
                Expression::Synchronised { operator, left, events, right: self.expression(size - 1 - less) }
            }
            9 => {
                let left = self.expression(less);
                let left_alphabet = self.expression(size / 4);
                let right_alphabet = self.expression(size / 4);
                let right = self.expression(size - 1 - less);
                Expression::Alphabetised { left, left_alphabet, right_alphabet, right }
            }
            10 => {
                let left = self.expression(less);
                let ties = self.pairs(1, size / 4);
                let statements = self.optional_statements(size / 4);
                Expression::Link { left, ties, statements, right: self.expression(size - 1 - less) }
            }
            11 => {
                let process = self.expression(less);
                let renames = self.pairs(0, size / 4);
                let statements = self.optional_statements(size / 4);
                Expression::Rename { process, renames, statements }
            }
            12 => {
                let channel = self.expression(size / 4);
                let fields = self.several(0, |grower| match grower.random.below(3) {
                    0 => Field::Output(grower.expression(size / 4)),
                    kind => {
                        let pattern = grower.pattern(size / 4);
                        let set = (grower.random.below(2) == 0).then(|| grower.expression(size / 4));
                        if kind == 1 { Field::Input(pattern, set) } else { Field::Choice(pattern, set) }
                    }
                });
                let process = self.expression(size - 1);
                let fields = self.tree.add_list(fields);
                Expression::Prefix { channel, fields, process }
            }
            13 => {
                let function = self.expression(less);
                Expression::Apply { function, arguments: self.expressions(0, size / 3) }
            }
            14 => Expression::Tuple(self.expressions(2, size / 3)),
            15 | 16 => {
                use CollectionKind::*;
                let kind = [Sequence, Set, Productions, Sequence][self.random.below(4)];
                let items = match self.random.below(4) {
                    0 => Items::From(self.expression(size / 3)),
                    1 => {
                        let first = self.expression(size / 3);
                        Items::Range(first, self.expression(size / 3))
                    }
                    _ => Items::Listed(self.expressions(0, size / 3)),
                };
                Expression::Collection { kind, items, statements: self.optional_statements(size / 3) }
            }
            17 => Expression::Map(self.pairs(0, size / 3)),
            18 => {
                let condition = self.expression(size / 3);
                let then = self.expression(size / 3);
                Expression::If { condition, then, otherwise: self.expression(size - 1) }
            }
            19 => {
                let declarations = self.definitions(size / 3);
                let body = self.expression(size / 2);
                let declarations = self.tree.add_list(declarations);
                Expression::Let { declarations, body }
            }
            20 => {
                let parameters = self.several(1, |grower| grower.pattern(size / 4));
                let body = self.expression(size - 1);
                let parameters = self.tree.add_list(parameters);
                Expression::Lambda { parameters, body }
            }
            _ => self.replicated(size),
        };
        self.add(node)
    }

    fn replicated(&mut self, size: usize) -> Expression<Symbol> {
        let kind = self.random.below(8);
        let mut operator = match kind {
            0 => Replication::Interleave,
            1 => Replication::ExternalChoice,
            2 => Replication::InternalChoice,
            4 => Replication::Parallel(self.expression(size / 4)),
            5 => Replication::SynchronisingChoice(self.expression(size / 4)),
            6 => {
                let ties = self.pairs(1, size / 4);
                Replication::Link(ties, self.optional_statements(size / 4))
            }
            _ => Replication::Sequential,
        };
        let statements = self.statements(1, size / 4);
        if kind == 7 {
            operator = Replication::Alphabetised(self.expression(size / 4));
        }
        Expression::Replicated { operator, statements, body: self.expression(size - 1) }
    }

    /// Bindings and functions, no two neighbouring functions of one name.
    fn definitions(&mut self, size: usize) -> Vec<DeclarationId> {
        let mut declarations = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let clauses = if self.random.below(2) == 0 { 0 } else { 1 + self.random.below(2) };
            let named = Named { name: self.name(true), span: NOWHERE };
            let clauses: Vec<Clause> = (0..clauses)
                .map(|_| {
                    let groups = self.several(1, |grower| {
                        let group = grower.several(0, |grower| grower.pattern(size / 3));
                        grower.tree.add_list(group)
                    });
                    let parameters = self.tree.add_list(groups);
                    Clause { parameters, body: self.expression(size), span: NOWHERE }
                })
                .collect();
            let pattern = self.pattern(size / 2);
            let body = self.expression(size);
            // A function is complete when the next declaration has been read.
            if !clauses.is_empty() {
                let clauses = self.tree.add_list(clauses);
                let node = Declaration::Function { name: named, clauses };
                declarations.push(self.tree.add_declaration(node, NOWHERE));
            }
            declarations.push(self.tree.add_declaration(Declaration::Binding { pattern, body }, NOWHERE));
        }
        declarations
    }

    fn grown_type(&mut self, size: usize) -> TypeId {
        let node = match if size == 0 { 0 } else { self.random.below(9) } {
            0 | 1 => Type::Name(self.name(false)),
            2 => Type::Set(self.grown_type(size / 2)),
            3 => Type::Sequence(self.grown_type(size / 2)),
            4 => {
                let items = self.several(2, |grower| grower.grown_type(size / 2));
                Type::Tuple(self.tree.add_list(items))
            }
            5 => {
                let arguments = self.several(0, |grower| grower.grown_type(size / 2));
                let result = self.grown_type(size / 2);
                Type::Function(self.tree.add_list(arguments), result)
            }
            kind => {
                let left = self.grown_type(size / 2);
                let right = self.grown_type(size / 2);
                match kind {
                    6 => Type::Dot(left, right),
                    7 => Type::Dotable(left, right),
                    _ => Type::Map(left, right),
                }
            }
        };
        self.tree.add_type(node, NOWHERE)
    }

    fn script(mut self, size: usize) -> Tree<Symbol> {
        let mut declarations = self.definitions(size);
        let name = Named { name: self.name(true), span: NOWHERE };
        let names = self.tree.add_list([name]);
        let annotated = self.grown_type(size);
        let node = Declaration::Annotation { names, constraints: List::EMPTY, annotated };
        declarations.push(self.tree.add_declaration(node, NOWHERE));
        let specification = self.expression(size / 2);
        let implementation = self.expression(size / 2);
        let check = Check::Refinement { specification, model: Model::FailuresDivergences, implementation };
        let node = Declaration::Assert { negated: self.random.below(2) == 0, check, options: List::EMPTY };
        declarations.push(self.tree.add_declaration(node, NOWHERE));
        self.tree.declarations = self.tree.add_list(declarations);
        self.tree
    }
}

#[test]
fn random_trees_survive_printing_and_parsing() {
    for seed in 1..3000u64 {
        let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let tree = Grower { tree: Tree::default(), random }.script(seed as usize % 13);
        let text = print(&tree);
        let parsed = parse_text(&text);
        assert!(parsed.diagnostics.is_empty(), "seed {seed}: {:?}\n{text}", parsed.diagnostics[0]);
        // Symbols are numbered in the order of their first use, which differs: compare texts.
        let named = |tree: Tree<Symbol>| {
            let names = tree.names.clone();
            tree.with_names(|_, name| names.text(name).to_string())
        };
        let again = print(&parsed.tree);
        assert_eq!(again, text, "seed {seed}");
        assert!(named(parsed.tree).same(&named(tree)), "seed {seed}:\n{text}");
    }
}
