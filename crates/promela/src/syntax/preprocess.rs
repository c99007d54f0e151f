//! The preprocessor: files and macros, on tokens.
//!
//! Spin gives its models to the C preprocessor. Here the same directives work on tokens instead of text: `#define` with
//! and without arguments, `#undef`, `#include`, `#if`, `#ifdef`, `#ifndef`, `#elif`, `#else`, `#endif`, `#error`,
//! continued lines, `##`. Every token keeps a place in the user's own files; tokens from a macro have the place of its
//! use, so that a diagnostic always points at text of the user.
//!
//! A macro is not expanded inside its own expansion (each token carries the macros that it came through), so expansion
//! ends; it can still grow exponentially, and stops at [`MOST_TOKENS`].

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_source::{Diagnostic, FileId, Place, Sources, Span, cannot_read};

use super::lexer::lex;
use super::token::{Kind, Token};
use crate::codes::{CANNOT_READ, DIRECTIVE, MACRO_CALL, counted};

/// A model of more tokens is refused.
const MOST_TOKENS: usize = 20_000_000;
/// Files that include each other deeper than this are taken for a cycle.
const MOST_NESTED: usize = 64;

/// Reads a file by name: its text, or why there is none.
pub type Reader<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

#[derive(Clone)]
struct Macro {
    /// Names of the arguments, when it is called with brackets.
    parameters: Option<Vec<Arc<str>>>,
    body: Vec<Token>,
}

/// A token on its way through expansion.
#[derive(Clone)]
struct Moving {
    token: Token,
    /// Macros that it came through.
    through: Option<Arc<Through>>,
}

struct Through {
    name: Arc<str>,
    before: Option<Arc<Through>>,
}

impl Moving {
    fn came_through(&self, name: &str) -> bool {
        let mut at = self.through.as_ref();
        while let Some(through) = at {
            if &*through.name == name {
                return true;
            }
            at = through.before.as_ref();
        }
        false
    }
}

/// Whether the lines of an `#if` are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branch {
    Taken,
    /// Not yet; a later `#elif` or `#else` may be.
    Waiting,
    /// One was taken before, or the whole `#if` is inside lines that are not.
    Over,
}

/// The preprocessor of one model.
pub(crate) struct Preprocessor<'a, 'r> {
    sources: &'a mut Sources,
    reader: &'a mut Reader<'r>,
    diagnostics: &'a mut Vec<Diagnostic>,
    control: &'a Control,
    macros: HashMap<Arc<str>, Macro>,
    output: Vec<Token>,
    work: usize,
    poisoned: HashSet<Arc<str>>,
    incomplete: bool,
}

/// The tokens of a model, and what the preprocessor could not find out about it.
pub(crate) struct Preprocessed {
    /// The tokens of the model and of all that it includes, without ends of lines, with an end.
    pub(crate) tokens: Vec<Token>,
    /// Macros whose definition is wrong.
    pub(crate) poisoned: HashSet<Arc<str>>,
    /// Is text missing that the model includes or that a condition encloses?
    pub(crate) incomplete: bool,
}

/// Reads the files of a model and expands its macros.
pub(crate) fn preprocess(
    file: FileId,
    sources: &mut Sources,
    reader: &mut Reader<'_>,
    diagnostics: &mut Vec<Diagnostic>,
    control: &Control,
) -> Result<Preprocessed, Stopped> {
    let mut preprocessor = Preprocessor {
        sources,
        reader,
        diagnostics,
        control,
        macros: HashMap::new(),
        output: Vec::new(),
        work: 0,
        poisoned: HashSet::new(),
        incomplete: false,
    };
    preprocessor.file(file, 0)?;
    let length = preprocessor.sources.file(file).text().len() as u32;
    let span = Span { file, start: length, end: length };
    let Preprocessor { output: mut tokens, poisoned, incomplete, .. } = preprocessor;
    tokens.push(Token { kind: Kind::End, span, spaced: true, fresh: true });
    Ok(Preprocessed { tokens, poisoned, incomplete })
}

