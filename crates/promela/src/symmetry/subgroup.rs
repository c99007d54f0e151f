//! The largest group that is proved, when not all that was proposed is.
//!
//! The graph proposes what keeps the text and the start. The proof knows a little more: how wide variables are, which values are small enough
//! for tables, what hidden variables begin with. Where it refuses a generator, others that the group has may do: conjugates, products, or an
//! element of another coset. All that the proof accepts is a group, so the largest one can be searched for
//! ([`trefoil_groups::largest_subgroup`]), for a bounded effort.

use trefoil_control::{Control, Stopped};
use trefoil_groups::{Permutation, PermutationGroup, largest_subgroup};

use super::Reason;
use super::items::ItemId;
use super::proof::Proof;

/// How many elements are looked at.
const EFFORT: usize = 20_000;

/// Generators of the largest group that is proved, of what these generate; reasons for generators that are not are added.
pub(super) fn proved(
    proof: &Proof<'_>,
    proposed: &[Vec<ItemId>],
    reasons: &mut Vec<Reason>,
    control: &Control,
) -> Result<Vec<Vec<ItemId>>, Stopped> {
    let mut refused = Vec::new();
    for images in proposed {
        control.check()?;
        refused.extend(proof.check(images).err());
    }
    if refused.is_empty() {
        return Ok(proposed.to_vec());
    }
    let permutations: Vec<Permutation> = proposed
        .iter()
        .map(|images| Permutation::from_images(images.clone()).expect("automorphisms are permutations"))
        .collect();
    // A search that is stopped says so itself.
    let mut holds = |element: &Permutation| control.check().is_ok() && proof.check(element.images()).is_ok();
    let found = largest_subgroup(&permutations, EFFORT, control, &mut holds)?;
    let degree = proposed[0].len();
    let wanted = PermutationGroup::generate(degree, &permutations, control)?.order();
    let order = PermutationGroup::generate(degree, &found.generators, control)?.order();
    let all = if found.complete { "" } else { ", and perhaps there are more" };
    for reason in refused {
        let text =
            format!("{}; of {wanted} permutations that were tried for, {order} are symmetries{all}", reason.text);
        reasons.push(Reason { text, ..reason });
    }
    Ok(found.generators.iter().map(|generator| generator.images().to_vec()).collect())
}
