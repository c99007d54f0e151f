//! One thread's worker: a picture in, an element of the group out.

use trefoil_control::{Control, Stopped};
use trefoil_groups::UBig;
use trefoil_system::Picture;

use crate::canonical::Labeller;
use crate::fast::Scratch;
use crate::labels::Change;
use crate::minimising::Minimiser;
use crate::symmetry::{Method, Symmetry};

/// Chooses representatives, in buffers that are reused.
///
/// For small pictures (64 vertices, labels below 32) under symmetric types, and under groups that a sparse graph
/// describes, `canonical` and `ordering` allocate nothing.
pub struct Canoniser<'a> {
    symmetry: &'a Symmetry,
    control: &'a Control,
    labeller: Labeller,
    /// With a picture that others differ little from.
    near: Labeller,
    minimiser: Minimiser,
    scratch: Scratch,
    element: Vec<u32>,
}

/// What to do with a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Representative<'a> {
    /// The element of the group that carries the state to its representative: point `p` becomes `element[p]`.
    pub element: &'a [u32],
    /// The number of elements of the group that fix the state; from exact strategies only.
    pub stabiliser: Option<UBig>,
}

impl<'a> Canoniser<'a> {
    pub(crate) fn new(symmetry: &'a Symmetry, control: &'a Control) -> Canoniser<'a> {
        Canoniser {
            symmetry,
            control,
            labeller: Labeller::new(),
            near: Labeller::new(),
            minimiser: Minimiser::new(),
            scratch: Scratch::default(),
            element: vec![0; symmetry.group.degree()],
        }
    }

    /// The element that carries a state to its representative, from the picture of the state. Panics when the picture
    /// has another number of points than the group.
    pub fn representative(&mut self, picture: &Picture) -> Result<Representative<'_>, Stopped> {
        let Symmetry { group, types, method, .. } = self.symmetry;
        assert_eq!(picture.points(), group.degree(), "picture and group have the same points");
        let (control, element) = (self.control, &mut self.element[..]);
        let stabiliser = match method {
            Method::Canonical(canonical) => {
                Some(canonical.minimise(group, types, &mut self.labeller, picture, element, control)?)
            }
            Method::Ordering => {
                self.labeller.arrange(picture, types, element, control)?;
                None
            }
            Method::Sorted => {
                self.minimiser.sort(types, picture, element);
                None
            }
            Method::Segmented => Some(self.minimiser.segmented(types, picture, element, control)?),
            Method::Enumerate(elements) => Some(self.minimiser.enumerate(elements, picture, element, control)?),
            Method::Fast(fast) => {
                fast.minimise(&mut self.minimiser.images, picture, &mut self.scratch, element, control)?;
                None
            }
            Method::Stabiliser(control_part) => {
                let minimiser = &mut self.minimiser;
                Some(minimiser.stabiliser(group, types, control_part.as_ref(), picture, element, control)?)
            }
            Method::Hillclimbing(steps) => {
                self.minimiser.climb(steps, picture, element, control)?;
                None
            }
        };
        Ok(Representative { element: &self.element, stabiliser })
    }

    /// Prepares for pictures that differ little from this one; returns whether [`Canoniser::arrange_near`] may be
    /// called.
    pub(crate) fn keep(&mut self, picture: &Picture) -> bool {
        match &self.symmetry.method {
            Method::Canonical(canonical) => canonical.keep(&self.symmetry.types, &mut self.near, picture),
            _ => false,
        }
    }

    /// The same as [`Canoniser::representative`] for a picture that differs from the one kept by this change: the order
    /// of the stabiliser, the element being [`Canoniser::element`] then; `None` when the picture itself is needed.
    pub(crate) fn arrange_near(&mut self, change: &Change<'_>) -> Result<Option<UBig>, Stopped> {
        let Symmetry { group, types, method: Method::Canonical(canonical), .. } = self.symmetry else {
            return Ok(None);
        };
        canonical.minimise_near(group, types, &mut self.near, change, &mut self.element, self.control)
    }

    /// The element that was found last.
    pub(crate) fn element(&self) -> &[u32] {
        &self.element
    }

    /// How many control parts `stabiliser` has seen.
    pub fn control_parts(&self) -> usize {
        self.minimiser.remembered()
    }
}
