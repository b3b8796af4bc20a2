// Measures the page of the dashboard in Chromium, after `npm run build`. Measures the first paint,
// and a run of 10,000 tasks with its filter and scrolling. Also measures frames while 300 tasks per
// second end. `node --conditions=agentensemble-source scripts/page-speed.mjs [visits]`. Default: 7
// visits. Prints medians. AE_CHROMIUM is the path of another Chromium. Fails if a goal is missed.
// This process also executes the runs: both share the machine.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Ensemble, Task } from "agentensemble";
import { dashboard } from "agentensemble/dashboard";
import { chromium } from "playwright-core";

const TASKS = 10_000;
const LIVE_TASKS = 1_500;
const PER_SECOND = 300;
/** Time until the first task of a paced run ends. The page is open before. */
const WAIT_MS = 4_000;
const VIEWS = ["graph", "timeline", "tasks"];
const visits = Number(process.argv[2] ?? 7);
const executablePath =
  process.env.AE_CHROMIUM ??
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
    existsSync(path),
  );
if (executablePath === undefined) throw new Error("No Chromium was found; AE_CHROMIUM names one");

/** A team of parallel tasks without models. */
function team(count, handlerOf) {
  const tasks = Array.from(
    { length: count },
    (_, i) => new Task({ name: `part-${i}`, description: `Do part ${i}`, handler: handlerOf(i) }),
  );
  return new Ensemble({ name: "many", tasks, workflow: "PARALLEL", plugins: [board] });
}

function at(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Records the times between frames on the page, in `window.frames`. */
const RECORD_FRAMES = () => {
  window.frameTimes = [];
  let last = performance.now();
  const next = () => {
    const now = performance.now();
    window.frameTimes.push(now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
};

const board = dashboard({ port: 0 });
const url = await board.listen();
const large = team(TASKS, () => () => "done");
const { runId } = await large.run();
const browser = await chromium.launch({
  executablePath,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
  ],
});

/** The selectors of the first row or node of each view. */
const FIRST = { graph: "a.node", timeline: "[role=row] *", tasks: "[role=row] *" };

/**
 * Opens an address in a new context, with nothing cached, and waits for an element with a text.
 * Returns the milliseconds since the navigation began.
 */
async function visit(address, selector, text) {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(
    ([place, wanted]) => {
      const look = () => {
        const found = [...document.querySelectorAll(place)].some(({ textContent }) =>
          textContent?.includes(wanted),
        );
        if (found) window.seenAt = performance.now();
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    },
    [selector, text],
  );
  await page.goto(address);
  await page.waitForFunction(() => window.seenAt !== undefined);
  return { page, seenMs: await page.evaluate(() => window.seenAt) };
}

const rows = [];
function report(what, ms, goalMs) {
  rows.push({ what, ms: Math.round(ms), "goal ms": goalMs, met: ms <= goalMs ? "ok" : "MISSED" });
}

const paints = [];
for (let i = 0; i < visits; i++) {
  const { page } = await visit(url, "h1", "Runs");
  paints.push(
    await page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
    ),
  );
  await page.context().close();
}
report("page, cold: first paint", at(paints, 0.5), 400);

for (const view of VIEWS) {
  const seen = [];
  for (let i = 0; i < visits; i++) {
    const address = `${url}#/runs/${runId}?view=${view}`;
    const { page, seenMs } = await visit(address, FIRST[view], "");
    seen.push(seenMs);
    await page.context().close();
  }
  report(`run of ${TASKS} tasks: first of the ${view}`, at(seen, 0.5), 1_000);
}

{
  const { page } = await visit(`${url}#/runs/${runId}?view=timeline`, FIRST.timeline, "part-0");
  await page.getByText("part-0", { exact: true }).hover();
  await page.evaluate(RECORD_FRAMES);
  for (let i = 0; i < 60; i++) {
    await page.mouse.wheel(0, 600);
    await sleep(16);
  }
  report(
    "scrolling its timeline, frames p95",
    at(await page.evaluate("window.frameTimes"), 0.95),
    50,
  );
  await page.context().close();
}

{
  const { page } = await visit(`${url}#/runs/${runId}?view=tasks`, FIRST.tasks, "part-0");
  const filter = page.getByRole("textbox", { name: "Filter of the tasks" });
  const times = [];
  for (const name of ["part-7777", "part-123", "part-9"]) {
    await filter.evaluate((input, text) => {
      const started = performance.now();
      input.value = text;
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      const look = () => {
        const first = [...document.querySelectorAll("[role=row]")].find((row) =>
          row.textContent?.includes("part-"),
        );
        if (first?.textContent?.includes(text)) window.filteredMs = performance.now() - started;
        else requestAnimationFrame(look);
      };
      window.filteredMs = undefined;
      requestAnimationFrame(look);
    }, name);
    await page.waitForFunction(() => window.filteredMs !== undefined);
    times.push(await page.evaluate("window.filteredMs"));
  }
  report("filter of its tasks", Math.max(...times), 50);
  await page.context().close();
}

for (const view of VIEWS) {
  const paced = team(LIVE_TASKS, (i) => () => sleep(WAIT_MS + (i * 1_000) / PER_SECOND, "done"));
  const run = paced.stream();
  const { page } = await visit(`${url}#/runs/${run.id}?view=${view}`, FIRST[view], "");
  await page.evaluate(RECORD_FRAMES);
  await run.output;
  const times = await page.evaluate("window.frameTimes");
  const recordedMs = times.reduce((sum, time) => sum + time, 0);
  if (recordedMs < (LIVE_TASKS * 1_000) / PER_SECOND) throw new Error("The run ended too early");
  report(`${PER_SECOND} tasks a second on the ${view}, longest frame`, Math.max(...times), 100);
  await page.context().close();
  await paced.dispose();
}
await large.dispose();
await browser.close();
await board.close();
console.table(rows);
process.exitCode = rows.some(({ met }) => met !== "ok") ? 1 : 0;
