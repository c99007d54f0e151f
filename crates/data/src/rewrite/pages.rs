//! The pages of equations of the built-in sorts.
//!
//! Sets and bags: a finite set is a chain in the order of its elements. A set is a function and a finite set of
//! exceptions, as in mCRL2, so that complements and comprehensions are sets, too. Over a sort with few values the
//! function is the one that holds for nothing wherever the members are decided, so that equal sets are equal terms.
//!
//! Two sets are equal when they agree on the exceptions of both and wherever one of their functions holds: elsewhere
//! both lack the element. So the equality of `{ n: Nat | n < 3 }` and `{0, 1, 2}` needs finitely many tests.

use std::borrow::Cow;

/// A page of equations over the sorts `S` and `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Page {
    Comparison,
    List,
    FSet,
    Set,
    Complement,
    FiniteComplement,
    FBag,
    Bag,
    Update,
    Truth,
}

impl Page {
    /// The equations. Elements of chains are compared by `<`, or by `@before` where `<` leaves values of the sort
    /// uncompared: on sets it is the subset relation.
    pub(super) fn text(self, ordered: bool) -> Cow<'static, str> {
        let text = self.equations();
        match self {
            Page::FSet | Page::Set | Page::FBag | Page::Bag | Page::Update if !ordered => {
                let comparisons =
                    [("d < e", "@before(d, e)"), ("e < d", "@before(e, d)"), ("x < y ->", "@before(x, y) ->")];
                let comparisons = comparisons.into_iter().chain([("y < x ->", "@before(y, x) ->")]);
                comparisons.fold(Cow::Borrowed(text), |text, (less, before)| Cow::Owned(text.replace(less, before)))
            }
            _ => Cow::Borrowed(text),
        }
    }

    fn equations(self) -> &'static str {
        match self {
            Page::Comparison => COMPARISON,
            Page::List => LIST,
            Page::FSet => FSET,
            Page::Set => SET,
            Page::Complement => COMPLEMENT,
            Page::FiniteComplement => FINITE_COMPLEMENT,
            Page::FBag => FBAG,
            Page::Bag => BAG,
            Page::Update => UPDATE,
            Page::Truth => TRUTH,
        }
    }
}

const TRUTH: &str = "
    var b: Bool;
    eqn !!b = b;
        (b == true) = b;
        (true == b) = b;
        (b == false) = !b;
        (false == b) = !b;
        (false < b) = b;
        (b < true) = !b;
        (b < false) = false;
        (true < b) = false;
        (false <= b) = true;
        (b <= true) = true;
        (true <= b) = b;
        (b <= false) = !b;
";

const COMPARISON: &str = "
    var x, y: S;
    eqn x != y = !(x == y);
        x > y = y < x;
        x >= y = y <= x;
";

const LIST: &str = "
    var d, e: S; s, t: List(S); n: Nat;
    eqn [] ++ s = s;
        s ++ [] = s;
        (d |> s) ++ t = d |> (s ++ t);
        [] <| e = [e];
        (d |> s) <| e = d |> (s <| e);
        head(d |> s) = d;
        tail(d |> s) = s;
        rhead([d]) = d;
        rhead(d |> (e |> s)) = rhead(e |> s);
        rtail([d]) = [];
        rtail(d |> (e |> s)) = d |> rtail(e |> s);
        #[] = 0;
        #(d |> s) = #s + 1;
        (d |> s) . n = if(n == 0, d, s . Int2Nat(n - 1));
        d in [] = false;
        d in (e |> s) = d == e || d in s;
        [] == (d |> s) = false;
        (d |> s) == [] = false;
        (d |> s) == (e |> t) = d == e && s == t;
        [] < (d |> s) = true;
        (d |> s) < [] = false;
        (d |> s) < (e |> t) = d < e || d == e && s < t;
        [] <= s = true;
        (d |> s) <= [] = false;
        (d |> s) <= (e |> t) = d < e || d == e && s <= t;
";

