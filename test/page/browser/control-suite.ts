import { expect } from "chai";
import {
  Agent,
  definePlugin,
  Ensemble,
  Task,
  Tokens,
  type ChatModel,
  type DashboardPanel,
  type Plugin,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import type { Browser } from "playwright-core";
import { z } from "zod";
import type { RunListBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { askJson } from "../../plugins/dashboard/server/client.js";
import { expectAccessible } from "./accessibility.js";
import { openedPages } from "./opened-pages.js";
import { Door, until, writers } from "./teams.js";

/** A team with typed inputs, and the requests to its model. */
function briefing(plugins: readonly Plugin[] = []): {
  readonly team: Ensemble;
  readonly model: ScriptedModel;
} {
  const model = new ScriptedModel(() => ({ text: "The market grows." }));
  return { team: teamOf(model, plugins), model };
}

function teamOf(model: ChatModel, plugins: readonly Plugin[]): Ensemble {
  const agent = new Agent({ role: "Analyst", goal: "Estimates", model });
  return new Ensemble({
    name: "briefing",
    inputType: z.object({
      topic: z.string().describe("What the briefing is about"),
      sources: z.number().int().min(1).default(3),
      audience: z.enum(["investors", "engineers"]).optional(),
    }),
    tasks: [new Task({ name: "size", description: "Size of {topic}, {sources} sources", agent })],
    captureMode: "FULL",
    plugins: [...plugins],
  });
}

const panels: readonly DashboardPanel[] = [
  { name: "parts", title: "Parts", view: "table", read: () => [{ part: "anode", grams: 12 }] },
  { name: "facts", title: "Facts", view: "json", read: () => ({ cells: { anode: [12, null] } }) },
  {
    name: "notes",
    title: "Notes",
    view: "markdown",
    read: () => "Read **this** first.\n\n| limit |\n| --- |\n| 2 &#124; 3 &amp; 4 |\n",
  },
];
const panelPlugin = definePlugin({
  name: "test-panels",
  bind: (bind) => {
    for (const panel of panels) bind.many(Tokens.DashboardPanel).toConstantValue(panel);
  },
});

/** Tests of the start and control of runs in a browser. */
export function controlTests(browser: () => Promise<Browser>): void {
  describe("control of runs", () => {
    const { boards, open } = openedPages(browser);

    it("starts a run from a form that shows errors at their fields and a preview of the request", async () => {
      const { board, url } = await boards.listening();
      const { team, model } = briefing();
      board.register("briefing", team, { description: "Sizes of markets" });
      const { page } = await open(url);
      await page.getByText("No runs yet").waitFor();
      await page.getByRole("link", { name: "Start a run" }).click();
      await page.getByText("Sizes of markets").waitFor();
      const sources = page.getByRole("textbox", { name: "sources" });
      expect(await sources.inputValue()).to.equal("3");
      await sources.fill("0");
      await page.getByRole("button", { name: "Start", exact: true }).click();
      await page.getByText("This is required.").waitFor();
      await page.locator(".field.bad .err").nth(1).waitFor();
      await expectAccessible(page, "start with problems");
      await page.getByRole("textbox", { name: "topic required" }).fill("heat pumps");
      await sources.fill("5");
      await page.getByRole("combobox", { name: "audience" }).selectOption("investors");
      await page.getByRole("button", { name: "Preview" }).click();
      const preview = page.getByRole("region", { name: "What would be sent" });
      await preview.getByText(/Size of heat pumps, 5 sources/).waitFor();
      expect(model.requests).to.have.lengthOf(0);
      await expectAccessible(page, "preview");
      const bound = page.locator(".start-actions .bound");
      await bound.waitFor();
      expect(await bound.textContent()).to.equal("no prices are known");
      await sources.fill("6");
      await bound.waitFor({ state: "detached" }); // it is that of other inputs
      await sources.fill("5");
      await bound.waitFor();
      await page.getByText("Options of this run").click();
      await page.getByRole("combobox", { name: "Capture" }).selectOption("FULL");
      const limit = page.getByRole("textbox", { name: "Time limit" });
      const tags = page.getByRole("textbox", { name: "Tags" });
      await limit.fill("soon");
      await tags.fill("acme");
      await page.keyboard.press("Control+Enter");
      await page.getByText("This must be a number.").waitFor();
      expect(await page.locator(".run-options .err").count()).to.equal(2);
      await expectAccessible(page, "options of a run");
      await limit.fill("90");
      await tags.fill("customer=acme\nnote=a=b");
      await page.keyboard.press("Control+Enter");
      await page.getByText("1 of 1 done").waitFor();
      const { runs } = await askJson<RunListBody>(url, "/api/runs");
      expect(runs[0]?.tags).to.deep.equal({ customer: "acme", note: "a=b" });
      expect(JSON.stringify(model.requests)).to.contain("Size of heat pumps, 5 sources");
    });

    it("draws the plan in the preview, and shows the prompt of the selected task", async () => {
      const { board, url } = await boards.listening();
      const agent = new Agent({ role: "Analyst", goal: "Estimates", model: new ScriptedModel([]) });
      const find = new Task({ name: "find", description: "Find sources", agent });
      const weigh = new Task({ name: "weigh", description: "Weigh", agent, context: [find] });
      board.register("study", new Ensemble({ name: "study", tasks: [find, weigh] }));
      const { page } = await open(`${url}#/ensembles/study`);
      await page.getByRole("button", { name: "Preview" }).click();
      const plan = page.getByRole("group", { name: "Plan" });
      await plan.getByRole("button", { name: "weigh" }).click();
      await page.getByRole("heading", { name: "Prompt of weigh" }).waitFor();
      const [first, second] = await Promise.all(
        ["find", "weigh"].map((name) => plan.getByRole("button", { name }).boundingBox()),
      );
      expect(second?.x).to.be.greaterThan((first?.x ?? 0) + (first?.width ?? 0));
      expect(await plan.locator("svg path.wire.context").count()).to.equal(1);
      await expectAccessible(page, "plan");
    });

    it("fits the plan in the preview into its box, from left to right or from top to bottom", async () => {
      const { board, url } = await boards.listening();
      const handler = (): string => "done";
      const tasks: Task[] = [];
      for (const name of ["read", "sort", "weigh", "write", "check", "print"])
        tasks.push(new Task({ name, description: name, handler, context: tasks.slice(-1) }));
      board.register("study", new Ensemble({ name: "study", tasks }));
      const { page } = await open(`${url}#/ensembles/study`);
      await page.getByRole("button", { name: "Preview" }).click();
      const plan = page.getByRole("group", { name: "Plan" });
      for (const width of [1_280, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await until(async () => {
          const box = await plan.boundingBox();
          const node = await plan.getByRole("button", { name: "print" }).boundingBox();
          if (box === null || node === null) return false;
          const isInside =
            node.x + node.width <= box.x + box.width && node.y + node.height <= box.y + box.height;
          return isInside && box.x + box.width <= width;
        });
      }
      expect(await page.evaluate("document.documentElement.scrollWidth")).to.equal(390);
    });

    it("starts a run with the answers of an earlier run, if the ensemble can be created again", async () => {
      const { board, url } = await boards.listening();
      const { team, model } = briefing();
      board.register("briefing", team, { create: ({ plugins }) => teamOf(model, plugins) });
      const { runId } = await team.run({ topic: "heat pumps" });
      const { page } = await open(`${url}#/ensembles/briefing`);
      await page.getByText("Options of this run").click();
      const answers = page.getByRole("combobox", { name: "Answers from" });
      const trace = await answers.getByRole("option", { name: /^trace of / }).textContent();
      expect(trace).to.contain(runId.slice(0, 8));
      await answers.selectOption({ label: trace ?? "" });
      const topic = page.getByRole("textbox", { name: "topic required" });
      await topic.fill("heat pumps");
      await expectAccessible(page, "sources of answers");
      const start = page.getByRole("button", { name: "Start", exact: true });
      await start.click();
      await page.getByText("1 of 1 done").waitFor();
      expect(model.requests, "nothing was paid").to.have.lengthOf(1);
      await page.goto(`${url}#/ensembles/briefing`);
      await page.getByText("Options of this run").click();
      await answers.selectOption({ label: trace ?? "" });
      await page.getByRole("checkbox", { name: "Pay for what changed" }).check();
      await topic.fill("wind");
      await start.click();
      await page.getByText("1 of 1 done").waitFor();
      expect(JSON.stringify(model.requests.at(-1))).to.contain("Size of wind");
    });

    it("compares a failed run with the last completed run of its ensemble", async () => {
      const { board, url } = await boards.listening();
      let isAway = false;
      const handler = (): string => {
        if (isAway) throw new Error("The file is away");
        isAway = true;
        return "12 pages";
      };
      const count = new Task({ name: "count", description: "Count the pages", handler });
      const team = new Ensemble({ name: "pages", tasks: [count] });
      board.register("pages", team);
      const good = await team.run();
      const bad = await team.run({}, { throwOnError: false });
      const { page } = await open(`${url}#/runs/${bad.runId}`);
      await page.getByRole("link", { name: "Compare with the last good run" }).click();
      await page.waitForURL(new RegExp(`a=${good.runId}&b=${bad.runId}`));
      await page.getByRole("row", { name: /count/ }).waitFor();
    });

    it("runs again with the same or other inputs, and without models from the trace", async () => {
      const { board, url } = await boards.listening();
      const { team, model } = briefing();
      board.register("briefing", team, {
        create: ({ plugins }) => teamOf(model, plugins),
      });
      const { runId } = await team.run({ topic: "heat pumps", sources: 4 });
      const { page } = await open(`${url}#/runs/${runId}`);
      const controls = page.getByRole("button", { name: "Control the run" });
      await page.getByRole("button", { name: "Run again" }).click();
      await until(() => !page.url().includes(runId));
      await page.getByText("1 of 1 done").waitFor();
      expect(model.requests).to.have.lengthOf(2);
      await controls.click();
      await page.getByRole("button", { name: "Run with other inputs" }).click();
      const topic = page.getByRole("textbox", { name: "topic required" });
      expect(await topic.inputValue()).to.equal("heat pumps");
      await topic.fill("wind");
      const before = page.url();
      await page.getByRole("button", { name: "Run with these" }).click();
      await until(() => page.url() !== before);
      await page.getByText("1 of 1 done").waitFor();
      expect(JSON.stringify(model.requests.at(-1))).to.contain("Size of wind, 4 sources");
      const last = page.url();
      await controls.click();
      await page.getByRole("button", { name: "Replay from the trace" }).click();
      await until(() => page.url() !== last);
      await page.getByText("1 of 1 done").waitFor();
      expect(model.requests).to.have.lengthOf(3);
    });

    it("cancels a run that code started, with the reason, and removes it", async () => {
      const { board, url } = await boards.listening();
      const door = new Door();
      boards.later(() => {
        door.open();
        return Promise.resolve();
      });
      const handle = writers(board, door, []).stream();
      const { page } = await open(`${url}#/runs/${handle.id}`);
      await page.getByRole("button", { name: "Cancel the run …" }).click();
      await page.getByLabel("Reason").fill("Too late");
      await expectAccessible(page, "control");
      // Otherwise the run may end before the request arrives.
      await Promise.all([
        page.waitForResponse(/\/cancel$/),
        page.getByRole("button", { name: "Cancel the run", exact: true }).click(),
      ]);
      door.open();
      await handle.output.catch(() => undefined);
      await page.getByText("cancelled").first().waitFor();
      await page.getByRole("button", { name: "Control the run" }).click();
      await page.getByRole("button", { name: "Remove the run …" }).click();
      await page.getByRole("button", { name: "Remove it from memory and store" }).click();
      await page.waitForURL(/#\/runs$/);
      await page.getByText("No runs yet").waitFor();
    });

    it("is not offered to users with read access only", async () => {
      const users = [{ name: "vera", role: "viewer", token: "token-of-vera" }] as const;
      const { board, url } = await boards.listening({ users });
      const { team } = briefing();
      board.register("briefing", team);
      const { runId } = await team.run({ topic: "heat pumps" });
      const { page } = await open(`${url}#t=token-of-vera&/runs/${runId}`);
      await page.getByRole("button", { name: "Control the run" }).click();
      await page.getByText("There is nothing that you may do with this run now.").waitFor();
      await page.goto(`${url}#/ensembles`);
      await page.getByText("Your role can’t start runs.").waitFor();
      expect(await page.getByRole("button", { name: "Start", exact: true }).isDisabled()).to.equal(
        true,
      );
    });

    it("shows the panels of plugins as tables, Markdown and JSON", async () => {
      const { board, url } = await boards.listening();
      const { team } = briefing([panelPlugin]);
      board.register("briefing", team);
      const { runId } = await team.run({ topic: "heat pumps" });
      const watched = await open(`${url}#/runs/${runId}`);
      watched.expect(/404/);
      const { page } = watched;
      await page.getByRole("button", { name: "Control the run" }).click();
      await page.getByRole("link", { name: "Parts" }).click();
      await page.getByRole("cell", { name: "anode" }).waitFor();
      await expectAccessible(page, "panel");
      await page.goto(`${url}#/panels/notes?run=${runId}`);
      await page.locator("strong", { hasText: "this" }).waitFor();
      await page.getByText("2 | 3 & 4").waitFor();
      await page.goto(`${url}#/panels/facts?run=${runId}`);
      const facts = page.locator("pre");
      await facts.getByText('"anode"').waitFor();
      expect(JSON.parse((await facts.textContent()) ?? "")).to.deep.equal({
        cells: { anode: [12, null] },
      });
      await page.goto(`${url}#/panels/none?run=${runId}`);
      await page.getByRole("status").filter({ hasText: /panel/i }).waitFor();
    });
  });
}
