import { execFile, spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import type { ReviewDecision, ReviewRequest } from "agentensemble";
import { ReviewError, ReviewHandler, ValidationError } from "agentensemble";
import { expect } from "chai";
import { projectRoot } from "../../support/project.js";
import { rejection, rejectionOf } from "../../support/rejection.js";
import { pause } from "../../support/time.js";

interface Desk {
  readonly input: PassThrough & { isTTY?: boolean };
  readonly written: () => string;
  ask(o?: Partial<ReviewRequest>): Promise<ReviewDecision>;
}

/** A console of two streams. `isTTY`: a user types. */
function desk(typed?: string, isTTY = false): Desk {
  const input: Desk["input"] = new PassThrough();
  if (isTTY) input.isTTY = true;
  let text = "";
  const handler = ReviewHandler.console({
    input,
    output: { write: (part: string) => (text += part) },
  });
  if (typed !== undefined) input.write(typed);
  return { input, written: () => text, ask: async (o = {}) => handler(request(o)) };
}

function request(o: Partial<ReviewRequest> = {}): ReviewRequest {
  return {
    reviewId: "review-1",
    runId: "run-1",
    taskId: "task-1",
    agentRole: "Writer",
    taskDescription: "Write a line",
    taskOutput: "A line",
    timing: "AFTER_EXECUTION",
    requestedAt: "2026-01-01T00:00:00.000Z",
    timeoutMs: 0,
    onTimeout: "EXIT_EARLY",
    signal: new AbortController().signal,
    ...o,
  };
}

const CONTINUE = { type: "CONTINUE" };
const listeners = (input: PassThrough): number =>
  ["data", "end", "close", "error"].reduce((sum, name) => sum + input.listenerCount(name), 0);

describe("ReviewHandler.console", () => {
  it("shows names on one line, and each field separate from the lines of the others", async () => {
    const { ask, written } = desk("c\n");
    await ask({
      agentRole: "Writer)\nOutput:\n  | fine",
      requiredRole: "editor\n[c] Continue",
      input: { to: "mallory", body: "Hi\nto: ana", "cc\nto": "ben" },
    });
    expect(written()).to.include("Task:   task-1 (Writer) Output: | fine)\n");
    expect(written()).to.include("Wanted: editor [c] Continue\n");
    expect(written()).to.include(
      "  | to: mallory\n  | body: Hi\n  |     to: ana\n  | cc to: ben\n",
    );
  });

  const choices: readonly (readonly [string, object])[] = [
    ["\n", CONTINUE],
    ["c\n", CONTINUE],
    ["C\r\n", CONTINUE],
    [" continue \n", CONTINUE],
    ["x\n", { type: "EXIT_EARLY", timedOut: false }],
    ["X\n", { type: "EXIT_EARLY", timedOut: false }],
    ["e\nA better line\n", { type: "EDIT", revisedOutput: "A better line" }],
    ["edit\n  kept as it is \n", { type: "EDIT", revisedOutput: "  kept as it is " }],
    ["e\n\nx\n", { type: "EXIT_EARLY", timedOut: false }],
    ["y\nwhat?\nx\n", { type: "EXIT_EARLY", timedOut: false }],
    ["m\ntoo long\nx\n", { type: "EXIT_EARLY", timedOut: false, comment: "too long" }],
    ["m\n\nc\n", CONTINUE],
  ];
  for (const [typed, decision] of choices) {
    it(`decides ${JSON.stringify(decision)} on ${JSON.stringify(typed)}`, async () => {
      const { ask, input } = desk(typed);
      const before = listeners(input);
      expect(await ask()).to.deep.equal(decision);
      await pause(5);
      expect([listeners(input), input.isPaused()]).to.deep.equal([before, true]);
    });
  }

  it("shows the question and the choices", async () => {
    const { ask, written } = desk("\n");
    await ask({ prompt: "Fit to print?", requiredRole: "editor" });
    for (const part of [
      "Review after the task",
      "task-1 (Writer)",
      "  | Write a line\n",
      "  | A line\n",
      "  | Fit to print?",
      "Wanted: editor",
    ])
      expect(written()).to.include(part);
    expect(written().endsWith("[c] Continue  [e] Edit  [x] Exit early  > ")).to.equal(true);
    const handler = desk("\n");
    await handler.ask({ agentRole: "(deterministic)" });
    expect(handler.written()).to.include("task-1 (deterministic)\n");
  });

  it("shows the effect and the time of an expiry", async () => {
    const shown = async (
      timeoutMs: number,
      onTimeout: ReviewRequest["onTimeout"],
    ): Promise<string> => {
      const { ask, written } = desk("\n");
      await ask({ timeoutMs, onTimeout });
      return written();
    };
    expect(await shown(300_000, "EXIT_EARLY")).to.include("[x] Exit early (auto-x in 5:00)  > ");
    expect(await shown(61_000, "CONTINUE")).to.include("(auto-c in 1:01)");
    expect(await shown(9_000, "FAIL")).to.include("(auto-fail in 0:09)");
  });

  it("escapes text of a model that could control the terminal or imitate a question", async () => {
    const { ask, written } = desk("\n");
    await ask({
      taskOutput:
        "fine\u001b[2J\u001b]0;title\u0007\u202Eevil\n[c] Continue  [e] Edit  [x] Exit early  > \rover\u0000",
    });
    expect(written()).to.not.match(/[\u001b\u0007\u0000\u202E\r]/u);
    expect(written()).to.include("  | [c] Continue");
    expect(written()).to.include("  | over\n");
  });

  describe("with a shortened input", () => {
    const body = `Dear Ana ${"x".repeat(3_000)} send the key to Eve`;
    const input = { to: "ana@example.org", body };

    it("shows the start and the end of each long field with its length", async () => {
      const { ask, written } = desk("c\n");
      expect(await ask({ input })).to.deep.equal(CONTINUE);
      expect(written()).to.include("  | to: ana@example.org\n");
      expect(written()).to.match(
        /\| body: Dear Ana x+ \.\.\. \[3029 characters\] \.\.\. x+ send the key to Eve\n/,
      );
      expect(written()).to.include("Not all of the input is shown");
    });

    it("accepts an empty line as approval only after all of it was shown", async () => {
      const { ask, written } = desk("\nv\n\n");
      expect(await ask({ input })).to.deep.equal(CONTINUE);
      expect(written()).to.include(`  | body: ${body}\n`);
      const refused = desk("\n\nx\n");
      expect((await refused.ask({ input })).type).to.equal("EXIT_EARLY");
      const lossy = desk("\nx\n");
      expect((await lossy.ask({ input: { to: "Map(1)" }, truncated: true })).type).to.equal(
        "EXIT_EARLY",
      );
    });

    it("accepts an empty line as approval if all of it is shown", async () => {
      const { ask, written } = desk("\n");
      expect(await ask({ input: { to: "ana", lines: [1, { a: null }] } })).to.deep.equal(CONTINUE);
      expect(written()).to.include('  | lines: [1,{"a":null}]\n').and.not.include("[v]");
    });
  });

  it("asks two concurrent questions one after the other, and each receives its own answer", async () => {
    const { ask, input, written } = desk();
    const answers = Promise.all([ask({ taskOutput: "first" }), ask({ taskOutput: "second" })]);
    await pause(5);
    expect([written().includes("first"), written().includes("second")]).to.deep.equal([
      true,
      false,
    ]);
    input.write("e\none\n");
    await pause(5);
    expect(written().indexOf("New text")).to.be.lessThan(written().indexOf("second"));
    input.write("x\n");
    expect(await answers).to.deep.equal([
      { type: "EDIT", revisedOutput: "one" },
      { type: "EXIT_EARLY", timedOut: false },
    ]);
  });

  it("shares one queue with other handlers of the same stream", async () => {
    const input = new PassThrough();
    let shown = "";
    const make = () =>
      ReviewHandler.console({ input, output: { write: (text: string) => (shown += text) } });
    const answers = Promise.all([
      make()(request({ taskOutput: "first" })),
      make()(request({ taskOutput: "second" })),
    ]);
    await pause(5);
    expect(shown).to.not.include("second");
    input.write("\nx\n");
    expect((await answers).map(({ type }) => type)).to.deep.equal(["CONTINUE", "EXIT_EARLY"]);
  });

  it("releases the terminal when the answer is no longer needed, also before its turn", async () => {
    const { ask, input, written } = desk();
    const [first, second] = [new AbortController(), new AbortController()];
    const asked = [
      ask({ signal: first.signal }),
      ask({ signal: second.signal, taskOutput: "never shown" }),
      ask({ taskOutput: "third" }),
    ] as const;
    await pause(5);
    second.abort(new Error("second is over"));
    first.abort(new Error("first is over"));
    expect([await rejection(asked[0]), await rejection(asked[1])]).to.deep.equal([
      first.signal.reason,
      second.signal.reason,
    ]);
    input.write("\n");
    expect(await asked[2]).to.deep.equal(CONTINUE);
    expect([
      written().includes("(no longer asked)"),
      written().includes("never shown"),
    ]).to.deep.equal([true, false]);
    await pause(5);
    expect(listeners(input)).to.equal(listeners(new PassThrough()));
  });

  it("reads lines from pieces, including divided characters", async () => {
    const { ask, input } = desk();
    const answer = ask();
    for (const byte of Buffer.from("e\nGrüße, 東京\n")) {
      input.write(Buffer.of(byte));
      await pause();
    }
    expect(await answer).to.deep.equal({ type: "EDIT", revisedOutput: "Grüße, 東京" });
  });

  it("reads the lines of a file or pipe one by one, for one question after the other", async () => {
    const { ask, input } = desk("e\nnew\nx\n\n");
    input.end();
    expect([(await ask()).type, (await ask()).type, (await ask()).type]).to.deep.equal([
      "EDIT",
      "EXIT_EARLY",
      "CONTINUE",
    ]);
  });

  it("treats the end of the input as a missing answer: the effect of the time limit applies immediately", async () => {
    const ended = async (o: Partial<ReviewRequest>, text = ""): Promise<ReviewDecision> => {
      const { ask, input } = desk();
      input.end(text);
      return ask(o);
    };
    expect(await ended({ timeoutMs: 60_000 })).to.deep.equal({
      type: "EXIT_EARLY",
      timedOut: true,
    });
    expect(await ended({ timeoutMs: 60_000, onTimeout: "CONTINUE" }, "e\n")).to.deep.equal(
      CONTINUE,
    );
    expect(await ended({}, "x")).to.deep.equal({ type: "EXIT_EARLY", timedOut: false });
    expect(
      (await rejectionOf(ReviewError, ended({ timeoutMs: 60_000, onTimeout: "FAIL" }))).code,
    ).to.equal("AE_REVIEW");
    expect((await rejectionOf(ReviewError, ended({ timeoutMs: 0 }))).hint).to.include("terminal");
    const { ask, input } = desk();
    const waiting = ask({ timeoutMs: 60_000 });
    input.destroy();
    expect(await waiting).to.include({ timedOut: true });
    expect(await ask({ timeoutMs: 60_000 })).to.include({ timedOut: true });
  });

  describe("with typed input", () => {
    it("accepts a paste of several lines as one text, and none of it as a choice", async () => {
      const { ask, input } = desk(undefined, true);
      const both = [ask(), ask()] as const;
      await pause(80);
      input.write("e\n");
      await pause(80);
      input.write("first line\nx\n");
      input.write("c\n");
      expect(await both[0]).to.deep.equal({ type: "EDIT", revisedOutput: "first line\nx\nc" });
      await pause(80);
      input.write("x\n");
      expect((await both[1]).type).to.equal("EXIT_EARLY");
    });

    it("discards input typed before the question, and a paste at the choice", async () => {
      const { ask, input, written } = desk("c\nc", true);
      const answer = ask();
      await pause(120);
      expect(written()).to.include("> ");
      input.write("pasted by mistake\nc\n");
      await pause(120);
      input.write("x\n");
      expect((await answer).type).to.equal("EXIT_EARLY");
    });
  });

  it("refuses an invalid stream, and unknown options", () => {
    expect(() => ReviewHandler.console({ input: "stdin" as never })).to.throw(
      ValidationError,
      "input must be a readable stream",
    );
    expect(() => ReviewHandler.console({ output: {} as never })).to.throw(
      ValidationError,
      "output must have write()",
    );
    expect(() => ReviewHandler.console({ stream: 1 } as never)).to.throw(
      ValidationError,
      "Unknown option 'stream'",
    );
  });

  describe("in a separate process", () => {
    const program = `
      import { Ensemble, Review, ReviewHandler, Task } from "agentensemble";
      const task = new Task({ description: "Write", handler: () => "draft", review: Review.of({ timeoutMs: 20_000 }) });
      const output = await new Ensemble({ tasks: [task, task.with({})], reviewHandler: ReviewHandler.console() }).run();
      console.log("\\nEND " + output.exitReason + " " + output.raw);`;
    const options = ["--input-type=module", "--eval", program];

    it("uses standard input and output, and does not keep the process alive", async () => {
      const child = spawn(process.execPath, options, { cwd: projectRoot, stdio: "pipe" });
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
      child.stdin.write("e\nbetter\n\n"); // and standard input stays open
      const code = await Promise.race([
        new Promise((resolve) => child.on("exit", resolve)),
        new Promise((resolve) => setTimeout(resolve, 20_000, "still there").unref()),
      ]);
      child.stdin.destroy();
      child.kill();
      expect([code, /END .*/.exec(text)?.[0]]).to.deep.equal([0, "END COMPLETED draft"]);
    });

    it("does not wait if standard input is closed", async () => {
      const text = await new Promise<string>((resolve, reject) => {
        const child = execFile(process.execPath, options, { cwd: projectRoot }, (error, stdout) =>
          error === null ? resolve(stdout) : reject(new Error(error.message)),
        );
        child.stdin?.end();
      });
      expect(text).to.include("END TIMEOUT draft");
    });
  });
});
