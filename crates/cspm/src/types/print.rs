//! Types as text.

use super::*;

/// No text is longer than about this many nodes.
const LONGEST: usize = 400;

/// How tightly the surroundings of a type bind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Tight {
    Free,
    /// Right of `=>`.
    Dotable,
    /// Beside a dot, or left of `=>`.
    Dot,
}

struct Writer {
    out: String,
    left: usize,
    /// Names of the variables met so far.
    variables: Vec<(T, String, Constraints)>,
}

impl Checker<'_> {
    /// A type with its constraints, as in an annotation.
    pub(super) fn text(&mut self, t: T) -> String {
        let mut writer = Writer { out: String::new(), left: LONGEST, variables: Vec::new() };
        self.write(t, Tight::Free, &mut writer);
        let mut constraints = Vec::new();
        for (_, name, bits) in &writer.variables {
            for (bit, word) in
                [(EQ, "Eq"), (ORD, "Ord"), (SET, "Set"), (COMPLETE, "Complete"), (YIELDABLE, "Yieldable")]
            {
                let implied = bit == SET && bits & EQ != 0;
                if bits & bit != 0 && !implied {
                    constraints.push(format!("{word} {name}"));
                }
            }
        }
        match constraints.as_slice() {
            [] => writer.out,
            [one] => format!("{one} => {}", writer.out),
            many => format!("({}) => {}", many.join(", "), writer.out),
        }
    }

    /// Several types in which the same variable has the same name, without constraints.
    pub(super) fn texts(&mut self, types: &[T]) -> Vec<String> {
        let mut writer = Writer { out: String::new(), left: LONGEST, variables: Vec::new() };
        let write = |&t: &T| {
            writer.left = LONGEST;
            self.write(t, Tight::Free, &mut writer);
            std::mem::take(&mut writer.out)
        };
        types.iter().map(write).collect()
    }

    fn write(&mut self, t: T, tight: Tight, writer: &mut Writer) {
        if writer.left == 0 {
            writer.out.push('…');
            return;
        }
        writer.left -= 1;
        let t = self.solver.arena.head(t);
        match self.solver.arena.raw(t) {
            Node::Variable { constraints, rigid, .. } => self.write_variable(t, constraints, rigid, writer),
            Node::Wrong => writer.out.push('?'),
            Node::NoDots => writer.out.push('.'),
            Node::Link(_) => {}
            Node::Int => writer.out.push_str("Int"),
            Node::Bool => writer.out.push_str("Bool"),
            Node::Char => writer.out.push_str("Char"),
            Node::Proc => writer.out.push_str("Proc"),
            Node::Event => writer.out.push_str("Event"),
            Node::Datatype(id) => {
                let name = self.datatype_text(id);
                writer.out.push_str(&name);
            }
            Node::Set(element) => self.write_in("{", element, "}", writer),
            Node::Sequence(element) => self.write_in("<", element, ">", writer),
            Node::Tuple(parts) => self.write_parts(parts, writer),
            Node::Function(parts, result) => {
                let brackets = tight > Tight::Free;
                if brackets {
                    writer.out.push('(');
                }
                self.write_parts(parts, writer);
                writer.out.push_str(" -> ");
                self.write(result, Tight::Free, writer);
                if brackets {
                    writer.out.push(')');
                }
            }
            Node::Map(key, value) => {
                writer.out.push_str("(| ");
                self.write(key, Tight::Dot, writer);
                writer.out.push_str(" => ");
                self.write(value, Tight::Free, writer);
                writer.out.push_str(" |)");
            }
            Node::Dot(left, right) => {
                self.write(left, Tight::Dot, writer);
                writer.out.push('.');
                self.write(right, Tight::Dot, writer);
            }
            Node::Dotable(left, right) => self.write_arrow((left, "=>", right), tight, writer),
            Node::Extendable(base, variable) => self.write_arrow((variable, "=>*", base), tight, writer),
        }
    }

    fn write_arrow(&mut self, (left, arrow, right): (T, &str, T), tight: Tight, writer: &mut Writer) {
        let brackets = tight == Tight::Dot;
        if brackets {
            writer.out.push('(');
        }
        self.write(left, Tight::Dot, writer);
        writer.out.push_str(arrow);
        self.write(right, Tight::Dotable, writer);
        if brackets {
            writer.out.push(')');
        }
    }

    fn write_in(&mut self, open: &str, element: T, close: &str, writer: &mut Writer) {
        writer.out.push_str(open);
        self.write(element, Tight::Free, writer);
        writer.out.push_str(close);
    }

    fn write_parts(&mut self, parts: Parts, writer: &mut Writer) {
        writer.out.push('(');
        for at in 0..parts.len() {
            if at > 0 {
                writer.out.push_str(", ");
            }
            if writer.left == 0 {
                writer.out.push('…');
                break;
            }
            self.write(self.solver.arena.part(parts, at), Tight::Free, writer);
        }
        writer.out.push(')');
    }

    fn write_variable(&mut self, t: T, constraints: Constraints, rigid: Option<u32>, writer: &mut Writer) {
        if let Some((_, name, _)) = writer.variables.iter().find(|(known, _, _)| *known == t) {
            writer.out.push_str(name);
            return;
        }
        let taken = |name: &str| writer.variables.iter().any(|(_, known, _)| known == name);
        let own = rigid.and_then(|at| self.renamed.type_variables().get(at as usize));
        let own = own.map(|&symbol| self.renamed.text(symbol).to_string()).filter(|name| !taken(name));
        let name = own.unwrap_or_else(|| {
            let letters = (0u8..26).map(|at| char::from(b'a' + at).to_string());
            let numbered = (1..).map(|at| format!("a{at}"));
            letters.chain(numbered).find(|name| !taken(name)).unwrap_or_default()
        });
        writer.out.push_str(&name);
        writer.variables.push((t, name, constraints));
    }

    fn datatype_text(&self, id: DatatypeId) -> String {
        let (instance, definition) = self.datatypes[id.0 as usize];
        let Some(instance) = instance else { return self.renamed.qualified(definition) };
        format!("{}::{}", self.instance_text(instance), self.renamed.text(self.renamed.definition(definition).name))
    }

    fn instance_text(&self, id: InstanceId) -> String {
        let (outer, definition) = self.instances[id.0 as usize];
        match outer {
            None => self.renamed.qualified(definition),
            Some(outer) => {
                let name = self.renamed.text(self.renamed.definition(definition).name);
                format!("{}::{name}", self.instance_text(outer))
            }
        }
    }
}
