//! The action of a permutation of constants on labels.

use trefoil_system::LabelId;

use super::Compiler;
use crate::eval::{Misfit, Permutation, Result, constants_in};
use crate::symmetry::Points;

/// Why a permutation does not act on the events of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoImage {
    /// An event.
    pub event: String,
    /// Why it has no image.
    pub misfit: Misfit,
}

impl Compiler {
    /// The points that the event of a label mentions, from left to right.
    pub fn mentioned_points(&self, label: LabelId, points: &Points) -> Vec<u32> {
        let mut mentioned = Vec::new();
        if let Some(event) = self.events.value(label) {
            constants_in(event, &mut |constant| mentioned.extend(points.number(constant)));
        }
        mentioned
    }

    /// For every label of the table its image under a permutation of constants. Only these labels are looked at, with
    /// their images and the images of those; the others stay, and so do labels that are no events of the script, `τ`
    /// and `✓` among them. New images become labels, so that the map is a permutation of the table.
    pub fn label_map(
        &mut self,
        permutation: &mut Permutation,
        of: &[LabelId],
    ) -> Result<std::result::Result<Vec<LabelId>, NoImage>> {
        let mut map: Vec<Option<LabelId>> = vec![None; self.labels.len()];
        let mut count: usize = 0;
        for &start in of {
            let mut label = start;
            // Around a cycle of the permutation.
            while map[label.index()].is_none() {
                count += 1;
                if count.is_multiple_of(4096) {
                    self.control.check()?;
                }
                let image = match self.events.value(label).cloned() {
                    None => label,
                    Some(event) => match permutation.image(&event, &mut self.evaluator)? {
                        Ok(image) => self.events.label(&image, &self.evaluator)?,
                        Err(misfit) => {
                            let event = self.evaluator.show(&event);
                            return Ok(Err(NoImage { event, misfit }));
                        }
                    },
                };
                map[label.index()] = Some(image);
                map.resize(self.labels.len(), None);
                label = image;
            }
        }
        let stays = |(at, image): (u32, Option<LabelId>)| image.unwrap_or(LabelId(at));
        Ok(Ok((0..).zip(map).map(stays).collect()))
    }
}
