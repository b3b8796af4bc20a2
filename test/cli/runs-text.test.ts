import { expect } from "chai";
import { runLine, runText } from "../../src/cli/runs-text.js";
import type { Store } from "../../src/cli/store.js";
import type { KeptRun } from "../../src/contracts/journal.js";

const plain = (_style: string, text: string): string => text;
const store = { option: " --store 'file:x'" } as Store; // the texts need its option alone

function kept(more: Partial<KeptRun> = {}): KeptRun {
  return {
    runId: "r 1",
    ensemble: "team",
    inputs: { topic: "swifts" },
    inputsHash: "abc",
    tags: {},
    status: "completed",
    startedAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:01:00.000Z",
    executions: 1,
    fruitlessExecutions: 0,
    finishedTasks: 2,
    ...more,
  };
}

const shown = (run: KeptRun): string => runText({ run, reviews: [], inDoubt: [] }, store, plain);

const RESULT: NonNullable<KeptRun["result"]> = {
  runId: "r 1",
  exitReason: "COMPLETED",
  raw: "The answer",
  taskOutputs: [],
  metrics: {
    inputTokens: 10,
    outputTokens: 5,
    totalTokens: 15,
    llmCallCount: 1,
    toolCallCount: 2,
    cost: 0.123_456,
    currency: "EUR",
  },
};

describe("a stored run in one line", () => {
  const cases: readonly (readonly [string, Partial<KeptRun>, string])[] = [
    [
      "the review or event that a waiting run waits for",
      { status: "waiting", waitsFor: "Ana" },
      "Ana",
    ],
    ["the process of a run in progress", { status: "running", owner: "host:7" }, "host:7"],
    ["that a process has died", { status: "running" }, "(its process has died)"],
    ["the reason of a cancellation", { status: "cancelled", cancelReason: "too dear" }, "too dear"],
    [
      "a pending cancellation",
      { status: "running", owner: "host:7", cancelReason: "too dear" },
      "cancellation requested: too dear",
    ],
    [
      "the error of a failed run",
      {
        status: "failed",
        result: { ...RESULT, error: { code: "AE_X", message: "It is broken" } },
      },
      "It is broken",
    ],
  ];
  for (const [title, more, text] of cases)
    it(`shows ${title}`, () => expect(runLine(kept(more), plain)).to.include(text));

  it("omits missing values", () => {
    expect(runLine(kept({ status: "waiting" }), plain)).to.match(/Z$/);
    expect(runLine(kept({ status: "interrupted" }), plain)).to.match(/Z$/);
  });
});

describe("a stored run with all its details", () => {
  it("shows result, usage and costs, and no next step after it is completed", () => {
    const text = shown(kept({ result: RESULT, tags: { a: "1", b: "2" }, parentRunId: "p" }));
    expect(text).to.include("15 tokens in 1 model call, 2 tool calls, 0.1235 EUR");
    expect(text).to.include("a=1, b=2").and.to.include("The answer");
    expect(text).to.match(/parent +p/);
    expect(text).not.to.include("To resume it");
  });

  it("shows unknown tokens, and the amount that a resume has saved", () => {
    const { cost: _cost, currency: _currency, ...metrics } = RESULT.metrics;
    const saved = { llmCalls: 3, toolCalls: 0, tokens: 40 };
    const result = { ...RESULT, raw: "", saved, metrics: { ...metrics, totalTokens: -1 } };
    const text = shown(kept({ executions: 2, result }));
    expect(text).to.include("an unknown number of tokens in 1 model call");
    expect(text).to.match(/saved .*3 model calls/);
    const money = { ...RESULT, metrics: { ...metrics, cost: 1 } };
    expect(shown(kept({ result: money }))).to.include("tool calls, 1");
  });

  it("names reason and next steps of a run that has not ended", () => {
    const run = kept({ status: "cancelled", cancelReason: "too dear" });
    expect(shown(run)).to.match(/cancelled +too dear/);
    const other = kept({ status: "waiting", waitsFor: "Ana", cancelReason: "late" });
    expect(shown(other)).to.match(/waits for +Ana/).and.to.match(/cancelling +late/); // prettier-ignore
    expect(shown(other)).to.include("agentensemble runs resume <file> 'r 1' --store 'file:x'");
    const owned = kept({ status: "running", owner: "host:7" });
    expect(shown(owned)).to.match(/process +host:7/).and.not.to.include("To resume it"); // prettier-ignore
  });

  it("lists tool calls in doubt with the command that settles them", () => {
    const inDoubt = [{ key: "K:a@1/c/mail", tool: "mail", task: "a@1" }];
    const run = kept({ status: "failed" });
    const text = runText({ run, reviews: [], inDoubt }, store, plain);
    expect(text).to.include("agentensemble runs settle 'r 1' K:a@1/c/mail --again");
  });

  it("shows no text of a sealed run without its key", () => {
    const text = shown(kept({ inputsHash: "", result: RESULT }));
    expect(text).to.include("AGENTENSEMBLE_STORE_KEY").and.not.to.include("The answer");
  });
});
