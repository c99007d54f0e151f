//! From equations to code.
//!
//! Patterns become match trees in `matching.rs`, right sides code in `expressions.rs`. Callers evaluate the arguments
//! that every rule needs (`needed.rs`); the others are delayed (`sites.rs`) unless they are values already.

use std::collections::HashMap;

use trefoil_terms::{Section, Term};

use crate::signature::{FunctionId, Operator};
use crate::typed::{Typed, TypedEquation, TypedId, VariableId};

use super::code::{FunctionIndex, Op, Slot, Target};
use super::enumerate::{Sum, SumIndex};
use super::program::{Function, Kind, Program, Role};
use super::sites::Pending;

pub(super) use super::expressions::is_conversion;

/// Rules of one function: the equations, and the patterns of each.
pub(super) type Rules = Vec<(usize, Vec<TypedId>)>;

/// Makes the code of a program.
pub(super) struct Compiler<'s, 'w> {
    pub(super) program: Program,
    pub(super) section: &'s Section<'w>,
    pub(super) pending: Vec<Pending>,
    /// Functions without captured values, by what they are.
    pub(super) closures: HashMap<Vec<u32>, FunctionIndex>,
    /// Calls that have the number of a function for the place of its code.
    pub(super) calls: Vec<Target>,
    /// Operations from here on are joined with no earlier ones.
    fence: usize,
    /// How many steps the functions take at most whose value takes few.
    pub(super) weights: HashMap<FunctionIndex, u32>,
}

/// Where variables lie, and which of them may be delayed.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) places: HashMap<VariableId, Slot>,
    /// Variables that may be delayed here.
    pub(super) lazy: Vec<VariableId>,
    /// Variables that may be delayed when the function is entered.
    pub(super) delayable: Vec<VariableId>,
    /// Slots that are not filled yet, each with the slot and the number of the argument that belongs there.
    pub(super) parts: HashMap<Slot, (Slot, u16)>,
    /// The first free slot.
    pub(super) top: Slot,
}

impl<'s, 'w> Compiler<'s, 'w> {
    /// A compiler into a program that has its functions and no code yet.
    pub(super) fn new(program: Program, section: &'s Section<'w>) -> Compiler<'s, 'w> {
        Compiler {
            program,
            section,
            pending: Vec::new(),
            closures: HashMap::new(),
            calls: Vec::new(),
            fence: 0,
            weights: HashMap::new(),
        }
    }

    /// The program with its code, and the functions that evaluate expressions for values of their variables.
    pub(super) fn run(
        mut self,
        expressions: &[(TypedId, Vec<VariableId>)],
        sums: &[Sum],
    ) -> (Program, Vec<FunctionIndex>, Vec<SumIndex>) {
        self.emit(Op::Halt);
        let codes = expressions.iter().map(|(body, variables)| self.outer(*body, variables)).collect();
        let roots: Vec<TypedId> =
            expressions.iter().map(|(body, _)| *body).chain(sums.iter().map(|sum| sum.condition)).collect();
        let sums = sums.iter().map(|sum| self.sum(sum)).collect();
        self.compile(&roots);
        self.link();
        (self.program, codes, sums)
    }
}

impl Compiler<'_, '_> {
    fn compile(&mut self, expressions: &[TypedId]) {
        let mut rules: HashMap<FunctionIndex, Rules> = HashMap::new();
        for number in 0..self.program.specification.equations.len() {
            let left = self.program.specification.equations[number].left;
            if let Some((function, patterns)) = self.head(left) {
                rules.entry(function).or_default().push((number, patterns));
            }
        }
        self.find_lazy(&rules);
        self.find_cheap(&rules);
        self.find_delayed(&rules, expressions);
        let mut order: Vec<FunctionIndex> = rules.keys().copied().collect();
        order.sort_unstable();
        for function in order {
            let rows = self.rows(function, &rules[&function]);
            self.function(function, rows);
        }
        self.connectives();
        while let Some(pending) = self.pending.pop() {
            self.site(pending);
        }
    }

    /// Fills in where the functions that are called begin. A function without rules is applied like a constructor.
    fn link(&mut self) {
        for place in std::mem::take(&mut self.calls) {
            let op = &mut self.program.code[place as usize];
            let (Op::Call { entry, .. } | Op::Jump { entry, .. }) = op else { unreachable!("only calls are noted") };
            let function = &self.program.functions[*entry as usize];
            match (function.entry, *op) {
                (Some(begin), Op::Call { at, arity, .. }) => *op = Op::Call { entry: begin, at, arity },
                (Some(begin), Op::Jump { arity, .. }) => *op = Op::Jump { entry: begin, arity },
                (None, Op::Call { at, arity, .. }) => *op = Op::Make { symbol: function.symbol, arity, at },
                (None, Op::Jump { entry, .. }) => *op = Op::Stuck { function: FunctionIndex(entry) },
                _ => unreachable!("only calls are noted"),
            }
        }
        let functions = (0..).map(FunctionIndex).zip(&self.program.functions);
        let mut begins: Vec<(Target, FunctionIndex)> =
            functions.filter_map(|(index, function)| Some((function.entry?, index))).collect();
        begins.sort_unstable();
        self.program.begins = begins;
    }

    pub(super) fn typed(&self, id: TypedId) -> Typed {
        self.program.specification.tree.expression(id).clone()
    }

    pub(super) fn list(&self, list: &crate::typed::TypedList) -> Vec<TypedId> {
        self.program.specification.tree.elements(list).to_vec()
    }

    pub(super) fn equation(&self, number: usize) -> TypedEquation {
        self.program.specification.equations[number].clone()
    }

