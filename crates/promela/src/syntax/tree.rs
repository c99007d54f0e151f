//! The tree of a model, as it is written; names are not looked up yet, inlines are already expanded.

use std::collections::HashSet;
use std::sync::Arc;

use trefoil_source::Span;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct Word {
    /// The name.
    pub text: Arc<str>,
    /// Its place in the text.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Its kind.
    pub kind: ExpressionKind,
    /// Its place in the text.
    pub span: Span,
}

/// The sorts of expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A number.
    Number(i32),
    /// A variable, or a constant by name.
    Variable(Reference),
    /// An operator with one operand.
    Unary(Unary, Box<Expression>),
    /// An operator with two operands.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `(c -> a : b)`
    Conditional(Box<[Expression; 3]>),
    /// `run P(…)`
    Run {
        /// The proctype.
        process: Word,
        /// Its arguments.
        arguments: Vec<Expression>,
        /// `priority n`
        priority: Option<i32>,
    },
    /// `len(c)`
    Length(Box<Reference>),
    /// `full(c)` and its relatives.
    Probe(Probe, Box<Reference>),
    /// `c?[…]`, `c??[…]`
    Poll {
        /// The channel.
        channel: Box<Reference>,
        /// Anywhere in the channel, or at its head?
        random: bool,
        /// The pattern.
        arguments: Vec<Argument>,
    },
    /// `timeout`
    Timeout,
    /// `np_`
    NonProgress,
    /// `enabled(p)`
    Enabled(Box<Expression>),
    /// `pc_value(p)`
    ProgramCounter(Box<Expression>),
    /// `get_priority(p)`
    Priority(Box<Expression>),
    /// `P[i]@label`
    RemoteLabel {
        /// The proctype.
        process: Word,
        /// The process.
        index: Option<Box<Expression>>,
        /// The label.
        label: Word,
    },
    /// `P[i]:x`
    RemoteVariable {
        /// The proctype.
        process: Word,
        /// The process.
        index: Option<Box<Expression>>,
        /// The variable.
        variable: Box<Reference>,
    },
    /// A formula of linear temporal logic.
    Temporal(&'static str, Vec<Expression>),
    /// A syntax error, which the parser has reported.
    Broken,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `!`
    Not,
    /// `~`
    Complement,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of C's operators")]
pub enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Different,
    Less,
    Greater,
    AtMost,
    AtLeast,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
}

/// Questions about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "Promela's own words")]
pub enum Probe {
    Full,
    Empty,
    NotFull,
    NotEmpty,
}

/// `a[i].b[j]`
#[derive(Clone, Debug)]
pub struct Reference {
    /// The first name.
    pub name: Word,
    /// Its index.
    pub index: Option<Box<Expression>>,
    /// Its field.
    pub field: Option<Box<Reference>>,
    /// Its place in the text.
    pub span: Span,
}

/// A field of a receive.
#[derive(Clone, Debug)]
pub enum Argument {
    /// Is received into a variable, or compared when the name is a constant's.
    Variable(Reference),
    /// Is compared: `eval(e)`.
    Eval(Expression),
    /// Is compared.
    Number(i32, Span),
}

/// The types of variables and of message fields.
#[derive(Clone, Debug)]
pub enum TypeName {
    /// `bit`
    Bit,
    /// `bool`
    Bool,
    /// `byte`
    Byte,
    /// `short`
    Short,
    /// `int`
    Int,
    /// `unsigned`; its width stands at each variable.
    Unsigned,
    /// `pid`
    Pid,
    /// `chan`
    Channel,
    /// `mtype`, `mtype:set`
    Mtype(Option<Word>),
    /// A typedef.
    Record(Word),
}

/// `[2] of { byte, chan }`
#[derive(Clone, Debug)]
pub struct ChannelType {
    /// How many messages it holds.
    pub capacity: Expression,
    /// What a message is.
    pub fields: Vec<(TypeName, Span)>,
    /// Its place in the text.
    pub span: Span,
}

