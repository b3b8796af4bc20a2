import type {
  AnyTool,
  EnsembleOptions,
  EnsembleOutput,
  Remote,
  ToolLike,
  WorkRequest,
  WorkResponse,
} from "agentensemble";
import {
  Agent,
  BudgetExceededError,
  Ensemble,
  ReviewDecision,
  Task,
  tool,
  ToolConfigurationError,
  ValidationError,
} from "agentensemble";
import type {
  NetworkCallInfo,
  NetworkCallOptions,
  NetworkPlugin,
  NetworkToolProvider,
} from "agentensemble/network";
import {
  network,
  NetworkBackend,
  NetworkError,
  NetworkTask,
  NetworkTool,
  NetworkTools,
  RequestConflictError,
  Transport,
} from "agentensemble/network";
import { budget } from "agentensemble/resilience";
import { recordingListener, ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { receiveDecisions } from "../../../../src/plugins/network/shared/decisions.js";
import { systemClock } from "../../../../src/util/runtime.js";
import { rejectionOf } from "../../../support/rejection.js";
import { pause, until } from "../../../support/time.js";

const TOKENS = { inputTokens: 1_000, outputTokens: 24 };

/** A kitchen whose task costs tokens, fails or waits, and that has a tool. */
function kitchen(more: Partial<EnsembleOptions> = {}): Ensemble {
  const cook = new Task({
    description: "Prepare this meal: {context}",
    agent: new Agent({ role: "Cook", goal: "Cook" }),
  });
  const report = new Task({ description: "Report on {room} and {floor}", handler: ({ inputs }) => JSON.stringify(inputs) }); // prettier-ignore
  return new Ensemble({
    name: "kitchen",
    model: new ScriptedModel([{ text: "Soup is served", usage: TOKENS }], {
      onExhausted: "repeat-last",
    }),
    shareTasks: {
      "prepare-meal": { task: cook, description: "Prepares a meal", tags: ["food"] },
      report: { task: report, tags: ["stock"], version: "2" },
      fail: new Task<string>({ description: "Fail: {context}", handler: () => Promise.reject(new Error("no gas")) }), // prettier-ignore
    },
    shareTools: {
      "check-inventory": {
        tool: tool({
          name: "check",
          description: "Checks the stock of an item",
          input: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
          execute: ({ item }) => `3 ${String(item)}`,
        }),
        tags: ["stock", "fast"],
      },
    },
    ...more,
  });
}

interface Called {
  /** The requests to the model. */
  readonly text: string;
  readonly outcome: string;
  readonly structured: unknown;
  readonly output: EnsembleOutput;
  readonly warnings: readonly string[];
  readonly offered: NonNullable<ScriptedModel["requests"][number]["tools"]>;
}

/** Calls one tool by an agent, and returns the result. */
async function called(
  tools: readonly ToolLike[],
  [name, input]: readonly [string, Readonly<Record<string, unknown>>],
  { runId, ...options }: Partial<EnsembleOptions> & { readonly runId?: string } = {},
): Promise<Called> {
  const model = new ScriptedModel([
    { toolCalls: [{ name, arguments: input }], usage: { inputTokens: 10, outputTokens: 5 } },
    { text: "done", usage: { inputTokens: 12, outputTokens: 3 } },
  ]);
  const seen = recordingListener();
  const agent = new Agent({ role: "Waiter", goal: "Serve", tools });
  await using ensemble = new Ensemble({
    model,
    listeners: [seen],
    tasks: [new Task({ description: "Serve", agent })],
    ...options,
  });
  const output = await ensemble.run({}, runId === undefined ? {} : { runId });
  const call = seen.of("tool_called")[0];
  return {
    text: call?.toolResult ?? "",
    outcome: call?.outcome ?? "",
    structured: call?.structuredResult,
    output,
    warnings: seen.of("run_warning").map(({ message }) => message),
    offered: model.requests[0]?.tools ?? [],
  };
}

const MEAL = ["kitchen__prepare-meal", { context: "soup" }] as const;

/** A service and a backend, and the plugin of a caller. */
async function served(
  body: (o: {
    readonly backend: NetworkBackend;
    readonly plugins: [NetworkPlugin];
  }) => Promise<void>,
  more: Partial<EnsembleOptions> = {},
): Promise<void> {
  const backend = NetworkBackend.inMemory();
  await using ensemble = kitchen(more);
  await using _service = await ensemble.start({ backend, signals: false });
  await body({ backend, plugins: [network({ name: "room-service", backend })] });
}

/** A remote ensemble with the answers of a test. */
function remoteWith(
  broken: Partial<Remote>,
): Remote & { readonly sent: WorkRequest[]; readonly cancelled: string[] } {
  // prettier-ignore
  const sent: WorkRequest[] = [];
  const cancelled: string[] = [];
  return Object.assign(
    {
      name: "kitchen",
      sent,
      cancelled,
      send: async (request: WorkRequest) => {
        sent.push(request);
        return { status: "ACCEPTED" } as const;
      },
      response: async (requestId: string) => doneWith(requestId),
      decide: async () => false,
      cancel: async (requestId: string) => (cancelled.push(requestId), true),
      capabilities: async () => [],
      close: async () => undefined,
    },
    broken,
  );
}

const doneWith = (requestId: string, o: Partial<WorkResponse> = {}): WorkResponse => ({
  v: 1,
  requestId,
  status: "COMPLETED",
  result: "ready",
  durationMs: 1,
  ...o,
});

/** Waits as long as it is let, for nothing. */
const waiting: Remote["response"] = (_id, { timeoutMs, signal }) =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve(undefined);
    const timer = setTimeout(() => resolve(undefined), timeoutMs);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });

describe("NetworkTask and NetworkTool", () => {
  it("are executed by another ensemble, and count its usage", () =>
    served(async ({ plugins }) => {
      const { text, structured, output, offered } = await called(
        [NetworkTask.from("kitchen", "prepare-meal")],
        MEAL,
        { plugins },
      );
      expect(text).to.include("Soup is served");
      expect(structured).to.include({ status: "COMPLETED", attempt: 1 });
      expect(output.metrics.totalTokens).to.equal(30 + 1_024);
      const remote = output.metrics.ledger.filter(({ purpose }) => purpose === "remote");
      expect(remote.map(({ source, inputTokens }) => [source, inputTokens])).to.eql([["kitchen", 1_000]]); // prettier-ignore
      expect(offered.map(({ name, description }) => [name, description])).to.eql([
        ["kitchen__prepare-meal", "Prepares a meal"],
      ]);
    }));

  it("offer the input schema of the shared function, and pass inputs on", () =>
    served(async ({ plugins }) => {
      const { text, offered } = await called(
        [NetworkTool.from("kitchen", "check-inventory"), NetworkTask.from("kitchen", "report")],
        ["kitchen__report", { room: "403", floor: "4" }],
        { plugins },
      );
      expect(text).to.include('"room":"403"');
      const required = offered.map(({ parameters }) => parameters["required"]);
      expect(required).to.eql([["item"], ["room", "floor"]]);
      const second = await called(
        [NetworkTool.from("kitchen", "check-inventory")],
        ["kitchen__check-inventory", { item: "eggs" }],
        { plugins },
      );
      expect(second.text).to.include("3 eggs");
    }));

  it("mark results as data from outside, unless they are trusted", async () => {
    const scope = { find: () => undefined, get: () => systemClock, emit: () => undefined };
    const made = async (o: NetworkCallOptions): Promise<AnyTool | undefined> =>
      (await NetworkTask.from(remoteWith({}), "meal", o).resolve(scope as never))[0]; // what it uses
    expect(await made({})).to.include({
      ...{ untrusted: true, delegates: true, effect: "send", resume: "again" },
    });
    expect(await made({ trusted: true })).to.include({ untrusted: false });
  });

  it("return the reason of a missing result to the model", () =>
    served(async ({ plugins }) => {
      const { text, outcome } = await called(
        [NetworkTask.from("kitchen", "fail")],
        ["kitchen__fail", { context: "x" }],
        { plugins },
      );
      expect(outcome).to.equal("FAILURE");
      expect(text).to.match(/^Error: .+/);
    }));

  it("request again under the same id when the run is repeated, and receive the stored result", () =>
    served(async ({ backend, plugins }) => {
      const tools = [NetworkTask.from("kitchen", "prepare-meal")];
      const ids = new Set<string>();
      for (let n = 0; n < 2; n++) {
        const { structured } = await called(tools, MEAL, { plugins: [network({ name: "room-service", backend })], runId: "run-1" }); // prettier-ignore
        ids.add((structured as { readonly requestId: string }).requestId); // of a completed request
      }
      expect(ids.size).to.equal(1);
      const other = await called(tools, MEAL, { plugins, runId: "run-2" });
      ids.add((other.structured as { readonly requestId: string }).requestId); // as above
      expect(ids.size).to.equal(2);
    }));

  it("send the options of the call, the position in the trace and the path with a request", async () => {
    const remote = remoteWith({});
    const options: NetworkCallOptions = {
      priority: "HIGH",
      deadlineMs: 5_000,
      version: "2",
      budget: { maxTokens: 77 },
      cache: (input) => ({ key: JSON.stringify(input), maxAgeMs: 1_000, forceFresh: true }),
    };
    await called([NetworkTask.from(remote, "prepare-meal", options)], MEAL);
    const [sent] = remote.sent;
    expect(sent).to.deep.include({
      from: "caller",
      to: "kitchen",
      type: "TASK",
      task: "prepare-meal",
      context: "soup",
      priority: "HIGH",
      version: "2",
      path: ["caller"],
      budget: { maxTokens: 77 },
      cache: { policy: "FORCE_FRESH", key: '{"context":"soup"}', maxAgeMs: 1_000 },
    });
    expect(sent?.deadlineMs).to.be.within(4_000, 5_000);
    expect(sent?.requestId).to.match(/^[0-9a-f]{64}$/);
  });

  it("refuse a loop of ensembles that request each other", async () => {
    const backend = NetworkBackend.inMemory();
    const plugins = (name: string): [NetworkPlugin] => [network({ name, backend })];
    const asking = (other: string): Task<unknown> =>
      new Task({
        description: "Ask {context}",
        agent: new Agent({ role: "A", goal: "A", tools: [NetworkTask.from(other, "ask")] }),
      });
    const scripted = (other: string): ScriptedModel =>
      new ScriptedModel([
        { toolCalls: [{ name: `${other}__ask`, arguments: { context: "x" } }] },
        { text: "asked" },
      ]);
    const results: string[] = [];
    const ensembleOf = (name: string, other: string): Ensemble =>
      new Ensemble({
        name,
        model: scripted(other),
        plugins: plugins(name),
        shareTasks: { ask: asking(other) },
        onToolCall: ({ toolResult }) => void results.push(toolResult),
      });
    await using a = ensembleOf("a", "b");
    await using b = ensembleOf("b", "a");
    await using _a = await a.start({ backend, signals: false });
    await using _b = await b.start({ backend, signals: false });
    const calls = network({ name: "shop", backend }).network;
    const response = await calls.request("a", "ask", { context: "x" });
    expect(response.status).to.equal("COMPLETED");
    expect(results[0]).to.match(/^Error: The request has passed shop, a, b/);
  });

  it("stay within the remaining budget of the run, and settle the usage", () =>
    served(async ({ plugins }) => {
      const { output } = await called([NetworkTask.from("kitchen", "prepare-meal")], MEAL, {
        plugins: [...plugins, budget({ maxTokens: 5_000 })],
      });
      expect(output.metrics.totalTokens).to.equal(30 + 1_024);
      const remote = remoteWith({});
      await called([NetworkTask.from(remote, "prepare-meal")], MEAL, {
        plugins: [budget({ maxTokens: 5_000 })],
      });
      expect(remote.sent[0]?.budget).to.eql({ maxTokens: 5_000 - 15 });
      const error = await called([NetworkTask.from("kitchen", "prepare-meal")], MEAL, {
        plugins: [...plugins, budget({ maxTokens: 600 })],
      }).catch((thrown: unknown) => thrown);
      expect(BudgetExceededError.find(error)).to.not.equal(undefined);
    }));

  it("report an overloaded ensemble", async () => {
    const remote = remoteWith({ send: async () => ({ status: "FULL" }) });
    const { text } = await called([NetworkTask.from(remote, "prepare-meal")], MEAL);
    expect(text).to.equal("Error: 'kitchen' has too much to do at the moment");
    const rejecting = remoteWith({
      response: async (id) => doneWith(id, { status: "REJECTED", reason: "AT_CAPACITY" }),
    });
    const second = await called([NetworkTask.from(rejecting, "prepare-meal")], MEAL);
    expect(second.text).to.equal("Error: 'kitchen' has too much to do at the moment");
    const silent = remoteWith({
      response: async (id) => doneWith(id, { status: "FAILED", error: undefined }),
    });
    const third = await called([NetworkTask.from(silent, "prepare-meal")], MEAL);
    expect(third.text).to.equal("Error: Task failed");
  });

  it("fail after their time limit, and cancel the request", async () => {
    const remote = remoteWith({ response: waiting });
    const o = { timeoutMs: 30 };
    const task = await called([NetworkTask.from(remote, "prepare-meal", o)], MEAL);
    expect(task.text).to.equal(
      "Error: Task 'prepare-meal' on ensemble 'kitchen' timed out after 30 ms",
    );
    const own = await called([NetworkTool.from(remote, "prepare-meal", o)], MEAL);
    expect(own.text).to.equal(
      "Error: Tool 'prepare-meal' on ensemble 'kitchen' timed out after 30 ms",
    );
    expect(remote.cancelled).to.eql([...new Set(remote.sent.map(({ requestId }) => requestId))]);
  });

  it("repeat a request after failures of the connection, under the same id", async () => {
    let failures = 2;
    const remote: Remote & { sent: WorkRequest[] } = remoteWith({
      response: async (id) => {
        if (failures-- > 0) throw new NetworkError("away");
        return doneWith(id);
      },
    });
    const { text } = await called([NetworkTask.from(remote, "prepare-meal")], MEAL);
    expect(text).to.include("ready");
    expect(remote.sent.length).to.equal(3);
    expect(new Set(remote.sent.map(({ requestId }) => requestId)).size).to.equal(1);
  });

  it("repeat a request that the store has forgotten", async () => {
    let asked = 0;
    const remote = remoteWith({
      response: async (id) => (++asked === 1 ? undefined : doneWith(id)),
    });
    const { text } = await called([NetworkTask.from(remote, "prepare-meal")], MEAL);
    expect(text).to.include("ready");
    expect(remote.sent.length).to.equal(2);
  });

  it("do not repeat a request after a permanent failure", async () => {
    const remote = remoteWith({
      send: async ({ requestId }) => Promise.reject(new RequestConflictError(requestId)),
    });
    const { text } = await called([NetworkTask.from(remote, "prepare-meal")], MEAL);
    expect(text).to.match(/^Error: Request '[0-9a-f]{64}' is known with other content$/);
  });

  it("cancel the request when the caller's run is cancelled", async () => {
    const controller = new AbortController();
    const remote = remoteWith({
      response: (id, o) => {
        controller.abort(new Error("not hungry"));
        return waiting(id, o);
      },
    });
    const model = new ScriptedModel([{ toolCalls: [{ name: MEAL[0], arguments: MEAL[1] }] }]);
    const agent = new Agent({
      role: "Waiter",
      goal: "Serve",
      tools: [NetworkTask.from(remote, "prepare-meal")],
    });
    await using ensemble = new Ensemble({ model, tasks: [new Task({ description: "x", agent })] });
    await ensemble.run({}, { signal: controller.signal }).catch(() => undefined);
    await until(() => remote.cancelled.length === 1);
    expect(remote.cancelled).to.eql([remote.sent[0]?.requestId]);
  });

  it("work with a separate connection, without the plugin", () =>
    served(async ({ backend }) => {
      const { text } = await called(
        [NetworkTask.from(Transport.of("kitchen", backend), "prepare-meal")],
        MEAL,
      );
      expect(text).to.include("Soup is served");
    }));

  it("continue with a general description if the ensemble is unavailable", async () => {
    const remote = remoteWith({
      capabilities: async () => Promise.reject(new NetworkError("away")),
    });
    const { text, warnings } = await called([NetworkTask.from(remote, "prepare-meal")], MEAL);
    expect(text).to.include("ready");
    expect(warnings.join()).to.include("can't be asked: away");
  });
});

