//! The built-ins on relations, which are sets of pairs.
//!
//! `mtransclose(R, S)` closes a relation symmetrically and transitively and gives, for each element of `S` that is
//! related to another one, the pair of the representative of its class and itself, leaving out representatives
//! themselves; the representative is the least element of the class in the order of values. Classes are found by
//! union–find. Protocol scripts use it to fold equal facts together.
//!
//! `relational_image(R)` gives a function. The pairs are sorted already, so the image of `x` is a run of the set, found
//! by bisection. A relation is turned over once for `transpose` and `relational_inverse_image` as long as it is the
//! same set, so that `relational_inverse_image(R)(x)` in a loop costs a bisection each time as well.

use std::collections::HashMap;
use std::rc::Rc;

use crate::rename::Builtin;

use super::failure::Result;
use super::machine::{Machine, wrong_sort};
use super::order::compare;
use super::sets::SetValue;
use super::value::Value;

/// How many relations are kept with what they are when they are turned over.
const KEPT: usize = 8;

fn find(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        parents[node as usize] = parents[parents[node as usize] as usize];
        node = parents[node as usize];
    }
    node
}

impl Machine<'_> {
    fn relation_pairs(&mut self, value: &Value) -> Result<Vec<(Value, Value)>> {
        let set = self.set(value)?;
        let items = self.list(&set)?;
        let mut pairs = Vec::with_capacity(items.len());
        for item in items.iter() {
            match item.seen() {
                Value::Tuple(pair) if pair.items.len() == 2 => {
                    pairs.push((pair.items[0].seen(), pair.items[1].seen()));
                }
                other => return Err(wrong_sort("a pair", &other)),
            }
        }
        Ok(pairs)
    }

    pub(super) fn relation(&mut self, builtin: Builtin, arguments: &[Value]) -> Result<Value> {
        match builtin {
            Builtin::Transpose => Ok(Value::Set(self.transposed(&arguments[0])?)),
            Builtin::Mtransclose => {
                let pairs = self.relation_pairs(&arguments[0])?;
                self.mtransclose(pairs, &arguments[1])
            }
            Builtin::RelationalInverseImage => Ok(Value::Image(self.transposed(&arguments[0])?)),
            _ => {
                let relation = self.set(&arguments[0])?;
                self.list(&relation)?;
                Ok(Value::Image(relation))
            }
        }
    }

    /// A relation turned over.
    fn transposed(&mut self, relation: &Value) -> Result<Rc<SetValue>> {
        let relation = self.set(relation)?;
        let kept = self.state.transposed.iter().find(|(of, _)| Rc::ptr_eq(of, &relation));
        if let Some((_, turned)) = kept {
            return Ok(Rc::clone(turned));
        }
        let pairs = self.relation_pairs(&Value::Set(Rc::clone(&relation)))?;
        let turned: Vec<Value> = pairs.into_iter().map(|(a, b)| Value::tuple(vec![b, a])).collect();
        let turned = SetValue::from_finished(turned);
        if self.state.transposed.len() == KEPT {
            self.state.transposed.remove(0);
        }
        self.state.transposed.push((relation, Rc::clone(&turned)));
        Ok(turned)
    }

    /// What a relation relates a value to.
    pub(super) fn image(&mut self, relation: &Rc<SetValue>, of: &Value) -> Result<Value> {
        let of = self.finish(of.clone())?;
        let pairs = self.list(relation)?;
        let first = |pair: &Value| match pair.seen() {
            Value::Tuple(pair) => compare(&pair.items[0], &of),
            _ => std::cmp::Ordering::Less,
        };
        let from = pairs.partition_point(|pair| first(pair).is_lt());
        let to = from + pairs[from..].partition_point(|pair| first(pair).is_eq());
        let second = |pair: &Value| match pair.seen() {
            Value::Tuple(pair) => pair.items[1].seen(),
            other => other,
        };
        Ok(Value::Set(SetValue::from_sorted(pairs[from..to].iter().map(second).collect())))
    }

    #[expect(clippy::mutable_key_type, reason = "what changes inside values is only what is kept about them")]
    fn mtransclose(&mut self, pairs: Vec<(Value, Value)>, among: &Value) -> Result<Value> {
        let among = self.set(among)?;
        let mut numbers: HashMap<Value, u32, foldhash::fast::RandomState> = HashMap::default();
        let mut nodes: Vec<Value> = Vec::new();
        let mut parents: Vec<u32> = Vec::new();
        let mut number = |value: &Value, parents: &mut Vec<u32>, nodes: &mut Vec<Value>| {
            *numbers.entry(value.clone()).or_insert_with(|| {
                nodes.push(value.clone());
                parents.push(parents.len() as u32);
                parents.len() as u32 - 1
            })
        };
        for (a, b) in &pairs {
            let a = number(a, &mut parents, &mut nodes);
            let b = number(b, &mut parents, &mut nodes);
            let (a, b) = (find(&mut parents, a), find(&mut parents, b));
            if a != b {
                // The root is the least element of its class.
                if compare(&nodes[a as usize], &nodes[b as usize]).is_lt() {
                    parents[b as usize] = a;
                } else {
                    parents[a as usize] = b;
                }
            }
        }
        let mut result = Vec::new();
        for node in 0..nodes.len() as u32 {
            let root = find(&mut parents, node);
            if root != node {
                let (value, representative) = (&nodes[node as usize], &nodes[root as usize]);
                if among.has(value) && among.has(representative) {
                    result.push(Value::tuple(vec![representative.clone(), value.clone()]));
                }
            }
        }
        Ok(Value::Set(SetValue::from_finished(result)))
    }
}
