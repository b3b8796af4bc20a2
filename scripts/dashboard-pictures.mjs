// Renders the pages of the dashboard with the demo teams, in Chromium: `node --conditions=agentensemble-source scripts/dashboard-pictures.mjs [folder] [--readme] [--only=runs,graph]`,
// after `npm run build`.
// Each page is rendered at 1440 and 390 px, in light and dark colours; `--readme` renders the two pictures of the README into docs/pictures instead.
// AE_CHROMIUM names another Chromium. Nothing is connected to but this machine.
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Agent, Conversation } from "agentensemble";
import { dashboard } from "agentensemble/dashboard";
import { ScriptedModel } from "agentensemble/testing";
import { chromium } from "playwright-core";
import { demoTeams } from "./dashboard-demo.mjs";

const MAX_README_BYTES = 200_000;
const SIZES = [
  { name: "wide", width: 1_440, height: 860 },
  { name: "narrow", width: 390, height: 844 },
];
const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
const isReadme = args.includes("--readme");
const only = args
  .find((arg) => arg.startsWith("--only="))
  ?.slice(7)
  .split(",");
const folder = args.find((arg) => !arg.startsWith("--")) ?? join(root, "dist/pictures");

/** The pages by name: address, and what is done there before the picture. */
function pagesOf(ids) {
  const run = (name, query) => `#/runs/${ids.get(name)}?${query}`;
  return {
    runs: ["#/runs"],
    filter: [`#/runs?q=${encodeURIComponent("state:done tag:env=staging")}`],
    compare: [
      `#/compare?a=${ids.get("refund-desk")}&b=${ids.get("market-briefing")}`,
      (page) => page.getByRole("button", { name: "settle" }).click(),
    ],
    start: [
      "#/ensembles/market-briefing",
      async (page) => {
        await page.getByRole("textbox").first().fill('{ "topic": "heat pumps" }');
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
        await page.getByRole("textbox", { name: /search/ }).fill("lithium");
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
    reviews: ["#/reviews", editRefund],
    threads: ["#/threads/support/order-88213?owner=maya"],
    keys: ["#/runs", (page) => page.keyboard.press("?")],
  };
}

/** A conversation with two threads, whose turns are runs of the board. */
async function chats(board) {
  const answers = [
    "Order **88213** left our house on Monday. It arrives:\n\n| part | day |\n|---|---|\n| pump | Thursday |\n| hose | Friday |",
    "You can send it back within 30 days. The label is in your account.",
    "We are open from 9 to 17.",
  ];
  const chat = new Conversation({
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

/** Starts every team, and waits until what can end has ended and the others wait for a review. */
async function runTeams(board, url) {
  for (const { name, make } of demoTeams({ pace: 0.3, plugins: [board] }))
    board.register(name, make());
  const handles = demoTeams({ pace: 0.3, plugins: [board] }).map(({ make, inputs, tags }) =>
    make().stream(inputs, { tags }),
  );
  for (const { output } of handles) output.catch(() => undefined); // one of them fails on purpose
  for (;;) {
    const { runs } = await (await fetch(new URL("/api/runs", url))).json();
    if (runs.length === handles.length && runs.every(({ state }) => state !== "running"))
      return { handles, ids: new Map(runs.map(({ ensemble, runId }) => [ensemble, runId])) };
    await sleep(200);
  }
}

async function picture(context, url, [hash, act], path) {
  const page = await context.newPage();
  await page.goto(new URL(`/${hash}`, url).href);
  await page.getByText("Live", { exact: true }).waitFor();
  await sleep(600); // layout and what is fetched
  await act?.(page);
  await sleep(200);
  await page.screenshot({ path });
  await page.close();
}

const executablePath = process.env.AE_CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executablePath)) {
  console.error(`No Chromium at ${executablePath}. AE_CHROMIUM names another one.`);
  process.exit(1);
}
const board = dashboard({ port: 0 });
const url = await board.listen();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const { handles, ids } = await runTeams(board, url);
await chats(board);
const pages = pagesOf(ids);
const wanted = Object.fromEntries(
  Object.entries(pages).filter(([name]) =>
    isReadme ? ["graph", "reviews"].includes(name) : (only?.includes(name) ?? true),
  ),
);
const target = isReadme ? join(root, "docs/pictures") : folder;
mkdirSync(target, { recursive: true });
for (const { name, width, height } of isReadme ? SIZES.slice(0, 1) : SIZES)
  for (const colorScheme of isReadme ? ["light"] : ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    for (const [page, steps] of Object.entries(wanted)) {
      const file = isReadme ? `dashboard-${page}.png` : `${page}-${name}-${colorScheme}.png`;
      await picture(context, url, steps, join(target, file));
      const { size } = statSync(join(target, file));
      console.log(`${file} ${Math.round(size / 1_000)} kB`);
      if (isReadme && size > MAX_README_BYTES) process.exitCode = 1;
    }
    await context.close();
  }
await browser.close();
for (const handle of handles) handle.cancel("The pictures are done");
await Promise.allSettled(handles.map(({ output }) => output));
await board.close();
