import { expect } from "chai";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, WebSocketRoute } from "playwright-core";
import type { RunBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { CutLine } from "./cut-line.js";
import { openedPages } from "./opened-pages.js";
import { answering, Door, failing, many, until, writers } from "./teams.js";

const HOSTILE = `<script>document.title = "owned"</script>
<img src="https://evil.example/x.png" onerror="document.title = 'owned'">
<style>body { display: none }</style>

![a picture](https://evil.example/y.png)
[a link](https://evil.example/z) [a trap](javascript:alert(1))
abc\u202Etxt.exe`;

/**
 * Counts the frames until the event that ends the task "notes", and until its state in the graph.
 */
const FRAMES = `window.counted = { frames: 0 };
const counted = window.counted;
(function next() { counted.frames++; requestAnimationFrame(next); })();
window.WebSocket = class extends WebSocket {
  constructor(...args) {
    super(...args);
    this.addEventListener("message", ({ data }) => {
      if (/"task_completed"[^}]*"notes"/.test(String(data))) counted.arrived ??= counted.frames;
    });
  }
};
new MutationObserver(() => {
  const node = [...document.querySelectorAll("a.node.done")].find((one) => one.title.startsWith("notes"));
  if (node !== undefined) counted.drawn ??= counted.frames;
}).observe(document, { subtree: true, childList: true, attributes: true });`;

/** Tests of runs in a browser. */
export function runTests(browser: () => Promise<Browser>): void {
  describe("runs", () => {
    const { boards, open } = openedPages(browser);

    it("appear on the open page with their complete plan, and their text while it is written", async () => {
      const { board, url } = await boards.listening();
      const { page } = await open(url);
      await page.getByText("No runs yet").waitFor();
      const [first, second, third] = [new Door(), new Door(), new Door()];
      const run = writers(board, first, [
        ["Once upon ", second],
        ["a time.", third],
      ]).run();
      await page
        .getByRole("link", { name: /writers/ })
        .first()
        .click();
      for (const name of ["notes", "draft", "print"]) await page.getByText(name).first().waitFor();
      await page.keyboard.press("2");
      await page.getByRole("row").filter({ hasText: "draft" }).getByText("draft").click();
      // The page shows this after the server has begun to stream the task.
      await page.getByText("The task has not begun.").waitFor();
      first.open();
      second.open();
      await page.getByText("Once upon").first().waitFor();
      third.open();
      await page.getByText("Once upon a time.").first().waitFor();
      await run;
      await page.getByText("3 of 3 done").waitFor();
      const { runId } = await run;
      const { summary } = await bodyOf(url, runId);
      await page.getByRole("tab", { name: "Cost" }).click();
      const { inputTokens, outputTokens } = summary.totals;
      expect([inputTokens, outputTokens]).to.deep.equal([100, 50]);
      await page.getByRole("row", { name: /Writer 1 100 50/ }).waitFor();
    });

    it("show a task's state at most two frames after its event has arrived", async () => {
      const { board, url } = await boards.listening();
      const door = new Door();
      door.open();
      const first = new Door();
      const handle = writers(board, first, [["The text.", door]]).stream();
      const { page } = await open(url);
      await page.addInitScript(FRAMES);
      await page.goto(`${url}?counted#/runs/${handle.id}`);
      await page.getByText("0 of 3 done").waitFor();
      first.open();
      await handle.output;
      await page.getByText("3 of 3 done").waitFor();
      const { arrived, drawn } = await page.evaluate<{ arrived: number; drawn: number }>(
        "window.counted",
      );
      expect(drawn - arrived).to.be.within(0, 2);
    });

    it("scroll with the text that is written, until the reader scrolls up", async () => {
      const { board, url } = await boards.listening();
      const [start, more, last] = [new Door(), new Door(), new Door()];
      const lines = Array.from({ length: 80 }, (_, i) => `line ${i}\n\n`).join("");
      const handle = writers(board, start, [
        [lines, start],
        ["line 80\n\n", more],
        ["line 81", last],
      ]).stream();
      const { page } = await open(`${url}#/runs/${handle.id}?task=draft`);
      await page.getByRole("tab", { name: "Conversation" }).waitFor();
      start.open();
      await page.getByText("line 79").waitFor();
      const log = page.getByRole("log", { name: "Conversation" });
      const toEnd = (): Promise<number> =>
        page.evaluate<number>(
          `((e) => e.scrollHeight - e.scrollTop - e.clientHeight)(document.querySelector("[role=log]"))`,
        );
      await until(async () => (await toEnd()) < 5);
      await page.getByText("follows the end").waitFor();
      await log.hover();
      await page.mouse.wheel(0, -800);
      const back = page.getByRole("button", { name: "To the end" });
      await back.waitFor();
      more.open();
      await page.getByText("line 80").waitFor({ state: "attached" });
      expect(await toEnd()).to.be.above(400);
      await back.click();
      await until(async () => (await toEnd()) < 5);
      last.open();
      await handle.output;
    });

    it("catch up after an interrupted connection, to the state of the server", async () => {
      const line = new CutLine();
      const origin = await line.listen();
      boards.later(() => line.close());
      const { board, url } = await boards.listening({ allowedOrigins: [origin] });
      line.to(Number(new URL(url).port));
      const [first, second] = [new Door(), new Door()];
      const handle = writers(board, first, [["The text.", second]]).stream();
      const watched = await open(`${origin}/#/runs/${handle.id}?view=timeline`);
      watched.expect(/ERR_|WebSocket/);
      const { page } = watched;
      await page.getByText("Live", { exact: true }).waitFor();
      await page.getByText("0 of 3 done").waitFor();
      line.cut();
      await page.getByText("Not connected.").waitFor();
      first.open();
      second.open();
      await handle.output;
      await page.getByRole("button", { name: "Now" }).click();
      line.mend();
      await page.getByText("3 of 3 done").waitFor();
      await page.getByText("Not connected.").waitFor({ state: "detached" });
    });

    it("fetch the scripts of a view again after the program returned", async () => {
      const line = new CutLine();
      const origin = await line.listen();
      boards.later(() => line.close());
      const { url } = await boards.listening({ allowedOrigins: [origin] });
      line.to(Number(new URL(url).port));
      const watched = await open(origin);
      watched.expect(/ERR_|WebSocket|Failed to fetch/);
      const { page } = watched;
      const scripts = "**/control-*.js";
      await page.route(scripts, (route) => route.abort());
      await page.goto(`${origin}/#/threads`);
      await page.reload();
      await page.getByText("This part of the page can’t be loaded").waitFor();
      line.cut();
      await page.getByText("Not connected.").waitFor();
      await page.unroute(scripts);
      line.mend();
      await page.getByRole("heading", { name: "Threads" }).waitFor();
    });

    it("that failed show the failed task, the reason and the tasks that were not started first", async () => {
      const { board, url } = await boards.listening();
      await failing(board)
        .run()
        .catch(() => undefined);
      const { page } = await open(url);
      await page
        .getByRole("link", { name: /contracts/ })
        .first()
        .click();
      await page.getByRole("tab", { name: /Errors/ }).click();
      const card = page.getByRole("region", { name: "Error of extract" });
      await card.getByText("The file is empty").first().waitFor();
      await card.getByText("memo was not started").waitFor();
    });

    it("show text of models as plain text: no script, no picture, no style, no hidden character", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await answering(board, HOSTILE).run();
      const { page } = await open(`${url}#/runs/${runId}?view=graph&task=answer`);
      await page.getByText("<script>").first().waitFor();
      expect(await page.title()).to.equal("AgentEnsemble");
      expect(await page.locator("main img, main script, main style").count()).to.equal(0);
      expect(await page.locator('a[href^="javascript:"]').count()).to.equal(0);
      const link = page.locator('a[href="https://evil.example/z"]').first();
      expect(await link.getAttribute("rel")).to.contain("noopener");
      expect(await page.locator("main").innerText()).not.to.contain("\u202E");
      expect(await page.locator("main").isVisible()).to.equal(true);
    });

    it("show texts that could block a browser: very deep nesting, a hundred thousand marks", async () => {
      const { board, url } = await boards.listening();
      for (const text of ["> - ".repeat(20_000), `${"\u202E".repeat(100_000)}.`]) {
        const { runId } = await answering(board, `The answer. ${text}\n${text}`).run();
        const { page } = await open(`${url}#/runs/${runId}?view=graph&task=answer`);
        await page.getByText("The answer.").first().waitFor();
        expect(await page.locator("main *").count()).to.be.below(3_000);
      }
    });

    it("show an event that was requested during another request", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await answering(board, "Fine.").run();
      const { page } = await open(`${url}#/runs/${runId}?view=events`);
      const late = new Door();
      await page.route(/log\?after=0&limit=1$/, async (route) => {
        await late.opened;
        await route.continue();
      });
      await page.getByRole("button", { name: /run_planned/ }).click();
      await page.getByRole("region", { name: "Event 1" }).getByText("Loading").waitFor();
      await page.getByRole("button", { name: /ensemble_started/ }).click();
      await page.getByRole("region", { name: "Event 0" }).locator("pre").waitFor();
      late.open();
      await page.getByRole("button", { name: /run_planned/ }).click();
      await page.getByRole("region", { name: "Event 1" }).locator("pre").waitFor();
    });

    it("list the events that arrived while the page was too slow, also at the end of the run", async () => {
      const { board, url } = await boards.listening();
      const [first, second] = [new Door(), new Door()];
      const handle = writers(board, first, [["The text.", second]]).stream();
      const { page } = await open(url);
      let socket: WebSocketRoute | undefined;
      await page.routeWebSocket(/\/ws$/, (route) => {
        socket = route;
        const server = route.connectToServer();
        server.onMessage((message) => {
          if (!String(message).includes('"type":"events"')) route.send(message);
        });
      });
      await page.goto(`${url}#/runs/${handle.id}?view=events`);
      await page.reload();
      await page.getByRole("button", { name: /run_planned/ }).waitFor();
      first.open();
      second.open();
      await handle.output;
      const { summary } = await bodyOf(url, handle.id);
      socket?.send(JSON.stringify({ type: "resync", runId: handle.id, n: summary.n }));
      await page.getByRole("button", { name: /ensemble_completed/ }).waitFor();
    });

    it("open by a link at the same place, and support back navigation", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await answering(board, "Fine.").run();
      const { page } = await open(`${url}#/runs/${runId}?view=timeline&task=answer`);
      const row = page.locator('[role=row][aria-selected="true"]');
      expect(await row.innerText()).to.contain("answer");
      await page.getByRole("region", { name: "Time of the task" }).waitFor();
      await page.getByRole("tab", { name: "Cost" }).click();
      await page.getByText("By agent").waitFor();
      expect(page.url()).to.contain("view=cost");
      await page.goBack();
      await row.waitFor();
      await page.goForward();
      await page.getByText("By agent").waitFor();
      await page.goto(`${url}#/runs/${runId}?view=graph&task=Ans`);
      await page.waitForURL(/task=answer$/);
    });

    it("are zoomed by wheel, buttons and brush, moved by drag and keys, and sorted by agent", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await many(board, 12).run();
      const { page } = await open(`${url}#/runs/${runId}?view=timeline`);
      const ticks = async (): Promise<string> => page.locator(".axis .lane").innerText();
      await page.getByText("Tasks at work").waitFor();
      /** Repeats a gesture until the time axis changes: on a busy machine the page may still move. */
      const changes = async (place: string, gesture: (x: number, y: number) => Promise<void>) => {
        const before = await ticks();
        do {
          const box = await page.locator(place).boundingBox();
          await gesture((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + 15);
          await sleep(100);
        } while ((await ticks()) === before);
      };
      const drag = async (from: number, to: number, y: number): Promise<void> => {
        await page.mouse.move(from, y);
        await page.mouse.down();
        await page.mouse.move(to, y, { steps: 4 });
        await page.mouse.up();
      };
      const whole = await ticks();
      await changes(".axis .lane", async (x, y) => {
        await page.mouse.move(x, y);
        for (let i = 0; i < 8; i++) await page.mouse.wheel(0, -100);
      });
      await changes(".axis .lane", (x, y) => drag(x, x - 200, y + 40));
      await page.getByRole("button", { name: "Show the whole time" }).click();
      await until(async () => (await ticks()) === whole);
      await changes(".brush", (x, y) => drag(x - 40, x + 10, y));
      await page.getByRole("group", { name: "Timeline" }).focus();
      await page.keyboard.press("0");
      await until(async () => (await ticks()) === whole);
      await page.keyboard.press("ArrowDown");
      await page.locator('[role=row][aria-selected="true"]').waitFor();
      await page.getByRole("button", { name: "by agent" }).click();
      await page.getByText("12 tasks").waitFor();
    });

    it("of 10,000 tasks render only the visible rows", async () => {
      const { board, url } = await boards.listening();
      const { runId } = await many(board, 10_000).run();
      const { page } = await open(`${url}#/runs/${runId}?view=timeline`);
      await page.getByText("part-0", { exact: true }).waitFor();
      const rows = page.getByRole("row");
      expect(await rows.count()).to.be.within(5, 80);
      await page.getByText("part-0", { exact: true }).hover();
      await page.mouse.wheel(0, 170_000);
      await page.getByText("part-5000", { exact: true }).waitFor();
      expect(await rows.count()).to.be.within(5, 80);
      await page.locator('[role=row] .task[title="task"]').first().waitFor();
      await page.getByRole("tab", { name: "Tasks" }).click();
      await page.getByText("part-0", { exact: true }).first().waitFor();
      await page.getByRole("tab", { name: "Events" }).click();
      await page.getByRole("button", { name: /ensemble_started/ }).waitFor();
      await until(async () => (await page.getByRole("listitem").count()) > 10);
      expect(await page.getByRole("listitem").count()).to.be.below(100);
    });
  });
}

async function bodyOf(url: string, runId: string): Promise<RunBody> {
  const response = await fetch(new URL(`/api/runs/${runId}`, url));
  return (await response.json()) as RunBody; // the answer of the route
}