impl Preprocessor<'_, '_> {
    fn complain(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.diagnostics.push(Diagnostic::error(code, message, Place::Span(span)));
    }

    fn file(&mut self, file: FileId, depth: usize) -> Result<(), Stopped> {
        let source = self.sources.file(file).clone();
        let tokens = lex(source.text(), file, self.diagnostics);
        let mut branches: Vec<(Branch, Span)> = Vec::new();
        // Of these, how many hide their lines.
        let mut hiding = 0;
        // Lines of text wait until a directive or the end of the file, since a macro call may span lines.
        let mut waiting: Vec<Token> = Vec::new();
        let mut lines = tokens.split(|token| token.kind == Kind::Newline);
        for line in &mut lines {
            let taken = hiding == 0;
            if !line.first().is_some_and(|first| first.is("#")) {
                if taken {
                    waiting.extend_from_slice(line);
                }
                continue;
            }
            let text = std::mem::take(&mut waiting);
            self.text(text)?;
            let Some(word) = line.get(1) else { continue };
            if let Kind::Number(_) = word.kind {
                // A line marker of another preprocessor.
                continue;
            }
            let rest = &line[2..];
            let name = word.name().map_or("", |name| &**name);
            match name {
                "if" | "ifdef" | "ifndef" => {
                    let branch = if !taken {
                        Branch::Over
                    } else if self.condition(name, rest, word.span)? {
                        Branch::Taken
                    } else {
                        Branch::Waiting
                    };
                    hiding += usize::from(branch != Branch::Taken);
                    branches.push((branch, word.span));
                }
                "elif" | "else" => {
                    let outer = branches.len().saturating_sub(1);
                    let Some((branch, _)) = branches.last().copied() else {
                        self.complain(DIRECTIVE, format!("#{name} without #if"), word.span);
                        continue;
                    };
                    hiding -= usize::from(branch != Branch::Taken);
                    let outside = hiding == 0;
                    let next = match branch {
                        Branch::Waiting if outside => {
                            let holds = name == "else" || self.condition("if", rest, word.span)?;
                            if holds { Branch::Taken } else { Branch::Waiting }
                        }
                        _ => Branch::Over,
                    };
                    hiding += usize::from(next != Branch::Taken);
                    branches[outer].0 = next;
                }
                "endif" => match branches.pop() {
                    Some((branch, _)) => hiding -= usize::from(branch != Branch::Taken),
                    None => self.complain(DIRECTIVE, "#endif without #if", word.span),
                },
                _ if !taken => {}
                "define" => self.define(rest, word.span),
                "undef" => match rest.first().and_then(Token::name) {
                    Some(name) => {
                        self.macros.remove(name);
                    }
                    None => self.complain(DIRECTIVE, "#undef needs a name", word.span),
                },
                "include" => self.include(file, rest, word.span, depth)?,
                "error" => {
                    let text: Vec<String> = rest.iter().map(Token::describe).collect();
                    self.complain(DIRECTIVE, format!("#error {}", text.join(" ")), word.span);
                }
                "pragma" | "line" | "ident" | "warning" => {}
                _ => {
                    let message = format!("the preprocessor has no directive {}", word.describe());
                    self.complain(DIRECTIVE, message, word.span);
                    self.poisoned.extend(line[1..].iter().filter_map(Token::name).cloned());
                }
            }
        }
        for (branch, span) in branches {
            self.complain(DIRECTIVE, "this #if is not closed by #endif", span);
            self.incomplete |= branch != Branch::Taken;
        }
        self.text(waiting)
    }