const FSET: &str = "
    var d, e: S; s, t: FSet(S); f: S -> Bool; b: Bool;
    eqn @insert(d, {}) = @fset(d, {});
        @insert(d, @fset(d, s)) = @fset(d, s);
        d < e -> @insert(d, @fset(e, s)) = @fset(d, @fset(e, s));
        e < d -> @insert(d, @fset(e, s)) = @fset(e, @insert(d, s));
        @insert_if(d, b, s) = if(b, @insert(d, s), s);
        @filter(f, {}) = {};
        @filter(f, @fset(d, s)) = if(f(d), @fset(d, @filter(f, s)), @filter(f, s));
        d in {} = false;
        d in @fset(e, s) = d == e || d in s;
        d in @insert(e, s) = d == e || d in s;
        #{} = 0;
        #(@fset(d, s)) = #s + 1;
        pick(@fset(d, s)) = d;
        s + {} = s;
        {} + s = s;
        @fset(d, s) + @fset(d, t) = @fset(d, s + t);
        d < e -> @fset(d, s) + @fset(e, t) = @fset(d, s + @fset(e, t));
        e < d -> @fset(d, s) + @fset(e, t) = @fset(e, @fset(d, s) + t);
        s * {} = {};
        {} * s = {};
        @fset(d, s) * @fset(d, t) = @fset(d, s * t);
        d < e -> @fset(d, s) * @fset(e, t) = s * @fset(e, t);
        e < d -> @fset(d, s) * @fset(e, t) = @fset(d, s) * t;
        s - {} = s;
        {} - s = {};
        @fset(d, s) - @fset(d, t) = s - t;
        d < e -> @fset(d, s) - @fset(e, t) = @fset(d, s - @fset(e, t));
        e < d -> @fset(d, s) - @fset(e, t) = @fset(d, s) - t;
        {} == @fset(d, s) = false;
        @fset(d, s) == {} = false;
        @fset(d, s) == @fset(e, t) = d == e && s == t;
        {} <= s = true;
        @fset(d, s) <= {} = false;
        @fset(d, s) <= @fset(e, t) = if(d < e, false, if(d == e, s <= t, @fset(d, s) <= t));
        s < t = s <= t && s != t;
";

const SET: &str = "
    var d, e: S; s, t: FSet(S); f, g: S -> Bool; x, y: Set(S);
    eqn @fset2set(s) = @set(@nothing, s);
        @setcomp(f) = @set(f, {});
        @nothing(d) = false;
        @everything(d) = true;
        @not(f)(d) = !f(d);
        @not(@nothing) = @everything;
        @not(@everything) = @nothing;
        @and(f, g)(d) = f(d) && g(d);
        @and(f, @nothing) = @nothing;
        @and(@nothing, f) = @nothing;
        @and(f, @everything) = f;
        @and(@everything, f) = f;
        @and(f, f) = f;
        @or(f, g)(d) = f(d) || g(d);
        @or(f, @nothing) = f;
        @or(@nothing, f) = f;
        @or(f, @everything) = @everything;
        @or(@everything, f) = @everything;
        @or(f, f) = f;
        d in @set(f, s) = f(d) != (d in s);
        @set(f, s) + @set(g, t) = @set(@or(f, g), @unite(f, g, s, t));
        @set(f, s) * @set(g, t) = @set(@and(f, g), @meet(f, g, s, t));
        x - y = x * !y;
        s * x = @filter(lambda e: S. e in x, s);
        x * s = @filter(lambda e: S. e in x, s);
        s - x = @filter(lambda e: S. !(e in x), s);
        @unite(@nothing, @nothing, s, t) = s + t;
        @unite(f, g, {}, {}) = {};
        @unite(f, g, @fset(d, s), {}) = @insert_if(d, !g(d), @unite(f, g, s, {}));
        @unite(f, g, {}, @fset(d, t)) = @insert_if(d, !f(d), @unite(f, g, {}, t));
        @unite(f, g, @fset(d, s), @fset(d, t)) = @insert_if(d, f(d) == g(d), @unite(f, g, s, t));
        d < e -> @unite(f, g, @fset(d, s), @fset(e, t)) = @insert_if(d, !g(d), @unite(f, g, s, @fset(e, t)));
        e < d -> @unite(f, g, @fset(d, s), @fset(e, t)) = @insert_if(e, !f(e), @unite(f, g, @fset(d, s), t));
        @meet(f, g, {}, {}) = {};
        @meet(f, g, @fset(d, s), {}) = @insert_if(d, g(d), @meet(f, g, s, {}));
        @meet(f, g, {}, @fset(d, t)) = @insert_if(d, f(d), @meet(f, g, {}, t));
        @meet(f, g, @fset(d, s), @fset(d, t)) = @insert_if(d, f(d) == g(d), @meet(f, g, s, t));
        d < e -> @meet(f, g, @fset(d, s), @fset(e, t)) = @insert_if(d, g(d), @meet(f, g, s, @fset(e, t)));
        e < d -> @meet(f, g, @fset(d, s), @fset(e, t)) = @insert_if(e, f(e), @meet(f, g, @fset(d, s), t));
        @set(@nothing, s) == @set(@nothing, t) = s == t;
        @set(@everything, s) == @set(@everything, t) = s == t;
        @set(f, s) == @set(g, t) = (forall c: S. c in s => (f(c) != (c in s)) == (g(c) != (c in t)))
            && (forall c: S. c in t => (f(c) != (c in s)) == (g(c) != (c in t)))
            && (forall c: S. f(c) => (f(c) != (c in s)) == (g(c) != (c in t)))
            && (forall c: S. g(c) => (f(c) != (c in s)) == (g(c) != (c in t)));
        @set(@nothing, s) <= @set(@nothing, t) = s <= t;
        x <= y = x * y == x;
        x < y = x <= y && x != y;
