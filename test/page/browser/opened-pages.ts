import type { Browser, BrowserContextOptions } from "playwright-core";
import { Boards } from "../../plugins/dashboard/server/boards.js";
import { WatchedPage } from "./chromium.js";

/** What a test of the page uses. It ends with the test. */
export interface OpenedPages {
  readonly boards: Boards;
  /** Opens an address in a browser of its own. What the page must not do fails the test. */
  open(url: string, o?: BrowserContextOptions): Promise<WatchedPage>;
}

/** Dashboards and watched pages for the tests of the `describe` around it, which ends them after each test. */
export function openedPages(browser: () => Promise<Browser>): OpenedPages {
  const boards = new Boards();
  const pages: WatchedPage[] = [];
  afterEach(async () => {
    try {
      for (const page of pages) await page.close();
    } finally {
      pages.length = 0;
      await boards.end();
    }
  });
  return {
    boards,
    open: async (url, o = {}) => {
      const page = await WatchedPage.open(await browser(), url, o);
      pages.push(page);
      return page;
    },
  };
}
