//! The points: items whose images determine an element of the group.
//!
//! A symmetry moves a process together with its channel, its number and its element of an array. The image of the
//! process is enough. The *points* are items that determine all others: every other item has one or two points as its
//! *keys*, and their images determine its image. Few points make representatives cheap, and if the group permutes the
//! points of a type in every way, the strategies for symmetric types apply, which they would not with processes and
//! channels side by side.
//!
//! The orbits are processed one after the other, processes first. Let `k` be a point and `x` an item of the orbit. If a
//! map `f` commutes with all generators and `f(k) = x`, then `k` determines `x`; the map is found by spreading from
//! `(k, x)` along the generators until all images are known or one would have two values. The same is tried with pairs
//! of points. If both fail, the items of the orbit become points.
//!
//! The *keys* of an item are all points (or pairs) that `f` maps to it: an element maps them to the keys of the image,
//! so the contents of an item are drawn at all its keys.

use std::collections::{BTreeMap, HashMap};

use trefoil_control::{Control, Stopped};

use super::items::{Item, ItemId, Items};

/// Pairs that are looked at when an item is to follow from two points.
const MOST_PAIRS: usize = 1 << 14;

/// The keys that determine an item.
#[derive(Clone, Debug)]
pub(super) enum Keys {
    /// It follows from each of these points.
    Points(Vec<u32>),
    /// It follows from each of these pairs.
    Pairs(Vec<(u32, u32)>),
}

/// How to find the image of an item.
#[derive(Clone, Debug)]
enum Follows {
    /// It is this point.
    Is(u32),
    /// By the image of a point: an index into the tables.
    Point(u32, u32),
    /// By the images of two.
    Pair(u32, u32, u32),
}

/// The points of a group of permutations of items.
pub(super) struct Points {
    /// The item of each point.
    pub(super) items: Vec<ItemId>,
    /// The generators as permutations of the points.
    pub(super) generators: Vec<Vec<u32>>,
    /// The orbits of the items that are moved, points or not, in the order in which they were taken.
    pub(super) orbits: Vec<Vec<ItemId>>,
    /// By item.
    keys: Vec<Option<Keys>>,
    follows: Vec<(ItemId, Follows)>,
    /// Where an item stands among those that follow, by item.
    place: Vec<Option<u32>>,
    /// For each map the item of each point, or of each pair.
    tables: Vec<Vec<ItemId>>,
    pairs: Vec<HashMap<(u32, u32), ItemId>>,
    /// The items that one point determines, the point, and the place in `flat` of the item for the first point.
    by_point: Vec<(ItemId, u32, u32)>,
    flat: Vec<ItemId>,
    /// The items that follow from two points.
    by_pair: Vec<(ItemId, u32, u32, u32)>,
}

impl Points {
    /// The points of the group that these permutations of the items generate.
    pub(super) fn new(items: &Items, generators: &[Vec<ItemId>], control: &Control) -> Result<Points, Stopped> {
        let mut points = Points {
            items: Vec::new(),
            generators: vec![Vec::new(); generators.len()],
            orbits: orbits(items, generators),
            keys: vec![None; items.len()],
            follows: Vec::new(),
            place: vec![None; items.len()],
            tables: Vec::new(),
            pairs: Vec::new(),
            by_point: Vec::new(),
            flat: Vec::new(),
            by_pair: Vec::new(),
        };
        let mut starts: Vec<u32> = Vec::new();
        for orbit in points.orbits.clone() {
            control.check()?;
            if points.follow_from_one(&orbit, &starts, generators)
                || points.follow_from_two(&orbit, &starts, generators)
            {
                continue;
            }
            let first = points.items.len() as u32;
            starts.push(first);
            for (point, &item) in (first..).zip(&orbit) {
                points.items.push(item);
                points.keys[item as usize] = Some(Keys::Points(vec![point]));
                points.follows.push((item, Follows::Is(point)));
            }
            let number: HashMap<ItemId, u32> = orbit.iter().copied().zip(first..).collect();
            for (own, generator) in points.generators.iter_mut().zip(generators) {
                own.extend(orbit.iter().map(|&item| number[&generator[item as usize]]));
            }
        }
        for (at, (item, _)) in (0..).zip(&points.follows) {
            points.place[*item as usize] = Some(at);
        }
        points.flatten();
        Ok(points)
    }

