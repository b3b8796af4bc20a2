// Visits every page of the built site in Chromium: no console error, no dead link, no request to another host, nothing that axe finds; the search finds
// given terms. Serves site/.out on a free port of the loopback interface.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const { chromium } = createRequire(import.meta.url)("playwright-core");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const out = fileURLToPath(new URL(".out", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".png": "image/png", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".txt": "text/plain" };
const TERMS = ["budget", "handoff", "guardrail", "durable", "replay", "dashboard", "Inversify", "OpenTelemetry", "map-reduce", "AE_VALIDATION"];

const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
  let file = join(out, path);
  if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
  if (!existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
  response.end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const executablePath = [process.env.AE_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
assert.ok(executablePath, "Chromium is not installed; AE_CHROMIUM names it");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const context = await browser.newContext({ colorScheme: process.argv.includes("--dark") ? "dark" : "light" });
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
/** Pages of each kind, for axe. */
const AXE = ["index.html", "errors.html", "guardrails.html", "comparison.html", "where-it-runs.html", "guides/answers-from-a-folder.html", "api/index/classes/Agent.html"];
async function visit(page, file) {
  await page.goto(`${origin}/${file}`, { waitUntil: "load" });
  const found = await page.evaluate(() => ({
    ids: [...document.querySelectorAll("[id]")].map(({ id }) => id),
    links: [...document.querySelectorAll(".vp-doc a[href], .VPSidebar a[href], .VPNav a[href]")].map(({ href }) => href),
  }));
  anchors.set(file, new Set(found.ids));
  links.push(...found.links.map((href) => ({ file, href })));
  if (AXE.includes(file)) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(".vp-doc", { runOnly: ["wcag2a", "wcag2aa"] }));
    problems.push(...violations.map(({ id, nodes }) => `${file}: axe ${id} (${nodes.length}): ${nodes[0].html.slice(0, 120)}`));
  }
}
assert.deepEqual(AXE.filter((file) => !pages.includes(file)), []);
const waiting = [...pages];
const TABS = 4;
await Promise.all(
  Array.from({ length: TABS }, async () => {
    const tab = await openTab();
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) await visit(tab, file);
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
console.log(`${pages.length} pages: no console error, no dead link, no foreign request; the search finds ${TERMS.length} terms`);
