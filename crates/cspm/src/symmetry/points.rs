//! Points: the constants that a group of symmetries moves, numbered type by type.
//!
//! Engines know nothing of datatypes: an element of a group is a list of the images of points. This module
//! maps each point to a constant of a datatype.

use crate::eval::{ConstructorId, Evaluator, Permutation};

/// The points of one datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// The datatype, as the top level of the script writes it.
    pub name: String,
    /// Its constants that are points, likewise.
    pub constants: Vec<String>,
    /// The number of the first of them; the others follow.
    pub first: u32,
}

/// The constants that a group of symmetries moves, numbered type by type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    families: Vec<Family>,
    constants: Vec<ConstructorId>,
}

/// A name that denotes no datatype or no constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownPoint {
    /// No datatype has this name.
    Datatype(String),
    /// The datatype, which is the first, has no constant with the second name.
    Constant(String, String),
}

impl Points {
    /// The points of these constants of these datatypes.
    pub fn new(evaluator: &Evaluator, families: &[(String, Vec<String>)]) -> Result<Points, UnknownPoint> {
        let datatypes = evaluator.datatypes();
        let mut points = Points { families: Vec::new(), constants: Vec::new() };
        for (name, constants) in families {
            let datatype = datatypes.iter().find(|datatype| datatype.name == *name);
            let datatype = datatype.ok_or_else(|| UnknownPoint::Datatype(name.clone()))?;
            let first = points.constants.len() as u32;
            for constant in constants {
                let found = datatype.constants.iter().find(|(known, _)| known == constant);
                let found = found.ok_or_else(|| UnknownPoint::Constant(name.clone(), constant.clone()))?;
                points.constants.push(found.1);
            }
            points.families.push(Family { name: name.clone(), constants: constants.clone(), first });
        }
        Ok(points)
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.constants.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty()
    }

    /// The datatypes with their points.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// The names of the points, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.families.iter().flat_map(|family| family.constants.iter().map(String::as_str))
    }

    /// The number of the point that a constant is, if it is one.
    pub fn number(&self, constant: ConstructorId) -> Option<u32> {
        self.constants.iter().position(|&point| point == constant).map(|at| at as u32)
    }

    /// For each of these points its number among others, when it is one of them.
    pub fn places_in(&self, others: &Points) -> Vec<Option<u32>> {
        let place = |constant| others.constants.iter().position(|other| other == constant);
        self.constants.iter().map(|constant| place(constant).map(|at| at as u32)).collect()
    }

    /// The action on values of an element of a group, given by the images of the points. Points beyond its length stay.
    ///
    /// # Panics
    ///
    /// When an image is no point.
    pub fn permutation(&self, images: &[u32]) -> Permutation {
        let moved = self.constants.iter().zip(images);
        Permutation::new(moved.map(|(&from, &to)| (from, self.constants[to as usize])))
    }
}
