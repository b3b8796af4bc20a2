// Visits every page of the built site in Chromium, in light and in dark colours: no console error, no dead link, no request to another host, nothing that axe
// finds; the search finds given terms. axe checks the text of all pages but those of the reference, of which it checks one of each kind; of one page of each
// kind it also checks what surrounds the text. Serves site/.out on a free port of the loopback interface.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { startChromium } from "./chromium.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const out = fileURLToPath(new URL(".out", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".png": "image/png", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".txt": "text/plain" };
const TERMS = ["budget", "handoff", "guardrail", "durable", "replay", "dashboard", "Inversify", "OpenTelemetry", "map-reduce", "AE_VALIDATION"];
const TABS = 4;

const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
  let file = join(out, path);
  if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
  if (!existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
  response.setHeader("cache-control", "max-age=3600"); // compiled once
  response.end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await startChromium();
const context = await browser.newContext();
const problems = [];
/** A tab whose problems are recorded under the address that it shows. */
async function openTab() {
  const tab = await context.newPage();
  const at = () => tab.url().replace(origin, "");
  tab.on("console", (message) => message.type() === "error" && problems.push(`${at()}: ${message.text()}`));
  tab.on("pageerror", (error) => problems.push(`${at()}: ${error.message}`));
  tab.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith("data:")) problems.push(`${at()}: requests ${url}`);
  });
  return tab;
}
const pages = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".html") && file !== "404.html");
const anchors = new Map();
const links = [];
/** The kind of a page: of the reference the folder in which TypeDoc puts it, of others their folder. */
const kindOf = (file) => /^api\/.*?(?:(classes|functions|interfaces|type-aliases|variables)\/|(index)\.html$)/.exec(file)?.slice(1).join("") ?? `${/^(?:\w+\/)?/.exec(file)[0]}`;
const firstOfKind = new Set([...new Set(pages.map(kindOf))].map((kind) => pages.find((file) => kindOf(file) === kind)));
const checkedByAxe = new Set([...pages.filter((file) => !file.startsWith("api/")), ...firstOfKind]);
/** What depends on the colours is checked in both, everything else once. */
const RULES = { light: ["wcag2a", "wcag2aa"], dark: ["color-contrast"] };

/** Shows the page in the colours, as a reader whose system has them sees it. */
async function choose(page, theme) {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await page.waitForFunction((isDark) => document.documentElement.classList.contains("dark") === isDark, theme === "dark");
}

async function visit(page, file) {
  await choose(page, "light");
  await page.goto(`${origin}/${file}`, { waitUntil: "load" });
  const found = await page.evaluate(() => ({
    ids: [...document.querySelectorAll("[id]")].map(({ id }) => id),
    links: [...document.querySelectorAll(".vp-doc a[href], .VPSidebar a[href], .VPNav a[href]")].map(({ href }) => href),
  }));
  anchors.set(file, new Set(found.ids));
  links.push(...found.links.map((href) => ({ file, href })));
  if (checkedByAxe.has(file)) await page.evaluate(axe);
  for (const theme of Object.keys(RULES)) {
    await choose(page, theme);
    if (!checkedByAxe.has(file)) continue;
    const { violations } = await page.evaluate(
      ([place, runOnly]) => globalThis.axe.run(place, { runOnly, resultTypes: ["violations"] }),
      [firstOfKind.has(file) ? "body" : ".vp-doc", RULES[theme]],
    );
    problems.push(...violations.map(({ id, nodes }) => `${file}, ${theme}: axe ${id} (${nodes.length}): ${nodes[0].html.slice(0, 120)}`));
  }
}
const waiting = [...pages];
await Promise.all(
  Array.from({ length: TABS }, async () => {
    const tab = await openTab();
    await tab.goto(origin);
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      await visit(tab, file);
      if (waiting.length % 200 === 0) console.log(`${waiting.length} pages left`);
    }
    await tab.close();
  }),
);
for (const { file, href } of links) {
  const { origin: host, pathname, hash } = new URL(href);
  if (host !== origin) continue;
  const target = decodeURIComponent(pathname).replace(/^\//, "").replace(/(^|\/)$/, "$1index.html");
  if (!existsSync(join(out, target))) problems.push(`${file}: dead link ${href}`);
  else if (hash !== "" && anchors.has(target) && !anchors.get(target).has(decodeURIComponent(hash.slice(1)))) problems.push(`${file}: dead anchor ${href}`);
}
const page = await openTab();
await page.goto(origin, { waitUntil: "load" });
for (const term of TERMS) {
  await page.keyboard.press("Control+KeyK");
  await page.locator(".VPLocalSearchBox input").fill(term);
  await page.locator(".VPLocalSearchBox .results .result").first().waitFor({ timeout: 20_000 }).catch(() => problems.push(`the search finds nothing for ${term}`));
  await page.keyboard.press("Escape");
}
await browser.close();
server.close();
assert.deepEqual([...new Set(problems)], []);
console.log(`${pages.length} pages in light and dark colours: no console error, no dead link, no foreign request; axe finds nothing on ${checkedByAxe.size} pages; the search finds ${TERMS.length} terms`);