    fn define(&mut self, rest: &[Token], place: Span) {
        let Some(name) = rest.first().and_then(Token::name).cloned() else {
            return self.complain(DIRECTIVE, "#define needs a name", place);
        };
        let mut body = &rest[1..];
        let mut parameters = None;
        self.poisoned.insert(name.clone());
        if body.first().is_some_and(|open| open.is("(") && !open.spaced) {
            let Some(close) = body.iter().position(|token| token.is(")")) else {
                return self.complain(DIRECTIVE, "the parameters of this macro are not closed by `)`", body[0].span);
            };
            let mut names = Vec::new();
            for (index, token) in body[1..close].iter().enumerate() {
                match (index % 2, token.name()) {
                    (0, Some(name)) => names.push(name.clone()),
                    (1, None) if token.is(",") => {}
                    _ => {
                        return self.complain(
                            DIRECTIVE,
                            "the parameters of a macro are names with commas between them",
                            token.span,
                        );
                    }
                }
            }
            parameters = Some(names);
            body = &body[close + 1..];
        }
        self.poisoned.remove(&name);
        self.macros.insert(name, Macro { parameters, body: body.to_vec() });
    }

    fn include(&mut self, from: FileId, rest: &[Token], place: Span, depth: usize) -> Result<(), Stopped> {
        let Some(Kind::Text(text)) = rest.first().map(|token| &token.kind) else {
            self.complain(DIRECTIVE, "#include needs a file name in double quotes", place);
            self.incomplete = true;
            return Ok(());
        };
        let place = rest[0].span;
        let written = text.trim_matches('"').replace('\\', "/");
        let beside = std::path::Path::new(self.sources.file(from).name()).parent().map(|folder| folder.join(&written));
        let name = beside.map_or(written, |path| path.to_string_lossy().into_owned());
        if depth >= MOST_NESTED {
            self.complain(CANNOT_READ, format!("{name} includes itself, or files are included too deeply"), place);
            self.incomplete = true;
            return Ok(());
        }
        self.control.check()?;
        let read = (self.reader)(&name);
        self.control.check()?;
        match read {
            Ok(text) if u32::try_from(text.len()).is_ok() => {
                let file = self.sources.add(name, text);
                self.file(file, depth + 1)
            }
            Ok(_) => {
                self.complain(CANNOT_READ, cannot_read(&name, "it has 4 GiB or more"), place);
                self.incomplete = true;
                Ok(())
            }
            Err(why) => {
                self.complain(CANNOT_READ, cannot_read(&name, &why), place);
                self.incomplete = true;
                Ok(())
            }
        }
    }

    fn condition(&mut self, word: &str, rest: &[Token], place: Span) -> Result<bool, Stopped> {
        if word != "if" {
            let Some(name) = rest.first().and_then(Token::name) else {
                self.complain(DIRECTIVE, format!("#{word} needs a name"), place);
                return Ok(false);
            };
            return Ok(self.macros.contains_key(name) == (word == "ifdef"));
        }
        // `defined` looks at names before they are expanded.
        let mut known = Vec::new();
        let mut at = 0;
        while at < rest.len() {
            if rest[at].is_name("defined") {
                let bracket = rest.get(at + 1).is_some_and(|token| token.is("("));
                let name = rest.get(at + 1 + usize::from(bracket)).and_then(Token::name);
                let value = name.is_some_and(|name| self.macros.contains_key(name));
                known.push(Token { kind: Kind::Number(value.into()), ..rest[at].clone() });
                at += if bracket { 4 } else { 2 };
            } else {
                known.push(rest[at].clone());
                at += 1;
            }
        }
        let expanded = self.expand(known)?;
        let mut condition = Condition { tokens: &expanded, at: 0, depth: 0 };
        match condition.expression(0) {
            Some(value) if condition.at == expanded.len() => Ok(value != 0),
            _ => {
                if !expanded.iter().any(|token| token.kind == Kind::Reported) {
                    self.complain(DIRECTIVE, "the condition of #if is not an expression of constants", place);
                }
                Ok(false)
            }
        }
    }

    fn text(&mut self, tokens: Vec<Token>) -> Result<(), Stopped> {
        if tokens.is_empty() {
            return Ok(());
        }
        let expanded = self.expand(tokens)?;
        self.output.extend(expanded);
        Ok(())
    }

