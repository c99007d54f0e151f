//! What a permutation of constants does to labels.

use trefoil_system::LabelId;

use super::Compiler;
use crate::eval::{Misfit, Permutation, Result};

/// Why a permutation does not act on the events of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoImage {
    /// An event.
    pub event: String,
    /// Why it has no image.
    pub misfit: Misfit,
}

impl Compiler {
    /// For every label of the table its image under a permutation of constants. Labels that are no events of the script, `τ` and `✓`
    /// among them, stay; images that nobody has met before become labels, so that the map is one of the table onto itself.
    pub fn label_map(&mut self, permutation: &mut Permutation) -> Result<std::result::Result<Vec<LabelId>, NoImage>> {
        let mut map: Vec<LabelId> = Vec::with_capacity(self.labels.len());
        while map.len() < self.labels.len() {
            let label = LabelId(map.len() as u32);
            if label.0.is_multiple_of(4096) {
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
            map.push(image);
        }
        Ok(Ok(map))
    }
}