/// What a variable starts with.
#[derive(Clone, Debug)]
pub enum Initial {
    /// A value.
    Value(Expression),
    /// One value per element.
    List(Vec<Expression>),
    /// A new channel.
    Channel(ChannelType),
}

/// One variable of a declaration.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name.
    pub name: Word,
    /// How many elements, when it is an array.
    pub length: Option<Expression>,
    /// Bits of an `unsigned`.
    pub width: Option<(i32, Span)>,
    /// Its initial value.
    pub initial: Option<Initial>,
}

/// How a variable is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// As usual.
    Plain,
    /// `hidden`: no part of the state.
    Hidden,
    /// `show`
    Show,
    /// `local`
    Local,
}

/// `byte x = 1, y[3]`
#[derive(Clone, Debug)]
pub struct Declaration {
    /// How the variables are seen.
    pub visibility: Visibility,
    /// Their type.
    pub type_name: TypeName,
    /// The variables.
    pub variables: Vec<Declared>,
    /// Its place in the text.
    pub span: Span,
}

/// Statements between braces, or of an option.
pub type Sequence = Vec<Statement>;

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Its place in the text.
    pub span: Span,
}

/// The sorts of statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Variables of the process.
    Declare(Declaration),
    /// `xr`, `xs`: only this process uses the channel so.
    Exclusive {
        /// Receives (`xr`) or sends (`xs`)?
        receives: bool,
        /// The channels.
        channels: Vec<Reference>,
    },
    /// `label: …`
    Labelled(Word, Box<Statement>),
    /// `c!…`, `c!!…`
    Send {
        /// The channel.
        channel: Reference,
        /// Is the message put in its place, or at the end?
        sorted: bool,
        /// The fields.
        arguments: Vec<Expression>,
    },
    /// `c?…`, `c??…`, `c?<…>`, `c??<…>`
    Receive {
        /// The channel.
        channel: Reference,
        /// From anywhere in the channel, or from its head?
        random: bool,
        /// Does the message stay in the channel?
        copy: bool,
        /// The fields.
        arguments: Vec<Argument>,
    },
    /// `x = e`
    Assign(Reference, Expression),
    /// `x++`, `x--`
    Step(Reference, i32),
    /// `printf(…)`
    Print(Arc<str>, Vec<Expression>),
    /// `printm(…)`
    PrintMtype(Expression),
    /// `assert(e)`
    Assert(Expression),
    /// A condition.
    Condition(Expression),
    /// `set_priority(p, n)`
    SetPriority(Expression, Expression),
    /// `else`
    Else,
    /// `break`
    Break,
    /// `goto label`
    Goto(Word),
    /// `atomic { … }`
    Atomic(Sequence),
    /// `d_step { … }`
    DStep(Sequence),
    /// `{ … }`; `inline` says that it is the body of an inline, whose labels are its own.
    Block {
        /// Its statements.
        body: Sequence,
        /// The inline it comes from.
        inline: Option<Word>,
    },
    /// `if … fi`
    If(Vec<Sequence>),
    /// `do … od`
    Do(Vec<Sequence>),
    /// `for (x : a .. b) { … }`
    For {
        /// The counter.
        variable: Reference,
        /// The first value.
        from: Expression,
        /// The last value.
        to: Expression,
        /// The body.
        body: Sequence,
    },
    /// `for (x in a) { … }`
    ForIn {
        /// The counter, or the variable that receives the messages.
        variable: Reference,
        /// An array or a channel.
        collection: Reference,
        /// The body.
        body: Sequence,
    },
    /// `select (x : a .. b)`
    Select {
        /// The variable.
        variable: Reference,
        /// The first value.
        from: Expression,
        /// The last value.
        to: Expression,
        /// Has it the form that Spin turns into a selection: a plain name without `_` and two numbers, outside of
        /// inlines?
        plain: bool,
    },
    /// `… unless …`
    Unless(Box<Statement>, Box<Statement>),
    /// A syntax error, which the parser has reported.
    Broken,
}

