import { expect } from "chai";
import type { Browser } from "playwright-core";
import { expectAccessible, smallTexts } from "./accessibility.js";
import { WatchedPage } from "./chromium.js";
import { CutLine } from "./cut-line.js";
import { openedPages } from "./opened-pages.js";
import { answering, Door, failing, refunds, reviewed, until, writers } from "./teams.js";

/** Tests of the common parts of all pages. */
export function pageTests(browser: () => Promise<Browser>): void {
  describe("page", () => {
    const { boards, open } = openedPages(browser);

    it("is monitored in these tests: forbidden actions are detected", async () => {
      const { url } = await boards.listening();
      const watched = await WatchedPage.open(await browser(), url);
      const noticed = [
        watched.page.waitForEvent("pageerror"),
        watched.page.waitForEvent("console", (message) => message.text().includes("img-src")),
      ];
      await watched.page.evaluate(`new Image().src = "https://evil.example/x.png";
        setTimeout(() => { throw new Error("planted"); });`);
      await Promise.all(noticed);
      const failure = await watched.close().then(
        () => "",
        (error: unknown) => JSON.stringify(error),
      );
      expect(failure).to.contain("img-src").and.to.contain("planted");
    });

    it("signs in with the token of its URL, and removes it from the URL", async () => {
      const { url } = await boards.listening({ token: "the-right-token" });
      const { page } = await open(`${new URL(url).origin}/#t=the-right-token`);
      await page.getByText("Live", { exact: true }).waitFor();
      expect(page.url()).not.to.contain("token");
      await page.reload();
      await page.getByText("Live", { exact: true }).waitFor();
    });

    it("signs in with a link that is opened in an open page", async () => {
      const { url } = await boards.listening({ token: "the-right-token" });
      const { origin } = new URL(url);
      const watched = await open(`${origin}/#t=%E0%A4%A`);
      watched.expect(/401/);
      const { page } = watched;
      await page.getByText("The program does not know this token.").waitFor();
      await page.goto(`${origin}/#t=the-right-token&/reviews`);
      await page.getByText("No review waits").waitFor();
      expect(page.url()).to.equal(`${origin}/#/reviews`);
    });

    it("detects a connection that receives no data", async () => {
      const line = new CutLine();
      const origin = await line.listen();
      boards.later(() => line.close());
      const { url } = await boards.listening({ allowedOrigins: [origin] });
      line.to(Number(new URL(url).port));
      const watched = await open(`${origin}/#/runs`);
      watched.expect(/ERR_|WebSocket/);
      const { page } = watched;
      await page.clock.install();
      await page.reload();
      await page.getByText("Live", { exact: true }).waitFor();
      line.stall();
      await page.clock.fastForward(61_000);
      await page.getByText("Not connected.").waitFor();
      line.mend();
      await page.getByRole("button", { name: "Now" }).click();
      await page.getByText("Live", { exact: true }).waitFor();
    });

    it("requests the token, and refuses a wrong one", async () => {
      const { url } = await boards.listening({ token: "the-right-token" });
      const watched = await open(`${new URL(url).origin}/#t=a-wrong-token`);
      watched.expect(/401/);
      const { page } = watched;
      await page.getByText("The program does not know this token.").waitFor();
      await page.getByLabel("Token").fill("the-right-token");
      await page.getByRole("button", { name: "Open" }).click();
      await page.getByText("Live", { exact: true }).waitFor();
    });

    it("can be used by keyboard only, and lists its keys", async () => {
      const { board, url } = await boards.listening();
      await failing(board)
        .run()
        .catch(() => undefined);
      const { page } = await open(url);
      await page.getByText("Live", { exact: true }).waitFor();
      await page.keyboard.press("?");
      await page.getByRole("dialog").getByText("light or dark colours").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("g");
      await page.keyboard.press("v");
      await page.getByText("No review waits").waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("r");
      await page
        .getByRole("link", { name: /contracts/ })
        .first()
        .click();
      await page.getByRole("tab", { name: "Graph" }).waitFor();
      for (const [key, name] of [
        ["2", "Timeline"],
        ["3", "Tasks"],
        ["4", "Cost"],
        ["5", "Errors"],
        ["6", "Events"],
        ["1", "Graph"],
      ] as const) {
        await page.keyboard.press(key);
        await page.locator('[role=tab][aria-selected="true"]', { hasText: name }).waitFor();
      }
    });

    it("moves through runs, tasks and colours by keys, and selects runs for a comparison", async () => {
      const { board, url } = await boards.listening();
      for (const text of ["One.", "Two."]) await answering(board, text).run();
      await failing(board)
        .run()
        .catch(() => undefined);
      const { page } = await open(url);
      await until(async () => (await page.locator(".run-row").count()) === 3);
      const place = async (): Promise<number> =>
        page.evaluate<number>(
          `[...document.querySelectorAll(".run-row")].findIndex((row) => row.ariaCurrent === "true")`,
        );
      for (const [key, expected] of [
        ["j", 0],
        ["j", 1],
        ["j", 2],
        ["k", 1],
      ] as const) {
        await page.keyboard.press(key);
        await until(async () => (await place()) === expected);
      }
      await page.keyboard.press("x");
      await page.getByText("Select another run to compare").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.locator('a.main[href^="#/compare?a="]').waitFor();
      await page.keyboard.press("k");
      await page.keyboard.press("k");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "contracts" }).waitFor();
      for (const [key, task] of [
        ["]", "extract"],
        ["]", "memo"],
        ["[", "extract"],
      ] as const) {
        await page.keyboard.press(key);
        await page.waitForURL(new RegExp(`task=${task}`));
      }
      await page.keyboard.press("Escape");
      await page.waitForURL((address) => !address.hash.includes("task="));
      const zoom = async (): Promise<string> =>
        page.evaluate(`document.querySelector(".canvas").style.transform`);
      const fitted = await zoom();
      await page.keyboard.press("-");
      await until(async () => (await zoom()) !== fitted);
      await page.keyboard.press("f");
      await until(async () => (await zoom()) === fitted);
      const theme = async (): Promise<string> =>
        page.evaluate("document.documentElement.dataset.theme");
      const before = await theme();
      await page.keyboard.press("t");
      await until(async () => (await theme()) !== before);
    });

    it("has no problems that axe reports if there is no content", async () => {
      const { url } = await boards.listening({ token: "the-right-token" });
      const { origin } = new URL(url);
      const watched = await open(`${origin}/#/runs`);
      watched.expect(/40[14]/);
      const { page } = watched;
      await page.getByLabel("Token").waitFor();
      await expectAccessible(page, "sign-in");
      await page.goto(`${origin}/#t=the-right-token`);
      await page.getByLabel("Token").waitFor({ state: "detached" });
      for (const [path, words] of [
        ["runs", "No runs yet"],
        ["reviews", "No review waits"],
        ["ensembles", "No ensemble is registered"],
        ["compare", "Compare"],
        ["runs/none", "There is no run none"],
        ["none", "There is no such page"],
      ] as const) {
        await page.goto(`${origin}/#/${path}`);
        await page.locator("main").getByText(words).first().waitFor();
        await expectAccessible(page, path);
        expect(await smallTexts(page), path).to.deep.equal([]);
      }
    });

    it("reports the end of the program, and stays readable", async () => {
      const { board, url } = await boards.listening();
      await failing(board)
        .run()
        .catch(() => undefined);
      const watched = await open(url);
      watched.expect(/ERR_|WebSocket/);
      const { page } = watched;
      await page.getByText("contracts").first().waitFor();
      await board.close();
      await page.getByText("The program has ended.").waitFor();
      expect(await page.getByText("contracts").count()).to.be.above(0);
    });

    it("has no problems that axe reports, in light and dark colours", async () => {
      const { board, url } = await boards.listening();
      const waiting = [
        reviewed(board, { prompt: "Is the price right?", timeoutMs: 600_000 }).stream(),
        refunds(board).team.stream(),
      ];
      boards.later(async () => {
        for (const handle of waiting) handle.cancel("The test is over");
        await Promise.allSettled(waiting.map(({ output }) => output));
      });
      const failed = failing(board).stream();
      await failed.output.catch(() => undefined);
      const { page } = await open(`${url}#/runs`);
      await page.getByText("contracts").first().waitFor();
      await expectAccessible(page, "runs");
      for (const view of ["Graph", "Timeline", "Tasks", "Cost", "Errors", "Events"])
        for (const [runId, task] of [
          [failed.id, ""],
          [waiting[0]?.id, "&task=pricing"],
        ]) {
          await page.goto(`${url}#/runs/${runId}?view=${view.toLowerCase()}${task}`);
          await page.locator(`.run-head code[title="${runId}"]`).waitFor();
          await page.getByRole("tabpanel", { name: view, exact: true }).waitFor();
          await page.getByText("Loading …").first().waitFor({ state: "detached" });
          await expectAccessible(page, `${view}${task}`);
          expect(await smallTexts(page), view).to.deep.equal([]);
        }
      await page.goto(`${url}#/reviews`);
      await page.getByRole("button", { name: "edit" }).click();
      await expectAccessible(page, "review");
      expect(await smallTexts(page)).to.deep.equal([]);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Keys" }).click();
      await expectAccessible(page, "keys");
    });

    it("shows no animation if the system requests reduced motion", async () => {
      const { board, url } = await boards.listening();
      const door = new Door();
      const output = writers(board, door, []).run();
      boards.later(() => {
        door.open();
        return output;
      });
      const { page } = await open(url);
      await page.locator(".spin").first().waitFor({ state: "attached" });
      const animation = (): Promise<unknown> =>
        page.evaluate(`getComputedStyle(document.querySelector(".spin")).animationName`);
      expect(await animation()).to.equal("spin");
      await page.emulateMedia({ reducedMotion: "reduce" });
      expect(await animation()).to.equal("none");
    });
  });
}
