import { expect } from "chai";
import { Ensemble } from "../../src/ensemble/ensemble.js";
import { Task } from "../../src/contracts/task.js";
import { showProgress } from "../../src/cli/progress.js";
import { Screen } from "../plugins/observability/console/screen.js";
import { setEnvironment } from "../support/environment.js";
import { painter } from "../../src/plugins/observability/console/terminal-text.js";

/** Shows a run of one task, which ends when the target contains `until`. */
async function shown(isTTY: boolean, until: string, columns = 20): Promise<readonly string[]> {
  const writes: string[] = [];
  let release: () => void = () => undefined;
  const handler = (): Promise<string> => new Promise((resolve) => (release = () => resolve("x")));
  await using ensemble = new Ensemble({
    tasks: [new Task({ name: "wait", description: "waits", handler })],
  });
  const write = (text: string): void => {
    writes.push(text);
    if (text.includes(until)) release();
  };
  const handle = ensemble.stream();
  await Promise.all([
    showProgress(handle.events, { write, isTTY, columns }, painter(false)),
    handle.output,
  ]);
  return writes;
}

describe("showProgress", () => {
  it("writes plain lines without a terminal", async () => {
    const text = (await shown(false, "start")).join("");
    expect(text)
      .to.include("start [1/1] wait")
      .and.include("done  wait")
      .and.not.include("\r")
      .and.not.include("\u001b");
  });

  it("updates the tasks in place within the width of a terminal, and leaves the table", async () => {
    setEnvironment({ CI: undefined, NO_COLOR: undefined, TERM: "xterm" });
    const screen = new Screen(20);
    const writes = await shown(true, "wait  (code)");
    const end = writes.findIndex((text) => text.includes("COMPLETED")); // the table is wider
    const frames = writes.slice(0, end);
    for (const text of frames) screen.write(text);
    expect(frames.filter((text) => text.includes("0/1 task"))).not.to.be.empty;
    expect(screen.widest).to.be.at.most(19);
    for (const text of writes.slice(end)) screen.write(text);
    expect(screen.text).to.match(/^\nRun \S+ COMPLETED[^]*\nTotal .*\n\n$/);
  });

  for (const [name, value] of [
    ["CI", "true"],
    ["NO_COLOR", "1"],
    ["TERM", "dumb"],
  ] as const)
    it(`writes plain lines on a terminal if ${name} is ${value}`, async () => {
      setEnvironment({ CI: undefined, NO_COLOR: undefined, TERM: "xterm", [name]: value });
      const text = (await shown(true, "start")).join("");
      expect(text).to.include("start [1/1] wait").and.not.include("\u001b");
    });
});
