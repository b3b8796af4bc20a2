// Renders the pages of the dashboard with the demo teams, in Chromium: `node
// --conditions=agentensemble-source scripts/dashboard-pictures.mjs [folder] [--readme]
// [--only=runs,graph] [--beside=folder]`, after `npm run build`. Renders each page at 1440 and 390
// px, in light and dark colours. `--readme` instead renders the two pictures of the README into
// docs/pictures. `--beside=folder` shows each page next to its draft: a page of that folder with
// the name in DRAFTS. `data-theme` selects the colours of a draft. AE_CHROMIUM is the path of
// another Chromium. Connects only to this machine.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Agent, Conversation, Ensemble, Schedule, Task } from "agentensemble";
import { dashboard } from "agentensemble/dashboard";
import { ScriptedModel } from "agentensemble/testing";
import { chromium } from "playwright-core";
import { demoTeams } from "./dashboard-demo.mjs";

const MAX_README_BYTES = 210_000;
const SIZES = [
  { name: "wide", width: 1_440, height: 860 },
  { name: "narrow", width: 390, height: 844 },
];
/** The names of drafts, without `.html`, by page. */
const DRAFTS = {
  runs: "1-runs",
  graph: "2-run-graph",
  timeline: "3-run-timeline",
  reviews: "4-reviews",
  compare: "5-compare",
  start: "6-start",
  ended: "7-states",
  errors: "8-run-failed",
};
const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
const isReadme = args.includes("--readme");
const only = args
  .find((arg) => arg.startsWith("--only="))
  ?.slice(7)
  .split(",");
const drafts = args.find((arg) => arg.startsWith("--beside="))?.slice(9);
const folder = args.find((arg) => !arg.startsWith("--")) ?? join(root, "dist/pictures");

/** Returns the pages by name: the address, and the actions before the picture. */
function pagesOf(ids) {
  const run = (name, query) => `#/runs/${ids.get(name)}?${query}`;
  return {
    reviews: ["#/reviews", editRefund], // first, because reviews expire
    runs: ["#/runs"],
    filter: [`#/runs?q=${encodeURIComponent("state:done tag:env=staging")}`],
    compare: [
      `#/compare?a=${ids.get("memo a")}&b=${ids.get("memo b")}`,
      (page) => page.getByRole("button", { name: "market-size" }).click(),
    ],
    start: [
      "#/ensembles/market-briefing",
      async (page) => {
        await page.getByRole("textbox", { name: /topic/i }).fill("heat pumps");
        await page.getByRole("button", { name: "Preview" }).click();
        await page.getByText("What would be sent").waitFor();
      },
    ],
    control: [
      run("contract-review", "view=graph"),
      (page) => page.getByRole("button", { name: "Control the run" }).click(),
    ],
    player: [run("market-briefing", "view=graph&at=1200")],
    search: [
      run("market-briefing", "view=graph&task=risks"),
      async (page) => {
        await page.keyboard.press("/");
        await page.keyboard.type("lithium");
        await sleep(800);
      },
    ],
    found: [
      "#/runs",
      async (page) => {
        await page.keyboard.press("/");
        await page.keyboard.type("lithium");
        await page.keyboard.press("Enter");
        await sleep(800);
      },
    ],
    graph: [run("market-briefing", "view=graph&task=risks")],
    machine: [run("support", "view=graph")],
    timeline: [run("market-briefing", "view=timeline&task=risks")],
    many: [run("nightly-digest", "view=graph")],
    tasks: [run("market-briefing", "view=tasks")],
    cost: [run("market-briefing", "view=cost")],
    errors: [run("contract-review", "view=errors&task=extract-clauses")],
    events: [run("market-briefing", "view=events")],
    threads: ["#/threads/support/order-88213?owner=maya"],
    services: ["#/services"],
    keys: ["#/runs", (page) => page.keyboard.press("?")],
    nothing: [`#/runs?q=${encodeURIComponent("tag:customer=initech state:failed")}`],
    empty: ["#/runs", undefined, {}],
    token: ["#/runs", undefined, { token: "of the picture" }],
    ended: ["#/runs", (_page, other) => other.close(), {}],
  };
}