    /// Replaces macros until none is left.
    fn expand(&mut self, tokens: Vec<Token>) -> Result<Vec<Token>, Stopped> {
        let mut output = Vec::with_capacity(tokens.len());
        let mut input: VecDeque<Moving> = tokens.into_iter().map(|token| Moving { token, through: None }).collect();
        while let Some(moving) = input.pop_front() {
            self.work += 1;
            if self.work > MOST_TOKENS {
                if !std::mem::replace(&mut self.incomplete, true) {
                    let message = format!(
                        "the macros of this model expand to more than {} tokens",
                        trefoil_control::count(MOST_TOKENS as u64)
                    );
                    self.complain(MACRO_CALL, message, moving.token.span);
                }
                break;
            }
            if self.work.is_multiple_of(65_536) {
                self.control.check()?;
            }
            let Some(name) = moving.token.name().cloned() else {
                output.push(moving.token);
                continue;
            };
            let known = self.macros.get(&name).filter(|_| !moving.came_through(&name)).cloned();
            let Some(found) = known else {
                output.push(moving.token);
                continue;
            };
            let arguments = match &found.parameters {
                None => Vec::new(),
                Some(_) if !input.front().is_some_and(|next| next.token.is("(")) => {
                    output.push(moving.token);
                    continue;
                }
                Some(parameters) => {
                    let Some(arguments) = self.arguments(&mut input, &moving.token) else {
                        output.push(Token { kind: Kind::Reported, ..moving.token });
                        continue;
                    };
                    let none = parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty();
                    if arguments.len() != parameters.len() && !none {
                        let wanted = counted(parameters.len(), "argument");
                        let message = format!("the macro `{name}` takes {wanted}, not {}", arguments.len());
                        self.complain(MACRO_CALL, message, moving.token.span);
                        output.push(Token { kind: Kind::Reported, ..moving.token });
                        continue;
                    }
                    arguments
                }
            };
            let through = Some(Arc::new(Through { name, before: moving.through.clone() }));
            let mut brought = self.substitute(&found, arguments, moving.token.span, &through)?;
            if let Some(first) = brought.first_mut() {
                first.token.fresh = moving.token.fresh;
            }
            for token in brought.into_iter().rev() {
                input.push_front(token);
            }
        }
        Ok(output)
    }

    /// The arguments of a call, from the bracket on.
    fn arguments(&mut self, input: &mut VecDeque<Moving>, call: &Token) -> Option<Vec<Vec<Moving>>> {
        input.pop_front();
        let (mut arguments, mut depth) = (vec![Vec::new()], 0);
        while let Some(moving) = input.pop_front() {
            match &moving.token.kind {
                Kind::Mark(")") if depth == 0 => return Some(arguments),
                Kind::Mark(",") if depth == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                Kind::Mark("(") => depth += 1,
                Kind::Mark(")") => depth -= 1,
                _ => {}
            }
            arguments.last_mut().expect("there is one").push(moving);
        }
        self.complain(MACRO_CALL, "the arguments of this macro are not closed by `)`", call.span);
        None
    }

