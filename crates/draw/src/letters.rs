//! The letters of pixel pictures: every one is a few strokes of a round pen.
//!
//! A picture for browsers names a font and leaves its letters to them; pixels need letters of their own, and reading
//! the fonts of the machine would make pictures differ between machines. These letters are drawn here, in the manner
//! of lettering stencils, at the fixed pitch that [`crate::text`] counts with.
//!
//! A stroke is a polyline on a grid. A point is two digits, its column (0 to 8) and its row (hexadecimal; 3 is the base
//! line, a the height of small letters, d that of capitals); `~` after it rounds the corner there, and `z` closes the
//! stroke. Strokes are separated by spaces. A rounded corner is a quarter of an ellipse that takes at most [`ROUND`]
//! steps of each leg, and at most half of one that ends in another rounded corner.
//!
//! Letters with marks above are composed of both. What is not in the table is a box with the number of the character,
//! which tells characters apart.

use crate::drawing::Spot;

/// The size of a step of the grid, in units of letters of size 12.
const STEP: (f64, f64) = (0.7, 0.88);
/// The left edge of the grid, and the row of the base line.
const LEFT: f64 = 0.85;
const BASE: f64 = 3.0;
/// How much of a leg a rounded corner takes.
const ROUND: f64 = 3.0;
/// Straight pieces of a rounded corner.
const PIECES: usize = 6;

