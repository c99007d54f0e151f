//! Pixels: filled shapes and lines of a round pen, with smooth edges.
//!
//! Both are drawn by distance. A pixel whose middle is further than half a pixel inside a shape is covered, one that is
//! further than that outside is not, and between the two its share grows evenly. A shape is given as the distance from
//! its border, negative inside; a line covers what is nearer to it than half its width. Where pieces of one line
//! overlap, a pixel takes the largest share instead of their sum, so that a line is as dark in a bend as elsewhere: the
//! shares of a line are collected in a mask, with a list of the pixels that it touches, before they are mixed in.
//!
//! Cost: a shape takes its area, a line its length times its width: long pieces are cut into short ones first.

use std::ops::Range;

use crate::drawing::{Area, Spot};

/// A colour.
pub(crate) type Colour = [u8; 3];

/// A picture under way.
pub(crate) struct Pixels {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Pixels for a unit.
    pub(crate) scale: f64,
    /// Red, green and blue, row by row.
    pub(crate) colours: Vec<u8>,
    /// How much of each pixel the line under way covers.
    mask: Vec<u8>,
    touched: Vec<u32>,
}

/// The longest piece of a line that is drawn at once, in pixels.
const PIECE: f64 = 24.0;

/// The distance of a spot from the border of a rectangle whose corners are rounded; negative inside.
pub(crate) fn from_box(spot: Spot, area: &Area, round: f64) -> f64 {
    let middle = area.middle();
    let x = (spot.x - middle.x).abs() - area.width / 2.0 + round;
    let y = (spot.y - middle.y).abs() - area.height / 2.0 + round;
    x.max(0.0).hypot(y.max(0.0)) + x.max(y).min(0.0) - round
}

/// The distance of a spot from a triangle; negative inside, and a little small outside of its corners.
pub(crate) fn from_triangle(spot: Spot, corners: &[Spot; 3]) -> f64 {
    let turn = |a: Spot, b: Spot, c: Spot| (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    let [a, b, c] = *corners;
    let sign = turn(a, b, c).signum();
    let side = |a: Spot, b: Spot| -sign * turn(a, b, spot) / (b.x - a.x).hypot(b.y - a.y).max(1e-9);
    side(a, b).max(side(b, c)).max(side(c, a))
}

fn from_line(spot: Spot, a: Spot, b: Spot) -> f64 {
    let (x, y) = (b.x - a.x, b.y - a.y);
    let length = x * x + y * y;
    let along = if length == 0.0 { 0.0 } else { (((spot.x - a.x) * x + (spot.y - a.y) * y) / length).clamp(0.0, 1.0) };
    (spot.x - a.x - x * along).hypot(spot.y - a.y - y * along)
}

impl Pixels {
    /// An empty page.
    pub(crate) fn new(width: f64, height: f64, scale: f64, page: Colour) -> Pixels {
        let (width, height) = ((width * scale).ceil() as usize, (height * scale).ceil() as usize);
        let colours = page.repeat(width * height);
        Pixels { width, height, scale, colours, mask: vec![0; width * height], touched: Vec::new() }
    }

    fn mix(&mut self, pixel: usize, colour: Colour, share: f64) {
        for (own, new) in self.colours[3 * pixel..].iter_mut().zip(colour) {
            *own = (f64::from(*own) + (f64::from(new) - f64::from(*own)) * share).round() as u8;
        }
    }

    /// The pixels of an area, and a pixel more on each side: its rows, and its columns.
    fn covered(&self, area: &Area) -> (Range<usize>, Range<usize>) {
        let range = |from: f64, size: f64, most: usize| {
            let bound = |at: f64| at.clamp(0.0, most as f64) as usize;
            bound(from * self.scale - 1.0)..bound((from + size) * self.scale + 2.0)
        };
        (range(area.y, area.height, self.height), range(area.x, area.width, self.width))
    }

    fn middle(&self, x: usize, y: usize) -> Spot {
        Spot { x: (x as f64 + 0.5) / self.scale, y: (y as f64 + 0.5) / self.scale }
    }

    /// Fills what has a negative distance, inside an area.
    pub(crate) fn fill(&mut self, area: &Area, colour: Colour, distance: impl Fn(Spot) -> f64) {
        let (rows, columns) = self.covered(area);
        for y in rows {
            for x in columns.clone() {
                let share = (0.5 - distance(self.middle(x, y)) * self.scale).clamp(0.0, 1.0);
                if share > 0.0 {
                    self.mix(y * self.width + x, colour, share);
                }
            }
        }
    }

    /// Draws lines with a round pen.
    pub(crate) fn draw(&mut self, lines: &[Vec<Spot>], colour: Colour, wide: f64) {
        for (from, to) in lines.iter().flat_map(|line| line.windows(2).map(|pair| (pair[0], pair[1]))) {
            let pieces = ((to.x - from.x).hypot(to.y - from.y) * self.scale / PIECE).ceil().max(1.0);
            let at = |piece: f64| Spot {
                x: from.x + (to.x - from.x) * piece / pieces,
                y: from.y + (to.y - from.y) * piece / pieces,
            };
            (0..pieces as usize).for_each(|piece| self.cover(at(piece as f64), at(piece as f64 + 1.0), wide));
        }
        for pixel in std::mem::take(&mut self.touched) {
            let share = std::mem::take(&mut self.mask[pixel as usize]);
            self.mix(pixel as usize, colour, f64::from(share) / 255.0);
        }
    }

    /// Adds a piece of a line to the mask.
    fn cover(&mut self, a: Spot, b: Spot, wide: f64) {
        let (x, y) = (a.x.min(b.x) - wide / 2.0, a.y.min(b.y) - wide / 2.0);
        let area = Area { x, y, width: a.x.max(b.x) + wide / 2.0 - x, height: a.y.max(b.y) + wide / 2.0 - y };
        let (rows, columns) = self.covered(&area);
        for y in rows {
            for x in columns.clone() {
                let share = 0.5 + (wide / 2.0 - from_line(self.middle(x, y), a, b)) * self.scale;
                let (share, pixel) = ((share.clamp(0.0, 1.0) * 255.0) as u8, y * self.width + x);
                if share > self.mask[pixel] {
                    if self.mask[pixel] == 0 {
                        self.touched.push(pixel as u32);
                    }
                    self.mask[pixel] = share;
                }
            }
        }
    }
}

/// A line cut into dashes: `dashes` are the lengths of a dash and of a gap.
pub(crate) fn dashed(line: &[Spot], dashes: (f64, f64)) -> Vec<Vec<Spot>> {
    let mut all = vec![line[..1].to_vec()];
    let (mut on, mut left) = (true, dashes.0);
    for pair in line.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.x - from.x).hypot(to.y - from.y);
            let turns = length > left;
            let share = if turns { left / length } else { 1.0 };
            let end = Spot { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
            if on {
                all.last_mut().expect("a dash").push(end);
            }
            if !turns {
                left -= length;
                break;
            }
            on = !on;
            left = if on { dashes.0 } else { dashes.1 };
            if on {
                all.push(vec![end]);
            }
            from = end;
        }
    }
    all
}
