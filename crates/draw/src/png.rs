//! Pictures as PNG files, for places that show no SVG: a drawing or a chart as pixels, in the light.
//!
//! The pixels are those of the SVG document. It is the one description of a picture, so what is drawn here is read from
//! it: its elements, and its style sheet without the second set of colours. Only what [`crate::svg`] and
//! [`crate::chart`] write is read, and tests draw every kind of it.
//!
//! A unit is two pixels, or one in a large picture; a picture that has too many pixels even then is refused, since its
//! letters could not be read with fewer. Letters begin at whole pixels, so that equal letters are equal pixels, which
//! makes files smaller. Letters are our own ([`crate::letters`]), so that a file is the same on every machine.
//!
//! The file has one chunk of pixels, compressed by `flate2` as they are: the differences to other pixels that the
//! format offers are for photographs.

use std::io::Write;

use flate2::{Compression, Crc, write::ZlibEncoder};

use crate::drawing::{Area, Spot};
use crate::letters::letter;
use crate::pixels::{Colour, Pixels, dashed, from_box, from_triangle};
use crate::text::{self, SIZE};

/// Pixels for a unit, the largest that fits. With one, letters are nine pixels high.
const SCALES: [f64; 2] = [2.0, 1.0];
/// The most pixels of a picture.
const MOST: f64 = 40e6;
/// The width of the pen for letters of size 12, and for bold ones.
const PEN: (f64, f64) = (1.15, 1.6);
/// Straight pieces of a curve.
const PIECES: usize = 24;

/// The picture would have too many pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyPixels {
    /// Its width in units.
    pub width: u64,
    /// Its height in units.
    pub height: u64,
}

impl std::fmt::Display for TooManyPixels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = trefoil_control::count;
        write!(f, "a readable picture would have {} by {} pixels", count(self.width), count(self.height))
    }
}

impl std::error::Error for TooManyPixels {}

/// An element with its attributes.
struct Element<'a> {
    name: &'a str,
    attributes: &'a str,
}

impl<'a> Element<'a> {
    fn attribute(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        while let Some((own, after)) = rest.split_once("=\"") {
            let (value, next) = after.split_once('"')?;
            if own.trim() == name {
                return Some(value);
            }
            rest = next;
        }
        None
    }

    fn number(&self, name: &str) -> f64 {
        self.attribute(name).and_then(|value| value.parse().ok()).unwrap_or(0.0)
    }

    fn spot(&self, x: &str, y: &str) -> Spot {
        Spot { x: self.number(x), y: self.number(y) }
    }
}

/// How something is painted.
#[derive(Clone, Copy, Default)]
struct Paint<'a> {
    fill: Option<Colour>,
    stroke: Option<Colour>,
    wide: f64,
    dashes: Option<(f64, f64)>,
    anchor: &'a str,
    size: f64,
    bold: bool,
}

fn colour(text: &str) -> Option<Colour> {
    let number = u32::from_str_radix(text.strip_prefix('#')?, 16).ok()?;
    Some([(number >> 16) as u8, (number >> 8) as u8, number as u8])
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != '-')
        .filter_map(|number| number.parse().ok())
        .collect()
}