/// A process type.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name; `:init:` for `init`.
    pub name: Word,
    /// How many of it run from the start.
    pub active: Option<Expression>,
    /// `D_proctype`
    pub deterministic: bool,
    /// Its parameters; nothing when they contain a syntax error.
    pub parameters: Option<Vec<Declaration>>,
    /// `priority n`
    pub priority: Option<i32>,
    /// `provided (e)`
    pub provided: Option<Expression>,
    /// Its body.
    pub body: Sequence,
    /// The place of its end.
    pub end: Span,
}

/// `mtype = { … }`
#[derive(Clone, Debug)]
pub struct MtypeSet {
    /// The set, if it has a name.
    pub set: Option<Word>,
    /// Its constants as written.
    pub names: Vec<Word>,
}

/// A claim about the runs of the model, which is not checked yet.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name, when it has one.
    pub name: Option<Word>,
    /// Its place in the text.
    pub span: Span,
    /// Its body.
    pub body: ClaimBody,
}

/// What a claim says.
#[derive(Clone, Debug)]
pub enum ClaimBody {
    /// `never { … }`
    Never(Sequence),
    /// `ltl { … }`
    Formula(Expression),
}

/// A part of a model.
#[derive(Clone, Debug)]
pub enum Unit {
    /// A proctype, or `init`.
    Process(Process),
    /// Global variables.
    Declare(Declaration),
    /// Constants.
    Mtype(MtypeSet),
    /// A record type.
    Typedef {
        /// Its name.
        name: Word,
        /// Its fields.
        fields: Vec<Declaration>,
    },
    /// `never` or `ltl`.
    Claim(Claim),
    /// `trace { … }`, `notrace { … }`
    Trace {
        /// Must the events be like this, or never?
        forbidden: bool,
        /// Its body.
        body: Sequence,
        /// Its place in the text.
        span: Span,
        /// The place of its end.
        end: Span,
    },
}

/// A model as the parser understands it.
#[derive(Debug, Default)]
pub struct Tree {
    /// Its units.
    pub units: Vec<Unit>,
    /// Names that text with a syntax error may declare: uses of them are not reported.
    pub poisoned: HashSet<Arc<str>>,
    /// Is so much of the text missing or wrong that its names and types say nothing?
    pub incomplete: bool,
}

/// Shows every expression of a model, and all parts of each, to `see`.
pub fn visit_expressions<'a>(units: &'a [Unit], see: &mut dyn FnMut(&'a Expression)) {
    let mut work: Vec<&'a Expression> = Vec::new();
    let mut statements: Vec<&'a Statement> = Vec::new();
    for unit in units {
        match unit {
            Unit::Process(process) => {
                work.extend(&process.provided);
                statements.extend(&process.body);
            }
            Unit::Declare(declaration) => declared_expressions(declaration, &mut work),
            Unit::Claim(Claim { body: ClaimBody::Never(body), .. }) | Unit::Trace { body, .. } => {
                statements.extend(body)
            }
            Unit::Claim(Claim { body: ClaimBody::Formula(formula), .. }) => work.push(formula),
            Unit::Mtype(_) | Unit::Typedef { .. } => {}
        }
    }
    while let Some(statement) = statements.pop() {
        use StatementKind::*;
        match &statement.kind {
            Declare(declaration) => declared_expressions(declaration, &mut work),
            Exclusive { channels, .. } => channels.iter().for_each(|channel| reference_expressions(channel, &mut work)),
            Labelled(_, inner) => statements.push(inner),
            Send { channel, arguments, .. } => {
                reference_expressions(channel, &mut work);
                work.extend(arguments);
            }
            Receive { channel, arguments, .. } => {
                reference_expressions(channel, &mut work);
                argument_expressions(arguments, &mut work);
            }
            Assign(to, value) => {
                reference_expressions(to, &mut work);
                work.push(value);
            }
            Step(to, _) => reference_expressions(to, &mut work),
            Print(_, arguments) => work.extend(arguments),
            PrintMtype(value) | Assert(value) | Condition(value) => work.push(value),
            SetPriority(process, priority) => work.extend([process, priority]),
            Else | Break | Goto(_) | Broken => {}
            Atomic(body) | DStep(body) | Block { body, .. } => statements.extend(body),
            If(options) | Do(options) => statements.extend(options.iter().flatten()),
            For { variable, from, to, body } => {
                reference_expressions(variable, &mut work);
                work.extend([from, to]);
                statements.extend(body);
            }
            ForIn { variable, collection, body } => {
                reference_expressions(variable, &mut work);
                reference_expressions(collection, &mut work);
                statements.extend(body);
            }
            Select { variable, from, to, .. } => {
                reference_expressions(variable, &mut work);
                work.extend([from, to]);
            }
            Unless(main, escape) => statements.extend([&**main, &**escape]),
        }
    }
    visit_all(work, see);
}

