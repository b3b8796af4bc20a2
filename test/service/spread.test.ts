import { expect } from "chai";
import type { ChatModel, EnsembleOptions } from "../../src/index.js";
import {
  Agent,
  Ensemble,
  GuardrailResult,
  MapReduceEnsemble,
  Task,
  Tokens,
  ValidationError,
  definePlugin,
} from "../../src/index.js";
import { durable, Journal } from "../../src/durability.js";
import { NetworkBackend, Transport } from "../../src/network.js";
import type { BudgetAccount, BudgetAccountRequest } from "../../src/contracts/budget-accounts.js";
import type { Lease } from "../../src/contracts/network.js";
import type { WorkBudget } from "../../src/contracts/network-options.js";
import type { BindApi, Plugin } from "../../src/contracts/plugin.js";
import type { ServiceEvent } from "../../src/contracts/service.js";
import { LocalBudgetAccounts } from "../../src/plugins/resilience/budget/local-accounts.js";
import { budget } from "../../src/resilience.js";
import { rejectionOf } from "../support/rejection.js";
import { pause } from "../support/time.js";
import { changedQueue } from "./support.js";

const ITEMS = 7;

/** A model that returns its request, and counts. `fails` selects calls that fail. */
function countingModel(fails: (text: string) => boolean = () => false): {
  readonly model: ChatModel;
  readonly calls: Map<string, number>;
} {
  const calls = new Map<string, number>();
  const model: ChatModel = {
    provider: "test",
    modelId: "m",
    capabilities: {},
    chat: async ({ messages }) => {
      const text = /(?:Read|Merge) ?\d*/.exec(JSON.stringify(messages.at(-1)))?.[0] ?? "";
      calls.set(text, (calls.get(text) ?? 0) + 1);
      await Promise.resolve();
      if (fails(text)) throw new Error(`no answer to ${text}`);
      return {
        message: { role: "assistant", content: `Answer to ${text}` },
        finishReason: "stop",
        usage: { inputTokens: 10, outputTokens: 5 },
      };
    },
  };
  return { model, calls };
}

/** An ensemble whose map tasks are spread in units of two. */
function spreadEnsemble(
  model: ChatModel,
  journal: Journal,
  mapTask: (n: number, agent: Agent) => Task = (n, agent) =>
    new Task({ description: `Read ${n}`, agent }),
  { plugins = [], ...more }: Pick<EnsembleOptions, "parallelErrorStrategy" | "plugins"> = {},
): Ensemble {
  const agent = new Agent({ role: "Reader", goal: "Read" });
  return new MapReduceEnsemble({
    name: "digest",
    model,
    items: Array.from({ length: ITEMS }, (_, n) => n),
    chunkSize: ITEMS,
    mapTask: (n) => mapTask(n, agent),
    reduceTask: (tasks) => new Task({ description: "Merge", context: tasks, agent }),
    spread: { tasks: "map", size: 2 },
    plugins: [durable({ journal }), ...plugins],
    ...more,
  }).toEnsemble();
}

/** Starts a service, requests the run `r`, and stops the service. */
async function requested(
  ensemble: Ensemble,
  {
    requestId = "r",
    budget,
    backend = NetworkBackend.inMemory(),
    leaseMs,
    stopAfterMs = 0,
  }: {
    readonly requestId?: string;
    readonly budget?: WorkBudget;
    readonly backend?: NetworkBackend;
    readonly leaseMs?: number;
    readonly stopAfterMs?: number;
  } = {},
): Promise<{ readonly events: readonly ServiceEvent[]; readonly response: Response }> {
  const events: ServiceEvent[] = [];
  await ensemble.start({
    backend,
    ...(leaseMs !== undefined && { leaseMs }),
    shareRun: true,
    signals: false,
    listeners: [(event) => events.push(event)],
  });
  const transport = Transport.of("digest", backend);
  const request = {
    v: 1,
    requestId,
    from: "test",
    to: "digest",
    type: "RUN",
    task: "run",
    ...(budget !== undefined && { budget }),
  } as const;
  await transport.send(request);
  const response = await transport.response(requestId, { timeoutMs: 20_000 });
  await pause(stopAfterMs);
  await ensemble.stop();
  return { events, response };
}