describe("the modes of NetworkTask", () => {
  it("ASYNC returns immediately; onComplete receives the result", async () => {
    const remote = remoteWith({});
    const completed: [WorkResponse, NetworkCallInfo][] = [];
    const { text } = await called(
      [
        NetworkTask.from(remote, "prepare-meal", {
          mode: "ASYNC",
          onComplete: (response, call) => void completed.push([response, call]),
        }),
      ],
      MEAL,
      { runId: "run-1" },
    );
    expect(text).to.include("Request submitted asynchronously");
    await until(() => completed.length === 1);
    const [response, call] = completed[0] ?? [];
    expect(response?.result).to.equal("ready");
    expect(call).to.deep.include({ ensemble: "kitchen", name: "prepare-meal", runId: "run-1" });
    expect(remote.cancelled).to.eql([]);
  });

  it("ASYNC repeats a request whose connection broke before it was accepted", async () => {
    let failures = 2;
    const completed: WorkResponse[] = [];
    const remote: Remote & { readonly sent: WorkRequest[] } = remoteWith({
      send: async (request) => {
        remote.sent.push(request);
        if (failures-- > 0) throw new NetworkError("The connection broke");
        return { status: "ACCEPTED" };
      },
    });
    const { text } = await called(
      [
        NetworkTask.from(remote, "prepare-meal", {
          mode: "ASYNC",
          onComplete: (response) => void completed.push(response),
        }),
      ],
      MEAL,
    );
    expect(text).to.include("Request submitted asynchronously");
    await until(() => completed.length === 1);
    expect(completed[0]).to.include({ status: "COMPLETED", result: "ready" });
    expect(remote.sent.length).to.equal(3);
    expect(new Set(remote.sent.map(({ requestId }) => requestId)).size).to.equal(1);
  });

  it("ASYNC fails without onComplete if the request is not accepted", async () => {
    const completed: WorkResponse[] = [];
    const onComplete = (response: WorkResponse): void => void completed.push(response);
    const outcomes: (readonly [string, number])[] = [];
    const sends: Remote["send"][] = [
      async () => ({ status: "FULL" }),
      async () => Promise.reject(new NetworkError("The connection broke")),
      async ({ requestId }) => Promise.reject(new RequestConflictError(requestId)),
    ];
    for (const send of sends) {
      const remote = remoteWith({ send });
      const options: NetworkCallOptions = { mode: "ASYNC", timeoutMs: 250, onComplete };
      const { text } = await called([NetworkTask.from(remote, "prepare-meal", options)], MEAL);
      outcomes.push([text.replace(/[0-9a-f]{64}/, "x"), remote.cancelled.length]);
    }
    expect(outcomes).to.eql([
      ["Error: 'kitchen' has too much to do at the moment", 0],
      [
        "Error: Task 'prepare-meal' on ensemble 'kitchen' timed out after 250 ms: The connection broke",
        1,
      ],
      ["Error: Request 'x' is known with other content", 0],
    ]);
    expect(completed).to.eql([]);
  });

  it("ASYNC ends with the task of the caller until the request is accepted", async () => {
    const remote: Remote & { readonly sent: WorkRequest[]; readonly cancelled: string[] } =
      remoteWith({
        send: async (request) => {
          remote.sent.push(request);
          throw new NetworkError("The connection broke");
        },
      });
    const controller = new AbortController();
    const options: NetworkCallOptions = { mode: "ASYNC", onComplete: () => undefined };
    const agent = new Agent({ role: "Waiter", goal: "Serve", tools: [NetworkTask.from(remote, "prepare-meal", options)] }); // prettier-ignore
    const model = new ScriptedModel([{ toolCalls: [{ name: MEAL[0], arguments: MEAL[1] }] }]);
    await using ensemble = new Ensemble({ model, tasks: [new Task({ description: "x", agent })] });
    const running = ensemble.run({}, { signal: controller.signal }).catch(() => undefined);
    await until(() => remote.sent.length === 2);
    controller.abort();
    await running;
    await until(() => remote.cancelled.length === 1);
    const sent = remote.sent.length;
    await pause(300);
    expect(remote.sent.length).to.equal(sent);
  });

  it("AWAIT_WITH_DEADLINE fails at the deadline and cancels the request", async () => {
    const remote = remoteWith({ response: waiting });
    const { text } = await called(
      [NetworkTask.from(remote, "prepare-meal", { mode: "AWAIT_WITH_DEADLINE", deadlineMs: 20 })],
      MEAL,
    );
    expect(text).to.equal("Error: Deadline exceeded after 20 ms");
    expect(remote.cancelled.length).to.equal(1);
  });

  it("AWAIT_WITH_DEADLINE returns the progress so far, if configured", async () => {
    const remote = remoteWith({
      response: (id, o) => {
        for (let n = 0; n < 200; n++) o.onProgress?.({ type: "tool_called", taskId: "soup" });
        o.onProgress?.({ type: "task_completed", taskId: "soup" });
        return waiting(id, o);
      },
    });
    const { text, structured } = await called(
      [
        NetworkTask.from(remote, "prepare-meal", {
          mode: "AWAIT_WITH_DEADLINE",
          deadlineMs: 20,
          onDeadline: "RETURN_PARTIAL",
        }),
      ],
      MEAL,
    );
    expect(text).to.include("Deadline exceeded after 20 ms").and.include("Finished tasks: soup");
    expect(structured).to.have.property("status", "PARTIAL");
    expect(remote.cancelled.length).to.equal(1);
  });

  it("AWAIT_WITH_DEADLINE continues in the background, if configured", async () => {
    let answer: (response: WorkResponse) => void = () => undefined;
    const answered = new Promise<WorkResponse>((resolve) => (answer = resolve));
    const remote = remoteWith({ response: async () => answered });
    const completed: WorkResponse[] = [];
    const { text } = await called(
      [
        NetworkTask.from(remote, "prepare-meal", {
          mode: "AWAIT_WITH_DEADLINE",
          deadlineMs: 20,
          onDeadline: "CONTINUE_IN_BACKGROUND",
          onComplete: (response) => void completed.push(response),
        }),
      ],
      MEAL,
    );
    expect(text).to.include("Deadline exceeded, continuing in background");
    expect([remote.cancelled, completed]).to.eql([[], []]);
    answer(doneWith(remote.sent[0]?.requestId ?? ""));
    await until(() => completed.length === 1);
  });

  it("AWAIT_WITH_DEADLINE reports the end of timeoutMs in the background", async () => {
    const completed: WorkResponse[] = [];
    const { text } = await called(
      [
        NetworkTask.from(remoteWith({ response: waiting }), "prepare-meal", {
          mode: "AWAIT_WITH_DEADLINE",
          deadlineMs: 20,
          timeoutMs: 60,
          onDeadline: "CONTINUE_IN_BACKGROUND",
          onComplete: (response) => void completed.push(response),
        }),
      ],
      MEAL,
    );
    expect(text).to.include("Deadline exceeded, continuing in background");
    await until(() => completed.length === 1);
    expect(completed[0]).to.include({
      status: "FAILED",
      reason: "DEADLINE",
      error: "Task 'prepare-meal' on ensemble 'kitchen' timed out after 60 ms",
    });
  });

  it("AWAIT_WITH_DEADLINE with CONTINUE_IN_BACKGROUND requires a timeoutMs greater than deadlineMs", () => {
    const base = { mode: "AWAIT_WITH_DEADLINE", onDeadline: "CONTINUE_IN_BACKGROUND" } as const;
    const from = (o: NetworkCallOptions) => (): unknown =>
      NetworkTask.from("kitchen", "meal", { ...base, ...o });
    expect(from({ deadlineMs: 20, timeoutMs: 20 }))
      .to.throw(ValidationError)
      .with.property("message")
      .that.includes("CONTINUE_IN_BACKGROUND requires deadlineMs < timeoutMs, got: 20 and 20");
    expect(from({ deadlineMs: 20, timeoutMs: 21 })).to.not.throw();
    expect(from({ deadlineMs: 1_800_000 })).to.throw("got: 1800000 and 1800000");
    expect(from({ deadlineMs: 1_799_999 })).to.not.throw();
    const tool = (): unknown =>
      NetworkTool.from("kitchen", "look", { ...base, deadlineMs: 30_000 });
    expect(tool).to.throw("got: 30000 and 30000");
  });

  it("are refused without their required options", () => {
    const from = (o: object) => (): NetworkToolProvider => NetworkTask.from("kitchen", "meal", o); // on purpose
    expect(from({ mode: "ASYNC" })).to.throw("with mode ASYNC requires onComplete");
    expect(from({ mode: "AWAIT_WITH_DEADLINE" })).to.throw("requires deadlineMs");
    expect(from({ onDeadline: "RETURN_PARTIAL" })).to.throw("requires mode AWAIT_WITH_DEADLINE");
    expect(from({ onComplete: () => undefined })).to.throw("onComplete requires mode ASYNC");
    expect(from({ timeoutMS: 5 })).to.throw("Did you mean 'timeoutMs'?");
    expect(from({ budget: { maxTokens: 0 } })).to.throw("budget.maxTokens must be >= 1");
    expect(() => NetworkTask.from("kitchen", "a b")).to.throw("creates the tool name");
    expect(() => NetworkTask.from({} as never, "a")).to.throw("must be a name or a Remote");
  });
});

