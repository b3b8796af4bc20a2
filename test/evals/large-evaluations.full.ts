import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ensemble, openai, Task } from "agentensemble";
import { Dataset, evaluate, exact, recordings } from "agentensemble/evals";
import { expect } from "chai";
import { OpenAIServer } from "../support/openai-server.js";
import { OtherProcess } from "../support/other-process.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const CASES = 200;
const TRIALS = 3;
const IN_FLIGHT = 4;
const PROGRAM = fileURLToPath(new URL("./programs/interrupted.js", import.meta.url));

async function countingVendor(): Promise<{ server: OpenAIServer; calls: () => number }> {
  let calls = 0;
  const server = await OpenAIServer.start(() => ({ kind: "answer", text: `answer ${++calls}` }));
  return { server, calls: () => calls };
}

describe("large evaluations", function () {
  this.timeout(600_000);

  it("of 200 cases and 3 trials make no call in a second execution", async () => {
    const { server, calls } = await countingVendor();
    const file = join(temporaryFolder(), "responses.jsonl");
    for (let i = 0; i < 2; i++) {
      const target = new Ensemble({
        model: openai("gpt-4o-mini", { apiKey: "sk-test", baseURL: server.url }),
        tasks: [Task.of("Say {n}")],
        plugins: [recordings(file)],
      });
      const dataset = Array.from({ length: CASES }, (_, n) => ({ input: { n }, expected: "x" }));
      await evaluate({ name: "large", target, dataset, scorers: [exact()], trials: TRIALS });
      await target.dispose();
      expect(calls()).to.equal(CASES * TRIALS);
    }
    await server.close();
  });

  it("pay for no finished call twice if they are killed", async () => {
    const { server, calls } = await countingVendor();
    const args = [server.url, temporaryFolder(), String(CASES), String(TRIALS)];
    const first = OtherProcess.of(PROGRAM, ...args);
    await first.saying(CASES);
    await first.ended("SIGKILL");
    const second = OtherProcess.of(PROGRAM, ...args);
    const lines = await second.ended();
    expect(lines.at(-1)).to.equal(`end ${CASES * TRIALS} 0`);
    expect(calls()).to.be.within(CASES * TRIALS, CASES * TRIALS + IN_FLIGHT);
    await server.close();
  });

  it("read a million lines in memory that does not grow with them", async () => {
    const path = join(temporaryFolder(), "million.jsonl");
    const file = createWriteStream(path);
    for (let i = 0; i < 1_000_000; i++)
      if (!file.write(`{"input":${i},"expected":${i},"metadata":{"text":"${"x".repeat(100)}"}}\n`))
        await once(file, "drain");
    file.end();
    await once(file, "close");
    const before = process.memoryUsage.rss();
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 50);
    const result = await evaluate({
      name: "million",
      target: (n: number) => n,
      dataset: Dataset.jsonl<number, number>(path),
      scorers: [exact()],
      only: { sample: 100 },
    });
    clearInterval(watch);
    expect(result.dataset).to.include({ cases: 1_000_000, selected: 100 });
    expect(peak - before).to.be.lessThan(150_000_000);
  });
});
