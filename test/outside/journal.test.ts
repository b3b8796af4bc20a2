// A journal that uses public interfaces only. A run that ends at any point is finished under its id
// with the same outputs and totals.
import type {
  EnsembleEvent,
  EnsembleOptions,
  EnsembleOutput,
  EventType,
  HookRun,
} from "agentensemble";
import {
  Agent,
  Ensemble,
  MemoryScope,
  MemoryStore,
  RunCancelledError,
  Task,
  tool,
} from "agentensemble";
import { mcp } from "agentensemble/mcp";
import { redacted } from "agentensemble/observability";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { fileURLToPath } from "node:url";
import { emptyJournal, journal, type Kept } from "./journal.js";

/** The effects of a team over all executions. */
interface World {
  readonly store: MemoryStore;
  readonly paid: string[];
  asked: number;
}

type Make = (world: World) => EnsembleOptions;

const worker = (role: string, more: object = {}): Agent =>
  new Agent({ role, goal: "Work", ...more });

/** Answers depend on the request only. */
function modelOf(world: World): ScriptedModel {
  return new ScriptedModel((request) => {
    world.asked++;
    const turns = request.messages.filter(({ role }) => role === "assistant").length;
    const names = (request.tools ?? []).map(({ name }) => name);
    const usage = { inputTokens: 10 + turns, outputTokens: 5 };
    if (turns === 0 && names.includes("delegate"))
      return { toolCalls: ["A", "B"].map((agentRole) => ({ name: "delegate", arguments: { agentRole, taskDescription: `Help ${agentRole}` }, id: `d-${agentRole}` })), usage }; // prettier-ignore
    if (turns === 0 && names.includes("pay"))
      return { toolCalls: [1, 2].map((n) => ({ name: "pay", arguments: { input: `${n}` }, id: `p-${n}` })), usage }; // prettier-ignore
    const last = request.messages.at(-1)?.content;
    return { text: `answer to ${JSON.stringify(last).length}`, usage };
  });
}

const pay = (world: World) =>
  tool({
    name: "pay",
    description: "Pays",
    sequential: true,
    execute: (amount, { idempotencyKey }) => {
      if (!world.paid.includes(idempotencyKey)) world.paid.push(idempotencyKey);
      return `paid ${amount}`;
    },
    resume: "again", // the service knows the key
  });

const TEAMS: Readonly<Record<string, Make>> = {
  "tasks that call tools and remember": (world) => ({
    model: modelOf(world),
    memoryStore: world.store,
    tasks: ["one", "two"].map(
      (name) =>
        new Task({
          name,
          description: `Do ${name}`,
          agent: worker(name, { tools: [pay(world)] }),
          memory: [MemoryScope.of("facts")],
        }),
    ),
  }),
  "agents that delegate concurrently": (world) => ({
    model: modelOf(world),
    workflow: "PARALLEL",
    agents: [worker("A"), worker("B")],
    tasks: ["lead", "chief"].map(
      (name) => new Task({ name, description: `Lead ${name}`, agent: worker(name, { allowDelegation: true }) }), // prettier-ignore
    ),
  }),
  "a chain of handlers and agents": (world) => ({
    model: modelOf(world),
    tasks: [
      new Task({ name: "code", description: "Code", handler: () => "coded" }),
      new Task({ name: "text", description: "Write", agent: worker("Writer") }),
      new Task({ name: "more", description: "Write more", agent: worker("Writer") }),
    ],
  }),
};

/** One execution of the run; `dieAt` ends it before that entry. */
async function execute(
  make: Make,
  world: World,
  kept: Kept,
  dieAt = Infinity,
): Promise<EnsembleOutput> {
  let entries = 0;
  let dead = false;
  const onEntry = (run: HookRun): void => {
    dead ||= ++entries > dieAt;
    if (!dead) return;
    run.cancel(new RunCancelledError("the process ended"));
    throw new RunCancelledError("the process ended");
  };
  await using ensemble = new Ensemble({
    ...make(world),
    costConfiguration: { inputTokenRate: 1, outputTokenRate: 2 },
    plugins: [journal(kept, onEntry), budget({ maxTokens: 5_000 })],
  });
  return await ensemble.run({}, { runId: "r1", throwOnError: false });
}

const newWorld = (): World => ({ store: MemoryStore.inMemory(), paid: [], asked: 0 });