/** Accounts that several runs open by their names, like a store for several processes. */
function sharedAccounts(): {
  readonly plugin: Plugin;
  readonly opened: Map<string, BudgetAccount>;
} {
  const opened = new Map<string, BudgetAccount>();
  const nothing = (): void => undefined;
  const shared = { leaseMs: 60_000, renew: nothing, refresh: nothing };
  const open = (request: BudgetAccountRequest): BudgetAccount => {
    const account =
      opened.get(request.key) ?? Object.assign(new LocalBudgetAccounts().open(request), { shared });
    opened.set(request.key, account);
    return account;
  };
  const bind = (api: BindApi): void =>
    void api.single(Tokens.BudgetAccounts).toConstantValue({ open });
  return { plugin: definePlugin({ name: "accounts", bind }), opened };
}

type Response = Awaited<ReturnType<Transport["response"]>>;

describe("an ensemble whose tasks are spread", () => {
  it("executes the map tasks in units and the reduces in the run, with all totals, and keeps one run", async () => {
    const { model, calls } = countingModel();
    const journal = Journal.inMemory();
    await using ensemble = spreadEnsemble(model, journal);
    const { events, response } = await requested(ensemble);
    expect(response?.status).to.equal("COMPLETED");
    expect(response?.usage?.[0]).to.include({ calls: ITEMS + 1, inputTokens: 10 * (ITEMS + 1) });
    expect(calls.size).to.equal(ITEMS + 1);
    const started = events.flatMap((event) => (event.type === "request_started" ? event.task : []));
    expect(started.sort()).to.deep.equal(["run", "units", "units", "units", "units"]);
    const finished = (await journal.entries("r")).filter(({ kind }) => kind === "task");
    expect(finished).to.have.length(ITEMS + 1);
    expect((await journal.list()).runs.map(({ runId }) => runId)).to.deep.equal(["r"]);
  });

  it("repeats no unit whose process ended between the result and its acknowledgement", async () => {
    const { model, calls } = countingModel();
    await using ensemble = spreadEnsemble(model, Journal.inMemory());
    const inner = NetworkBackend.inMemory();
    let isLost = false;
    const acknowledge = (lease: Lease): Promise<boolean> => {
      if (lease.request.task !== "units" || isLost) return inner.queue.acknowledge(lease);
      isLost = true; // the request is delivered again when the lease ends
      return Promise.resolve(false);
    };
    const backend = { ...inner, queue: changedQueue(inner.queue, { acknowledge }) };
    const { response } = await requested(ensemble, { backend, leaseMs: 300, stopAfterMs: 1_000 });
    expect(response?.status).to.equal("COMPLETED");
    expect([...calls.values()].filter((count) => count > 1)).to.deep.equal([]);
  });

  it("repeats a failed task when the run is resumed, and no other", async () => {
    let isBroken = true;
    const { model, calls } = countingModel((text) => isBroken && text === "Read 3");
    const journal = Journal.inMemory();
    await using first = spreadEnsemble(model, journal, undefined, {
      parallelErrorStrategy: "CONTINUE_ON_ERROR",
    });
    const { response: failed } = await requested(first);
    expect(failed?.status).to.equal("FAILED");
    isBroken = false;
    await using second = spreadEnsemble(model, journal);
    const { response } = await requested(second);
    expect(response?.status).to.equal("COMPLETED");
    const again = [...calls].filter(([, count]) => count > 1);
    expect(again.map(([text]) => text)).to.deep.equal(["Read 3"]);
    expect(response?.usage?.[0]?.calls).to.be.at.least(ITEMS + 1);
  });

  it("judges outputs in the run, and repeats a refused task there", async () => {
    const { model, calls } = countingModel();
    let judged = 0;
    const guard = ({ raw }: { readonly raw: string }): GuardrailResult => {
      judged++;
      return calls.get(raw.slice("Answer to ".length)) === 1 && raw.endsWith("2")
        ? GuardrailResult.failure("once more")
        : GuardrailResult.success();
    };
    await using ensemble = spreadEnsemble(
      model,
      Journal.inMemory(),
      (n, agent) =>
        new Task({
          description: `Read ${n}`,
          agent,
          outputGuardrails: [guard],
          guardrailRetries: 1,
        }),
    );
    const { response } = await requested(ensemble);
    expect(response?.status).to.equal("COMPLETED");
    expect(calls.get("Read 2")).to.equal(2);
    expect(judged).to.equal(ITEMS + 1);
  });

  it("counts the units in the budget of the run, and ends the run when it is used up", async () => {
    const { model, calls } = countingModel();
    const journal = Journal.inMemory();
    const { plugin, opened } = sharedAccounts();
    const limit = budget({ maxTokens: 100, maxOutputTokensPerCall: 10 });
    await using ensemble = spreadEnsemble(model, journal, undefined, { plugins: [plugin, limit] });
    const { response } = await requested(ensemble);
    expect(response).to.include({ status: "FAILED", reason: "BUDGET" });
    expect(response?.error).to.include("Budget maxTokens exceeded");
    const [account] = [...opened.values()];
    const made = [...calls.values()].reduce((sum, count) => sum + count, 0);
    expect([...opened.keys()]).to.deep.equal(["run:r/budget:0"]);
    expect(made).to.be.within(1, ITEMS);
    expect(account?.state).to.deep.equal({
      used: { tokens: 15 * made, cost: 0 },
      reserved: { tokens: 0, cost: 0 },
    });
    expect(response?.usage?.[0]?.calls).to.equal(made);
    await using more = spreadEnsemble(model, journal);
    const { response: resumed } = await requested(more);
    expect(resumed?.status).to.equal("COMPLETED");
    expect([...calls.values()]).to.deep.equal(Array.from({ length: ITEMS + 1 }, () => 1));
  });

  it("counts the units in the budget of the request", async () => {
    const { plugin, opened } = sharedAccounts();
    const { model } = countingModel();
    await using ensemble = spreadEnsemble(model, Journal.inMemory(), undefined, {
      plugins: [plugin],
    });
    const { response } = await requested(ensemble, { budget: { maxTokens: 1_000_000 } });
    expect(response?.status).to.equal("COMPLETED");
    expect([...opened].map(([key, { state }]) => [key, state.used.tokens])).to.deep.equal([
      ["run:r/budget:0", 15 * (ITEMS + 1)],
    ]);
  });

  it("executes tasks with a context, a handler or memory in the run itself", async () => {
    const { model } = countingModel();
    await using ensemble = spreadEnsemble(
      model,
      Journal.inMemory(),
      (n) => new Task({ description: `Read ${n}`, handler: () => `read ${n}` }),
    );
    const { events, response } = await requested(ensemble);
    expect(response?.status).to.equal("COMPLETED");
    expect(events.some((event) => "task" in event && event.task === "units")).to.equal(false);
  });

  it("refuses to start without durable()", async () => {
    const tasks = [new Task({ description: "Read 1" }), new Task({ description: "Read 2" })];
    await using ensemble = new Ensemble({
      ...{ name: "plain", model: countingModel().model, tasks },
      spread: { tasks: () => true },
    });
    const starting = ensemble.start({ shareRun: true, signals: false });
    const error = await rejectionOf(ValidationError, starting);
    expect(error.message).to.equal("`spread` needs durable(): the outputs of units are kept there");
  });

  it("is refused with options out of range, and for a map-reduce without a fixed tree", () => {
    const tasks = [new Task({ description: "Read 1" })];
    const spread = { tasks: "map", size: 0 } as const;
    expect(() => new Ensemble({ tasks, spread })).to.throw("Ensemble spread.size must be > 0");
    expect(
      () => new Ensemble({ tasks, spread: { tasks: "reduce" } } as unknown as EnsembleOptions),
    ).to.throw('Ensemble spread.tasks must be "map" or a function');
    expect(
      () =>
        new MapReduceEnsemble({
          model: countingModel().model,
          items: [1],
          targetTokenBudget: 100,
          mapTask: () => new Task({ description: "Read" }),
          reduceTask: (context) => new Task({ description: "Merge", context }),
          spread: { tasks: "map" },
        }),
    ).to.throw("spread is not supported in adaptive mode");
  });
});
