"use strict";
// Opens reports and pictures in Chromium and checks what a reader sees. Called by tests/browser.rs:
//   node look.js PLAYWRIGHT CHROMIUM FOLDER
const assert = require("node:assert/strict");
const path = require("node:path");
const [, , playwright, executablePath, folder] = process.argv;
const { chromium } = require(playwright);

const SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const address = name => "file://" + path.join(folder, name);

// The least contrast of texts in the page: letters against the first background that is not transparent.
const contrast = () => {
  const channels = colour => (colour.match(/[\d.]+/g) || []).map(Number);
  const luminance = colour => {
    const [r, g, b] = channels(colour).slice(0, 3).map(value => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const opaque = colour => { const all = channels(colour); return all.length === 3 || all[3] > 0; };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") return style.backgroundImage.match(/rgba?\([^)]*\)/g);
      if (opaque(style.backgroundColor)) return [style.backgroundColor];
    }
    return ["rgb(255, 255, 255)"];
  };
  const svg = document.documentElement.namespaceURI.endsWith("/svg");
  let least = { ratio: 99 };
  for (const element of document.querySelectorAll("*")) {
    const text = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!text || ["SCRIPT", "STYLE", "NOSCRIPT", "TITLE", "style", "title"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    if (!svg && !element.getClientRects().length) continue;
    const letters = svg || element.tagName === "text" ? style.fill : style.color;
    let backgrounds = svg ? [getComputedStyle(document.querySelector(".page")).fill] : behind(element);
    const box = svg && element.closest("g") && element.closest("g").querySelector("rect");
    if (box) backgrounds = [getComputedStyle(box).fill];
    for (const background of backgrounds) {
      const [a, b] = [luminance(letters), luminance(background)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < least.ratio) least = { ratio, text: element.textContent.slice(0, 40), letters, background };
    }
  }
  return least;
};

async function main() {
  const browser = await chromium.launch({ executablePath, args: SWITCHES });
  const open = async (name, options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const asked = [], wrong = [];
    page.on("request", request => { if (!/^(file|blob|data):/.test(request.url())) asked.push(request.url()); });
    page.on("pageerror", error => wrong.push(String(error)));
    page.on("console", message => { if (message.type() === "error") wrong.push(message.text()); });
    await page.goto(address(name));
    return { page, done: async () => {
      assert.deepEqual(asked, [], `${name}: nothing is loaded`);
      assert.deepEqual(wrong, [], `${name}: no error`);
      await context.close();
    } };
  };
  const readable = async (page, name) => {
    const least = await page.evaluate(contrast);
    assert.ok(least.ratio >= 4.5, `${name}: contrast ${JSON.stringify(least)}`);
  };
  const fits = async (page, name) => {
    const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(content <= window, `${name}: ${content} pixels in a window of ${window}`);
  };

  // Pictures: in the window, with the first state in it, and views that links lead to.
  for (const name of ["small.svg", "middle.svg", "large.svg", "grid.svg", "dense.svg"]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, done } = await open(name, { colorScheme });
      await fits(page, name);
      const entry = await page.evaluate(() => {
        const first = [...document.querySelectorAll(".node text")].find(text => /^0( |$)/.test(text.textContent)).getBoundingClientRect();
        return { inside: first.left >= 0 && first.right <= innerWidth && first.top >= 0 && first.bottom <= innerHeight };
      });
      assert.ok(entry.inside, `${name}: the first state is in the window`);
      await readable(page, `${name}, ${colorScheme}`);
      await done();
    }
  }
  {
    const { page, done } = await open("large.svg");
    const size = () => page.evaluate(() => document.querySelector(".node rect").getBoundingClientRect().height);
    const before = await size();
    await page.locator("a", { hasText: "first state" }).click();
    assert.ok(page.url().endsWith("#s0") && await size() > before, "the link shows the first state larger");
    await page.locator(".node").first().click();
    assert.match(page.url(), /#s\d+$/);
    const links = await page.evaluate(() => [...document.querySelectorAll("a")].filter(link => !document.querySelector(link.getAttribute("href"))).length);
    assert.equal(links, 0, "every link leads somewhere");
    await done();
  }

  // Reports of every language, in both themes, wide and narrow.
  for (const name of ["csp.html", "promela.html", "mcrl2.html", "lasso.html", "formula.html", "claim.html"]) {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1280, 380]) {
        const { page, done } = await open(name, { colorScheme, viewport: { width, height: 800 } });
        await fits(page, `${name}, ${width}`);
        await page.locator("#details > details summary").first().click();
        await page.waitForFunction(() => { const image = document.querySelector(".chart img"); return image && image.complete && image.naturalWidth > 0; });
        await readable(page, `${name}, ${colorScheme}, ${width}`);
        const text = await page.evaluate(() => document.body.innerText);
        assert.ok(!/\[object |undefined|NaN/.test(text), `${name}: ${/.{0,60}(\[object |undefined|NaN).{0,60}/.exec(text)}`);
        await done();
      }
    }
    const { page, done } = await open(name);
    const total = await page.locator(".answer").count();
    for (let at = 0; at < total; at += 1) {
      await page.locator(".answer").nth(at).click();
      assert.equal(await page.locator(".answer[aria-current=true]").count(), 1);
      assert.ok((await page.locator("#details h2").textContent()).includes(await page.locator(".answer .claim").nth(at).textContent()));
    }
    await done();
  }

  // Keys walk through a counterexample; the line of the source is beside the step.
  {
    const { page, done } = await open("promela.html");
    const grid = page.locator(".grid");
    const step = () => page.evaluate(() => Number(location.hash.split(".")[2]));
    await grid.focus();
    const last = await step();
    assert.ok(last > 3, "it opens at the last step");
    assert.ok((await page.locator(".cell.wrong").count()) > 0, "where it goes wrong");
    await page.keyboard.press("Home");
    assert.equal(await step(), 0);
    await page.keyboard.press("ArrowRight");
    assert.equal(await step(), 1);
    assert.ok((await page.locator(".excerpt .text.at").first().textContent()).includes("turn = other"), "the line of the step");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await step(), 1);
    await page.keyboard.press("PageDown");
    assert.equal(await step(), Math.min(11, last));
    await page.keyboard.press("PageUp");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.locator(".cell.here").getAttribute("data-row"), "1");
    await page.keyboard.press("n");
    const changed = await step();
    assert.ok(changed >= 1 && await page.locator(".cell.here.changed").count() === 1, "n finds a change of the row");
    await page.keyboard.press("End");
    assert.equal(await step(), last);
    await page.keyboard.press("p");
    assert.ok(await step() < last, "p finds an earlier change");
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.locator(".cell.here").getAttribute("data-row"), "0");
    await page.keyboard.press("]");
    assert.equal(await page.locator(".answer[aria-current=true]").getAttribute("data-index"), "2");
    await page.keyboard.press("[");
    assert.equal(await page.locator(".answer[aria-current=true]").getAttribute("data-index"), "1");
    for (const name of ["first step", "next step", "previous step", "last step"]) await page.getByRole("button", { name, exact: true }).click();
    assert.equal(await step(), last);
    await page.locator(".cell[data-row='1']").first().click();
    assert.equal(await page.locator(".cell.here").getAttribute("data-row"), "1");
    await page.getByRole("slider").fill("2");
    assert.equal(await step(), 2);
    const there = page.url();
    await page.goto("about:blank");
    await page.goto(there);
    assert.equal(await step(), 2, "an address leads to a step");
    await done();
  }

  // Rows stand below the operators of the process, which can be closed; steps have the numbers of explanations.
  {
    const { page, done } = await open("csp.html");
    const rows = () => page.locator(".row .head").allTextContents();
    const all = await rows();
    assert.ok(all.includes("▾SAME") && all.includes("▾FORKS") && all.includes("PHIL(0, 0, 1)"), all.join(" | "));
    assert.ok((await page.locator(".row.component .cell.same .state").allTextContents()).some(text => !text), "what is not new is blank");
    await page.locator(".row.operator .head").first().click();
    assert.equal((await rows()).length, all.length - 4, "four components are behind the operator");
    assert.ok(await page.locator(".row.operator .cell.acts").count() > 0, "which shows what they do");
    await page.locator(".grid").focus();
    await page.keyboard.press("Enter");
    assert.deepEqual(await rows(), all);
    const head = await page.locator(".row.steps .own").allTextContents();
    assert.ok(head.includes("8"), head.join(" | "));
    await done();
  }
  {
    // Every column is in the table at its place, whatever is scrolled.
    const { page, done } = await open("long.html");
    await page.locator(".grid").focus();
    await page.keyboard.press("Home");
    assert.deepEqual((await page.locator(".row.steps .own").allTextContents()).slice(0, 3), ["start", "1", "2"]);
    await done();
  }

  // The end of a lasso leads back to the beginning of its cycle.
  {
    const { page, done } = await open("lasso.html");
    const step = () => page.evaluate(() => Number(location.hash.split(".")[2]));
    assert.ok(await page.locator(".cell.repeats").count() > 0);
    await page.locator(".grid").focus();
    await page.keyboard.press("End");
    const last = await step();
    await page.keyboard.press("ArrowRight");
    assert.ok(await step() > 0 && await step() <= last);
    assert.ok((await page.locator(".step").textContent()).includes("repeats forever"));
    await done();
  }

  // A strategy: every move leads to its position.
  {
    const { page, done } = await open("formula.html");
    const moves = page.locator(".move");
    assert.ok(await moves.count() > 3);
    const to = (await moves.nth(1).textContent()).match(/→ (\d+)$/)[1];
    await moves.nth(1).click();
    assert.equal(await page.evaluate(() => document.activeElement.id), `position-${to}`);
    await done();
  }

  // Labels are text.
  {
    const { page, done } = await open("markup.html");
    assert.match(await page.title(), /^1 fails: markup\.aut$/);
    const texts = await page.locator(".cell .own").allTextContents();
    assert.ok(texts.some(text => text.includes("<script>")), texts.join(" | "));
    assert.equal(await page.locator("script").count(), 2);
    assert.equal(await page.locator("b").count(), 0);
    await done();
    const picture = await open("markup.svg");
    assert.equal(await picture.page.evaluate(() => document.querySelectorAll("script").length), 0);
    assert.ok((await picture.page.evaluate(() => document.documentElement.textContent)).includes("<script>"));
    await picture.done();
  }

  // A counterexample of ten thousand steps answers keys.
  {
    const { page, done } = await open("long.html");
    await page.locator(".grid").focus();
    const elements = await page.evaluate(() => document.querySelectorAll(".grid *").length);
    assert.ok(elements < 2_000, `${elements} elements`);
    await page.keyboard.press("Home");
    const spent = await page.evaluate(() => {
      const grid = document.querySelector(".grid"), started = performance.now();
      for (let at = 0; at < 50; at += 1) grid.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown", bubbles: true }));
      return (performance.now() - started) / 50;
    });
    assert.ok(spent < 100, `${spent} ms for a key`);
    assert.equal(await page.evaluate(() => location.hash.split(".")[2]), "500");
    await page.keyboard.press("End");
    assert.ok(Number(await page.evaluate(() => location.hash.split(".")[2])) >= 10_000);
    await done();
  }

  // Printed: every step is in the list.
  {
    const { page, done } = await open("csp.html");
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.ok(await page.locator("#printed li").count() >= 8);
    assert.equal(await page.locator("#details").isVisible(), false);
    await readable(page, "printed");
    await done();
  }
  await browser.close();
}

main().catch(error => { console.error(error.message || error); process.exit(1); });
