import type { Plugin } from "agentensemble";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { openedPages } from "./opened-pages.js";
import { formatCost } from "../../../page/src/lib/format.js";
import { Door, failing, refunds, until, writers } from "./teams.js";

/** Starts to count the clicks of a user. Returns the number of clicks. */
async function countClicks(page: Page): Promise<() => Promise<unknown>> {
  await page.evaluate(
    `window.clicks = 0; addEventListener("click", ({ isTrusted }) => (window.clicks += isTrusted ? 1 : 0), true)`,
  );
  return () => page.evaluate("window.clicks");
}

/** An ended run with a task that a model has answered: 100 and 50 tokens. */
async function written(board: Plugin): Promise<void> {
  const door = new Door();
  door.open();
  await writers(board, door, [["The turbine turns.", door]]).run();
}

/** Opens that run from the list, by one click. */
async function openWritten(page: Page): Promise<void> {
  const row = page.getByRole("row", { name: /writers/ });
  await row.getByRole("link").first().click();
}

/** Tests of the page for new users. */
export function questionTests(browser: () => Promise<Browser>): void {
  describe("page on its first visit", () => {
    const { boards, open } = openedPages(browser);

    for (const width of [1_440, 390]) {
      const viewport = { width, height: 844 };

      it(`shows the failed task and the reason without a click, and hint and causes after one, ${width} px wide`, async () => {
        const { board, url } = await boards.listening();
        await failing(board).run({}, { throwOnError: false });
        const { page } = await open(url, { viewport });
        const clicks = await countClicks(page);
        const why = page.getByRole("link", {
          name: /^AE_AGENT_EXECUTION in extract: .*The file is empty/,
        });
        await why.filter({ visible: true }).waitFor();
        await why.filter({ visible: true }).click();
        const card = page.getByRole("region", { name: "Error of extract" });
        await card.getByText("The file is empty").first().waitFor();
        await card.getByText("memo was not started").waitFor();
        expect(await clicks()).to.equal(1);
      });

      it(`shows the request to a task after two clicks, ${width} px wide`, async () => {
        const { board, url } = await boards.listening();
        await written(board);
        const { page } = await open(url, { viewport });
        const clicks = await countClicks(page);
        await openWritten(page);
        await page.locator("a.node", { hasText: "draft" }).click();
        const task = page.getByRole("region", { name: "Task" });
        await task.locator(".section").getByText("Write a draft").waitFor();
        await task.getByText("The turbine turns.").waitFor();
        expect(await clicks()).to.equal(2);
      });

      it(`shows the cost of a run without a click, and the agent's share after two, ${width} px wide`, async () => {
        const { board, url } = await boards.listening();
        await written(board);
        const cost = formatCost(0.2, "USD");
        const { page } = await open(url, { viewport });
        const clicks = await countClicks(page);
        await page.getByRole("cell", { name: cost }).waitFor();
        await openWritten(page);
        await page.getByRole("tab", { name: "Cost" }).click();
        const agents = page.getByRole("group", { name: "By agent" });
        await agents
          .getByRole("row", { name: /Writer/ })
          .getByText(cost)
          .waitFor();
        expect(await clicks()).to.equal(2);
      });

      it(`shows a waiting review without a click, and the answer after one, ${width} px wide`, async () => {
        const { board, url } = await boards.listening();
        const { team, made } = refunds(board);
        const output = team.run();
        const { page } = await open(url, { viewport });
        const clicks = await countClicks(page);
        await page.getByRole("link", { name: /Reviews\s*1/ }).waitFor();
        const question = page.getByRole("link", { name: /left$/ }).filter({ visible: true });
        await question.waitFor();
        await question.click();
        await page.getByRole("button", { name: /^Approve/ }).click();
        expect((await output).raw).to.equal("Done.");
        expect(made).to.have.lengthOf(1);
        await until(async () => (await clicks()) === 2);
      });
    }
  });
}