function summaryOf({ taskOutputs, metrics, exitReason }: EnsembleOutput): unknown {
  const { totalTokens, llmCallCount, toolCallCount, costEstimate } = metrics;
  const outputs = taskOutputs
    .map(({ raw, metrics: m }) => [raw, m.totalTokens, m.toolCallCount])
    .sort();
  return { exitReason, outputs, totalTokens, llmCallCount, toolCallCount, costEstimate };
}

describe("a journal from outside", () => {
  for (const [title, make] of Object.entries(TEAMS))
    it(`finishes an interrupted run from any entry, with equal outputs and totals: ${title}`, async () => {
      const whole = newWorld();
      const kept = emptyJournal();
      const expected = await execute(make, whole, kept);
      expect(expected.exitReason).to.equal("COMPLETED");
      const all = kept.calls.size + kept.tools.size + kept.writes.size + kept.tasks.size;
      const facts = (await whole.store.retrieve("facts", "", 50)).map(({ content }) => content);
      for (let dieAt = 0; dieAt <= all; dieAt++) {
        const world = newWorld();
        const journaled = emptyJournal();
        await execute(make, world, journaled, dieAt);
        const before = world.asked;
        const known = journaled.calls.size;
        const second = await execute(make, world, journaled);
        expect(summaryOf(second), `entry ${dieAt}`).to.deep.equal(summaryOf(expected));
        expect(world.asked - before, `entry ${dieAt}`).to.equal(whole.asked - known);
        expect(world.paid.slice().sort()).to.deep.equal(whole.paid.slice().sort());
        const found = (await world.store.retrieve("facts", "", 50)).map(({ content }) => content);
        expect([...new Set(found)], `entry ${dieAt}`).to.deep.equal([...new Set(facts)]);
        expect(found.length - facts.length, `entry ${dieAt}`).to.be.within(0, 1); // dead between a write and its entry
      }
    });

  it("counts the usage of earlier executions in the budget", async () => {
    const make = TEAMS["a chain of handlers and agents"] as Make;
    const codeOf = async (earlier: number): Promise<string | undefined> => {
      const kept = emptyJournal();
      kept.usage.push({ provider: "scripted", modelId: "scripted", inputTokens: earlier });
      await using ensemble = new Ensemble({
        ...make(newWorld()),
        plugins: [journal(kept), budget({ maxTokens: 4_000, maxOutputTokensPerCall: 50 })],
      });
      return (await ensemble.run({}, { throwOnError: false })).error?.code;
    };
    expect(await codeOf(0)).to.equal(undefined);
    expect(await codeOf(3_990)).to.equal("AE_BUDGET_EXCEEDED");
  });

  it("requests a decision before it repeats a call in doubt that has an effect", async () => {
    const kept = emptyJournal();
    const world = newWorld();
    const send = tool({ name: "pay", description: "Sends", effect: "send", execute: () => "sent" });
    const make: Make = (w) => ({
      model: modelOf(w),
      tasks: [new Task({ name: "t", description: "Send", agent: worker("Sender", { tools: [send] }) })], // prettier-ignore
    });
    await execute(make, world, kept, 2); // dies between the intent and the result
    const events: EnsembleEvent[] = [];
    const output = await execute((w) => ({ ...make(w), on: (e) => events.push(e) }), world, kept);
    expect(output.exitReason).to.equal("SUSPENDED");
    expect(output.error?.message).to.include("r1/t@1/p-1");
    const told = (type: EventType): unknown =>
      events.flatMap((event) => (event.type === type ? [redacted(event)] : []))[0];
    const counts = { execution: 2, finishedTasks: 0, restoredCalls: 2 };
    expect(told("run_resumed")).to.include({ runId: "r1", ...counts });
    expect(told("call_in_doubt")).to.include({ taskId: "t", key: "r1/t@1/p-1", toolName: "pay" });
    const waitsFor = "Whether r1/t@1/p-1 was done is in doubt";
    expect(told("run_suspended")).to.include({ waitsFor });
  });

  it("boots together with MCP servers and budgets", async () => {
    const server = fileURLToPath(new URL("../support/mcp-fault-server.js", import.meta.url));
    await using ensemble = new Ensemble({
      model: modelOf(newWorld()),
      tasks: [new Task({ description: "Do it", agent: worker("Doer") })],
      plugins: [
        journal(emptyJournal()),
        mcp({ servers: [{ name: "tools", command: process.execPath, args: [server, "ok"] }] }),
        budget({ maxTokens: 9_999 }),
      ],
    });
    const output = await ensemble.run();
    expect(output.isComplete).to.equal(true);
  });
});
