//! Strategies that compare images one by one: `enumerate`, `segmented`, `stabiliser` and `hillclimbing`.
//!
//! `stabiliser` is algorithm 3 of Donaldson and Miller, *Extending symmetry reduction techniques to a realistic model
//! of computation*, 2007: an element that minimises the control part of the state, then the least image under the
//! elements that keep that control part, which depend on the control part alone and are remembered for each that
//! occurs. Where the paper calls an algebra system, we have `groups`; where it uses a strategy for the control part
//! that the structure of the group suggests, we sort under symmetric types and take least images otherwise.
//!
//! The elements that make the least image form a coset of the stabiliser, so their number is its order.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_groups::{LeastImages, Permutation, PermutationGroup, UBig, compose_into};
use trefoil_system::Picture;

use crate::images::Images;
use crate::types::Types;

/// How many images a list of elements may have in all.
const LISTED: usize = 1 << 22;

/// How many control parts are remembered before all are forgotten.
const REMEMBERED: usize = 1 << 14;

/// The elements of a group, as a list when it is short.
pub(crate) enum Elements {
    /// The images of one after the other.
    Listed(Vec<u32>),
    /// Too many to list.
    Group(PermutationGroup),
}

impl Elements {
    pub(crate) fn of(group: &PermutationGroup, control: &Control) -> Result<Elements, Stopped> {
        let words = group.order() * UBig::from(group.degree().max(1));
        if words > UBig::from(LISTED) {
            return Ok(Elements::Group(group.clone()));
        }
        let mut listed = Vec::new();
        for element in group.elements() {
            control.check()?;
            listed.extend_from_slice(element.images());
        }
        Ok(Elements::Listed(listed))
    }

    /// Offers the image under each element, after `first` when there is one.
    fn offer_all(
        &self,
        images: &mut Images,
        picture: &Picture,
        first: Option<&[u32]>,
        product: &mut Vec<u32>,
        control: &Control,
    ) -> Result<(), Stopped> {
        let degree = picture.points();
        product.clear();
        product.resize(degree, 0);
        let mut looked_at = 0u32;
        let mut offer = |element: &[u32]| {
            looked_at += 1;
            if looked_at & 0x3ff == 0 {
                control.check()?;
            }
            match first {
                Some(first) => {
                    compose_into(first, element, product);
                    images.offer(picture, product, control)
                }
                None => images.offer(picture, element, control),
            }
        };
        match self {
            Elements::Listed(listed) if degree > 0 => {
                for element in listed.chunks_exact(degree) {
                    offer(element)?;
                }
            }
            Elements::Listed(_) => {
                offer(&[])?;
            }
            Elements::Group(group) => {
                for element in group.elements() {
                    offer(element.images())?;
                }
            }
        }
        Ok(())
    }
}

/// The buffers of one thread.
pub(crate) struct Minimiser {
    pub(crate) images: Images,
    order: Vec<(u32, u32, u32)>,
    first: Vec<u32>,
    product: Vec<u32>,
    colours: Vec<u32>,
    remembered: HashMap<Vec<u32>, Arc<Elements>>,
}

impl Minimiser {
    pub(crate) fn new() -> Minimiser {
        Minimiser {
            images: Images::new(),
            order: Vec::new(),
            first: Vec::new(),
            product: Vec::new(),
            colours: Vec::new(),
            remembered: HashMap::new(),
        }
    }

