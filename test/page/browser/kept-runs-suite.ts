import { Ensemble, Task } from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import type { Journal as JournalContract } from "../../../src/contracts/journal.js";
import type { RunActionsBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { askJson } from "../../plugins/dashboard/server/client.js";
import { expectAccessible } from "./accessibility.js";
import { openedPages } from "./opened-pages.js";
import { until } from "./teams.js";

/** Leaves a run in the state of a process that ended during tool calls. */
async function leaveInDoubt(
  journal: JournalContract,
  runId: string,
  keys: readonly string[],
): Promise<void> {
  const run = await journal.get(runId);
  if (run === undefined) throw new Error("the run is not kept");
  const claim = await journal.claim({
    start: run,
    owner: "another process",
    leaseMs: 60_000,
    signal: new AbortController().signal,
  });
  const intents = keys.map((key) => ({
    key,
    kind: "intent" as const,
    task: "pay@1",
    value: { idempotencyKey: key, tool: "pay" },
  }));
  for (const intent of intents) await journal.append(claim, intent);
  await journal.release(claim, { status: "interrupted" });
}

/** Tests of durable runs in a browser: they are resumed, settled and forked. */
export function keptRunTests(browser: () => Promise<Browser>): void {
  describe("durable runs", () => {
    const { boards, open } = openedPages(browser);

    it("are resumed after a failure, and forked before a task", async () => {
      const { board, url } = await boards.listening();
      const plugin = durable({ journal: Journal.inMemory() });
      let isBroken = true;
      let calls = 0;
      const team = new Ensemble({
        name: "team",
        kernel: boards.kernel(board, plugin),
        tasks: [
          new Task({ name: "first", description: "Begin", handler: () => `${++calls}` }),
          new Task({
            name: "second",
            description: "End",
            handler: () => {
              if (isBroken) throw new Error("broken");
              return "whole";
            },
          }),
        ],
      });
      await team.run({}, { runId: "r1" }).catch(() => undefined);
      isBroken = false;
      const { page } = await open(`${url}#/runs/r1?view=graph&task=first`);
      const controls = page.getByRole("button", { name: "Control the run" });
      await controls.click();
      await page.getByRole("button", { name: "Resume the run" }).click();
      await page.getByText("2 of 2 done").waitFor();
      expect(calls).to.equal(1);
      await page.getByRole("button", { name: /^Fork before/ }).click();
      await page.getByRole("button", { name: "Resume the fork" }).click();
      await until(() => !page.url().includes("/r1"));
      await page.getByText("2 of 2 done").waitFor();
      expect(calls).to.equal(2);
    });

    it("allow users to settle their calls in doubt", async () => {
      const { board, url } = await boards.listening();
      const journal = Journal.inMemory();
      const team = boards.ensemble(boards.kernel(board, durable({ journal })), () => {
        throw new Error("broken");
      });
      await team.run({}, { runId: "r4" }).catch(() => undefined);
      await leaveInDoubt(journal, "r4", ["r4/pay#1", "r4/pay#2"]);
      const doubts = async (): Promise<readonly string[]> =>
        (await askJson<RunActionsBody>(url, "/api/runs/r4/actions")).doubts.map(({ key }) => key);
      const { page } = await open(`${url}#/runs/r4`);
      await page.getByRole("button", { name: "Control the run" }).click();
      const results = page.getByLabel("Result of pay in pay@1, if the call took place");
      await results.first().fill("paid");
      await expectAccessible(page, "calls in doubt");
      await page.getByRole("button", { name: "It took place" }).first().click();
      await page
        .getByRole("button", { name: "It took place" })
        .nth(1)
        .waitFor({ state: "detached" });
      expect(await doubts()).to.deep.equal(["r4/pay#2"]);
      await page.getByRole("button", { name: "Make the call again" }).click();
      await page.getByRole("button", { name: "It took place" }).waitFor({ state: "detached" });
      expect(await doubts()).to.deep.equal([]);
    });
  });
}
