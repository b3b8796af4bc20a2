import type { Browser } from "playwright-core";
import { chromiumPath, launch } from "./chromium.js";
import { controlTests } from "./control-suite.js";
import { historyTests } from "./history-suite.js";
import { keptRunTests } from "./kept-runs-suite.js";
import { listTests } from "./list-suite.js";
import { pageTests } from "./page-suite.js";
import { questionTests } from "./questions-suite.js";
import { reviewTests } from "./reviews-suite.js";
import { runTests } from "./runs-suite.js";
import { searchTests } from "./search-suite.js";
import { serviceTests } from "./services-suite.js";
import { drawingTests } from "./drawing-suite.js";
import { threadTests } from "./threads-suite.js";

describe("page of the dashboard in Chromium", function () {
  this.timeout(180_000); // a busy machine may take long
  let running: Browser | undefined;
  /** The running Chromium. A Chromium that has ended is replaced: its end fails one test only. */
  const browser = async (): Promise<Browser> => {
    const path = chromiumPath();
    if (path === undefined) throw new Error("No Chromium was found");
    if (running?.isConnected() !== true) running = await launch(path);
    return running;
  };

  before(
    "starts Chromium (AE_CHROMIUM names its path; without one these tests are skipped)",
    async function () {
      const path = chromiumPath();
      if (path === undefined) {
        process.stderr.write("No Chromium was found: the tests of the page are skipped.\n");
        this.skip();
      }
      await browser();
    },
  );

  after(async () => {
    await running?.close();
  });

  listTests(browser);
  searchTests(browser);
  runTests(browser);
  drawingTests(browser);
  historyTests(browser);
  controlTests(browser);
  keptRunTests(browser);
  threadTests(browser);
  serviceTests(browser);
  reviewTests(browser);
  questionTests(browser);
  pageTests(browser);
});