/** Two runs of one team, for a comparison. */
async function memos(board, ids) {
  const answers = {
    a: {
      "market-size":
        "The market reached 2.9 million units in 2025, a rise of about 6 percent. Three countries make up more than half of sales.\n\nGrowth until 2030 is put at 11 % a year [2], though estimates differ widely.",
      competitors: "Four makers matter.",
      draft: "The market is small and the risks are known.",
    },
    b: {
      "market-size":
        "The market reached 3.1 million units in 2025, up 9 % on 2024. Three countries make up 57 % of sales.\n\nGrowth until 2030 is put at 8 to 11 % a year [2] [5].",
      competitors: "Four makers matter.",
      draft: "The market is larger than it was, and the risks are known.",
    },
  };
  for (const [name, texts] of Object.entries(answers)) {
    const agent = new Agent({ role: "Analyst", goal: "Finds figures" });
    const model = new ScriptedModel((request) => {
      const task = Object.keys(texts).findLast((one) =>
        JSON.stringify(request.messages).includes(`Write ${one}`),
      );
      const usage = { inputTokens: 900 + texts[task].length, outputTokens: texts[task].length };
      return { text: texts[task], usage };
    });
    const team = new Ensemble({
      name: "memo",
      model,
      plugins: [board],
      tasks: Object.keys(texts).map(
        (task) =>
          new Task({ name: task, description: `Write ${task} of {topic}`, agent, context: [] }),
      ),
      costConfiguration: { inputTokenRate: 0.000_002, outputTokenRate: 0.000_008, currency: "USD" },
    });
    const { runId } = await team.run({ topic: "heat pumps" }, { tags: { customer: "acme" } });
    ids.set(`memo ${name}`, runId);
  }
}

/** A conversation with two threads, whose turns are runs of the board. */
async function chats(board) {
  const answers = [
    "Order **88213** left our house on Monday. It arrives:\n\n| part | day |\n|---|---|\n| pump | Thursday |\n| hose | Friday |",
    "You can send it back within 30 days. The label is in your account.",
    "We are open from 9 to 17.",
  ];
  const chat = new Conversation({
    name: "order-desk",
    agent: new Agent({ role: "Support", goal: "Answers questions about orders" }),
    model: new ScriptedModel(answers),
    plugins: [board],
  });
  board.registerConversation("support", chat, { title: "Support" });
  const order = chat.thread("order-88213", { owner: "maya" });
  await order.send("Where is my order 88213?");
  await order.send("Can I send it back if it does not fit?");
  await order.rename("Where is my order?");
  await chat.thread("opening-hours", { owner: "ada" }).send("When are you open?");
}

/** Starts a service with work and a schedule. Returns a function that ends it. */
async function kitchen(board) {
  const cook = new Task({ description: "Cook {context}", handler: () => "soup" });
  const ensemble = new Ensemble({
    name: "kitchen",
    plugins: [board],
    tasks: [new Task({ description: "Clean up", handler: () => "clean" })],
    shareTasks: { cook },
    schedules: [{ name: "lunch", schedule: Schedule.cron("0 12 * * *"), task: "cook" }],
  });
  await ensemble.start({ signals: false });
  return () => ensemble.stop();
}

/** Opens the review of a tool call, and changes its arguments. */
async function editRefund(page) {
  await page.getByRole("link", { name: /tool call/ }).click();
  await page.getByRole("button", { name: "edit" }).click();
  const editor = page.getByRole("textbox", { name: "Arguments" });
  const text = await editor.inputValue();
  await editor.fill(
    text.replace("412", "389").replace("broken", "broken, shipping is not refunded"),
  );
  await page.getByLabel("Comment").fill("Without shipping, as the policy requires.");
  await page.getByRole("button", { name: "changes" }).click();
}

