import type { Plugin } from "agentensemble";
import { Agent, definePlugin, Ensemble, Task, tool, Tokens } from "agentensemble";
import { evaluate, scorer, type TrialWay } from "agentensemble/evals";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { UnreadWays } from "../../src/evals/unread-ways.js";
import { recordedTraceBuilder } from "../../src/plugins/observability/trace/recorded-trace.js";

/** Counts the created traces. */
class BuiltTraces {
  count = 0;

  get plugin(): Plugin {
    return definePlugin({
      name: "built-traces",
      bind: ({ single }) => {
        single(Tokens.TraceBuilder).toConstantValue({
          build: (record) => {
            this.count++;
            return recordedTraceBuilder.build(record);
          },
        });
      },
    });
  }
}

async function wayOfOneTrial(plugins: readonly Plugin[]): Promise<TrialWay> {
  const add = tool({ name: "add", description: "Adds", execute: () => "3" });
  const model = new ScriptedModel([
    { toolCalls: [{ name: "add", arguments: { input: "1+2" } }] },
    "3",
  ]);
  const agent = new Agent({ role: "Clerk", goal: "Add", tools: [add] });
  const tasks = [new Task({ description: "Add", agent })];
  await using team = new Ensemble({ model, tasks, plugins });
  const result = await evaluate({
    name: "sum",
    target: team,
    dataset: [{ input: {} }],
    scorers: [scorer("cheap", ({ way }) => way.spending.calls === 2 && way.durationMs >= 0)],
  });
  expect(result.scores[0]?.mean).to.equal(1);
  const way = result.cases[0]?.trials[0]?.way;
  expect(way?.runIds).to.have.length(1);
  return way as TrialWay; // of the only trial
}

describe("the way of a trial", () => {
  it("reads the trace once, when the first step is read", async () => {
    const built = new BuiltTraces();
    const way = await wayOfOneTrial([built.plugin]);
    expect(built.count).to.equal(0);
    expect(way.toolCalls.map(({ name, arguments: given }) => [name, given])).to.deep.equal([
      ["add", { input: "1+2" }],
    ]);
    expect(way.conversations[0]?.messages.map(({ role }) => role)).to.deep.equal([
      ...["system", "user", "assistant", "tool", "assistant"],
    ]);
    expect([way.delegations, way.refusedDelegations]).to.deep.equal([[], 0]);
    expect(way.toolCalls).to.equal(way.toolCalls);
    expect(built.count).to.equal(1);
  });

  const copies: readonly (readonly [string, (way: TrialWay) => unknown])[] = [
    ["a spread", (way) => ({ ...way })],
    ["Object.assign", (way) => Object.assign({}, way)],
    ["structuredClone", (way) => structuredClone(way)],
    ["JSON", (way) => JSON.parse(JSON.stringify(way)) as unknown],
  ];
  for (const [title, copy] of copies)
    it(`keeps its steps in a copy by ${title}`, async () => {
      const way = await wayOfOneTrial([]);
      const copied = copy(way) as TrialWay;
      expect(Object.keys(copied)).to.have.members([
        ...["runIds", "toolCalls", "delegations", "refusedDelegations", "conversations"],
        ...["spending", "durationMs"],
      ]);
      expect(copied.toolCalls[0]).to.include({ name: "add", result: "3", outcome: "SUCCESS" });
      expect(copied.conversations[0]?.messages).to.have.length(5);
    });

  it("throws the error of a trace that can't be built to each reader", async () => {
    const broken = definePlugin({
      name: "broken-traces",
      bind: ({ single }) => {
        const build = (): never => {
          throw new Error("no trace");
        };
        single(Tokens.TraceBuilder).toConstantValue({ build });
      },
    });
    const way = await wayOfOneTrial([broken]);
    expect(() => way.toolCalls).to.throw("no trace");
    expect(() => JSON.stringify(way)).to.throw("no trace");
    expect(way.runIds).to.have.length(1);
  });
});

describe("unread ways", () => {
  it("are read starting with the oldest, beyond their limit", () => {
    const read: number[] = [];
    const ways = new UnreadWays(2);
    for (let i = 0; i < 5; i++)
      ways.add({
        get conversations() {
          read.push(i);
          if (i === 1) throw new Error("no trace");
          return [];
        },
      } as unknown as TrialWay); // only this field is read
    expect(read).to.deep.equal([0, 1, 2]);
  });
});