    /// Puts the tables one behind the other.
    fn flatten(&mut self) {
        self.flat = self.items.clone();
        let mut begins = Vec::new();
        for table in &self.tables {
            begins.push(self.flat.len() as u32);
            self.flat.extend_from_slice(table);
        }
        for &(item, ref follows) in &self.follows {
            match *follows {
                Follows::Is(point) => self.by_point.push((item, point, 0)),
                Follows::Point(point, table) => self.by_point.push((item, point, begins[table as usize])),
                Follows::Pair(one, two, table) => self.by_pair.push((item, one, two, table)),
            }
        }
    }

    /// Lets an orbit follow from single points.
    fn follow_from_one(&mut self, orbit: &[ItemId], starts: &[u32], generators: &[Vec<ItemId>]) -> bool {
        for &start in starts {
            for &item in orbit {
                let Some(map) = self.spread_one(start, item, generators) else { continue };
                let mut table = vec![0; self.items.len()];
                let mut keys: BTreeMap<ItemId, Vec<u32>> = BTreeMap::new();
                for (point, item) in map {
                    table[point as usize] = item;
                    keys.entry(item).or_default().push(point);
                }
                let number = self.tables.len() as u32;
                self.tables.push(table);
                for (item, mut points) in keys {
                    points.sort_unstable();
                    self.follows.push((item, Follows::Point(points[0], number)));
                    self.keys[item as usize] = Some(Keys::Points(points));
                }
                return true;
            }
        }
        false
    }

    fn spread_one(&self, start: u32, item: ItemId, generators: &[Vec<ItemId>]) -> Option<BTreeMap<u32, ItemId>> {
        let mut map = BTreeMap::from([(start, item)]);
        let mut work = vec![(start, item)];
        while let Some((point, item)) = work.pop() {
            for (on_points, on_items) in self.generators.iter().zip(generators) {
                let (to, image) = (on_points[point as usize], on_items[item as usize]);
                match map.insert(to, image) {
                    None => work.push((to, image)),
                    Some(known) if known != image => return None,
                    Some(_) => {}
                }
            }
        }
        Some(map)
    }

    /// Lets an orbit follow from pairs of points.
    fn follow_from_two(&mut self, orbit: &[ItemId], starts: &[u32], generators: &[Vec<ItemId>]) -> bool {
        let mut tried = 0;
        for &start in starts {
            for other in (0..self.items.len() as u32).filter(|&other| other != start) {
                for &item in orbit {
                    let Some(map) = self.spread_two((start, other), item, generators, &mut tried) else {
                        if tried > MOST_PAIRS {
                            return false;
                        }
                        continue;
                    };
                    let mut keys: BTreeMap<ItemId, Vec<(u32, u32)>> = BTreeMap::new();
                    for (&pair, &item) in &map {
                        keys.entry(item).or_default().push(pair);
                    }
                    // The drawing at the keys must distinguish the items.
                    let mut shapes: Vec<[Vec<u32>; 2]> = Vec::new();
                    for pairs in keys.values_mut() {
                        pairs.sort_unstable();
                        let mut shape = [
                            pairs.iter().map(|pair| pair.0).collect(),
                            pairs.iter().map(|pair| pair.1).collect::<Vec<u32>>(),
                        ];
                        shape.iter_mut().for_each(|side: &mut Vec<u32>| {
                            side.sort_unstable();
                            side.dedup();
                        });
                        shapes.push(shape);
                    }
                    shapes.sort_unstable();
                    if shapes.windows(2).any(|two| two[0] == two[1]) {
                        continue;
                    }
                    let number = self.pairs.len() as u32;
                    self.pairs.push(map);
                    for (item, pairs) in keys {
                        let (one, two) = pairs[0];
                        self.follows.push((item, Follows::Pair(one, two, number)));
                        self.keys[item as usize] = Some(Keys::Pairs(pairs));
                    }
                    return true;
                }
            }
        }
        false
    }

