import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { projectRoot } from "../../../support/project.js";
import { SocketClient } from "./client.js";

const PROGRAM = (options: string): string => `
import { Ensemble, Task } from "agentensemble";
import { dashboard } from "agentensemble/dashboard";
const board = dashboard({ port: 0${options} });
console.log(await board.listen());
process.stdin.once("data", async () => {
  process.stdin.destroy();
  await new Ensemble({ plugins: [board], tasks: [new Task({ description: "x", handler: () => "x" })] }).run();
  console.log("done");
});`;

/** Starts a program with a dashboard, and returns its URL when it listens. */
async function started(
  options = "",
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM(options)], {
    cwd: projectRoot,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  return { child, url: text.toString().trim() };
}

/** Lets the program finish its run and end. */
async function finish(child: ChildProcess): Promise<void> {
  const done = once(child.stdout ?? child, "data");
  child.stdin?.write("go\\n");
  await done;
}

describe("the process of a dashboard", () => {
  it("ends when the program has finished and no page is open", async () => {
    const { child, url } = await started();
    await (await fetch(`${url}api/status`)).text(); // its connection is kept open
    const ended = once(child, "exit");
    await finish(child);
    expect((await ended)[0]).to.equal(0);
  });

  it("continues while a page is open, and ends with it", async () => {
    const { child, url } = await started();
    const page = new SocketClient(url);
    await page.frame("hello");
    const ended = once(child, "exit");
    await finish(child);
    page.send({ type: "ping" });
    await page.frame("pong");
    expect(child.exitCode).to.equal(null);
    await page.close();
    expect((await ended)[0]).to.equal(0);
  });

  it("continues if the dashboard keeps it alive", async () => {
    const { child, url } = await started(", keepAlive: true");
    await finish(child);
    expect((await fetch(`${url}api/health/live`)).status).to.equal(200);
    expect(child.exitCode).to.equal(null);
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });
});