/// Characters with their strokes.
const LETTERS: &[(&str, &str)] = &[
    (" \u{a0}", ""),
    ("!", "4d47 4344"),
    ("\"“”", "2d2a 6d6a"),
    ("#", "3d23 6d53 1a7a 0676"),
    ("$", "7a7b~1b~18~78~75~15~16 4d43"),
    ("%", "7d13 1d~3d~3b~1b~z 53~73~75~55~z"),
    ("&", "832b2d~5d~5b1713~53~77"),
    ("'‘’′", "4d4a"),
    ("(", "6d3a~35~62"),
    (")", "2d5a~55~22"),
    ("*", "4c46 1b77 7b17"),
    ("+", "4b43 0787"),
    (",", "4431"),
    ("-–", "1777"),
    (".", "4344"),
    ("/", "7d11"),
    ("0", "13~73~7d~1d~z 4749"),
    ("1", "1b4d43 1373"),
    ("2", "1b1d~7d~79~1373"),
    ("3", "1b1d~7d~78~38 3878~73~13~15"),
    ("4", "636d1686"),
    ("5", "7d1d1979~73~13~15"),
    ("6", "7b7d~1d~13~73~79~19~15"),
    ("7", "1d7d33"),
    ("8", "28~68~6d~2d~z 13~73~78~18~z"),
    ("9", "1513~73~7d~1d~17~77~7b"),
    (":", "4344 494a"),
    (";", "4431 494a"),
    ("<", "7b1773"),
    ("=", "1979 1575"),
    (">", "1b7713"),
    ("?", "1b1d~7d~79~49~46 4344"),
    ("@", "36~56~5a~3a~z 5a56~86~8d~0d~03~73"),
    ("A", "134d73 2666"),
    ("B", "1d13 1d6d~68~18 1878~73~13"),
    ("C", "7b7d~1d~13~73~75"),
    ("D", "1d13 1d7d~73~13"),
    ("E", "7d1d1373 1868"),
    ("F", "7d1d13 1868"),
    ("G", "7b7d~1d~13~73~7848"),
    ("H", "1d13 7d73 1878"),
    ("I", "2d6d 4d43 2363"),
    ("J", "2d6d63~13~15"),
    ("K", "1d13 7d17 3973"),
    ("L", "1d1373"),
    ("M", "030d478d83"),
    ("N", "131d737d"),
    ("O", "13~73~7d~1d~z"),
    ("P", "131d7d~77~17"),
    ("Q", "13~73~7d~1d~z 5682"),
    ("R", "131d7d~78~18 4873"),
    ("S", "7b7d~1d~18~78~73~13~15"),
    ("T", "1d7d 4d43"),
    ("U", "1d13~73~7d"),
    ("V", "1d437d"),
    ("W", "0d234b638d"),
    ("X", "1d73 7d13"),
    ("Y", "1d487d 4843"),
    ("Z", "1d7d1373"),
    ("[", "6d3d3262"),
    ("\\", "1d71"),
    ("]", "2d5d5222"),
    ("^", "1a4d7a"),
    ("_", "0282"),
    ("`", "3d5b"),
    ("a", "1a7a~73 7717~13~73"),
    ("b", "1d13 1a7a~73~13"),
    ("c", "797a~1a~13~73~74"),
    ("d", "7d73 7a1a~13~73"),
    ("e", "17777a~1a~13~73"),
    ("f", "7d4d~43 1a7a"),
    ("g", "7a1a~13~73 7a70~10"),
    ("h", "1d13 1a7a~73"),
    ("i", "2a4a43 1373 4c4d"),
    ("j", "2a5a50~10 5c5d"),
    ("k", "1d13 6a15 3773"),
    ("l", "1d4d43~73"),
    ("m", "0a03 0a4a~43 4a8a~83"),
    ("n", "1a13 1a7a~73"),
    ("o", "13~73~7a~1a~z"),
    ("p", "1a10 1a7a~73~13"),
    ("q", "7a70 7a1a~13~73"),
    ("r", "2a23 272a~7a"),
    ("s", "7a1a~17~77~73~13"),
    ("t", "3d33~73 1a7a"),
    ("u", "1a13~73 7a73"),
    ("vν", "1a437a"),
    ("w", "0a2349638a"),
    ("x", "1a73 7a13"),
    ("y", "1a43 7a4330~10"),
    ("z", "1a7a1373"),
    ("{", "6d4d~48~28 2848~42~62"),
    ("|", "4e41"),
    ("}", "2d4d~48~68 6848~42~22"),
    ("~", "1618~48~46~76~78"),
    ("τ", "1a7a 4a43~73"),
    ("✓", "17337d"),
    ("→", "0787 5a8754"),
    ("←", "0787 3a0734"),
    ("↑", "4d43 1a4d7a"),
    ("↓", "4d43 164376"),
    ("↺", "3c7c~74~14~19 5e3c5a"),
    ("↻", "5c1c~14~74~79 3e5c3a"),
    ("…", "1314 4344 7374"),
    ("·", "4748"),
    ("•", "4649 3748"),
    ("×", "1a74 7a14"),
    ("—", "0787"),
    ("≤", "7c1874 1272"),
    ("≥", "1c7814 1272"),
    ("≠", "1979 1575 6c22"),
    ("∧", "134c73"),
    ("∨⋁", "1c437c"),
    ("¬", "197975"),
    ("∀", "1d437d 2969"),
    ("∃", "1d7d7313 2878"),
    ("∩", "131c~7c~73"),
    ("∪", "1c13~73~7c"),
    ("∈", "7b1b~13~73 1777"),
    ("⊑", "7c1c1575 1272"),
    ("‖∥", "3d31 5d51"),
    ("⟨", "6d2862"),
    ("⟩", "2d6822"),
    ("□", "0383 838c 8c0c 0c03"),
    ("◇", "0848 8d"),
    ("α", "7a53~13~1a~5a~73"),
    ("β", "101d~6d~69~29 2979~73~13"),
    ("ε", "797a~1a~17~57 5717~13~73~74"),
    ("λ", "1d3d73 4913"),
    ("µμ", "1a10 1a13~73 7a73"),
    ("π", "1a7a 2a23 6a63"),
    ("σ", "8a2a~13~73~79~3a"),
    ("φ", "13~73~7a~1a~z 4d40"),
    ("ψ", "1a13~73~7a 4d40"),
    ("ı", "2a4a43 1373"),
    ("Σ", "7d1d481373"),
];

/// Letters with a mark, the letters without it, and the mark: above small letters; above capitals it stands higher.
const MARKED: &[(&str, &str, &str)] = &[
    ("áéíóúýćńśźÁÉÍÓÚÝĆŃŚŹ", "aeıouycnszAEIOUYCNSZ", "3b6d"),
    ("àèìòùÀÈÌÒÙ", "aeıouAEIOU", "2d5b"),
    ("âêîôûÂÊÎÔÛ", "aeıouAEIOU", "2b4d6b"),
    ("äëïöüÿÄËÏÖÜ", "aeıouyAEIOU", "2c2d 6c6d"),
    ("ãñõÃÑÕ", "anoANO", "1b2d6b7d"),
    ("čšžěřňČŠŽĚŘŇ", "cszernCSZERN", "2d4b6d"),
    ("åůÅŮ", "auAU", "3b~5b~5d~3d~z"),
];

/// A point of a stroke, and whether the corner there is round.
type Corner = (f64, f64, bool);

