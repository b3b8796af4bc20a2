import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { Boards } from "../../plugins/dashboard/server/boards.js";
import { WatchedPage } from "./chromium.js";

/** The resources of a test of the page, which end with the test. */
export interface OpenedPages {
  readonly boards: Boards;
  /** Opens a URL in a separate browser context. A forbidden action of the page fails the test. */
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

/** Drops a file on the page, as a user does. */
export async function drop(page: Page, name: string, text: string): Promise<void> {
  await page.evaluate(
    `((name, text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      for (const type of ["dragover", "drop"])
        window.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    })(${JSON.stringify(name)}, ${JSON.stringify(text)})`,
  );
}