";

const COMPLEMENT: &str = "
    var f: S -> Bool; s: FSet(S);
    eqn !@set(f, s) = @set(@not(f), s);
";

const FINITE_COMPLEMENT: &str = "
    var x: Set(S);
    eqn !x = { e: S | !(e in x) };
";

const FBAG: &str = "
    var d, e: S; b, c: FBag(S); p, q: Pos; s: FSet(S);
    eqn @cinsert(d, 0, b) = b;
        @cinsert(d, p, {:}) = @fbag(d, p, {:});
        @cinsert(d, p, @fbag(d, q, b)) = @fbag(d, p + q, b);
        d < e -> @cinsert(d, p, @fbag(e, q, b)) = @fbag(d, p, @fbag(e, q, b));
        e < d -> @cinsert(d, p, @fbag(e, q, b)) = @fbag(e, q, @cinsert(d, p, b));
        count(d, {:}) = 0;
        count(d, @fbag(e, p, b)) = if(d == e, p, count(d, b));
        d in b = count(d, b) > 0;
        #{:} = 0;
        #(@fbag(d, p, b)) = #b + p;
        pick(@fbag(d, p, b)) = d;
        b + {:} = b;
        {:} + b = b;
        @fbag(d, p, b) + @fbag(d, q, c) = @fbag(d, p + q, b + c);
        d < e -> @fbag(d, p, b) + @fbag(e, q, c) = @fbag(d, p, b + @fbag(e, q, c));
        e < d -> @fbag(d, p, b) + @fbag(e, q, c) = @fbag(e, q, @fbag(d, p, b) + c);
        b * {:} = {:};
        {:} * b = {:};
        @fbag(d, p, b) * @fbag(d, q, c) = @fbag(d, min(p, q), b * c);
        d < e -> @fbag(d, p, b) * @fbag(e, q, c) = b * @fbag(e, q, c);
        e < d -> @fbag(d, p, b) * @fbag(e, q, c) = @fbag(d, p, b) * c;
        b - {:} = b;
        {:} - b = {:};
        @fbag(d, p, b) - @fbag(d, q, c) = if(p > q, @fbag(d, Int2Pos(p - q), b - c), b - c);
        d < e -> @fbag(d, p, b) - @fbag(e, q, c) = @fbag(d, p, b - @fbag(e, q, c));
        e < d -> @fbag(d, p, b) - @fbag(e, q, c) = @fbag(d, p, b) - c;
        @fbag2fset({:}) = {};
        @fbag2fset(@fbag(d, p, b)) = @fset(d, @fbag2fset(b));
        @fset2fbag({}) = {:};
        @fset2fbag(@fset(d, s)) = @fbag(d, 1, @fset2fbag(s));
        {:} == @fbag(d, p, b) = false;
        @fbag(d, p, b) == {:} = false;
        @fbag(d, p, b) == @fbag(e, q, c) = p == q && d == e && b == c;
        {:} <= b = true;
        @fbag(d, p, b) <= {:} = false;
        @fbag(d, p, b) <= @fbag(e, q, c) =
            if(d < e, false, if(d == e, p <= q && b <= c, @fbag(d, p, b) <= c));
        b < c = b <= c && b != c;
";

