import { Agent, Conversation, Ensemble, Review, Task } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { expectAccessible } from "./accessibility.js";
import { openedPages } from "./opened-pages.js";
import { until } from "./teams.js";

/** Tests of threads of conversations, and of runs of other processes, in a browser. */
export function threadTests(browser: () => Promise<Browser>): void {
  describe("threads of conversations", () => {
    const { boards, open } = openedPages(browser);

    it("are listed and read, with the run of each turn, and receive new turns", async () => {
      const { board, url } = await boards.listening();
      const chat = new Conversation({
        agent: new Agent({ role: "Support", goal: "Answers" }),
        model: new ScriptedModel(["Hello **Ada**", "It is late"]),
        kernel: boards.kernel(board),
      });
      boards.later(() => chat.dispose());
      board.registerConversation("support", chat, { title: "Support" });
      const thread = chat.thread("t1", { owner: "ada" });
      const first = await thread.send("I am Ada");
      await thread.rename("Greetings");
      const { page } = await open(url);
      await page.getByRole("link", { name: "Threads" }).click();
      await page.getByRole("link", { name: /Greetings.*1 turn.*ada/ }).click();
      await page.getByText("I am Ada").waitFor();
      await page.locator("strong", { hasText: "Ada" }).waitFor();
      await expectAccessible(page, "thread");
      await thread.send("What time is it?");
      await page.getByText("It is late").waitFor();
      const turn = page.getByRole("link", { name: new RegExp(first.turnId.slice(0, 8)) });
      await turn.click();
      await until(() => page.url().includes(`#/runs/${first.turnId}`));
      await page.getByText("1 of 1 done").waitFor();
      await page.goBack();
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByText("It is late").waitFor();
      await page.keyboard.press("t");
      await expectAccessible(page, "thread, narrow, other colours");
      const wide = await page.evaluate("document.documentElement.scrollWidth");
      expect(wide, "nothing is wider than the screen").to.equal(390);
      await page.goto(`${url}#/runs`);
      expect(await page.locator(".run-row b").allInnerTexts()).to.deep.equal([
        "conversation",
        "conversation",
      ]);
    });
  });

  describe("runs of other processes", () => {
    const { boards, open } = openedPages(browser);

    it("show the name of their process, are answered, and are marked while it is disconnected", async () => {
      const { board, url } = await boards.listening();
      const reportTo = { url, token: "any", process: "worker-1" };
      const worker = boards.board({ port: false, reportTo });
      const team = new Ensemble({
        name: "reports",
        kernel: boards.kernel(worker),
        tasks: [
          new Task({
            name: "write",
            description: "Write",
            handler: () => "x",
            review: Review.required(),
          }),
        ],
      });
      const output = team.run();
      const { page } = await open(url);
      await page.getByText("worker-1").first().waitFor();
      await page.goto(`${url}#/reviews`);
      await page.getByRole("link", { name: /write.*worker-1/ }).click();
      await page.getByRole("button", { name: "Approve" }).click();
      expect((await output).raw).to.equal("x");
      await page.goto(`${url}#/runs`);
      await page.getByRole("link", { name: /^reports [0-9a-f]{8}/ }).click();
      await page.getByText("1 of 1 done").waitFor();
      await expectAccessible(page, "run of another process");
      await worker.close();
      await page.getByText("worker-1 away").waitFor();
      expect(board.pages).to.equal(1);
    });
  });
}