    /// How many control parts are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.remembered.len()
    }

    fn finish(&mut self, element: &mut [u32]) -> UBig {
        element.copy_from_slice(self.images.element());
        UBig::from(self.images.ties())
    }

    pub(crate) fn enumerate(
        &mut self,
        elements: &Elements,
        picture: &Picture,
        element: &mut [u32],
        control: &Control,
    ) -> Result<UBig, Stopped> {
        self.images.clear();
        elements.offer_all(&mut self.images, picture, None, &mut self.product, control)?;
        Ok(self.finish(element))
    }

    /// Sorts the points of each type by colour, those of one colour by number.
    pub(crate) fn sort(&mut self, types: &Types, picture: &Picture, element: &mut [u32]) {
        self.order.clear();
        let keys =
            types.kind_of.iter().zip(picture.colours()).zip(0..).map(|((&kind, &colour), point)| (kind, colour, point));
        self.order.extend(keys);
        self.order.sort_unstable();
        for (&(_, _, point), &place) in self.order.iter().zip(&types.places) {
            element[point as usize] = place;
        }
    }

    /// The least image under all ways to sort by colour.
    pub(crate) fn segmented(
        &mut self,
        types: &Types,
        picture: &Picture,
        element: &mut [u32],
        control: &Control,
    ) -> Result<UBig, Stopped> {
        self.sort(types, picture, element);
        self.images.clear();
        let mut looked_at = 0u32;
        loop {
            looked_at += 1;
            if looked_at & 0x3ff == 0 {
                control.check()?;
            }
            for (&(_, _, point), &place) in self.order.iter().zip(&types.places) {
                element[point as usize] = place;
            }
            self.images.offer(picture, element, control)?;
            // The next arrangement: that of the first segment that has one, those before it starting again.
            let mut begin = 0;
            let more = loop {
                let Some(&(kind, colour, _)) = self.order.get(begin) else { break false };
                let length =
                    self.order[begin..].iter().take_while(|entry| (entry.0, entry.1) == (kind, colour)).count();
                if next_arrangement(&mut self.order[begin..begin + length]) {
                    break true;
                }
                begin += length;
            };
            if !more {
                return Ok(self.finish(element));
            }
        }
    }

    /// Algorithm 3 of the paper.
    pub(crate) fn stabiliser(
        &mut self,
        group: &PermutationGroup,
        types: &Types,
        control_part: Option<&LeastImages>,
        picture: &Picture,
        element: &mut [u32],
        control: &Control,
    ) -> Result<UBig, Stopped> {
        let degree = picture.points();
        match control_part {
            Some(least) => element.copy_from_slice(least.of(&picture.colours()[..degree], control)?.element.images()),
            None => self.sort(types, picture, element),
        }
        self.colours.clear();
        self.colours.resize(degree, 0);
        for (&image, &colour) in element.iter().zip(picture.colours()) {
            self.colours[image as usize] = colour;
        }
        // Only equality of colours matters.
        self.first.clear();
        self.first.extend_from_slice(&self.colours);
        self.first.sort_unstable();
        self.first.dedup();
        for colour in &mut self.colours {
            *colour = self.first.binary_search(colour).unwrap_or_default() as u32;
        }
        let elements = match self.remembered.get(&self.colours) {
            Some(elements) => elements.clone(),
            None => {
                let found = Arc::new(Elements::of(&group.colouring_stabiliser(&self.colours, control)?, control)?);
                if self.remembered.len() >= REMEMBERED {
                    self.remembered.clear();
                }
                self.remembered.insert(self.colours.clone(), found.clone());
                found
            }
        };
        self.images.clear();
        elements.offer_all(&mut self.images, picture, Some(element), &mut self.product, control)?;
        Ok(self.finish(element))
    }

    /// Applies steps as long as one of them makes the image less.
    pub(crate) fn climb(
        &mut self,
        steps: &[Permutation],
        picture: &Picture,
        element: &mut [u32],
        control: &Control,
    ) -> Result<(), Stopped> {
        element.iter_mut().zip(0..).for_each(|(image, point)| *image = point);
        self.images.clear();
        self.images.offer(picture, element, control)?;
        self.product.clear();
        self.product.resize(element.len(), 0);
        let mut failed = 0;
        let mut next = 0;
        while failed < steps.len() {
            control.check()?;
            compose_into(element, steps[next].images(), &mut self.product);
            if self.images.offer(picture, &self.product, control)? {
                element.copy_from_slice(&self.product);
                failed = 0;
            } else {
                failed += 1;
                next = (next + 1) % steps.len();
            }
        }
        Ok(())
    }
}

/// The lexicographically next arrangement; after the last one the first again, and `false`.
fn next_arrangement<T: Ord>(items: &mut [T]) -> bool {
    let Some(rise) = (1..items.len()).rev().find(|&at| items[at - 1] < items[at]) else {
        items.reverse();
        return false;
    };
    let larger = (rise..items.len()).rev().find(|&at| items[at] > items[rise - 1]).unwrap_or(rise);
    items.swap(rise - 1, larger);
    items[rise..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrangements_come_in_order_and_start_again() {
        let mut items = [1, 2, 3];
        let mut seen = vec![items];
        while next_arrangement(&mut items) {
            seen.push(items);
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.is_sorted());
        assert_eq!(items, [1, 2, 3]);
        assert!(!next_arrangement::<u32>(&mut []));
    }
}
