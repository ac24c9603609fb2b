// Looks at pages in headless Chromium, at two widths, light and dark, with and without scripts; tests/e2e/index/page.py calls it:
//   node look.mjs TOOLS CHROMIUM OUTPUT NAME=URL…
// TOOLS has node_modules. Screenshots go to OUTPUT. Prints one JSON object: {"looks": […], "findings": ["…"]}.
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";

const [tools, executablePath, output, ...pages] = process.argv.slice(2);
const load = createRequire(path.join(tools, "package.json"));
const { chromium } = load("playwright-core");
const axe = load("axe-core");

const WIDTHS = [390, 1280];
const SCHEMES = ["light", "dark"];
const findings = [];
const looks = [];

// What axe finds wrong. It is called in the page's world but not by the page, so the page's policy stays as it is.
async function violations(page) {
  await page.evaluate(axe.source);
  const result = await page.evaluate(() => window.axe.run(document));
  looks.at(-1).rules = result.passes.length;
  return result.violations.flatMap((rule) => rule.nodes.map((node) => `axe ${rule.id}: ${rule.help}: ${node.html}`));
}

// What sticks out of the page to the side, or of the window.
function overflow() {
  const root = document.documentElement;
  const wide = [...document.body.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1);
  const found = root.scrollWidth > root.clientWidth ? [`${root.scrollWidth} pixels wide, in ${root.clientWidth}`] : [];
  return found.concat(wide.slice(0, 3).map((one) => `${one.outerHTML.slice(0, 120)} sticks out`));
}

// Goes through all that the keyboard reaches; each of it has to show that it has the focus.
async function focus(page) {
  const found = [];
  const count = await page.evaluate(() => document.querySelectorAll("a[href], button").length);
  for (let number = 0; number < count; number += 1) {
    await page.keyboard.press("Tab");
    const unseen = await page.evaluate(() => {
      const one = document.activeElement;
      const style = getComputedStyle(one);
      return one === document.body || parseFloat(style.outlineWidth) < 2 || style.outlineStyle === "none" ? one.outerHTML : "";
    });
    if (unseen) found.push(`focus ${number + 1} of ${count} does not show: ${unseen.slice(0, 120)}`);
  }
  return found;
}

// The script puts the page's address into the commands and copies them; without it they say INDEX.
async function commands(page, url, javaScriptEnabled) {
  const address = new URL(".", url).href.replace(/\/$/, "");
  const expected = javaScriptEnabled ? address : "INDEX";
  const texts = await page.locator("pre code").allTextContents();
  const found = texts.filter((text) => !text.includes("DIRECTORY") && !text.includes(` ${expected}/`));
  const notes = await page.locator(".address-note").count();
  if (notes !== (javaScriptEnabled ? 0 : 1)) found.push(`${notes} notes on INDEX`);
  if (javaScriptEnabled) {
    await page.locator("pre button").first().click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    if (copied !== texts[0]) found.push(`copied ${copied}`);
    await page.locator("pre button", { hasText: "Copied" }).first().waitFor();
  }
  return found.map((text) => `expected commands with ${expected}; found ${text}`);
}

async function look(browser, name, url, width, colorScheme, javaScriptEnabled) {
  const title = [name, width, colorScheme, ...(javaScriptEnabled ? [] : ["noscript"])].join("-");
  const context = await browser.newContext({
    viewport: { width, height: width === 390 ? 844 : 800 }, deviceScaleFactor: 1, colorScheme, javaScriptEnabled,
    permissions: javaScriptEnabled ? ["clipboard-read", "clipboard-write"] : [], reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const note = (text) => findings.push(`${title}: ${text}`);
  const requested = [];
  page.on("console", (message) => note(`console: ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => note(`error: ${error}`));
  page.on("request", (request) => requested.push(request.url()));
  page.on("requestfailed", (request) => note(`request failed: ${request.url()}`));
  await page.goto(url, { waitUntil: "load" });
  looks.push({ title, url });
  (await page.evaluate(overflow)).forEach(note);
  (await commands(page, url, javaScriptEnabled)).forEach(note);
  await page.screenshot({ path: path.join(output, `${title}.png`), fullPage: true });
  if (javaScriptEnabled) {
    (await violations(page)).forEach(note);
    await page.reload();
    (await focus(page)).forEach(note);
  }
  requested.filter((one) => one !== url && !one.startsWith("data:")).forEach((one) => note(`requested ${one}`));
  await context.close();
}

const browser = await chromium.launch({ executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
for (const argument of pages) {
  const split = argument.indexOf("=");
  const [name, url] = [argument.slice(0, split), argument.slice(split + 1)];
  for (const width of WIDTHS) {
    for (const scheme of SCHEMES) await look(browser, name, url, width, scheme, true);
    await look(browser, name, url, width, "light", false);
  }
}
await browser.close();
console.log(JSON.stringify({ looks, findings }, null, 1));
