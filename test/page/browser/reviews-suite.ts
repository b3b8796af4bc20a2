import { expect } from "chai";
import type { Browser } from "playwright-core";
import { expectAccessible } from "./accessibility.js";
import { openedPages } from "./opened-pages.js";
import { refunds, reviewed, until } from "./teams.js";

const USERS = [
  { name: "maya", role: "reviewer", reviewRoles: ["lead"], token: "token-of-maya" },
  { name: "joel", role: "reviewer", reviewRoles: ["*"], token: "token-of-joel" },
  { name: "vera", role: "viewer", token: "token-of-vera" },
] as const;

/** Notifications of the system, which a headless browser does not show. */
const NOTIFICATIONS = `window.notified = [];
window.isInSight = true;
document.hasFocus = () => window.isInSight;
window.Notification = class {
  static permission = "default";
  static requestPermission() {
    this.permission = "granted";
    return Promise.resolve("granted");
  }
  constructor(title, { body }) {
    window.notified.push([title, body]);
    window.clickLast = () => this.onclick();
  }
};`;

/** Tests of the reviews in a browser. */
export function reviewTests(browser: () => Promise<Browser>): void {
  describe("reviews", () => {
    const { boards, open } = openedPages(browser);

    it("are edited with the changed words marked, and the run receives the edit", async () => {
      const { board, url } = await boards.listening();
      const run = reviewed(board, { prompt: "Is the price right?", timeoutMs: 600_000 }).run();
      const { page } = await open(`${url}#/reviews`);
      await page.getByRole("heading", { name: "Is the price right?" }).waitFor();
      await page.getByText(/left, then the run ends/).waitFor();
      await page.keyboard.press("e");
      await page.getByRole("textbox", { name: "Output" }).fill("The price is 15 euros.");
      await page.getByRole("button", { name: "changes" }).click();
      await page.locator(".diff del").waitFor();
      expect(await page.locator(".diff del").allInnerTexts()).to.deep.equal(["12"]);
      expect(await page.locator(".diff ins").allInnerTexts()).to.deep.equal(["15"]);
      await page.getByLabel("Comment").fill("As agreed.");
      await page.keyboard.press("Control+Enter");
      await page.getByText("Your answer was used:").waitFor();
      expect((await run).raw).to.equal("The price is 15 euros.");
      await page.getByRole("tab", { name: /Answered/ }).click();
      await page.getByText("“As agreed.”").first().waitFor();
    });

    it("of tool calls are checked by the schema of the tool before they are sent", async () => {
      const { board, url } = await boards.listening();
      const { team, made } = refunds(board);
      const run = team.run();
      const { page } = await open(`${url}#/reviews`);
      await page.getByRole("button", { name: "edit" }).click();
      const editor = page.getByRole("textbox", { name: "Arguments" });
      await editor.fill('{ "order": "88213", "amount": 501 }');
      await page.getByText("amount must be at most 500.").waitFor();
      const send = page.getByRole("button", { name: "Approve with edit" });
      expect(await send.isDisabled()).to.equal(true);
      await editor.fill('{ "order": "88213", "amount": 389 }');
      await send.click();
      await run;
      expect(made).to.deep.equal([{ order: "88213", amount: 389 }]);
    });

    it("of tool calls are approved and refused by keyboard, and the model receives the comment", async () => {
      const { board, url } = await boards.listening();
      const first = refunds(board);
      const approved = first.team.run();
      const { page } = await open(`${url}#/reviews`);
      await page.getByRole("button", { name: "Don’t make the call" }).waitFor();
      await page.keyboard.press("a");
      await approved;
      expect(first.made).to.deep.equal([{ order: "88213", amount: 412 }]);
      const second = refunds(board);
      const refused = second.team.run();
      await page.getByRole("link", { name: /tool call/ }).click();
      await page.getByLabel("Comment").fill("Not without the receipt.");
      await page.getByRole("heading", { level: 1 }).click();
      await page.keyboard.press("x");
      await page.getByText("the call is not made").waitFor();
      await refused;
      expect(second.made).to.deep.equal([]);
      expect(JSON.stringify(second.model.requests.at(-1))).to.contain("Not without the receipt.");
    });

    it("fit a narrow window: first a list, then one review with visible buttons", async () => {
      const { board, url } = await boards.listening();
      const { team, made } = refunds(board);
      const run = team.run();
      const { page } = await open(`${url}#/reviews`, { viewport: { width: 390, height: 844 } });
      await page.getByRole("link", { name: /tool call/ }).click();
      const approve = page.getByRole("button", { name: "Approve" });
      const box = await approve.boundingBox();
      expect(box?.y ?? 999).to.be.below(844 - 44);
      const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
      expect(wide).to.be.at.most(390);
      await approve.click();
      await run;
      expect(made).to.have.lengthOf(1);
    });

    it("remain after reloads and closed browsers", async () => {
      const { board, url } = await boards.listening();
      const run = reviewed(board, { timeoutMs: 0 }).run();
      const first = await open(`${url}#/reviews`);
      await first.page.getByRole("button", { name: "Approve" }).waitFor();
      await first.page.reload();
      await first.page.getByRole("button", { name: "Approve" }).waitFor();
      expect(await first.page.title()).to.contain("(1)");
      const icon = await first.page.locator("link[rel=icon]").getAttribute("href");
      expect(decodeURIComponent(icon ?? "")).to.contain(">1</text>");
      await first.close();
      const { page } = await open(`${url}#/reviews`);
      await page.getByText("no time limit").waitFor();
      await page.keyboard.press("a");
      expect((await run).isComplete).to.equal(true);
    });

    it("keep unsent text while other pages are open and after a reload", async () => {
      const { board, url } = await boards.listening();
      const run = reviewed(board, { timeoutMs: 600_000 }).run();
      const { page } = await open(`${url}#/reviews`);
      await page.getByRole("button", { name: "edit" }).click();
      const output = page.getByRole("textbox", { name: "Output" });
      await output.fill("The price is 15 euros.");
      await page.getByLabel("Comment").fill("As agreed.");
      const review = page.getByRole("region", { name: "Review", exact: true });
      await review.getByRole("link", { name: "pricing", exact: true }).click();
      await page.getByRole("tab", { name: "Graph" }).waitFor();
      await page.goBack();
      expect(await output.inputValue()).to.equal("The price is 15 euros.");
      await page.reload();
      expect(await output.inputValue()).to.equal("The price is 15 euros.");
      expect(await page.getByLabel("Comment").inputValue()).to.equal("As agreed.");
      await page.getByRole("button", { name: "Approve with edit" }).click();
      await page.getByText("Your answer was used:").waitFor();
      expect((await run).raw).to.equal("The price is 15 euros.");
      expect(await page.evaluate<number>("sessionStorage.length")).to.equal(0);
    });

    it("are announced by the system only if the user has requested this and the page is hidden", async () => {
      const { board, url } = await boards.listening();
      const { page } = await open(url);
      await page.addInitScript(NOTIFICATIONS);
      await page.reload();
      const shown = async (): Promise<readonly unknown[]> => page.evaluate("window.notified");
      const waits = async (count: number): Promise<void> => {
        const handle = reviewed(board, { prompt: "A secret?", timeoutMs: 600_000 }).stream();
        boards.later(async () => {
          handle.cancel("The test is over");
          await handle.output.catch(() => undefined);
        });
        await until(async () => (await page.title()).includes(`(${count})`));
      };
      await page.getByText("No runs yet").waitFor();
      await waits(1);
      expect(await page.evaluate("Notification.permission")).to.equal("default");
      await page.goto(`${url}#/reviews`);
      const box = page.getByRole("checkbox", { name: "Notify me of new reviews" });
      await expectAccessible(page, "reviews with notifications");
      await box.click();
      await until(() => box.isChecked());
      await waits(2);
      expect(await shown()).to.deep.equal([]);
      await page.evaluate("window.isInSight = false");
      await waits(3);
      expect(await shown()).to.deep.equal([["A review waits", "pricing"]]);
      await page.goto(`${url}#/runs`);
      await page.evaluate("window.clickLast()");
      await page.waitForURL(/#\/reviews\/./);
      await box.uncheck();
      await waits(4);
      expect(await shown()).to.have.lengthOf(1);
    });

    it("can end the run by a key", async () => {
      const { board, url } = await boards.listening();
      const run = reviewed(board, { timeoutMs: 600_000 }).run();
      const { page } = await open(`${url}#/reviews`);
      await page.getByRole("button", { name: /^End the run/ }).waitFor();
      await page.keyboard.press("x");
      expect((await run).exitReason).to.equal("USER_EXIT_EARLY");
    });

    it("accept only the first answer, and show its author to other users", async () => {
      const { board, url } = await boards.listening({ users: USERS });
      const run = reviewed(board, { timeoutMs: 600_000, requiredRole: "lead" }).run();
      const maya = await open(`${url}#t=token-of-maya&/reviews`);
      const joel = await open(`${url}#t=token-of-joel&/reviews`);
      expect(maya.page.url()).not.to.contain("token");
      await joel.page.getByRole("button", { name: "edit" }).click();
      await joel.page.getByRole("textbox", { name: "Output" }).fill("Not sent in time");
      await maya.page.getByRole("button", { name: "Approve" }).click();
      await joel.page.getByText("Answered by maya: approved").first().waitFor();
      expect(await joel.page.getByRole("button", { name: /Approve/ }).count()).to.equal(0);
      expect(await joel.page.getByRole("textbox", { name: "Output" }).inputValue()).to.equal(
        "Not sent in time",
      );
      expect((await run).raw).to.equal("The price is 12 euros.");
    });

    it("show the required role, and refuse other users", async () => {
      const { board, url } = await boards.listening({ users: USERS });
      const run = reviewed(board, { timeoutMs: 600_000, requiredRole: "lead" }).run();
      const vera = await open(`${url}#t=token-of-vera&/reviews`);
      await vera.page.getByText("Your role is viewer").waitFor();
      expect(await vera.page.getByRole("button", { name: "Approve" }).isDisabled()).to.equal(true);
      await vera.page.keyboard.press("a");
      const maya = await open(`${url}#t=token-of-maya&/reviews`);
      await maya.page.getByRole("button", { name: "Approve" }).click();
      await run;
    });

    it("that have expired look different from answered ones", async () => {
      const { board, url } = await boards.listening();
      const { page } = await open(`${url}#/reviews`);
      const approve = page.getByRole("button", { name: "Approve" });
      let run = reviewed(board, { timeoutMs: 1, onTimeout: "CONTINUE" }).run();
      // A busy machine may show a review only after its deadline: then the next one has more time.
      for (let timeoutMs = 1_500, isSeen = false; !isSeen; timeoutMs *= 2) {
        await run;
        await page.goto(`${url}#/reviews`);
        run = reviewed(board, { timeoutMs, onTimeout: "CONTINUE" }).run();
        isSeen = await approve.waitFor({ timeout: timeoutMs }).then(
          () => true,
          () => false,
        );
      }
      await page.getByText("Time limit reached: approved").first().waitFor();
      await approve.waitFor({ state: "detached" });
      expect((await run).isComplete).to.equal(true);
      await until(async () => (await page.title()) === "AgentEnsemble");
    });
  });
}