    fn substitute(
        &mut self,
        found: &Macro,
        arguments: Vec<Vec<Moving>>,
        place: Span,
        through: &Option<Arc<Through>>,
    ) -> Result<Vec<Moving>, Stopped> {
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut brought: Vec<Moving> = Vec::new();
        let mut at = 0;
        while at < found.body.len() {
            let token = &found.body[at];
            let pasted = |index: usize| found.body.get(index).is_some_and(|token| token.is("##"));
            let parameter =
                token.name().and_then(|name| found.parameters.iter().flatten().position(|parameter| parameter == name));
            let from = brought.len();
            if token.is("#")
                && let Some(index) = found
                    .body
                    .get(at + 1)
                    .and_then(|next| found.parameters.iter().flatten().position(|parameter| next.is_name(parameter)))
            {
                let words: Vec<String> =
                    arguments[index].iter().map(|moving| moving.token.describe().replace(['`', '"'], "")).collect();
                let kind = Kind::Text(format!("\"{}\"", words.join(" ")).into());
                let token = Token { kind, span: place, ..token.clone() };
                brought.push(Moving { token, through: through.clone() });
                at += 2;
                continue;
            }
            match parameter {
                Some(index) if index < arguments.len() => {
                    if pasted(at + 1) || (at > 0 && pasted(at - 1)) {
                        brought.extend(arguments[index].iter().cloned());
                    } else {
                        if expanded[index].is_none() {
                            let raw = arguments[index].iter().map(|moving| moving.token.clone()).collect();
                            expanded[index] = Some(self.expand(raw)?);
                        }
                        let whole = expanded[index].as_deref().unwrap_or_default();
                        brought.extend(
                            whole.iter().map(|token| Moving { token: token.clone(), through: through.clone() }),
                        );
                    }
                }
                Some(_) => {}
                None => {
                    let token = Token { span: place, ..token.clone() };
                    brought.push(Moving { token, through: through.clone() });
                }
            }
            if at > 0 && pasted(at - 1) && from > 0 && from < brought.len() {
                self.paste(&mut brought, from);
            }
            at += 1 + usize::from(pasted(at + 1));
        }
        Ok(brought)
    }

    /// Joins the token before `from` and the one there.
    fn paste(&mut self, brought: &mut Vec<Moving>, from: usize) {
        let word = |token: &Token| match &token.kind {
            Kind::Name(name) => name.to_string(),
            Kind::Number(number) => number.to_string(),
            Kind::Mark(mark) => mark.to_string(),
            _ => String::new(),
        };
        let text = word(&brought[from - 1].token) + &word(&brought[from].token);
        let joined = lex(&text, brought[from].token.span.file, &mut Vec::new());
        let kind = joined.first().map_or(Kind::Newline, |token| token.kind.clone());
        if joined.len() == 2 && kind != Kind::Reported {
            brought[from - 1].token.kind = kind;
            brought.remove(from);
        } else {
            let place = brought[from].token.span;
            self.complain(MACRO_CALL, "`##` does not join these to one token", place);
        }
    }
}

/// Evaluates the condition of an `#if`.
struct Condition<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Condition<'_> {
    fn expression(&mut self, least: u8) -> Option<i64> {
        self.depth += 1;
        if self.depth > 200 {
            return None;
        }
        let mut left = self.operand()?;
        while let Some(Kind::Mark(mark)) = self.tokens.get(self.at).map(|token| &token.kind) {
            let level = match *mark {
                "||" => 1,
                "&&" => 2,
                "|" => 3,
                "^" => 4,
                "&" => 5,
                "==" | "!=" => 6,
                "<" | ">" | "<=" | ">=" => 7,
                "<<" | ">>" => 8,
                "+" | "-" => 9,
                "*" | "/" | "%" => 10,
                _ => break,
            };
            if level <= least {
                break;
            }
            self.at += 1;
            let right = self.expression(level)?;
            left = match *mark {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left.wrapping_shl(right as u32),
                ">>" => left.wrapping_shr(right as u32),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        self.depth -= 1;
        Some(left)
    }

    fn operand(&mut self) -> Option<i64> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        match &token.kind {
            Kind::Number(number) => Some(i64::from(*number)),
            // A name that is no macro counts as zero.
            Kind::Name(name) => Some(i64::from(&**name == "true")),
            Kind::Mark("(") => {
                let value = self.expression(0)?;
                let closed = self.tokens.get(self.at)?.is(")");
                self.at += 1;
                closed.then_some(value)
            }
            Kind::Mark("!") => Some(i64::from(self.tight()? == 0)),
            Kind::Mark("-") => Some(self.tight()?.wrapping_neg()),
            Kind::Mark("~") => Some(!self.tight()?),
            Kind::Mark("+") => self.tight(),
            _ => None,
        }
    }

    fn tight(&mut self) -> Option<i64> {
        self.expression(u8::MAX)
    }
}
