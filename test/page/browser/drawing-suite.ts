import { Agent, Ensemble, Task } from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { recordedLog } from "../../plugins/dashboard/logs.js";
import { drop, openedPages } from "./opened-pages.js";
import { answering, Door, many, reviewed, until, writers } from "./teams.js";

/** The lines of the graph, with their drawn styles. */
async function wires(page: Page): Promise<readonly { look: string; dashes: string }[]> {
  return page.evaluate(`[...document.querySelectorAll("svg.wires > path")].map((path) => ({
    look: path.getAttribute("class").replace(/\\s+/g, " ").trim(),
    dashes: getComputedStyle(path).strokeDasharray,
  }))`);
}

const dashesOf = async (page: Page, kind: RegExp): Promise<readonly string[]> =>
  (await wires(page)).filter(({ look }) => kind.test(look)).map(({ dashes }) => dashes);

/** Tests of the drawing of runs in a browser. */
export function drawingTests(browser: () => Promise<Browser>): void {
  describe("drawing of runs", () => {
    const { boards, open } = openedPages(browser);

    /** Opens a run of one of the teams, from a file. */
    const opened = async (team: string): Promise<Page> => {
      const { url } = await boards.listening();
      const { page } = await open(url);
      await page.getByText("No runs yet").waitFor();
      const lines = (await recordedLog(team)).map((entry) => JSON.stringify(entry));
      await drop(page, `${team}.log.jsonl`, `${lines.join("\n")}\n`);
      await page.locator("a.node").first().waitFor();
      return page;
    };

    it("uses solid lines for passed outputs and dotted lines for order only", async () => {
      const parallel = await opened("parallel");
      await until(async () => (await wires(parallel)).length === 4);
      expect(new Set(await dashesOf(parallel, /context/))).to.deep.equal(new Set(["none"]));
      const { board, url } = await boards.listening();
      const handler = (): string => "done";
      const tasks = ["first", "second"].map(
        (name) => new Task({ name, description: name, handler }),
      );
      const team = new Ensemble({ name: "order", tasks, plugins: [board], workflow: "SEQUENTIAL" });
      const { runId } = await team.run();
      const { page } = await open(`${url}#/runs/${runId}`);
      await until(async () => (await dashesOf(page, /order/)).join() === "2px, 4px");
    });

    it("shows phases and loops as boxes, with the iterations of a loop", async () => {
      const phases = await opened("phases");
      expect(await phases.locator(".graph-box").count()).to.be.above(1);
      const loop = await opened("loop");
      await loop
        .locator(".graph-box", { hasText: "polish" })
        .getByText("iteration 2 of at most 3")
        .waitFor();
    });

    it("labels the transitions of a graph, marks the executed ones and dashes backward transitions", async () => {
      const page = await opened("graph");
      await page.locator(".wire-label.flowed", { hasText: "asked" }).waitFor();
      expect(await dashesOf(page, /transition flowed$/)).to.include("none");
      expect(await dashesOf(page, /transition back/)).to.deep.equal(["6px, 4px"]);
    });

    it("shows the manager with its delegated tasks below", async () => {
      const page = await opened("hierarchical");
      await page
        .getByText(/manager/i)
        .first()
        .waitFor();
      expect((await dashesOf(page, /delegation/)).length).to.be.above(0);
      await page.getByRole("tab", { name: "Timeline" }).click();
      const indents = `[...document.querySelectorAll(".timeline [role=row] .name .st")]
        .map((icon) => icon.getBoundingClientRect().left)`;
      await until(async () => {
        const lefts = await page.evaluate<readonly number[]>(indents);
        return lefts.length > 1 && (lefts[1] ?? 0) > (lefts[0] ?? 0);
      });
    });

    it("shows waits for a review in another pattern than work", async () => {
      const { board, url } = await boards.listening();
      const handle = reviewed(board, { timeoutMs: 600_000 }).stream();
      boards.later(async () => {
        handle.cancel("The test is over");
        await handle.output.catch(() => undefined);
      });
      const { page } = await open(`${url}#/runs/${handle.id}?view=timeline`);
      const backgrounds = async (kind: string): Promise<readonly string[]> =>
        page.evaluate(`[...document.querySelectorAll(".lane i.c.${kind}")]
          .map((bar) => getComputedStyle(bar).backgroundImage)`);
      await until(async () => (await backgrounds("wait")).length > 0);
      for (const background of await backgrounds("wait"))
        expect(background).to.contain("repeating");
      expect(new Set(await backgrounds("model"))).to.deep.equal(new Set(["none"]));
    });

    it("draws one node for each level and kind of more than 300 tasks, with a link to the table", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await many(board, 320).run();
      const { page } = await open(`${url}#/runs/${runId}`);
      await page.getByRole("link", { name: /320 tasks/ }).click();
      await page.getByRole("tabpanel", { name: "Tasks", exact: true }).waitFor();
      expect(page.url())
        .to.match(/view=tasks/)
        .and.to.match(/level=\d+/);
      await page.getByText("part-0", { exact: true }).first().waitFor();
    });

    it("opens one model call from a link, in the conversation and on the timeline", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await answering(board, "Fine.").run();
      const { page } = await open(`${url}#/runs/${runId}?view=timeline&task=answer&call=1`);
      await page.locator(".turn[aria-current]").getByText("Fine.").waitFor();
      await page.locator('.lane i.c.model[aria-current="true"]').waitFor({ state: "attached" });
      await page
        .getByRole("region", { name: "Time of the task" })
        .getByText(/^model call · /)
        .waitFor();
      await page.locator('.section[title="task.description"]').first().waitFor();
    });

    it("shows the used and the reserved part of the budget while the run is in progress", async () => {
      const { board, url } = await boards.listening();
      const door = new Door();
      const model = new ScriptedModel(async () => {
        await door.opened;
        return { text: "Done.", usage: { inputTokens: 100, outputTokens: 150 } };
      });
      const modelOptions = { maxOutputTokens: 300 };
      const agent = new Agent({ role: "Writer", goal: "Writes", model, modelOptions });
      const team = new Ensemble({
        name: "limited",
        tasks: [new Task({ name: "write", description: "Write", agent })],
        plugins: [board, budget({ maxTokens: 1_000 })],
      });
      const handle = team.stream();
      boards.later(async () => {
        door.open();
        await handle.output;
      });
      const { page } = await open(`${url}#/runs/${handle.id}`);
      const meter = page.locator(".budget");
      await until(async () =>
        / 0 used, [1-9]\d* reserved/.test((await meter.getAttribute("title")) ?? ""),
      );
      door.open();
      await handle.output;
      await until(
        async () => (await meter.getAttribute("title")) === "tokens 1,000: 250 used, 0 reserved",
      );
      await meter.getByText("25 %").waitFor();
      await page.getByRole("tab", { name: "Cost" }).click();
      await page.getByText("250 used · 0 reserved · 750 left").waitFor();
      for (const title of ["agent", "model", "purpose", "task"])
        await page.getByRole("group", { name: `By ${title}` }).waitFor();
    });

    it("reports that it caught up after a delay", async () => {
      const { board, url } = await boards.listening();
      const [first, second] = [new Door(), new Door()];
      const handle = writers(board, first, [["The text.", second]]).stream();
      const { page } = await open(url);
      let resync = (): void => undefined;
      await page.routeWebSocket(/\/ws$/, (route) => {
        const server = route.connectToServer();
        server.onMessage((message) => route.send(message));
        resync = () => route.send(JSON.stringify({ type: "resync", runId: handle.id, n: 1 }));
      });
      await page.goto(`${url}?again#/runs/${handle.id}`);
      await page.getByText("0 of 3 done").waitFor();
      resync();
      await page.getByText(/caught up with a snapshot at event/).waitFor();
      first.open();
      second.open();
      await handle.output;
      await page.getByText("3 of 3 done").waitFor();
    });

    it("has two panes whose border is moved by keys and restored at the next visit", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await answering(board, "Fine.").run();
      const { page } = await open(`${url}#/runs/${runId}?task=answer`);
      const border = page.getByRole("separator", { name: "Width of the panes" });
      const before = Number(await border.getAttribute("aria-valuenow"));
      await border.focus();
      await page.keyboard.press("ArrowLeft");
      await until(async () => Number(await border.getAttribute("aria-valuenow")) === before - 2);
      await page.reload();
      await until(async () => Number(await border.getAttribute("aria-valuenow")) === before - 2);
    });
  });
}