    fn spread_two(
        &self,
        start: (u32, u32),
        item: ItemId,
        generators: &[Vec<ItemId>],
        tried: &mut usize,
    ) -> Option<HashMap<(u32, u32), ItemId>> {
        let mut map = HashMap::from([(start, item)]);
        let mut work = vec![(start, item)];
        while let Some(((one, two), item)) = work.pop() {
            *tried += 1;
            if *tried > MOST_PAIRS {
                return None;
            }
            for (on_points, on_items) in self.generators.iter().zip(generators) {
                let to = (on_points[one as usize], on_points[two as usize]);
                let image = on_items[item as usize];
                match map.insert(to, image) {
                    None => work.push((to, image)),
                    Some(known) if known != image => return None,
                    Some(_) => {}
                }
            }
        }
        Some(map)
    }

    /// Where the item is to be drawn; nothing for one that is never moved.
    #[inline]
    pub(super) fn keys(&self, item: ItemId) -> Option<&Keys> {
        self.keys[item as usize].as_ref()
    }

    /// The points at which an item is drawn: none for one that is never moved; `None` when it is drawn at pairs.
    #[inline]
    pub(super) fn single_keys(&self, item: ItemId) -> Option<&[u32]> {
        match &self.keys[item as usize] {
            None => Some(&[]),
            Some(Keys::Points(points)) => Some(points),
            Some(Keys::Pairs(_)) => None,
        }
    }

    /// The images of all items that are moved; the others stay as they are in `images`.
    #[inline]
    pub(super) fn images_into(&self, element: &[u32], images: &mut [ItemId]) {
        for &(item, point, begin) in &self.by_point {
            images[item as usize] = self.flat[(begin + element[point as usize]) as usize];
        }
        for &(item, one, two, table) in &self.by_pair {
            images[item as usize] = self.pairs[table as usize][&(element[one as usize], element[two as usize])];
        }
    }

    #[inline]
    fn followed(&self, element: &[u32], follows: &Follows) -> ItemId {
        match *follows {
            Follows::Is(point) => self.items[element[point as usize] as usize],
            Follows::Point(point, table) => self.tables[table as usize][element[point as usize] as usize],
            Follows::Pair(one, two, table) => {
                self.pairs[table as usize][&(element[one as usize], element[two as usize])]
            }
        }
    }

    /// The image of one item.
    pub(super) fn image(&self, element: &[u32], item: ItemId) -> ItemId {
        match self.place[item as usize] {
            Some(at) => self.followed(element, &self.follows[at as usize].1),
            None => item,
        }
    }
}

/// The orbits of items that are moved: those of processes first, larger before smaller, then the others, smaller before
/// larger. Facts and arrays are left out, as no state has them.
fn orbits(items: &Items, generators: &[Vec<ItemId>]) -> Vec<Vec<ItemId>> {
    let mut seen = vec![false; items.len()];
    let mut orbits = Vec::new();
    for start in 0..items.len() as ItemId {
        if seen[start as usize] || matches!(items.item(start), Item::Fact(_) | Item::Array(_)) {
            continue;
        }
        let mut orbit = vec![start];
        seen[start as usize] = true;
        let mut done = 0;
        while done < orbit.len() {
            let item = orbit[done] as usize;
            done += 1;
            for generator in generators {
                let image = generator[item];
                if !std::mem::replace(&mut seen[image as usize], true) {
                    orbit.push(image);
                }
            }
        }
        if orbit.len() > 1 {
            orbit.sort_unstable();
            orbits.push(orbit);
        }
    }
    orbits.sort_by_key(|orbit| {
        let rank = match items.item(orbit[0]) {
            Item::Process(_) => return (0, usize::MAX - orbit.len()),
            Item::Own(..) => 1,
            Item::Channel(_) => 2,
            Item::Global(_) => 3,
            Item::Local(..) => 4,
            Item::Control(..) | Item::Fact(_) | Item::Array(_) => 5,
        };
        (rank, orbit.len())
    });
    orbits
}
