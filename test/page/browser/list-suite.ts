import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { RunListBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { openedPages } from "./opened-pages.js";
import { answering, failing, until } from "./teams.js";

const names = async (page: Page): Promise<readonly string[]> =>
  page.locator(".run-row .name b").allInnerTexts();

/** Tests of the list of runs in a browser. */
export function listTests(browser: () => Promise<Browser>): void {
  describe("list of runs", () => {
    const { boards, open } = openedPages(browser);

    it("shows the runs that match a filter, which consists of text and chips and is part of the URL", async () => {
      const { board, url } = await boards.listening();
      await failing(board)
        .run()
        .catch(() => undefined);
      await answering(board, "One.").run({}, { tags: { customer: "acme" } });
      await answering(board, "Two.").run({}, { tags: { customer: "globex" } });
      const { page } = await open(url);
      await until(async () => (await names(page)).length === 3);
      await page.keyboard.press("f");
      await page.keyboard.type("tag:customer=acme");
      await until(async () => (await names(page)).join() === "answers");
      expect(page.url()).to.contain("q=tag%3Acustomer%3Dacme");
      await page.getByText(/^1 of 1 shown/).waitFor();
      await page.getByRole("button", { name: "Save filter" }).click();
      await page.getByRole("button", { name: "Remove customer=acme" }).click();
      await until(async () => (await names(page)).length === 3);
      await page.getByRole("button", { name: /Failed 1/ }).click();
      await until(async () => (await names(page)).join() === "contracts");
      const box = page.getByRole("textbox", { name: "Filter of the runs" });
      expect(await box.inputValue()).to.equal("state:failed");
      await box.fill("state:broken");
      await page.getByText(/state: must be one of running/).waitFor();
      await page.getByRole("button", { name: "tag:customer=acme", exact: true }).click();
      await until(async () => (await names(page)).join() === "answers");
      await page.getByRole("button", { name: "customer=acme", exact: true }).last().click();
      await box.fill("nothing has this text");
      await page.getByText("No run fits the filter").waitFor();
      await page.reload();
      await page.getByRole("button", { name: "Clear the filter" }).click();
      await until(async () => (await names(page)).length === 3);
    });

    it("adds runs that begin while it is open, and sums up all matching runs", async () => {
      const { board, url } = await boards.listening();
      await answering(board, "One.").run();
      const { page } = await open(url);
      await page.getByText(/^1 of 1 shown/).waitFor();
      await answering(board, "Two.").run();
      await page.getByText(/^2 of 2 shown/).waitFor();
      expect(await page.locator(".bars .bar").count()).to.equal(2);
    });

    it("fits a narrow window and keeps failures visible", async () => {
      const { board, url } = await boards.listening();
      await failing(board)
        .run({}, { tags: { customer: "a customer with a long name" } })
        .catch(() => undefined);
      const { page } = await open(url, { viewport: { width: 390, height: 844 } });
      await page.getByRole("link", { name: /AE_AGENT_EXECUTION in extract/ }).waitFor();
      const wide = await page.evaluate<number>(
        `Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll("main, main *")]
          .filter((element) => getComputedStyle(element).overflowX === "auto")
          .map((element) => element.scrollWidth - element.clientWidth + 390))`,
      );
      expect(wide).to.equal(390);
      const { runs } = (await (await fetch(new URL("/api/runs", url))).json()) as RunListBody; // the answer of the route
      await page.goto(`${url}#/runs/${runs[0]?.runId}?view=errors`);
      const tab = await page.getByRole("tab", { name: /Errors/ }).boundingBox();
      expect(tab?.x).to.be.at.least(0);
      expect((tab?.x ?? 0) + (tab?.width ?? 0)).to.be.at.most(390);
    });

    it("reports that the program refuses further requests", async () => {
      const { url } = await boards.listening();
      const watched = await open(url);
      watched.expect(/429/);
      const { page } = watched;
      await page.route(/\/api\/status$/, (route) =>
        route.fulfill({ status: 429, json: { error: "TOO_MANY_REQUESTS", message: "Later" } }),
      );
      await page.reload();
      await page.getByText("Too many requests of this user.").waitFor();
      await page.unroute(/\/api\/status$/);
      await page.getByText("Live", { exact: true }).waitFor();
    });
  });
}