    /// The function that a left side is about, and its patterns.
    fn head(&mut self, left: TypedId) -> Option<(FunctionIndex, Vec<TypedId>)> {
        match self.typed(left) {
            Typed::Function(function) => {
                let index = self.program.function_of(function);
                let index = if self.program.function(index).arity == 0 { index } else { self.unapplied(index) };
                Some((index, Vec::new()))
            }
            Typed::Apply(function, arguments) => {
                let arguments = self.list(&arguments);
                if let Typed::Function(function) = self.typed(function) {
                    return Some((self.program.function_of(function), arguments));
                }
                let apply = self.apply(arguments.len() as u16);
                Some((apply, std::iter::once(function).chain(arguments).collect()))
            }
            _ => None,
        }
    }

    /// The function without arguments that stands for a function as a value, where equations say what that is.
    fn unapplied(&mut self, function: FunctionIndex) -> FunctionIndex {
        if let Some(&index) = self.program.unapplied.get(&function) {
            return index;
        }
        let index = FunctionIndex(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            kind: Kind::Defined,
            symbol: self.program.bare_symbol(function),
            arity: 0,
            captured: 0,
            lazy: 0,
            entry: None,
            id: None,
            site: None,
            structured: false,
        });
        self.program.unapplied.insert(function, index);
        index
    }

    /// The function that applies a value.
    pub(super) fn apply(&mut self, arity: u16) -> FunctionIndex {
        if let Some(&index) = self.program.applies.get(&arity) {
            return index;
        }
        let symbol = self.program.pool.fresh_symbol("@apply", arity as usize + 1);
        let index = FunctionIndex(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            kind: Kind::Apply(arity),
            symbol,
            arity: arity + 1,
            captured: 0,
            lazy: 0,
            entry: None,
            id: None,
            site: None,
            structured: false,
        });
        self.program.set_role(symbol, Role::Applied(index));
        self.program.applies.insert(arity, index);
        index
    }

    /// Visits the variables of an expression that it does not bind itself, those inside functions and quantifiers once.
    pub(super) fn each_variable(&self, id: TypedId, visit: &mut impl FnMut(VariableId)) {
        self.program.specification.tree.free_variables(id).into_iter().for_each(visit);
    }

    pub(super) fn number(&mut self, digits: crate::syntax::tree::Symbol) -> Term {
        let digits = self.program.specification.names.text(digits).to_string();
        let term = self.program.numbers.from_digits(self.section, &digits);
        self.program.keep(term, self.section)
    }

    /// The term of a function symbol without arguments.
    pub(super) fn constant(&mut self, id: FunctionId) -> Term {
        let index = self.program.function_of(id);
        let function = self.program.function(index);
        let symbol = if function.arity == 0 { function.symbol } else { self.program.bare_symbol(index) };
        let term = self.section.create(symbol, &[]);
        self.program.keep(term, self.section)
    }

    /// Emits an operation, as a part of the one before it if there is one that does both.
    pub(super) fn emit(&mut self, op: Op) -> Target {
        if self.fence < self.program.code.len()
            && let Some(last) = self.program.code.last_mut()
            && let Some(joined) = last.joined(op)
        {
            *last = joined;
        } else {
            self.program.code.push(op);
        }
        self.program.code.len() as Target - 1
    }

    /// The place of the next operation, to which others go.
    pub(super) fn here(&mut self) -> Target {
        self.fence = self.program.code.len();
        self.fence as Target
    }

    /// Takes the first free slot.
    pub(super) fn fresh(&mut self, frame: &mut Frame) -> Slot {
        frame.top += 1;
        self.use_slots(frame.top);
        frame.top - 1
    }

    /// Notes that frames have at least so many slots.
    pub(super) fn use_slots(&mut self, count: Slot) {
        self.program.room = self.program.room.max(count as usize);
    }

    /// Code of `if` and of the connectives as functions that are called with parameters, some of them delayed.
    fn connectives(&mut self) {
        for index in 0..self.program.functions.len() as u32 {
            let function = FunctionIndex(index);
            let Some(operator) = self.program.operator(function) else { continue };
            let (lazy, arity) = match operator {
                Operator::If => (0b110, 3),
                Operator::And | Operator::Or | Operator::Implies => (0b10, 2),
                _ => continue,
            };
            let entry = self.here();
            self.use_slots(arity + 1);
            let test = self.emit(Op::Test { slot: 0, otherwise: 0, open: 0 });
            let [no, yes] = self.program.truths;
            let frame = Frame { top: arity, ..Frame::default() };
            let forced = |compiler: &mut Self, slot: Slot| {
                compiler.force(slot, &frame);
                compiler.emit(Op::Return { slot });
            };
            let constant = |compiler: &mut Self, term: Term| {
                compiler.emit(Op::Give { term });
            };
            if operator == Operator::Or {
                constant(self, yes);
            } else {
                forced(self, 1);
            }
            let otherwise = self.here();
            match operator {
                Operator::If => forced(self, 2),
                Operator::And => constant(self, no),
                Operator::Or => forced(self, 1),
                _ => constant(self, yes),
            }
            let open = self.here();
            if operator == Operator::If {
                self.emit(Op::Stuck { function });
            } else {
                self.force(1, &frame);
                self.emit(Op::Join { function, at: 0 });
                self.emit(Op::Return { slot: 0 });
            }
            self.program.code[test as usize] = Op::Test { slot: 0, otherwise, open };
            let described = &mut self.program.functions[index as usize];
            described.entry = Some(entry);
            described.lazy = lazy;
        }
    }
}
