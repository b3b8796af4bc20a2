import { expect } from "chai";
import { Ensemble } from "../../src/ensemble/ensemble.js";
import { Task } from "../../src/contracts/task.js";
import { showProgress } from "../../src/cli/progress.js";
import { painter } from "../../src/plugins/observability/console/terminal-text.js";

async function shown(isTTY: boolean, columns = 20): Promise<readonly string[]> {
  const writes: string[] = [];
  let release: () => void = () => undefined;
  const handler = (): Promise<string> => new Promise((resolve) => (release = () => resolve("x")));
  await using ensemble = new Ensemble({
    tasks: [new Task({ name: "wait", description: "waits", handler })],
  });
  const write = (text: string): void => {
    writes.push(text);
    if (!isTTY ? text.includes("start") : text.includes("0/1 task")) release(); // on a terminal it goes on once the status line has been drawn
  };
  const handle = ensemble.stream();
  await Promise.all([
    showProgress(handle.events, { write, isTTY, columns }, painter(false)),
    handle.output,
  ]);
  return writes;
}

describe("showProgress", () => {
  it("writes plain lines where there is no terminal", async () => {
    const text = (await shown(false)).join("");
    expect(text)
      .to.include("start [1/1] wait")
      .and.include("done  wait")
      .and.not.include("\r")
      .and.not.include("\u001b");
  });

  it("keeps a line with the progress on a terminal, no wider than the terminal, and removes it at the end", async () => {
    const writes = await shown(true);
    const status = writes.filter((text) => text.includes("0/1 task"));
    expect(status).not.to.be.empty;
    for (const line of status) expect(line.replace("\r\u001b[2K", "")).to.have.lengthOf.at.most(19);
    expect(writes.at(-1)).to.equal("\r\u001b[2K");
    expect(writes.every((text) => text.startsWith("\r\u001b[2K"))).to.equal(true);
  });

  it("takes a terminal that does not know its width for one of 80 columns", async () => {
    expect(
      (await shown(true, 0)).some((text) => text.includes("0/1 task, 0 tokens: wait")),
    ).to.equal(true);
  });
});
