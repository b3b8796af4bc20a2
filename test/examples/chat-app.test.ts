import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect } from "chai";
import type { Browser, Locator, Page } from "playwright-core";
import { chromiumPath, launch, WatchedPage } from "../page/browser/chromium.js";
import { projectRoot } from "../support/project.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** The number of sentences in the story of the scripted model. */
const STORY = 12;
/** The log of a page while its server is stopped. */
const GONE = /Failed to load resource|ERR_|network error/i;

/** The server of the example, which can be killed and started again at the same URL. */
class ChatServer {
  readonly #folder = temporaryFolder();
  #process: ChildProcess | undefined;
  #port = "0";
  url = "";

  async start(): Promise<void> {
    const env = {
      ...process.env,
      OPENAI_API_KEY: "",
      ANTHROPIC_API_KEY: "",
      AGENTENSEMBLE_MODEL: "",
    };
    const program = [
      "dist/examples/chat-app/main.js",
      "--port",
      this.#port,
      "--folder",
      this.#folder,
    ];
    const child = spawn(process.execPath, program, {
      cwd: projectRoot,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const [url, port] = /http:\/\/127\.0\.0\.1:(\d+)\//.exec(line) ?? [];
      if (url === undefined || port === undefined) continue;
      this.url = url;
      this.#port = port;
      return;
    }
    throw new Error("The server has ended");
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    const end = once(child, "exit");
    child.kill("SIGKILL");
    await end;
  }
}

const answers = (page: Page): Locator => page.locator('article[data-role="assistant"]');
const questions = (page: Page): Locator => page.locator('article[data-role="user"]');
const ready = (page: Page): Locator => page.locator('output[data-status="ready"]');

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

/** Sends a message and waits for its answer. */
async function ask(page: Page, text: string, answer: string): Promise<void> {
  await send(page, text);
  await answers(page).last().getByText(answer).waitFor();
  await ready(page).waitFor({ state: "attached" });
}

describe("the chat app in Chromium", () => {
  const server = new ChatServer();
  const pages: WatchedPage[] = [];
  let browser: Browser | undefined;

  before(
    "starts Chromium (AE_CHROMIUM names its path; without one these tests are skipped)",
    async function () {
      const path = chromiumPath();
      if (path === undefined) return this.skip();
      [browser] = await Promise.all([launch(path), server.start()]);
    },
  );

  after(async () => {
    try {
      for (const page of pages) await page.close();
    } finally {
      await browser?.close();
      await server.kill();
    }
  });

  const signIn = async (user: string): Promise<WatchedPage> => {
    if (browser === undefined) throw new Error("Chromium has not been started");
    const watched = await WatchedPage.open(browser, server.url);
    pages.push(watched);
    await watched.page.getByLabel("Name").fill(user);
    await watched.page.getByRole("button", { name: "Sign in" }).click();
    await ready(watched.page).waitFor({ state: "attached" });
    return watched;
  };
  let ada: WatchedPage;

  it("separates two users, and streams the answers", async () => {
    ada = await signIn("Ada");
    const ben = await signIn("Ben");
    await ask(ada.page, "My name is Ada", "You sent My name is Ada.");
    await ask(ben.page, "What is my name?", "I do not know it.");
    await ask(ada.page, "What is my name?", "Your name is Ada.");
    await send(ben.page, "Tell me a story");
    await answers(ben.page).last().getByText("The sea").waitFor();
    const early = await answers(ben.page).last().innerText();
    await ready(ben.page).waitFor({ state: "attached" });
    const whole = await answers(ben.page).last().innerText();
    expect(whole.length).to.be.greaterThan(early.length);
    await ben.page.getByLabel("Threads").getByRole("button").first().waitFor();
    expect(await ben.page.getByLabel("Threads").getByRole("button").count()).to.equal(1);
  });

  it("shows a tool call with its result, and accepts a file", async () => {
    const { page } = ada;
    await ask(page, "When is high water at Husum?", "Here it is");
    const call = page.locator('.tool[data-tool="tide"]');
    expect(await call.getAttribute("data-state")).to.equal("output-available");
    expect(await call.innerText())
      .to.include("Looks up the tide")
      .and.include("14:40");
    await page
      .getByLabel("Files")
      .setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: PNG });
    await ask(page, "what is this", "You sent [image/png] what is this.");
    await questions(page).last().locator("img").waitFor();
  });