const BAG: &str = "
    var d, e: S; b, c: FBag(S); f, g: S -> Nat; h: S -> Bool; x, y: Bag(S); s: FSet(S); p: Pos;
    eqn @fbag2bag(b) = @bag(@zero, b);
        @bagcomp(f) = @bag(f, {:});
        @zero(d) = 0;
        @sum(f, g)(d) = f(d) + g(d);
        @sum(f, @zero) = f;
        @sum(@zero, f) = f;
        @least(f, g)(d) = min(f(d), g(d));
        @least(f, f) = f;
        @least(f, @zero) = @zero;
        @least(@zero, f) = @zero;
        @monus(f, g)(d) = Int2Nat(max(0, f(d) - g(d)));
        @monus(f, f) = @zero;
        @monus(f, @zero) = f;
        @monus(@zero, f) = @zero;
        @occurs(f)(d) = f(d) > 0;
        @occurs(@zero) = @nothing;
        @counts(h)(d) = if(h(d), 1, 0);
        @counts(@nothing) = @zero;
        count(d, @bag(@zero, b)) = count(d, b);
        count(d, @bag(f, {:})) = f(d);
        d in x = count(d, x) > 0;
        @bag(@zero, b) + @bag(@zero, c) = @bag(@zero, b + c);
        @bag(@zero, b) * @bag(@zero, c) = @bag(@zero, b * c);
        @bag(@zero, b) - @bag(@zero, c) = @bag(@zero, b - c);
        @bag(f, {:}) + @bag(g, {:}) = @bag(@sum(f, g), {:});
        @bag(f, {:}) * @bag(g, {:}) = @bag(@least(f, g), {:});
        @bag(f, {:}) - @bag(g, {:}) = @bag(@monus(f, g), {:});
        @bag(f, b) + @bag(g, c) =
            @bag(lambda e: S. count(e, @bag(f, b)) + count(e, @bag(g, c)), {:});
        @bag(f, b) * @bag(g, c) =
            @bag(lambda e: S. min(count(e, @bag(f, b)), count(e, @bag(g, c))), {:});
        @bag(f, b) - @bag(g, c) = @bag(
            lambda e: S. Int2Nat(max(0, count(e, @bag(f, b)) - count(e, @bag(g, c)))), {:});
        {:} * x = {:};
        @fbag(d, p, b) * x = @cinsert(d, min(p, count(d, x)), b * x);
        x * b = b * x;
        {:} - x = {:};
        @fbag(d, p, b) - x = if(p > count(d, x), @fbag(d, Int2Pos(p - count(d, x)), b - x), b - x);
        Bag2Set(@bag(@zero, b)) = @fset2set(@fbag2fset(b));
        Bag2Set(@bag(f, {:})) = @setcomp(@occurs(f));
        Set2Bag(@set(@nothing, s)) = @fbag2bag(@fset2fbag(s));
        Set2Bag(@set(h, {})) = @bagcomp(@counts(h));
        Set2Bag(@set(h, @fset(d, s))) = @bagcomp(lambda e: S. if(h(e) != (e in @fset(d, s)), 1, 0));
        @bag(@zero, b) == @bag(@zero, c) = b == c;
        @bag(f, b) == @bag(g, c) = forall e: S. count(e, @bag(f, b)) == count(e, @bag(g, c));
        @bag(@zero, b) <= @bag(@zero, c) = b <= c;
        @bag(f, b) <= @bag(g, c) = forall e: S. count(e, @bag(f, b)) <= count(e, @bag(g, c));
        x < y = x <= y && x != y;
";

const UPDATE: &str = "
    var x, y: S; v, w: T; f: S -> T;
    eqn !@is_update(f) -> @update(f, x, v) = if(@holds(f(x) == v), f, @updated(f, x, v));
        @update(@updated(f, x, w), x, v) = if(@holds(f(x) == v), f, @updated(f, x, v));
        y < x -> @update(@updated(f, y, w), x, v) = @updated(@update(f, x, v), y, w);
        x < y -> @update(@updated(f, y, w), x, v) =
            if(@holds(f(x) == v), @updated(f, y, w), @updated(@updated(f, y, w), x, v));
        @updated(f, x, v)(x) = v;
        x != y -> @updated(f, x, v)(y) = f(y);
        @update(f, x, v)(y) = if(x == y, v, f(y));
        @const(v)(x) = v;
";
