import { existsSync } from "node:fs";
import { expect } from "chai";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const USUAL_PATHS = [
  "/usr/bin/chromium-headless-shell", // needs half the processor time
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The Chromium of this machine; `AE_CHROMIUM` names another one. `undefined` if there is none. */
export function chromiumPath(): string | undefined {
  const { AE_CHROMIUM } = process.env;
  return AE_CHROMIUM ?? USUAL_PATHS.find((path) => existsSync(path));
}

/**
 * One Chromium for all tests of the page. Other host names than those of this machine are not
 * resolved.
 */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ],
  });
}

/** Forbidden actions of a page. */
const VIOLATIONS = `window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.__violations.push(event.violatedDirective + " " + event.blockedURI);
});`;

/** A page that is watched: errors, violations of its policy and requests to other hosts are failures. */
export class WatchedPage {
  readonly page: Page;
  readonly #problems: string[] = [];
  readonly #expected: RegExp[] = [];
  #isClosed = false;

  private constructor(page: Page) {
    this.page = page;
    page.on("pageerror", (error) => this.#problems.push(`error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning")
        this.#problems.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (hostname !== "127.0.0.1" && !["data:", "blob:", "file:"].includes(protocol))
        this.#problems.push(`request: ${request.url()}`);
    });
  }

  /** Opens a URL in a separate browser context, as for another user. */
  static async open(
    browser: Browser,
    url: string,
    o: BrowserContextOptions = {},
  ): Promise<WatchedPage> {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, ...o });
    context.setDefaultTimeout(60_000); // a busy machine may take long
    await context.addInitScript(VIOLATIONS);
    const watched = new WatchedPage(await context.newPage());
    await watched.page.goto(url);
    return watched;
  }

  /** Problems that a test causes on purpose. */
  expect(problem: RegExp): void {
    this.#expected.push(problem);
  }

  /**
   * Fails if the page did a forbidden action, and closes its browser once. A page whose Chromium
   * has ended is already closed.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const context = this.page.context();
    if (context.browser()?.isConnected() === true) {
      this.#problems.push(...(await this.page.evaluate<string[]>("window.__violations")));
      await context.close();
    }
    const problems = this.#problems.filter(
      (problem) => !this.#expected.some((pattern) => pattern.test(problem)),
    );
    expect(problems).to.deep.equal([]);
  }
}
