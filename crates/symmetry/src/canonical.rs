//! The strategy `canonical`: one representative for each orbit under any group, and no list of elements.
//!
//! Labelling a picture canonically, points within their orbits, gives each point a label. When the group has every
//! permutation that keeps the orbits, the labels within an orbit, in their order, say which point becomes which, and
//! the automorphisms of the picture are the stabiliser of the state.
//!
//! For other groups arcs that every element keeps are drawn beside the picture (`orbitals`), so that the automorphisms
//! `A` of both lie in a group `K` that contains the given one, `G`. The labels are unique up to `A`. If `A` lies in
//! `G`, the arrangements of the labels that elements of `G` make are the same whichever of the labellings came out and
//! whichever picture of the orbit was given; the element that makes the least of them, found greedily along the
//! stabiliser chain since labels are different, leads to one representative, and `A` is the stabiliser. This is so for
//! all pictures when `K = G`, and for every picture with little symmetry whatever `G` is.
//!
//! There remain symmetric pictures under groups that no few arcs describe. For them the least image of the picture is
//! searched along the stabiliser chain ([`GraphImages`]), guided by refinement and pruned by the stabiliser, which is
//! found first.

use trefoil_control::{Control, Stopped};
use trefoil_groups::{
    GraphImages, PermutationGroup, SmallGraphs, UBig, automorphisms, canonical_labelling, refined_labelling,
};
use trefoil_system::Picture;

use crate::labels::{self, Change};
use crate::orbitals::Orbitals;
use crate::types::Types;

/// What is known about the group.
pub(crate) struct Canonical {
    pub(crate) orbitals: Orbitals,
    images: GraphImages,
    /// The number of elements of the group.
    order: UBig,
}

/// The buffers of one thread.
pub(crate) struct Labeller {
    graphs: SmallGraphs,
    labels: Vec<u32>,
    scratch: Vec<u32>,
}

impl Labeller {
    pub(crate) fn new() -> Labeller {
        Labeller { graphs: SmallGraphs::new(), labels: Vec::new(), scratch: Vec::new() }
    }

    /// The strategy `ordering`: refinement, then arbitrary choices.
    pub(crate) fn arrange(
        &mut self,
        picture: &Picture,
        types: &Types,
        element: &mut [u32],
        control: &Control,
    ) -> Result<(), Stopped> {
        if labels::describe(&mut self.graphs, picture, types, &[], 0) {
            self.graphs.arrange();
            for (point, image) in element.iter_mut().enumerate() {
                *image = types.places[self.graphs.position(point)];
            }
            return Ok(());
        }
        let graph = labels::graph(picture, types, &[], 0, None);
        let found = refined_labelling(&graph, control)?;
        for (point, image) in element.iter_mut().enumerate() {
            *image = types.places[found.image(point as u32) as usize];
        }
        Ok(())
    }
}

impl Canonical {
    pub(crate) fn new(group: &PermutationGroup, types: &Types, control: &Control) -> Result<Canonical, Stopped> {
        let orbitals = Orbitals::of(group, types, control)?;
        Ok(Canonical { orbitals, images: GraphImages::new(group, control)?, order: group.order() })
    }

    /// Puts the element to apply into `element` and returns the order of the stabiliser.
    pub(crate) fn minimise(
        &self,
        group: &PermutationGroup,
        types: &Types,
        labeller: &mut Labeller,
        picture: &Picture,
        element: &mut [u32],
        control: &Control,
    ) -> Result<UBig, Stopped> {
        let Orbitals { arcs, colours, .. } = &self.orbitals;
        if picture.edges().is_empty() && picture.vertices() == element.len() && types.have_equal(picture.colours()) {
            // Nothing distinguishes points of a type, and the whole group fixes the state.
            element.iter_mut().zip(0..).for_each(|(image, point)| *image = point);
            return Ok(self.order.clone());
        }
        if labels::describe(&mut labeller.graphs, picture, types, arcs, *colours) {
            return match self.label(group, types, labeller, element, control)? {
                Some(order) => Ok(order),
                None => self.search(picture, types, element, control),
            };
        }
        self.minimise_large(group, types, picture, element, control)
    }

