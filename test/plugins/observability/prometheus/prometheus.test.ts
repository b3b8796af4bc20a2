import type { Server } from "node:http";
import { createServer } from "node:http";
import { expect } from "chai";
import { Counter, Gauge, Registry } from "prom-client";
import { z } from "zod";
import {
  Agent,
  answer,
  definePlugin,
  Ensemble,
  ModelCallError,
  Task,
  Tokens,
  tool,
  ToolResult,
  ValidationError,
} from "../../../../src/index.js";
import type { EnsembleOptions, Plugin } from "../../../../src/index.js";
import { prometheus } from "../../../../src/plugins/observability/prometheus/index.js";
import type {
  PrometheusOptions,
  PrometheusPlugin,
} from "../../../../src/plugins/observability/prometheus/index.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { pause } from "../../../support/time.js";

const agent = (role: string, more: object = {}): Agent =>
  new Agent({ role, goal: "Do it", ...more });
const job = (more: object = {}): Task =>
  new Task({
    name: "job",
    description: "A long description that is no label",
    agent: agent("Clerk", more),
  });
const useTool = (name: string): { toolCalls: { name: string; arguments: object }[] } => ({
  toolCalls: [{ name, arguments: { input: "x" } }],
});
const echo = tool({ name: "echo", description: "Echo", execute: (input) => input });

/** The value of one series, written as in the text format. */
async function value(plugin: PrometheusPlugin, series: string): Promise<number | undefined> {
  const lines = (await plugin.metrics())
    .split("\n")
    .filter((line) => line.startsWith(`agentensemble_${series} `));
  return lines.length === 0 ? undefined : Number(lines[0]?.split(" ").at(-1));
}