/// The statements inside a statement.
pub(crate) fn inner_statements(statement: &Statement) -> Vec<&Statement> {
    use StatementKind::*;
    match &statement.kind {
        Labelled(_, inner) => vec![inner],
        Atomic(body) | DStep(body) | Block { body, .. } | For { body, .. } | ForIn { body, .. } => {
            body.iter().collect()
        }
        If(options) | Do(options) => options.iter().flatten().collect(),
        Unless(main, escape) => vec![main, escape],
        _ => Vec::new(),
    }
}

/// The `run` in the initial value of a variable.
pub(crate) fn run_in(initial: &Initial) -> Option<Span> {
    let work = match initial {
        Initial::Value(value) => vec![value],
        Initial::List(values) => values.iter().collect(),
        Initial::Channel(_) => Vec::new(),
    };
    let mut found = None;
    visit_all(work, &mut |expression| {
        if let ExpressionKind::Run { .. } = expression.kind {
            found.get_or_insert(expression.span);
        }
    });
    found
}

/// Calls `see` for these expressions and all inside them.
pub(crate) fn visit_all<'a>(mut work: Vec<&'a Expression>, see: &mut dyn FnMut(&'a Expression)) {
    while let Some(expression) = work.pop() {
        see(expression);
        use ExpressionKind::*;
        match &expression.kind {
            Number(_) | Timeout | NonProgress | Broken => {}
            Variable(reference) => reference_expressions(reference, &mut work),
            Unary(_, inner) => work.push(inner),
            Binary(_, left, right) => work.extend([&**left, &**right]),
            Conditional(parts) => work.extend(parts.iter()),
            Run { arguments, .. } | Temporal(_, arguments) => work.extend(arguments),
            Length(channel) | Probe(_, channel) => reference_expressions(channel, &mut work),
            Poll { channel, arguments, .. } => {
                reference_expressions(channel, &mut work);
                argument_expressions(arguments, &mut work);
            }
            Enabled(process) | ProgramCounter(process) | Priority(process) => work.push(process),
            RemoteLabel { index, .. } => work.extend(index.as_deref()),
            RemoteVariable { index, variable, .. } => {
                work.extend(index.as_deref());
                reference_expressions(variable, &mut work);
            }
        }
    }
}

fn declared_expressions<'a>(declaration: &'a Declaration, work: &mut Vec<&'a Expression>) {
    for declared in &declaration.variables {
        match &declared.initial {
            Some(Initial::Value(value)) => work.push(value),
            Some(Initial::List(values)) => work.extend(values),
            Some(Initial::Channel(_)) | None => {}
        }
    }
}

fn reference_expressions<'a>(reference: &'a Reference, work: &mut Vec<&'a Expression>) {
    let mut at = Some(reference);
    while let Some(reference) = at {
        work.extend(reference.index.as_deref());
        at = reference.field.as_deref();
    }
}

fn argument_expressions<'a>(arguments: &'a [Argument], work: &mut Vec<&'a Expression>) {
    for argument in arguments {
        match argument {
            Argument::Variable(reference) => reference_expressions(reference, work),
            Argument::Eval(value) => work.push(value),
            Argument::Number(..) => {}
        }
    }
}
