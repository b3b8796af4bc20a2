import { expect } from "chai";
import type { Browser, Locator, Page } from "playwright-core";
import { expectAccessible, smallTexts } from "./accessibility.js";
import { openedPages } from "./opened-pages.js";
import { answering, failing, until } from "./teams.js";

/** The results of a search that is typed. */
async function searched(page: Page, text: string): Promise<Locator> {
  await page.getByRole("textbox", { name: "Search", exact: true }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
  return page.getByRole("region", { name: "Found" });
}

/** Tests of the search in the bar on top, in a browser. */
export function searchTests(browser: () => Promise<Browser>): void {
  describe("search", () => {
    const { boards, open } = openedPages(browser);

    it("finds texts of the open run while they are written, and opens their position", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await answering(board, "Nobody expects the turbine.").run();
      const { page } = await open(`${url}#/runs/${runId}`);
      await page.getByRole("tab", { name: "Graph" }).waitFor();
      const box = page.getByRole("textbox", { name: "Search", exact: true });
      expect(await box.getAttribute("placeholder")).to.equal("Search in this run");
      await page.keyboard.press("/");
      await page.keyboard.type("TURBINE");
      const found = page.getByRole("region", { name: "Found" });
      await found.getByText("answer", { exact: true }).first().waitFor();
      // Slow keys cause a search for the beginning of the text first.
      await found
        .locator("mark")
        .filter({ hasText: /^turbine$/ })
        .first()
        .waitFor();
      await found.getByRole("listitem").first().getByRole("link").click();
      await page.locator(".turn[aria-current]").getByText("Nobody expects the turbine.").waitFor();
      await expectAccessible(page, "search");
      await box.fill("no such text");
      await found.getByText("Nothing in this run has this text.").waitFor();
      await page.getByRole("heading", { level: 1 }).click();
      await found.waitFor({ state: "detached" });
    });

    it("finds runs, tasks and texts of all runs after Enter, by keys alone", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await answering(board, "Nobody expects the turbine.").run(
        {},
        { tags: { customer: "turbine works" } },
      );
      await failing(board)
        .run()
        .catch(() => undefined);
      const { page } = await open(url);
      const found = await searched(page, "turbine");
      const runs = found.locator(`a[href="#/runs/${runId}"]`);
      await runs.getByText("answers").waitFor();
      await found.getByText("2 places").waitFor();
      await expectAccessible(page, "search of all runs");
      expect(await smallTexts(page)).to.deep.equal([]);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.locator(".turn[aria-current]").getByText("Nobody expects the turbine.").waitFor();
      await found.waitFor({ state: "detached" });
      await searched(page, "extract");
      await found.getByText("Nothing in this run has this text.").waitFor();
      await found.getByRole("button", { name: "Search all runs" }).click();
      await found.locator("mark", { hasText: "extract" }).first().waitFor();
      await found.getByText("contracts").first().waitFor();
      await page.keyboard.press("Escape");
      await found.waitFor({ state: "detached" });
      await page.locator(".turn[aria-current]").waitFor(); // the task of the page stays open
    });

    it("applies the filter of the list, and shows all matching runs in the list", async () => {
      const { board, url } = await boards.listening();
      for (let i = 0; i < 6; i++) await answering(board, "One.").run({}, { tags: { day: "one" } });
      await answering(board, "Two.").run();
      const { page } = await open(`${url}#/reviews`);
      const found = await searched(page, "tag:day=one");
      await found.getByRole("link", { name: "List all 6 runs" }).click();
      await page.waitForURL(/#\/runs\?q=tag%3Aday%3Done$/);
      await until(async () => (await page.locator(".run-row").count()) === 6);
      await searched(page, "state:broken");
      await found.getByText(/state: must be one of/).waitFor();
    });

    it("is a button in a narrow window, until it is used", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await answering(board, "Nobody expects the turbine.").run();
      const { page } = await open(url, { viewport: { width: 390, height: 844 } });
      const box = page.locator(".search");
      const width = async (): Promise<number> => (await box.boundingBox())?.width ?? 0;
      await box.waitFor();
      expect(await width()).to.be.below(44);
      await box.click();
      await until(async () => (await width()) > 300);
      await page.keyboard.type("turbine");
      await page.keyboard.press("Enter");
      const found = page.getByRole("region", { name: "Found" });
      await found.locator("mark").first().waitFor();
      const { x, right } = await page.evaluate<{ x: number; right: number }>(
        `document.querySelector(".search-results").getBoundingClientRect().toJSON()`,
      );
      expect([x >= 0, right <= 390]).to.deep.equal([true, true]);
      await expectAccessible(page, "search in a narrow window");
      await found.getByRole("link").first().click();
      await page.waitForURL(new RegExp(`#/runs/${runId}`));
      await until(async () => (await width()) < 44);
      expect(await page.evaluate("document.documentElement.scrollWidth")).to.equal(390);
    });
  });
}