describe("prometheus", () => {
  /** Runs once until any end, and returns the plugin. */
  async function run(
    options: Partial<EnsembleOptions>,
    o: PrometheusOptions = {},
    more: readonly Plugin[] = [],
  ): Promise<PrometheusPlugin> {
    const plugin = prometheus(o);
    await using ensemble = new Ensemble({ tasks: [job()], ...options, plugins: [plugin, ...more] });
    await ensemble.run().catch(() => undefined);
    return plugin;
  }

  it("counts runs, tasks, tokens and calls", async () => {
    const model = new ScriptedModel([{ text: "ok", usage: { inputTokens: 7, outputTokens: 3 } }], {
      provider: "openai",
      modelId: "m1",
    });
    const plugin = await run({
      model,
      costConfiguration: { inputTokenRate: 1, outputTokenRate: 2, currency: "EUR" },
    });
    expect(
      await value(plugin, 'runs_total{workflow="SEQUENTIAL",exit_reason="COMPLETED"}'),
    ).to.equal(1);
    expect(await value(plugin, 'run_duration_seconds_count{workflow="SEQUENTIAL"}')).to.equal(1);
    expect(await value(plugin, 'completed_tasks_total{agent_role="Clerk"}')).to.equal(1);
    expect(await value(plugin, 'task_duration_seconds_count{agent_role="Clerk"}')).to.equal(1);
    expect(await value(plugin, 'tokens_total{direction="input",model="m1"}')).to.equal(7);
    expect(await value(plugin, 'tokens_total{direction="output",model="m1"}')).to.equal(3);
    expect(await value(plugin, 'estimated_cost_total{currency="EUR"}')).to.equal(13);
    expect(
      await value(
        plugin,
        'llm_call_duration_seconds_count{provider="openai",model="m1",purpose="task",outcome="ok"}',
      ),
    ).to.equal(1);
    expect(await value(plugin, "active_tasks")).to.equal(0);
    expect(await value(plugin, "active_runs")).to.equal(0);
    expect(await plugin.metrics()).to.not.include("long description");
  });

  it("distinguishes successes, failures and errors of tools, and ignores names that a model invented", async () => {
    const throwing = tool({
      name: "throwing",
      description: "Throws",
      execute: () => Promise.reject(new Error("boom")),
    });
    const failing = tool({
      name: "failing",
      description: "Fails",
      execute: () => ToolResult.failure("no"),
    });
    const counting = tool({
      name: "counting",
      description: "Counts",
      input: z.object({ count: z.number() }),
      execute: ({ count }) => String(count),
    });
    const model = new ScriptedModel([
      useTool("echo"),
      useTool("throwing"),
      useTool("failing"),
      useTool("invented"),
      useTool("counting"), // without the count that the tool requires
      "ok",
    ]);
    const tools = [echo, throwing, failing, counting];
    const plugin = await run({ model, tasks: [job({ tools })] });
    const count = (name: string, outcome: string): Promise<number | undefined> =>
      value(
        plugin,
        `tool_executions_total{tool_name="${name}",agent_role="Clerk",outcome="${outcome}"}`,
      );
    expect(await count("echo", "success")).to.equal(1);
    expect(await count("throwing", "error")).to.equal(1);
    expect(await count("failing", "failure")).to.equal(1);
    expect(await count("other", "failure")).to.equal(1);
    expect(await count("counting", "failure")).to.equal(1);
    expect(await plugin.metrics()).to.not.include("invented");
    expect(
      await value(plugin, 'tool_duration_seconds_count{tool_name="echo",agent_role="Clerk"}'),
    ).to.equal(1);
  });

  it("counts failures by kind, attempts and retries, and the cost of a run that fails", async () => {
    const error = new ModelCallError("down", {
      provider: "p",
      modelId: "m",
      code: "AE_MODEL_SERVER",
      retryable: true,
    });
    const policy = definePlugin({
      name: "twice",
      bind: (b) =>
        void b
          .single(Tokens.RetryPolicy, { override: true })
          .toConstantValue({ next: (_e, attempt) => (attempt < 2 ? { delayMs: 1 } : undefined) }),
    });
    const model = new ScriptedModel([
      { text: "first", usage: { inputTokens: 10, outputTokens: 0 } },
      { error },
      { error },
    ]);
    const options = {
      model,
      tasks: [job(), Task.of("Second")],
      costConfiguration: { inputTokenRate: 1, outputTokenRate: 1 },
    };
    const plugin = await run(options, {}, [policy]);
    expect(await value(plugin, 'runs_total{workflow="SEQUENTIAL",exit_reason="ERROR"}')).to.equal(
      1,
    );
    expect(await plugin.metrics()).to.match(
      /failed_tasks_total\{agent_role="[^"]+",error_type="AE_MODEL_SERVER"\} 1/,
    );
    expect(await plugin.metrics()).to.match(/retries_total\{agent_role="[^"]+"\} 1/);
    expect(
      await value(
        plugin,
        'llm_call_duration_seconds_count{provider="scripted",model="scripted",purpose="task",outcome="failed"}',
      ),
    ).to.equal(2);
    expect(await value(plugin, 'estimated_cost_total{currency="USD"}')).to.equal(10);
  });

  it("does not measure the time of calls that were answered from a cache", async () => {
    const cached = definePlugin({
      name: "cache",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap({ name: "cache", lane: "answer" }, () =>
          answer({ message: { role: "assistant", content: "known" }, finishReason: "stop" }),
        ),
    });
    const plugin = await run({ model: new ScriptedModel([]) }, {}, [cached]);
    expect(await plugin.metrics()).to.not.include('outcome="answered"');
    expect(await value(plugin, 'completed_tasks_total{agent_role="Clerk"}')).to.equal(1);
  });

  it("increases and decreases its gauges, even for a cancelled run", async () => {
    const plugin = prometheus();
    const abort = new AbortController();
    let during: readonly (number | undefined)[] = [];
    const model = new ScriptedModel(async () => {
      during = [await value(plugin, "active_tasks"), await value(plugin, "active_runs")];
      abort.abort();
      await pause(5);
      return "late";
    });
    await using ensemble = new Ensemble({ model, tasks: [job()], plugins: [plugin] });
    await ensemble.run({}, { signal: abort.signal }).catch(() => undefined);
    expect(during).to.deep.equal([1, 1]);
    expect([await value(plugin, "active_tasks"), await value(plugin, "active_runs")]).to.deep.equal(
      [0, 0],
    );
    expect(
      await value(plugin, 'runs_total{workflow="SEQUENTIAL",exit_reason="CANCELLED"}'),
    ).to.equal(1);
    expect(
      await value(plugin, 'failed_tasks_total{agent_role="Clerk",error_type="AE_RUN_CANCELLED"}'),
    ).to.equal(1);
  });

  it("counts calls that wait for a rate limit", async () => {
    const { RateLimit } = await import("../../../../src/index.js");
    const plugin = await run({
      model: new ScriptedModel(["a", "b"]),
      tasks: [job(), Task.of("two")],
      rateLimit: RateLimit.of(1, 2_000), // longer than a busy machine needs for the first call
    });
    expect(await plugin.metrics()).to.match(/rate_limited_total\{agent_role="[^"]+"\} 1/);
  });

  it("keeps the number of series bounded", async () => {
    const tasks = Array.from(
      { length: 5 },
      (_, i) => new Task({ description: `t${i}`, agent: agent(`Role ${i}`) }),
    );
    const plugin = await run(
      { model: new ScriptedModel(() => "ok"), tasks },
      { maxLabelValues: 2 },
    );
    expect(await value(plugin, 'completed_tasks_total{agent_role="Role 0"}')).to.equal(1);
    expect(await value(plugin, 'completed_tasks_total{agent_role="Role 1"}')).to.equal(1);
    expect(await value(plugin, 'completed_tasks_total{agent_role="other"}')).to.equal(3);
    expect(await plugin.metrics()).to.not.include("Role 2");
  });

  it("uses a separate registry, or one shared between kernels", async () => {
    const [one, two] = [
      await run({ model: new ScriptedModel(["ok"]) }),
      await run({ model: new ScriptedModel(["ok"]) }),
    ];
    const series = 'completed_tasks_total{agent_role="Clerk"}';
    expect([await value(one, series), await value(two, series)]).to.deep.equal([1, 1]);
    const registry = new Registry();
    new Counter({ name: "mine", help: "mine", registers: [registry] }).inc();
    await run({ model: new ScriptedModel(["ok"]) }, { registry });
    const shared = await run({ model: new ScriptedModel(["ok"]) }, { registry });
    expect(await value(shared, series)).to.equal(2);
    expect(await shared.metrics()).to.include("mine 1");
    expect(shared.contentType).to.equal(registry.contentType);
    const taken = new Registry();
    new Gauge({ name: "agentensemble_runs_total", help: "x", registers: [taken] });
    await using ensemble = new Ensemble({
      model: new ScriptedModel(["ok"]),
      tasks: [job()],
      plugins: [prometheus({ registry: taken })],
    });
    const error = await ensemble.run().catch((e: unknown) => e);
    expect(ValidationError.find(error)?.message).to.include("agentensemble_runs_total");
  });

  it("counts for every kernel of the plugin, even after the end of another one", async () => {
    const plugin = prometheus({ listen: { port: 0 } });
    const [first, second] = [0, 1].map(
      () =>
        new Ensemble({
          model: new ScriptedModel(() => "ok"),
          tasks: [job()],
          plugins: [plugin],
        }),
    );
    if (first === undefined || second === undefined) throw new Error("there are two");
    const series = 'completed_tasks_total{agent_role="Clerk"}';
    try {
      await Promise.all([first.run(), second.run()]);
      const { url = "" } = plugin;
      await second.dispose();
      await first.run();
      expect(await value(plugin, series)).to.equal(3);
      expect(await value(plugin, "active_runs")).to.equal(0);
      expect(await (await fetch(url)).text()).to.include(series);
    } finally {
      await first.dispose();
      await second.dispose();
    }
    expect(plugin.url).to.equal(undefined);
  });

  it("accepts another prefix", async () => {
    const plugin = await run({ model: new ScriptedModel(["ok"]) }, { prefix: "team_" });
    expect(await plugin.metrics())
      .to.include("team_runs_total{")
      .and.not.include("agentensemble_");
  });

  describe("its endpoint", () => {
    it("is available until the kernel is disposed of", async () => {
      const plugin = prometheus({ listen: { port: 0 } });
      expect(plugin.url).to.equal(undefined);
      const ensemble = new Ensemble({
        model: new ScriptedModel(["ok"]),
        tasks: [job()],
        plugins: [plugin],
      });
      await ensemble.run();
      const url = plugin.url ?? "";
      expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
      const response = await fetch(url);
      expect(response.headers.get("content-type")).to.include("text/plain; version=0.0.4");
      expect(await response.text()).to.include(
        'agentensemble_completed_tasks_total{agent_role="Clerk"} 1',
      );
      expect((await fetch(url, { method: "HEAD" })).status).to.equal(200);
      expect((await fetch(url, { method: "POST", body: "x" })).status).to.equal(405);
      expect((await fetch(url.replace("/metrics", "/other"))).status).to.equal(404);
      expect(await statusFor(url, "evil.example")).to.equal(403);
      await ensemble.dispose();
      expect(plugin.url).to.equal(undefined);
      expect(await fetch(url).catch(() => "refused")).to.equal("refused");
    });

    it("fails the start of the kernel if its port is in use", async () => {
      const blocker = createServer();
      await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve));
      try {
        const { port } = blocker.address() as { readonly port: number }; // a TCP server's
        await using ensemble = new Ensemble({
          model: new ScriptedModel(["ok"]),
          tasks: [job()],
          plugins: [prometheus({ listen: { port } })],
        });
        expect(String(await ensemble.run().catch((e: unknown) => e))).to.include("EADDRINUSE");
      } finally {
        blocker.close();
      }
    });

    it("can be replaced by the handler in the user's server", async () => {
      const plugin = await run({ model: new ScriptedModel(["ok"]) });
      const server: Server = createServer(
        (request, response) => void plugin.handler(request, response),
      );
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const { port } = server.address() as { readonly port: number }; // a TCP server's
        const text = await (await fetch(`http://127.0.0.1:${port}/anything`)).text();
        expect(text).to.include("agentensemble_runs_total");
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  });

  it("refuses invalid options", () => {
    const wrong: readonly [PrometheusOptions, string][] = [
      [{ prefixes: "x" } as never, "Did you mean 'prefix'"],
      [{ registry: {} as never }, "registry"],
      [{ registry: null as never }, "registry"],
      [{ prefix: "1-" }, "prefix"],
      [{ maxLabelValues: 0 }, "maxLabelValues"],
      [{ listen: {} as never }, "port"],
      [{ listen: { port: 70_000 } }, "65535"],
      [{ listen: { port: -1 } }, "listen.port"],
      [{ listen: { port: 0, host: "0.0.0.0" } }, "listen.host"],
      [{ listen: { port: 0, hosts: "x" } as never }, "Did you mean 'host'"],
    ];
    for (const [options, text] of wrong)
      expect(() => prometheus(options)).to.throw(ValidationError, text);
  });
});

/** The status of a request that names another host, which `fetch` can't send. */
async function statusFor(url: string, host: string): Promise<number | undefined> {
  const { get } = await import("node:http");
  return new Promise((resolve, fail) => {
    get(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", fail);
  });
}
