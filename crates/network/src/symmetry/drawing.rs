//! How a row is drawn in few vertices.
//!
//! [`References::draw`] draws any state as a vertex with edges to its references. A row has a state of every machine,
//! so less suffices, and representatives are found faster in small pictures:
//!
//! - A machine that a point stands for is drawn at the point: its shape is a digit of the point's colour, its other
//!   references are edges from the point. Several such machines at one point have digits and labels of their own.
//! - A machine that no element moves marks its references: a digit in the colours of the points encodes machine, shape
//!   and position. Where it has no references, its shape is a digit in the colour of one further vertex, which all such
//!   machines share; and when there is only one such shape, nothing is drawn.
//! - Of any other kind of machine one shape is left out, if there is one with a state for each machine (an empty
//!   channel): a machine that is not drawn is in that shape. States with two references are drawn as edges between
//!   them, as long as there are labels; others as vertices.
//! - A state that several tuples name is drawn as a vertex, wherever its machine would have been drawn.
//!
//! Digits are taken away from colours below 2^29; a machine that finds no room is drawn as vertices, whose colours are
//! from 2^29 to 2^30. Which digits and labels are taken is in a [`Canvas`], which a network shares with those inside
//! its components.
//!
//! Everything is decided beforehand: for each state there is a list of what to add to the picture.

use trefoil_control::{Control, Stopped};
use trefoil_lts::References;
use trefoil_system::{Edge, Picture, Value};

/// Colours made of digits stay below this, and the others begin here.
const MOST_COLOURS: u64 = 1 << 29;

/// Shapes take labels of their own below this one.
const MOST_LABELS: u32 = 20;

/// What to add to a picture for a state.
#[derive(Clone, Copy, Default)]
struct Sketch {
    /// A vertex, and what its colour grows by.
    mark: (u32, u32),
    /// Further ones.
    marks: (u32, u32),
    edges: (u32, u32),
    manner: Manner,
}

#[derive(Clone, Copy, Default)]
enum Manner {
    /// Nothing is drawn.
    Nothing,
    /// Marks and edges are all.
    #[default]
    Listed,
    /// A vertex with its references.
    Vertex,
    /// Several tuples at a point, with labels from here.
    At(u32, u32),
}

/// What of colours and labels is in use.
pub(super) struct Canvas {
    /// By point, the number of its orbit.
    orbit_of: Vec<u32>,
    /// By orbit, how many colours its points have.
    radix: Vec<u64>,
    /// How many colours the vertex for shapes without references has.
    rest: u64,
    /// By orbit, how many labels edges from its points have.
    labels: Vec<u32>,
    /// How many colours the vertices for states have.
    vertices: u32,
}

impl Canvas {
    /// Nothing is in use; each point has the number of its orbit.
    pub(super) fn new(orbit_of: Vec<u32>) -> Canvas {
        let orbits = orbit_of.iter().max().map_or(0, |&most| most as usize + 1);
        Canvas { orbit_of, radix: vec![1; orbits], rest: 1, labels: vec![0; orbits], vertices: 0 }
    }

    /// A number above all colours of a point.
    pub(super) fn colours(&self, point: u32) -> Option<u32> {
        u32::try_from(self.radix[self.orbit_of[point as usize] as usize]).ok()
    }

    /// Starts a picture.
    #[inline]
    pub(super) fn begin(&self, picture: &mut Picture) {
        picture.clear(self.orbit_of.len());
        if self.rest > 1 {
            picture.add_vertex(0);
        }
    }
}

/// How the rows of a network are drawn.
pub(super) struct Drawing {
    points: usize,
    /// Colours of vertices begin here.
    first_colour: u32,
    /// The slots that are drawn at all.
    slots: Vec<u32>,
    /// The first sketch of each slot.
    starts: Vec<u32>,
    sketches: Vec<Sketch>,
    marks: Vec<(u32, u32)>,
    edges: Vec<Edge>,
}

/// Machines that are each other's images, with the shapes of their states.
struct Family {
    machines: Vec<u32>,
    shapes: Vec<u32>,
}

