import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { RunBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { expectAccessible } from "./accessibility.js";
import { drop, openedPages } from "./opened-pages.js";
import { answering, Door, until, writers } from "./teams.js";

/** Clicks an entry of the menu of files, and reads the file. */
async function savedAs(page: Page, title: string): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: title }).click(),
  ]);
  return {
    name: download.suggestedFilename(),
    text: await readFile(await download.path(), "utf8"),
  };
}

/** Tests of the page with ended runs. */
export function historyTests(browser: () => Promise<Browser>): void {
  describe("ended runs", () => {
    const { boards, open } = openedPages(browser);

    it("are compared task by task, word by word, and with the baseline", async () => {
      const { board, url } = await boards.listening();
      const first = await answering(board, "The price is 12 euros.").run();
      const second = await answering(board, "The price is 15 euros.").run();
      const { page } = await open(url);
      await page
        .getByRole("checkbox", { name: /Select answers/ })
        .nth(1)
        .check();
      await page.getByText("Select another run to compare").waitFor();
      await page
        .getByRole("checkbox", { name: /Select answers/ })
        .first()
        .check();
      await page.getByRole("link", { name: "Compare", exact: true }).last().click();
      await page.goto(`${url}#/compare?a=${first.runId}&b=${second.runId}`);
      await page.getByText("1 changed").waitFor();
      await page.getByRole("button", { name: "answer", exact: true }).click();
      await expectAccessible(page, "comparison");
      const changed = async (look: string): Promise<readonly string[]> =>
        page.locator(`${look} :is(del, ins)`).allInnerTexts();
      await page.locator(".text-diff").waitFor();
      expect(await changed(".text-diff")).to.deep.equal(["12", "15"]);
      await page.getByRole("button", { name: "line by line" }).click();
      await page.locator(".diff").waitFor();
      expect(await changed(".diff")).to.deep.equal(["12", "15"]);
      await page.getByRole("tab", { name: "Calls" }).click();
      await page.getByRole("row", { name: /model calls 1 1/ }).waitFor();
      await page.getByRole("tab", { name: "Prompt" }).click();
      await page.getByText("No difference.").waitFor();
      await page.goto(`${url}#/compare?a=${second.runId}&b=${first.runId}`);
      await page.getByRole("button", { name: "Make B the baseline" }).click();
      await page.getByRole("button", { name: "B is the baseline: end that" }).waitFor();
      await page.goto(`${url}#/runs`);
      await page.getByRole("link", { name: "1 changed" }).click();
      await page.waitForURL(new RegExp(`compare\\?a=${first.runId}&b=${second.runId}`));
    });

    it("are saved as files", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await answering(board, "The price is 12 euros.").run();
      const { page } = await open(`${url}#/runs/${runId}?task=answer`);
      await page.getByRole("button", { name: "Save the run" }).click();
      const trace = await savedAs(page, "Trace (JSON)");
      expect(trace.name).to.equal(`${runId}.trace.json`);
      expect(JSON.parse(trace.text)).to.include({ schemaVersion: "1.3" });
      const log = (await savedAs(page, "Log (JSON lines)")).text.trim().split("\n");
      expect(log.map((line) => (JSON.parse(line) as { n: number }).n)).to.deep.equal(
        log.map((_, n) => n),
      );
      expect((await savedAs(page, "Conversation of the task (Markdown)")).text).to.contain(
        "The price is 12 euros.",
      );
      expect((await savedAs(page, "Tasks (CSV)")).text).to.contain("answer");
      expect((await savedAs(page, "Graph (Mermaid)")).text).to.contain("flowchart");
      const svg = (await savedAs(page, "Graph (SVG)")).text;
      expect(svg)
        .to.match(/^<svg /)
        .and.to.contain(">answer<");
      await page.getByRole("button", { name: "Copy the OpenTelemetry trace id" }).click();
      const none = page.getByText("The run has no OpenTelemetry trace");
      await none.waitFor();
      const traceId = "0af7651916cd43dd8448eb211c80319c";
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.route(/\/trace$/, (route) => route.fulfill({ json: { traceId } }));
      await none.click();
      await page.getByText(`Trace id ${traceId}`).waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).to.equal(traceId);
    });

    it("can be exported as a page in one file, which requires no program and sends no requests", async () => {
      const { board, url } = await boards.listening();
      const hostile = "</script><script>document.title = 'owned'</script> The price is 12 euros.";
      const { runId } = await answering(board, hostile).run();
      const served = await open(`${url}#/runs/${runId}`);
      served.expect(/ERR_|WebSocket/);
      const { page } = served;
      await page.getByRole("button", { name: "Save the run" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Page to send (HTML)" }).click(),
      ]);
      const path = join(tmpdir(), `page-${runId}.html`);
      boards.later(() => rm(path, { force: true }));
      await download.saveAs(path);
      await board.close();
      const watched = await open(pathToFileURL(path).href);
      const file = watched.page;
      await file.getByText("Saved run").waitFor();
      await file
        .getByRole("link", { name: /answer/ })
        .first()
        .click();
      await file.getByText("The price is 12 euros.").first().waitFor();
      for (const key of ["2", "3", "4", "6"]) await file.keyboard.press(key);
      await file.getByRole("button", { name: /task_completed/ }).waitFor();
      await file.keyboard.press("/");
      await file.keyboard.type("12 euros");
      await file.getByRole("region", { name: "Found" }).locator("mark").first().waitFor();
      expect(await file.title()).not.to.contain("owned");
    });

    it("are exported without the contents that the dashboard hides", async () => {
      const { board, url } = await boards.listening({ contents: false });
      const { runId } = await answering(board, "The price is 12 euros.").run();
      const { page } = await open(`${url}#/runs/${runId}`);
      await page.getByRole("button", { name: "Save the run" }).click();
      const { text } = await savedAs(page, "Page to send (HTML)");
      expect(text).to.contain(runId).and.not.to.contain("12 euros");
    });

    it("are shown in their state at each moment", async () => {
      const { board, url } = await boards.listening();
      const [first, second] = [new Door(), new Door()];
      const handle = writers(board, first, [["The text.", second]]).stream();
      // The first task ends later than the run begins.
      await until(async () => {
        const response = await fetch(new URL(`/api/runs/${handle.id}`, url));
        if (!response.ok) return false;
        const { summary } = (await response.json()) as RunBody; // the answer of the route
        const ageMs = Date.now() - Date.parse(summary.startedAt);
        return summary.counts.running > 0 && ageMs > 50;
      });
      first.open();
      second.open();
      await handle.output;
      const { page } = await open(`${url}#/runs/${handle.id}?task=print`);
      await page.getByText("3 of 3 done").waitFor();
      await page.keyboard.press("p");
      await page.getByText("0 of 3 done").waitFor();
      await page.getByText("Nothing yet").waitFor();
      const slider = page.getByRole("slider", { name: "Moment of the run" });
      await slider.focus();
      await page.keyboard.press("End");
      await page.getByText("3 of 3 done").waitFor();
      await page.keyboard.press("Home");
      await page.getByText("0 of 3 done").waitFor();
      await expectAccessible(page, "player");
      await page.getByRole("button", { name: "Play", exact: true }).click();
      await until(async () => Number(await slider.inputValue()) > 0);
      await page.getByRole("button", { name: "Now", exact: true }).click();
      await slider.waitFor({ state: "detached" });
      expect(page.url()).not.to.contain("at=");
    });

    it("open from files that are dropped on the page, without an upload", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await answering(board, "The price is 12 euros.").run();
      const trace = await (await fetch(new URL(`/api/runs/${runId}/trace`, url))).text();
      const other = await boards.listening();
      const { page } = await open(other.url);
      const sent: string[] = [];
      page.on("request", (request) => {
        if (request.method() !== "GET") sent.push(request.url());
      });
      await drop(page, "notes.json", "{}");
      await page.getByText(/notes\.json: /).waitFor();
      await drop(page, "run.trace.json", trace);
      await page
        .getByRole("link", { name: /answer/ })
        .first()
        .click();
      await page.getByText("The price is 12 euros.").first().waitFor();
      await page.keyboard.press("2");
      await page.getByRole("region", { name: "Time of the task" }).waitFor();
      await page.goto(`${other.url}#/runs`);
      await page.getByRole("region", { name: "Opened files" }).getByRole("link").waitFor();
      expect(sent).to.deep.equal([]);
    });
  });
}