describe("NetworkTools", () => {
  it("offer all shared functions of other ensembles, or those with all given tags", () =>
    served(async ({ plugins }) => {
      const names = async (provider: ToolLike): Promise<readonly string[]> => {
        const { offered } = await called([provider], MEAL, { plugins: [...plugins] });
        return offered.map(({ name }) => name).sort();
      };
      const all = ["check-inventory", "fail", "prepare-meal", "report"];
      expect(await names(NetworkTools.all())).to.eql(all.map((name) => `kitchen__${name}`));
      expect(await names(NetworkTools.tagged("stock"))).to.eql([
        "kitchen__check-inventory",
        "kitchen__report",
      ]);
      expect(await names(NetworkTools.tagged("stock", "fast"))).to.eql([
        "kitchen__check-inventory",
      ]);
    }));

  it("require the plugin, and tags", async () => {
    const failed = await called([NetworkTools.all()], MEAL).catch((error: unknown) => error);
    expect(ToolConfigurationError.find(failed)?.message).to.include("need the plugin network()");
    expect(() => NetworkTools.tagged()).to.throw("needs tags");
  });
});

describe("network().network.request", () => {
  it("returns the same result for the same key, and executes the request once", async () => {
    let executions = 0;
    const backend = NetworkBackend.inMemory();
    const add = tool({
      name: "add",
      description: "Adds",
      input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
      execute: ({ a, b }) => {
        executions++;
        return String(Number(a) + Number(b));
      },
    });
    await using adder = new Ensemble({ name: "adder", shareTools: { add } });
    await using _service = await adder.start({ backend, signals: false });
    const { network: calls } = network({ name: "shop", backend });
    const content = { inputs: { a: 2, b: 3 }, requestId: "order-4711" };
    for (let n = 0; n < 2; n++) {
      const { status, result } = await calls.request("adder", "add", content);
      expect([status, result]).to.eql(["COMPLETED", "5"]);
    }
    expect(executions).to.equal(1);
    const other = calls.request("adder", "add", { ...content, inputs: { a: 9, b: 9 } });
    await rejectionOf(RequestConflictError, other);
  });

  it("rejects without a result in time, and names the id for another request", async () => {
    const remote = remoteWith({ response: waiting });
    const { network: calls } = network({ name: "shop", ensembles: { kitchen: remote } });
    const error = await rejectionOf(
      NetworkError,
      calls.request("kitchen", "meal", { requestId: "r1" }, { timeoutMs: 20 }),
    );
    expect([error.ensemble, error.hint]).to.eql([
      "kitchen",
      "No instance shares anything now: is one started, on the same backend? The request continues. Repeat the call with requestId 'r1'.",
    ]);
    const controller = new AbortController();
    const { signal } = controller;
    const cancelled = calls.request("kitchen", "meal", { requestId: "r2" }, { signal });
    controller.abort(new Error("not hungry"));
    expect((await rejectionOf(Error, cancelled)).message).to.equal("not hungry");
    expect(remote.cancelled).to.eql(["r2"]);
  });

  it("refuses inconsistent options", async () => {
    const odd = (o: object) => (): unknown => network({ name: "shop", ...o });
    expect(odd({ name: "a b" })).to.throw("name must be 1 to 64 letters");
    expect(odd({ ensembles: { kitchen: { address: "http://x" } } })).to.throw(
      "ensembles.kitchen must be a backend, a Remote or { url }",
    );
    expect(odd({ backend: {} })).to.throw("backend must be a backend");
    expect(odd({ ensemble: {} })).to.throw("Did you mean 'ensembles'?");
    const { network: calls } = network({ name: "shop", ensembles: { kitchen: remoteWith({}) } });
    const unknown = await rejectionOf(ToolConfigurationError, calls.request("kitchn", "meal"));
    expect(unknown.message).to.include("Did you mean 'kitchen'?");
  });
});