/** Starts every team. Waits until each run has ended or waits for a review. */
async function runTeams(board, url) {
  for (const { name, make } of demoTeams({ pace: 0.3, plugins: [board] }))
    board.register(name, make());
  const handles = demoTeams({ pace: 0.3, plugins: [board] }).map(({ make, inputs, tags }) =>
    make().stream(inputs, { tags }),
  );
  for (const { output } of handles) output.catch(() => undefined); // one run fails intentionally
  for (;;) {
    const { runs } = await (await fetch(new URL("/api/runs", url))).json();
    if (runs.length === handles.length && runs.every(({ state }) => state !== "running"))
      return { handles, ids: new Map(runs.map(({ ensemble, runId }) => [ensemble, runId])) };
    await sleep(200);
  }
}

/** Renders a page. `options`: the options of a separate dashboard without runs. */
async function picture(context, url, [hash, act, options]) {
  const other = options && dashboard({ port: 0, ...options });
  const page = await context.newPage();
  await page.goto(new URL(`/${hash}`, (await other?.listen()) ?? url).href);
  await page.getByText(options?.token === undefined ? "Live" : "needs a token").waitFor();
  await sleep(600); // for layout and requests
  await act?.(page, other);
  await sleep(200);
  const bytes = await page.screenshot();
  await page.close();
  await other?.close();
  return bytes;
}

/** Renders a draft in the same size and colours. */
async function draftPicture(context, name, colorScheme) {
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(drafts, `${DRAFTS[name]}.html`)).href);
  await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), colorScheme);
  await sleep(200);
  const bytes = await page.screenshot();
  await page.close();
  return bytes;
}

/** Returns one picture of both, with the draft on the left. */
async function sideBySide(left, right) {
  const page = await browser.newPage({ viewport: { width: 2_900, height: 900 } });
  const images = [left, right].map((bytes) => `data:image/png;base64,${bytes.toString("base64")}`);
  await page.setContent(
    `<div id="pair" style="display:inline-flex;gap:16px;background:#808080">${images.map((src) => `<img src="${src}">`).join("")}</div>`,
  );
  const bytes = await page.locator("#pair").screenshot();
  await page.close();
  return bytes;
}

const executablePath = process.env.AE_CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executablePath)) {
  console.error(`No Chromium at ${executablePath}. AE_CHROMIUM names another one.`);
  process.exit(1);
}
/**
 * Renders all selected pages in one size and colour. Runs the teams first, because their reviews
 * wait only for minutes.
 */
async function render(target, { name, width, height }, colorScheme) {
  const board = dashboard({ port: 0 });
  const url = await board.listen();
  const { handles, ids } = await runTeams(board, url);
  await memos(board, ids);
  await chats(board);
  const stopKitchen = await kitchen(board);
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  for (const [page, steps] of Object.entries(pagesOf(ids)).filter(isWanted)) {
    const file = isReadme ? `dashboard-${page}.png` : `${page}-${name}-${colorScheme}.png`;
    const bytes = await picture(context, url, steps);
    const draft = drafts === undefined ? [] : [await draftPicture(context, page, colorScheme)];
    const shown = draft.length === 0 ? bytes : await sideBySide(draft[0], bytes);
    writeFileSync(join(target, file), shown);
    console.log(`${file} ${Math.round(shown.length / 1_000)} kB`);
    if (isReadme && shown.length > MAX_README_BYTES) process.exitCode = 1;
  }
  await context.close();
  await stopKitchen();
  for (const handle of handles) handle.cancel("The pictures are done");
  await Promise.allSettled(handles.map(({ output }) => output));
  await board.close();
}

function isWanted([name]) {
  if (isReadme) return ["graph", "reviews"].includes(name);
  return (drafts === undefined || name in DRAFTS) && (only?.includes(name) ?? true);
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const target = isReadme ? join(root, "docs/pictures") : folder;
mkdirSync(target, { recursive: true });
for (const size of isReadme ? SIZES.slice(0, 1) : SIZES)
  for (const colorScheme of isReadme ? ["light"] : ["light", "dark"])
    await render(target, size, colorScheme);
await browser.close();