fn corners(stroke: &str) -> (Vec<Corner>, bool) {
    let (mut corners, mut closed): (Vec<Corner>, bool) = (Vec::new(), false);
    let mut column = None;
    for character in stroke.chars() {
        match (character, column) {
            ('~', _) => corners.last_mut().expect("a point before").2 = true,
            ('z', _) => closed = true,
            (digit, None) => column = digit.to_digit(16),
            (digit, Some(x)) => {
                corners.push((f64::from(x), f64::from(digit.to_digit(16).expect("a row")), false));
                column = None;
            }
        }
    }
    (corners, closed)
}

/// The stroke as a polyline on the grid.
fn rounded(stroke: &str) -> Vec<(f64, f64)> {
    let (corners, closed) = corners(stroke);
    let count = corners.len();
    let mut line = Vec::new();
    for (at, &(x, y, round)) in corners.iter().enumerate() {
        if !round || !closed && (at == 0 || at + 1 == count) {
            line.push((x, y));
            continue;
        }
        // How far the ellipse reaches along the leg to a neighbour.
        let reach = |other: Corner| {
            let (dx, dy) = (other.0 - x, other.1 - y);
            let length = dx.hypot(dy);
            let take = ROUND.min(if other.2 { length / 2.0 } else { length }) / length;
            (x + dx * take, y + dy * take)
        };
        let (from, to) = (reach(corners[(at + count - 1) % count]), reach(corners[(at + 1) % count]));
        for piece in 0..=PIECES {
            let angle = std::f64::consts::FRAC_PI_2 * piece as f64 / PIECES as f64;
            let (a, b) = (1.0 - angle.sin(), 1.0 - angle.cos());
            line.push((x + (from.0 - x) * a + (to.0 - x) * b, y + (from.1 - y) * a + (to.1 - y) * b));
        }
    }
    line.extend(closed.then(|| line[0]));
    line
}

fn strokes(text: &str) -> Vec<Vec<(f64, f64)>> {
    text.split_whitespace().map(rounded).collect()
}

/// What is drawn for a character, on the grid, if it is in the tables.
fn known(character: char) -> Option<Vec<Vec<(f64, f64)>>> {
    if let Some((_, text)) = LETTERS.iter().find(|(all, _)| all.contains(character)) {
        return Some(strokes(text));
    }
    let (letter, mark) = MARKED.iter().find_map(|&(with, without, mark)| {
        let at = with.chars().position(|own| own == character)?;
        Some((without.chars().nth(at)?, mark))
    })?;
    let higher = if letter.is_uppercase() { 3.0 } else { 0.0 };
    let mark = strokes(mark).into_iter().map(|line| line.into_iter().map(|(x, y)| (x, y + higher)).collect());
    Some(known(letter)?.into_iter().chain(mark).collect())
}

/// A box with the number of the character: beside each other in the place of two columns, else in two lines.
fn numbered(character: char) -> Vec<Vec<(f64, f64)>> {
    let number = format!("{:04X}", u32::from(character));
    let wide = crate::text::columns(character.encode_utf8(&mut [0; 4])) > 1;
    let (right, split) = if wide { (18.0, number.len()) } else { (8.0, number.len().div_ceil(2)) };
    let mut all = vec![vec![(0.0, 3.0), (0.0, 13.0), (right, 13.0), (right, 3.0), (0.0, 3.0)]];
    let (above, below) = number.split_at(split);
    let (across, high) = (if wide { 17.0 } else { 7.0 }, if wide { 0.6 } else { 0.38 });
    for (digits, base) in [(above, if wide { 5.0 } else { 8.6 }), (below, 3.9)] {
        let each = across / digits.len().max(1) as f64;
        for (at, digit) in digits.chars().enumerate() {
            let place = |(x, y): (f64, f64)| (0.7 + each * (at as f64 + x / 9.0), base + (y - BASE) * high);
            all.extend(known(digit).into_iter().flatten().map(|line| line.into_iter().map(place).collect()));
        }
    }
    all
}

/// What a character is drawn with.
pub(crate) struct Letter {
    /// Its strokes.
    pub(crate) strokes: Vec<Vec<Spot>>,
    /// The width of the pen, of that for all others.
    pub(crate) pen: f64,
}

/// A character that begins at `left` on a base line, for letters of `size`.
pub(crate) fn letter(character: char, left: f64, base: f64, size: f64) -> Letter {
    let scale = size / crate::text::SIZE;
    let spot =
        |(x, y): (f64, f64)| Spot { x: left + (LEFT + x * STEP.0) * scale, y: base - (y - BASE) * STEP.1 * scale };
    let (lines, pen) = match known(character) {
        Some(lines) => (lines, 1.0),
        None => (numbered(character), 0.55),
    };
    Letter { strokes: lines.into_iter().map(|line| line.into_iter().map(spot).collect()).collect(), pen }
}