describe("stubs", () => {
  it("return their text, and keep the inputs of their calls", async () => {
    const recording = NetworkTask.recording("kitchen", "prepare-meal");
    const { text } = await called([recording], MEAL);
    expect(text).to.include("recorded");
    expect(recording.calls).to.eql([{ context: "soup" }]);
    const stub = NetworkTool.stub("kitchen", "prepare-meal", "no soup");
    expect((await called([stub], MEAL)).text).to.include("no soup");
  });
});

describe("the decision of a remote review", () => {
  it("is sent once, for any number of messages, and its outcome is returned", async () => {
    const backend = NetworkBackend.inMemory();
    const kitchenTransport = Transport.of("kitchen", backend);
    const decided: unknown[] = [];
    const leave = await receiveDecisions(backend, "r1", async (reviewId, decision) => {
      decided.push([reviewId, (decision as { readonly type: string }).type]); // sent below
      return decided.length === 1;
    });
    const decision = ReviewDecision.continue({ by: "ana" });
    expect(await kitchenTransport.decide("r1", "review-1", decision)).to.equal(true);
    expect(await kitchenTransport.decide("r1", "review-1", decision)).to.equal(false);
    leave();
    expect(decided).to.eql([
      ["review-1", "CONTINUE"],
      ["review-1", "CONTINUE"],
    ]);
    await backend.close();
  });

  it("is an error if no instance answers", async () => {
    const clock = { monotonicMs: () => 0, sleep: async () => undefined };
    const transport = Transport.of("kitchen", NetworkBackend.inMemory(), { clock });
    const error = await rejectionOf(
      NetworkError,
      transport.decide("r1", "review-1", ReviewDecision.continue()),
    );
    expect(error.message).to.include("No instance answered");
  });
});