    /// Describes a picture from which others differ little; says whether they can be minimised by
    /// [`Canonical::minimise_near`].
    pub(crate) fn keep(&self, types: &Types, labeller: &mut Labeller, picture: &Picture) -> bool {
        let Orbitals { arcs, colours, .. } = &self.orbitals;
        labels::describe(&mut labeller.graphs, picture, types, arcs, *colours) && labeller.graphs.keep()
    }

    /// The same as [`Canonical::minimise`] for the picture that is the one kept, without what `change` removes and with
    /// what it adds; `None` when the picture itself is needed.
    pub(crate) fn minimise_near(
        &self,
        group: &PermutationGroup,
        types: &Types,
        labeller: &mut Labeller,
        change: &Change<'_>,
        element: &mut [u32],
        control: &Control,
    ) -> Result<Option<UBig>, Stopped> {
        let order = match labels::change(&mut labeller.graphs, change, self.orbitals.colours) {
            true => self.label(group, types, labeller, element, control),
            false => Ok(None),
        };
        labeller.graphs.revert();
        order
    }

    /// Labels what was described; `None` when labels do not decide.
    fn label(
        &self,
        group: &PermutationGroup,
        types: &Types,
        labeller: &mut Labeller,
        element: &mut [u32],
        control: &Control,
    ) -> Result<Option<UBig>, Stopped> {
        let Labeller { graphs, labels, scratch } = labeller;
        graphs.label(control)?;
        if types.symmetric {
            for (point, image) in element.iter_mut().enumerate() {
                *image = types.places[graphs.position(point)];
            }
            return Ok(Some(graphs.order()));
        }
        let inside = self.orbitals.describe_group
            || graphs.is_rigid()
            || graphs.all_generators(|images| group.chain().contains_images(images, scratch));
        if !inside {
            return Ok(None);
        }
        labels.clear();
        labels.extend((0..element.len()).map(|point| graphs.position(point) as u32));
        group.chain().least_arrangement(labels, element);
        Ok(Some(graphs.order()))
    }

    /// The same for pictures that are not small.
    fn minimise_large(
        &self,
        group: &PermutationGroup,
        types: &Types,
        picture: &Picture,
        element: &mut [u32],
        control: &Control,
    ) -> Result<UBig, Stopped> {
        let Orbitals { arcs, colours, describe_group } = &self.orbitals;
        let graph = labels::graph(picture, types, arcs, *colours, None);
        let found = canonical_labelling(&graph, control)?;
        let degree = element.len();
        let mut images = Vec::new();
        let mut scratch = Vec::new();
        let inside = *describe_group
            || found.automorphisms.generators.iter().all(|generator| {
                images.clear();
                images.extend((0..degree as u32).map(|point| generator.image(point)));
                group.chain().contains_images(&images, &mut scratch)
            });
        if !inside {
            return self.search(picture, types, element, control);
        }
        let labels = &found.labels.images()[..degree];
        if types.symmetric {
            for (image, &label) in element.iter_mut().zip(labels) {
                *image = types.places[label as usize];
            }
        } else {
            group.chain().least_arrangement(labels, element);
        }
        // Automorphisms that fix all points do not count.
        let mut order = found.automorphisms.order;
        if picture.vertices() > degree && order != UBig::ONE {
            let places: Vec<u32> = (0..degree as u32).collect();
            order /= automorphisms(&labels::graph(picture, types, arcs, *colours, Some(&places)), control)?.order;
        }
        Ok(order)
    }

    fn search(
        &self,
        picture: &Picture,
        types: &Types,
        element: &mut [u32],
        control: &Control,
    ) -> Result<UBig, Stopped> {
        let graph = labels::graph(picture, types, &[], 0, None);
        let found = self.images.of(&graph, control)?;
        element.copy_from_slice(found.element.images());
        Ok(found.stabiliser.order())
    }
}