impl Drawing {
    /// Decides how to draw. `initial` is a row that occurs often.
    pub(super) fn new(
        references: &References,
        canvas: &mut Canvas,
        initial: &[Value],
        control: &Control,
    ) -> Result<Drawing, Stopped> {
        let machines = references.machines() as u32;
        let mut starts = Vec::new();
        let mut total = 0;
        for machine in 0..machines {
            starts.push(total);
            total += references.states(machine) as u32;
        }
        control.afford(total as usize * 48)?;
        let first_colour = MOST_COLOURS as u32 + canvas.vertices;
        canvas.vertices += references.shapes() as u32 + 1;
        let mut plan = Plan {
            references,
            canvas,
            drawing: Drawing {
                points: references.points(),
                first_colour,
                slots: Vec::new(),
                starts,
                sketches: vec![Sketch::default(); total as usize],
                marks: Vec::new(),
                edges: Vec::new(),
            },
        };
        for family in families(references) {
            control.check()?;
            if references.identity(family.machines[0]).is_some() {
                plan.at_points(&family);
            } else if let [machine] = family.machines[..] {
                plan.fixed(machine, &family);
            } else {
                plan.others(&family, initial);
            }
        }
        let mut drawing = plan.drawing;
        for sketch in &mut drawing.sketches {
            let unmarked = sketch.mark.1 == 0 && sketch.marks.0 == sketch.marks.1;
            if unmarked && sketch.edges.0 == sketch.edges.1 && matches!(sketch.manner, Manner::Listed) {
                sketch.manner = Manner::Nothing;
            }
        }
        drawing.slots = (0..machines)
            .filter(|&machine| {
                let start = drawing.starts[machine as usize] as usize;
                let sketches = &drawing.sketches[start..start + references.states(machine)];
                sketches.iter().any(|sketch| !matches!(sketch.manner, Manner::Nothing))
            })
            .collect();
        Ok(drawing)
    }

    /// Adds a row to a picture that was begun.
    #[inline]
    pub(super) fn draw(&self, references: &References, row: &[Value], picture: &mut Picture) {
        for &slot in &self.slots {
            self.draw_slot(references, slot, row[slot as usize], picture);
        }
    }

    /// Adds what one slot holds.
    #[inline]
    pub(super) fn draw_slot(&self, references: &References, slot: u32, state: Value, picture: &mut Picture) {
        let sketch = &self.sketches[(self.starts[slot as usize] + state) as usize];
        if let Manner::Nothing = sketch.manner {
            return;
        }
        if sketch.mark.1 != 0 {
            picture.add_to_colour(sketch.mark.0, sketch.mark.1);
        }
        for &(vertex, more) in &self.marks[sketch.marks.0 as usize..sketch.marks.1 as usize] {
            picture.add_to_colour(vertex, more);
        }
        picture.add_edges(&self.edges[sketch.edges.0 as usize..sketch.edges.1 as usize]);
        match sketch.manner {
            Manner::Nothing | Manner::Listed => {}
            Manner::Vertex => references.draw(slot, state, self.first_colour, picture),
            Manner::At(vertex, label) => {
                let colour = self.first_colour + references.shapes() as u32;
                references.draw_references(slot, state, vertex, label, colour, picture);
            }
        }
    }
}

struct Plan<'a> {
    references: &'a References,
    canvas: &'a mut Canvas,
    drawing: Drawing,
}