impl<'a> Paint<'a> {
    /// What the style sheet says about an element inside elements of these classes; later rules win.
    fn of(style: &'a str, name: &str, classes: &[&str]) -> Paint<'a> {
        let mut paint = Paint { wide: 1.0, size: SIZE, ..Paint::default() };
        let has = |class: &str| classes.iter().any(|all| all.split(' ').any(|own| own == class));
        let means = |part: &str| part.strip_prefix('.').map_or(part == name, has);
        for (selectors, rules) in style.lines().filter_map(|line| line.strip_suffix('}')?.split_once('{')) {
            if selectors.split(',').any(|selector| selector.split_whitespace().all(means)) {
                for (property, value) in rules.split(';').filter_map(|rule| rule.split_once(':')) {
                    paint.set(property.trim(), value.trim());
                }
            }
        }
        paint
    }

    fn set(&mut self, property: &str, value: &'a str) {
        match property {
            "fill" => self.fill = colour(value),
            "stroke" => self.stroke = colour(value),
            "stroke-width" => self.wide = value.parse().unwrap_or(1.0),
            "stroke-dasharray" => {
                self.dashes = value.split_once(' ').and_then(|(on, off)| Some((on.parse().ok()?, off.parse().ok()?)));
            }
            "text-anchor" => self.anchor = value,
            "font-size" => self.size = numbers(value)[0],
            "font-weight" => self.bold = true,
            _ => {}
        }
    }
}

/// The points of a path: lines and cubic curves.
fn path(data: &str) -> Vec<Spot> {
    let mut line: Vec<Spot> = Vec::new();
    let mut rest = data;
    while let Some(command) = rest.chars().next() {
        let end = rest[1..].find(['M', 'L', 'C']).map_or(rest.len(), |at| at + 1);
        let spots: Vec<Spot> =
            numbers(&rest[1..end]).chunks_exact(2).map(|pair| Spot { x: pair[0], y: pair[1] }).collect();
        match (command, &spots[..]) {
            ('C', &[first, second, to]) => {
                let from = *line.last().expect("a path begins with M");
                line.extend((1..=PIECES).map(|piece| {
                    let t = piece as f64 / PIECES as f64;
                    let s = 1.0 - t;
                    let mixed = |of: fn(Spot) -> f64| {
                        s * s * s * of(from)
                            + 3.0 * s * s * t * of(first)
                            + 3.0 * s * t * t * of(second)
                            + t * t * t * of(to)
                    };
                    Spot { x: mixed(|spot| spot.x), y: mixed(|spot| spot.y) }
                }));
            }
            _ => line.extend(spots),
        }
        rest = &rest[end..];
    }
    line
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

impl Pixels {
    fn element(&mut self, element: &Element<'_>, paint: &Paint<'_>) {
        let outline = |pixels: &mut Pixels, line: Vec<Spot>| {
            let Some(stroke) = paint.stroke else { return };
            let lines = paint.dashes.map_or_else(|| vec![line.clone()], |dashes| dashed(&line, dashes));
            pixels.draw(&lines, stroke, paint.wide);
        };
        match element.name {
            "rect" => {
                let Spot { x, y } = element.spot("x", "y");
                let area = Area { x, y, width: element.number("width"), height: element.number("height") };
                let round = element.number("rx").min(area.height / 2.0).min(area.width / 2.0);
                if let Some(fill) = paint.fill {
                    self.fill(&area, fill, |spot| from_box(spot, &area, round));
                }
                outline(self, border(&area, round));
            }
            "circle" => {
                let (middle, radius) = (element.spot("cx", "cy"), element.number("r"));
                let (x, y, size) = (middle.x - radius, middle.y - radius, 2.0 * radius);
                outline(self, border(&Area { x, y, width: size, height: size }, radius));
            }
            "polygon" => {
                let at = numbers(element.attribute("points").unwrap_or_default());
                let spots: Vec<Spot> = at.chunks_exact(2).map(|pair| Spot { x: pair[0], y: pair[1] }).collect();
                if let (&[a, b, c], Some(fill)) = (&spots[..], paint.fill) {
                    let (x, y) = (a.x.min(b.x).min(c.x), a.y.min(b.y).min(c.y));
                    let (right, bottom) = (a.x.max(b.x).max(c.x), a.y.max(b.y).max(c.y));
                    let area = Area { x, y, width: right - x, height: bottom - y };
                    self.fill(&area, fill, |spot| from_triangle(spot, &[a, b, c]));
                }
            }
            "path" => outline(self, path(element.attribute("d").unwrap_or_default())),
            "line" => outline(self, vec![element.spot("x1", "y1"), element.spot("x2", "y2")]),
            _ => {}
        }
    }

    fn write(&mut self, words: &str, at: Spot, paint: &Paint<'_>) {
        let column = text::width("x") * paint.size / SIZE;
        let wide = text::columns(words) as f64 * column;
        let mut left = match paint.anchor {
            "middle" => at.x - wide / 2.0,
            "end" => at.x - wide,
            _ => at.x,
        };
        let pen = if paint.bold { PEN.1 } else { PEN.0 } * paint.size / SIZE;
        for character in words.chars() {
            let columns = text::columns(character.encode_utf8(&mut [0; 4]));
            if columns > 0 {
                let whole = |place: f64| (place * self.scale).round() / self.scale;
                let letter = letter(character, whole(left), whole(at.y), paint.size);
                self.draw(&letter.strokes, paint.fill.unwrap_or([0; 3]), pen * letter.pen);
            }
            left += column * columns as f64;
        }
    }
}

/// The border of a rectangle with rounded corners as a closed line.
fn border(area: &Area, round: f64) -> Vec<Spot> {
    let (right, bottom) = (area.x + area.width - round, area.y + area.height - round);
    let middles =
        [(right, area.y + round), (right, bottom), (area.x + round, bottom), (area.x + round, area.y + round)];
    let mut line: Vec<Spot> = Vec::new();
    for (quarter, (x, y)) in middles.into_iter().enumerate() {
        let pieces = if round > 0.0 { 8 } else { 0 };
        line.extend((0..=pieces).map(|piece| {
            let angle =
                std::f64::consts::FRAC_PI_2 * (quarter as f64 - 1.0 + f64::from(piece) / f64::from(pieces.max(1)));
            let reach = if round > 0.0 { round } else { 0.0 };
            Spot { x: x + reach * angle.cos(), y: y + reach * angle.sin() }
        }));
    }
    line.push(line[0]);
    line
}

/// A document that this crate wrote, as a PNG file.
///
/// # Panics
///
/// When the document is another one.
pub fn png(svg: &str) -> Result<Vec<u8>, TooManyPixels> {
    let size = svg.split_once("viewBox=\"").and_then(|(_, rest)| rest.split_once('"'));
    let size = numbers(size.expect("a document has a size").0);
    let (width, height) = (size[2], size[3]);
    let fits = |scale: &f64| width * height * scale * scale <= MOST;
    let too_many = TooManyPixels { width: width as u64, height: height as u64 };
    let scale = SCALES.into_iter().find(fits).ok_or(too_many)?;
    let style = svg.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>"));
    let style = style.map_or("", |(style, _)| style);
    // The own style of a chart follows the second set of colours of all pictures.
    let mut light = String::new();
    let mut dark = false;
    for line in style.lines() {
        if line.starts_with('@') {
            dark = true;
        } else if line == "}" {
            dark = false;
        } else if !dark {
            light.push_str(line);
            light.push('\n');
        }
    }
    let page = Paint::of(&light, "rect", &["page"]).fill.expect("a page has a colour");
    let mut pixels = Pixels::new(width, height, scale, page);
    let mut classes: Vec<&str> = Vec::new();
    let mut writing: Option<(Spot, Paint<'_>)> = None;
    let body = svg.split_once("</style>").map_or("", |(_, body)| body);
    for part in body.split('<').skip(1) {
        let (tag, words) = part.split_once('>').unwrap_or((part, ""));
        let (name, attributes) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag, ""));
        let element = Element { name, attributes };
        let class = element.attribute("class");
        match name {
            "/g" => _ = classes.pop(),
            "g" => classes.push(class.unwrap_or_default()),
            "/text" => writing = None,
            // The words of a text follow its tooltip, if it has one.
            "/title" => {
                if let Some((at, paint)) = &writing {
                    pixels.write(&unescaped(words), *at, paint);
                }
            }
            // The page is there; links lead nowhere.
            _ if class.is_some_and(|class| class == "page" || class.ends_with(" jump")) => {}
            _ => {
                let all: Vec<&str> = classes.iter().copied().chain(class).collect();
                let paint = Paint::of(&light, name, &all);
                if name == "text" {
                    let at = element.spot("x", "y");
                    pixels.write(&unescaped(words), at, &paint);
                    writing = Some((at, paint));
                } else {
                    pixels.element(&element, &paint);
                }
            }
        }
    }
    Ok(encoded(&pixels))
}

fn encoded(pixels: &Pixels) -> Vec<u8> {
    let row = 3 * pixels.width;
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
    for own in pixels.colours.chunks_exact(row) {
        // Each row says how it is filtered: not at all.
        rows.write_all(&[0]).and_then(|()| rows.write_all(own)).expect("memory takes everything");
    }
    let rows = rows.finish().expect("memory takes everything");
    let mut head = Vec::new();
    head.extend((pixels.width as u32).to_be_bytes());
    head.extend((pixels.height as u32).to_be_bytes());
    // Eight bits each for red, green and blue; the one compression, the one filter method, no interlacing.
    head.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", &head[..]), (b"IDAT", &rows), (b"IEND", &[])] {
        let mut crc = Crc::new();
        crc.update(kind);
        crc.update(data);
        file.extend((data.len() as u32).to_be_bytes());
        file.extend(kind);
        file.extend(data);
        file.extend(crc.sum().to_be_bytes());
    }
    file
}