  it("keeps the thread after a reload", async () => {
    const { page } = ada;
    const before = await page.getByLabel("Messages").innerText();
    await page.reload();
    await questions(page).last().locator("img").waitFor();
    expect(await page.getByLabel("Messages").innerText()).to.equal(before);
  });

  it("executes a tool in the page once, also after a reload", async () => {
    const { page } = ada;
    const zone = await page.evaluate(() => new Intl.DateTimeFormat().resolvedOptions().timeZone);
    await ask(page, "What is my time zone?", `You are in ${zone}.`);
    const call = page.locator('.tool[data-tool="time_zone"]');
    const shown = await call.innerText();
    expect(shown).to.include("Reads the time zone").and.include(zone);
    const posts: string[] = [];
    page.on("request", (request) => posts.push(request.method()));
    await page.reload();
    await call.waitFor();
    expect(await call.getAttribute("data-state")).to.equal("output-available");
    expect(await call.innerText()).to.equal(shown);
    expect(posts).to.not.include("POST");
  });

  it("asks for approval after a reload, in a second tab and after a restart of the server", async () => {
    const { page } = ada;
    ada.expect(GONE);
    await send(page, "Book the ferry to Amrum");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await server.kill();
    await server.start();
    const second = await page.context().newPage();
    await second.goto(page.url());
    await second.getByRole("button", { name: "Approve" }).waitFor();
    await page.getByRole("button", { name: "Approve" }).click();
    await answers(page).last().getByText("Here it is: The ferry").waitFor();
    await ready(page).waitFor({ state: "attached" });
    await second.reload();
    await answers(second).last().getByText("Here it is: The ferry").waitFor();
    for (const one of [page, second]) {
      expect(await questions(one).last().innerText()).to.equal("Book the ferry to Amrum");
      expect((await answers(one).last().innerText()).match(/One moment/g)).to.have.length(1);
    }
    await second.close();
  });

  it("does not execute a refused call", async () => {
    const { page } = ada;
    await send(page, "Book the ferry to Sylt");
    await page.getByRole("button", { name: "Refuse" }).click();
    await page.locator('.tool[data-state="output-denied"]').waitFor();
    await ready(page).waitFor({ state: "attached" });
  });

  it("accepts concurrent messages from two tabs", async () => {
    const { page } = ada;
    const second = await page.context().newPage();
    await second.goto(page.url());
    await ready(second).waitFor({ state: "attached" });
    await Promise.all([
      ask(page, "from one tab", "from one tab"),
      ask(second, "from another tab", "from another tab"),
    ]);
    await page.reload();
    await answers(page).getByText("You sent from one tab.").waitFor();
    await answers(page).getByText("You sent from another tab.").waitFor();
    await second.close();
  });

  it("finishes a turn whose page was closed", async () => {
    const { page } = ada;
    const leaving = await page.context().newPage();
    await leaving.goto(page.url());
    await ready(leaving).waitFor({ state: "attached" });
    await send(leaving, "When is low water at Amrum?");
    await leaving.locator('.tool[data-tool="tide"]', { hasText: "Amrum" }).waitFor();
    await leaving.close();
    await page.reload();
    await answers(page).last().getByText("High water at Amrum is at 14:40.").first().waitFor();
  });

  it("reports a server that was killed during an answer, and continues after its restart", async () => {
    const { page } = ada;
    await send(page, "Tell me a story");
    await answers(page).last().getByText("The sea").waitFor();
    await server.kill();
    await page.getByRole("alert").waitFor();
    await server.start();
    await page.reload();
    await questions(page).last().getByText("Tell me a story").waitFor();
    await answers(page).last().getByText("The sea was calm. ".repeat(STORY).trim()).waitFor();
    await ready(page).waitFor({ state: "attached" });
    await ask(page, "What is my name?", "Your name is Ada.");
  });
});