impl Plan<'_> {
    fn orbit(&self, point: u16) -> usize {
        self.canvas.orbit_of[point as usize] as usize
    }

    fn sketch(&mut self, machine: u32, state: Value) -> &mut Sketch {
        &mut self.drawing.sketches[(self.drawing.starts[machine as usize] + state) as usize]
    }

    /// Draws all states as vertices.
    fn vertices(&mut self, shapes: &[u32]) {
        let references = self.references;
        for (machine, state) in shapes.iter().flat_map(|&shape| references.members(shape)) {
            self.sketch(machine, state).manner = Manner::Vertex;
        }
    }

    fn at_points(&mut self, family: &Family) {
        let references = self.references;
        let Some(orbit) =
            references.identity(family.machines[0]).map(|point| self.canvas.orbit_of[point as usize] as usize)
        else {
            return;
        };
        let radix = self.canvas.radix[orbit] * family.shapes.len() as u64;
        if radix >= MOST_COLOURS {
            return self.vertices(&family.shapes);
        }
        let (scale, first_label) = (self.canvas.radix[orbit] as u32, self.canvas.labels[orbit]);
        self.canvas.radix[orbit] = radix;
        let mut labels = 0;
        for (digit, &shape) in (0..).zip(&family.shapes) {
            let blocks = references.blocks(shape);
            let count = u32::from(blocks.last().copied().unwrap_or(0)) + 1;
            for (machine, state) in references.members(shape) {
                let tuple = references.tuples(machine, state);
                let point = u32::from(tuple[0]);
                let from = self.drawing.edges.len() as u32;
                let manner = if references.tuples_per_state(shape) > 1 {
                    labels = labels.max(count + 1);
                    // The first label points to the vertices of the tuples.
                    Manner::At(references.identity(machine).unwrap_or(point), first_label)
                } else {
                    labels = labels.max(count - 1);
                    for (&to, &block) in tuple.iter().zip(blocks).skip(1) {
                        let label = first_label + u32::from(block) - 1;
                        self.drawing.edges.push(Edge { from: point, to: u32::from(to), label });
                    }
                    Manner::Listed
                };
                let edges = (from, self.drawing.edges.len() as u32);
                let mark = (references.identity(machine).unwrap_or(point), digit * scale);
                *self.sketch(machine, state) = Sketch { mark, edges, manner, ..Sketch::default() };
            }
        }
        self.canvas.labels[orbit] += labels;
    }

    fn fixed(&mut self, machine: u32, family: &Family) {
        let references = self.references;
        // Digits by orbit; zero is for points that are not named.
        let mut digits = vec![1u64; self.canvas.radix.len()];
        let mut silent = 0u64;
        let plain = |shape: &u32| references.tuples_per_state(*shape) == 1;
        let blocks = |shape: u32| {
            let (machine, state) = references.members(shape).next().unwrap_or((machine, 0));
            let mut seen = None;
            let first = move |&(_, &block): &(&u16, &u16)| seen.replace(block) != Some(block);
            references
                .tuples(machine, state)
                .iter()
                .zip(references.blocks(shape))
                .filter(first)
                .map(|(&point, _)| point)
        };
        for &shape in family.shapes.iter().filter(|shape| plain(shape)) {
            if references.blocks(shape).is_empty() {
                silent += 1;
            }
            for point in blocks(shape) {
                digits[self.orbit(point)] += 1;
            }
        }
        let fits = digits.iter().zip(&self.canvas.radix).all(|(digits, radix)| digits * radix < MOST_COLOURS);
        if !fits || self.canvas.rest * silent.max(1) >= MOST_COLOURS {
            return self.vertices(&family.shapes);
        }
        let scale = self.canvas.radix.clone();
        let rest_scale = self.canvas.rest;
        self.canvas.radix.iter_mut().zip(&digits).for_each(|(radix, digits)| *radix *= digits);
        self.canvas.rest *= silent.max(1);
        let mut next = vec![1u64; digits.len()];
        let mut next_silent = 0;
        for &shape in &family.shapes {
            if !plain(&shape) {
                self.vertices(&[shape]);
                continue;
            }
            if references.blocks(shape).is_empty() {
                let mark = (self.drawing.points as u32, (next_silent * rest_scale) as u32);
                next_silent += 1;
                for (machine, state) in references.members(shape) {
                    self.sketch(machine, state).mark = mark;
                }
                continue;
            }
            // The digit of each block.
            let of_block: Vec<u32> = blocks(shape)
                .map(|point| {
                    let orbit = self.orbit(point);
                    next[orbit] += 1;
                    ((next[orbit] - 1) * scale[orbit]) as u32
                })
                .collect();
            for (machine, state) in references.members(shape) {
                let named = references.tuples(machine, state).iter().zip(references.blocks(shape));
                let mut marks = named.map(|(&point, &block)| (u32::from(point), of_block[block as usize]));
                let mark = marks.next().unwrap_or_default();
                let from = self.drawing.marks.len() as u32;
                self.drawing.marks.extend(marks);
                let marks = (from, self.drawing.marks.len() as u32);
                *self.sketch(machine, state) = Sketch { mark, marks, ..Sketch::default() };
            }
        }
    }

    fn others(&mut self, family: &Family, initial: &[Value]) {
        let references = self.references;
        // A shape with one state for each machine can be left out.
        let single = |shape: &&u32| references.members(**shape).len() == family.machines.len();
        let usual = references.shape(family.machines[0], initial[family.machines[0] as usize]);
        let omitted = family.shapes.iter().filter(single).min_by_key(|shape| **shape != usual).copied();
        for &shape in family.shapes.iter().filter(|shape| Some(**shape) != omitted) {
            let Some((machine, state)) = references.members(shape).next() else { continue };
            let (blocks, tuple) = (references.blocks(shape), references.tuples(machine, state));
            let label = tuple.first().map_or(MOST_LABELS, |&point| self.canvas.labels[self.orbit(point)]);
            let as_edges = blocks.len() == 2 && references.tuples_per_state(shape) == 1 && label < MOST_LABELS;
            if !as_edges {
                self.vertices(&[shape]);
                continue;
            }
            let orbit = self.orbit(tuple[0]);
            self.canvas.labels[orbit] += 1;
            for (machine, state) in references.members(shape) {
                let [one, other] = [0, 1].map(|at| u32::from(references.tuples(machine, state)[at]));
                let from = self.drawing.edges.len() as u32;
                self.drawing.edges.push(Edge { from: one, to: other, label });
                if blocks[0] == blocks[1] {
                    self.drawing.edges.push(Edge { from: other, to: one, label });
                }
                let edges = (from, self.drawing.edges.len() as u32);
                self.sketch(machine, state).edges = edges;
            }
        }
    }
}

/// The machines by family, in the order of their least machines.
fn families(references: &References) -> Vec<Family> {
    let mut family_of = vec![u32::MAX; references.machines()];
    let mut families: Vec<Family> = Vec::new();
    for shape in 0..references.shapes() as u32 {
        let Some((machine, _)) = references.members(shape).next() else { continue };
        if family_of[machine as usize] == u32::MAX {
            let mut machines: Vec<u32> = references.members(shape).map(|(machine, _)| machine).collect();
            machines.sort_unstable();
            machines.dedup();
            machines.iter().for_each(|&machine| family_of[machine as usize] = families.len() as u32);
            families.push(Family { machines, shapes: Vec::new() });
        }
        families[family_of[machine as usize] as usize].shapes.push(shape);
    }
    families
}
