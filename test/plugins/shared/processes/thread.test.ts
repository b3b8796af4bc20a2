import { expect } from "chai";
import { Thread, ThreadError } from "../../../../src/plugins/shared/processes/thread.js";
import { rejectionOf } from "../../../support/rejection.js";

const PROGRAM = `
let calls = 0;
console.log("not for the console");
serve({
  count: (step) => (calls += step) + workerData.unit,
  fail: () => { throw Object.assign(new Error("no"), { code: "E1" }); },
  die: () => process.exit(3),
  crash: () => { setImmediate(() => { throw new Error("crashed"); }); return new Promise(() => {}); },
  wait: () => new Promise(() => {}),
});
`;

describe("Thread", () => {
  const thread = new Thread(PROGRAM, { unit: " calls" });
  afterEach(() => thread.close());

  it("begins with the first call, and keeps its state between calls", async () => {
    expect(thread.alive).to.equal(false);
    expect(await Promise.all([thread.call("count", 1), thread.call("count", 10)])).to.deep.equal([
      "1 calls",
      "11 calls",
    ]);
    expect(thread.alive).to.equal(true);
  });

  it("passes on message and code of an error, also for a missing function", async () => {
    const error = await rejectionOf(ThreadError, thread.call("fail"));
    expect([error.message, error.code]).to.deep.equal(["no", "E1"]);
    await rejectionOf(ThreadError, thread.call("missing"));
    await rejectionOf(
      Error,
      thread.call("count", () => 1),
    ); // a function cannot be sent
    expect(await thread.call("count", 1)).to.equal("1 calls");
  });

  for (const [method, message] of [
    ["die", /exit code 3/],
    ["crash", /crashed/],
  ] as const) {
    it(`fails all waiting calls when it dies (${method}), and starts again with the next call`, async () => {
      await thread.call("count", 5);
      const waiting = rejectionOf(ThreadError, thread.call("wait"));
      expect((await rejectionOf(ThreadError, thread.call(method))).message).to.match(message);
      expect((await waiting).message).to.match(message);
      expect(await thread.call("count", 1)).to.equal("1 calls");
    });
  }

  it("rejects waiting calls when it is closed, and may be closed again", async () => {
    const waiting = rejectionOf(ThreadError, thread.call("wait"));
    await thread.close();
    expect((await waiting).message).to.include("closed");
    await thread.close();
    expect(thread.alive).to.equal(false);
  });
});
