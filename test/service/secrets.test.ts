import { expect } from "chai";
import * as fc from "fast-check";
import type {
  Ensemble as AnyEnsemble,
  NetworkBackend as Backend,
  Service,
} from "../../src/index.js";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, AgentEnsembleError, Ensemble, Task, tool } from "../../src/index.js";
import { z } from "zod";
import { a2a } from "../../src/plugins/network/shared/a2a-client/a2a-remote.js";
import { jsonTraceExporter } from "../../src/plugins/observability/shared/json-trace-exporter.js";
import { until } from "../support/time.js";
import { NetworkTask, network } from "../../src/plugins/network/calling/index.js";
import { webhook } from "../../src/plugins/network/ingress/webhook.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { transportOf } from "../../src/plugins/network/shared/transport.js";
import { winstonLogging } from "../../src/plugins/logging/index.js";
import { prometheus } from "../../src/plugins/observability/prometheus/index.js";
import { signedHeaders } from "../../src/plugins/shared/webhooks/webhook-signature.js";
import { ScriptedModel } from "../../src/plugins/testing/index.js";
import { plainClient, textRequest } from "../plugins/network/a2a/plain-client.js";
import { LoopbackSite } from "../support/loopback-site.js";
import { warningsOf } from "../support/warnings.js";
import { ask, eventLog, requests } from "./support.js";

const METRICS = prometheus();

/** The secrets of one service. */
interface Planted {
  readonly token: string;
  readonly other: string;
  readonly webhook: string;
  readonly signing: string;
  readonly backend: string;
}

/** All data that left the service, as text. */
class Seen {
  readonly #texts: string[] = [];

  add(value: unknown): void {
    this.#texts.push(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  }

  /** @throws AssertionError for a secret, in its plain form and in the forms of JSON and URLs. */
  expectNone(planted: Planted): void {
    for (const [name, secret] of Object.entries(planted) as [string, string][]) {
      const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
      for (const text of this.#texts)
        for (const form of forms)
          if (text.includes(form)) throw new Error(`${name} is in ${text.slice(0, 500)}`);
    }
  }

  /** Whether data of a kind was seen: a path without data proves nothing. */
  has(text: string): boolean {
    return this.#texts.some((one) => one.includes(text));
  }
}

const all = (planted: Planted): string => Object.values(planted).join(" and ");

/** A service whose tasks and tools repeat all its secrets wherever possible. */
function leakingKitchen(planted: Planted, seen: Seen, folder: string): AnyEnsemble {
  const leak = all(planted);
  const logger = {
    log: (...args: unknown[]) => seen.add(args),
    info: (...args: unknown[]) => seen.add(args),
  };
  return new Ensemble({
    name: "kitchen",
    model: new ScriptedModel([{ text: `The answer: ${leak}` }], { onExhausted: "repeat-last" }),
    shareTasks: {
      answer: Task.of("Repeat {context}"),
      parsed: new Task({
        description: "Return data",
        handler: () => ({ raw: leak, list: [leak], nested: { [planted.token]: leak } }),
      }),
      fail: new Task({
        description: "Fail",
        handler: (): string => {
          throw new AgentEnsembleError("AE_TEST", `It failed with ${leak}`, {
            cause: new Error(leak),
          });
        },
      }),
    },
    shareTools: {
      leak: tool({
        name: "leak",
        description: "Returns secrets",
        input: z.object({ context: z.string() }),
        execute: () => leak,
      }),
    },
    captureMode: "FULL",
    traceExporter: jsonTraceExporter({ dir: folder }),
    verbose: true,
    plugins: [METRICS, winstonLogging({ logger })],
  });
}

type Asking = (path: string, init?: RequestInit) => Promise<Readonly<Record<string, unknown>>>;

/** Sends a request to a service, and keeps its answers. */
function asking(service: Service, token: string, seen: Seen): Asking {
  return async (path, init = {}) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const answer = await fetch(`${service.url ?? ""}${path}`, {
      ...init,
      headers: { ...headers, ...(init.headers as Record<string, string>) }, // of this file
    });
    const text = await answer.text();
    seen.add(text);
    seen.add([...answer.headers]);
    try {
      return JSON.parse(text) as Readonly<Record<string, unknown>>;
    } catch {
      return {};
    }
  };
}

const TASKS = ["answer", "parsed", "fail", "leak"];

/** HTTP: requests, results, public data, operators' data, and refusals. */
async function overHttp(service: Service, planted: Planted, seen: Seen): Promise<void> {
  const ask = asking(service, planted.token, seen);
  for (const task of TASKS) {
    const body = JSON.stringify({ task, ...content(task) });
    const { requestId } = await ask("/api/work", { method: "POST", body });
    await ask(`/api/work/${String(requestId)}?waitMs=30000`);
  }
  for (const path of ["/.well-known/agent-card.json", "/api/health/live", "/api/health/ready"])
    await ask(path);
  for (const path of ["/api/status", "/api/usage", "/api/work/unknown", "/unknown"])
    await ask(path);
  for (const body of ["{", JSON.stringify({ task: 7 }), JSON.stringify({ task: "unknown" })])
    await ask("/api/work", { method: "POST", body });
  const operator = await fetch(`${service.url ?? ""}/api/queue/dead`);
  seen.add(await operator.text());
}

/** A shared tool takes arguments, a task a context. */
function content(task: string): { readonly context?: string; readonly inputs?: object } {
  return task === "leak" ? { inputs: { context: "it" } } : { context: "it" };
}

/** A2A with the protocol's own client: blocking, streaming, and the task afterwards. */
async function overA2a(service: Service, planted: Planted, seen: Seen): Promise<void> {
  const client = await plainClient(service.url ?? "", planted.token);
  for (const task of TASKS) {
    const asked = (messageId: string) => ({
      ...textRequest("it", { messageId, metadata: { skillId: task } }),
    });
    seen.add(await client.sendMessage(asked(`blocking-${task}`)));
    for await (const event of client.sendMessageStream(asked(`streaming-${task}`))) seen.add(event);
    seen.add(await client.getTask({ tenant: "", id: `blocking-${task}` }));
  }
}

/** Signed messages that create a request, and one whose mapping fails. */
async function webhooksIn(service: Service, planted: Planted, seen: Seen): Promise<void> {
  for (const [deliveryId, body] of [
    ["d-1", '{"task":"fail"}'],
    ["d-2", '{"task":"bad"}'],
  ] as const) {
    const signed = signedHeaders({ deliveryId, body, at: new Date() }, planted.webhook);
    const wrong = signedHeaders({ deliveryId, body, at: new Date() }, "another secret of others");
    for (const headers of [signed, wrong])
      await asking(
        service,
        planted.token,
        seen,
      )("/api/webhooks/orders", {
        method: "POST",
        body,
        headers,
      });
  }
}

/** Results of the queue, for an available and an unavailable webhook. */
async function overQueue(
  service: Service,
  o: { readonly backend: Backend; readonly site: LoopbackSite; readonly seen: Seen },
): Promise<void> {
  const { backend, site, seen } = o;
  const send = requests({ context: "it" });
  for (const task of ["answer", "parsed", "fail"]) seen.add(await ask(backend, send(task)));
  for (const path of ["/hook", "/gone"]) {
    const delivery = { method: "WEBHOOK" as const, address: site.url(path) };
    seen.add(await ask(backend, send("answer", { delivery })));
  }
  await until(() => site.requests.length >= 2);
  await until(async () => (await service.deadLetters()).length > 0);
  for (const letter of await service.deadLetters()) seen.add(letter);
  const remote = transportOf("kitchen", backend);
  const request = send("fail");
  await remote.send(request);
  const onProgress = (progress: unknown): void => seen.add(progress);
  seen.add(await remote.response(request.requestId, { timeoutMs: 30_000, onProgress }));
  for (const { body, headers } of site.requests) seen.add([body, headers]);
}

/** Callers of this framework: by name and by a separate connection. */
async function overNetwork(service: Service, planted: Planted, seen: Seen): Promise<void> {
  const url = service.url ?? "";
  const direct = a2a(url, { token: planted.token, name: "direct" });
  const calls = ["kitchen__fail", "direct__answer"].map((name) => ({
    toolCalls: [{ name, arguments: { context: "it" } }],
  }));
  const model = new ScriptedModel([...calls, { text: "done" }]);
  await using shop = new Ensemble({
    name: "shop",
    model,
    plugins: [
      network({ name: "shop", ensembles: { kitchen: { url, token: planted.token }, direct } }),
    ],
    tasks: [
      new Task({
        description: "Ask",
        agent: new Agent({
          role: "Waiter",
          goal: "Ask",
          tools: [NetworkTask.from("kitchen", "fail"), NetworkTask.from(direct, "answer")],
        }),
      }),
    ],
    listeners: [{ on: (event) => seen.add(event) }],
  });
  const output = await shop.run();
  seen.add(output.trace?.toJson());
  await direct.close();
}

/** A service with all its interfaces, with these secrets. */
async function lifeOf(planted: Planted): Promise<Seen> {
  const seen = new Seen();
  const folder = await mkdtemp(join(tmpdir(), "ae-secrets-"));
  const site = await LoopbackSite.start({
    "/hook": (_request, response) => void response.writeHead(200).end(),
    "/gone": (_request, response) => void response.writeHead(410).end(),
  });
  const log = eventLog();
  try {
    await using kitchen = leakingKitchen(planted, seen, folder);
    const backend = NetworkBackend.signed(NetworkBackend.inMemory(), { secret: planted.backend });
    const service = await kitchen.start({
      port: 0,
      signals: false,
      backend,
      callers: { shop: planted.token, hotel: { token: [planted.other] } },
      webhooks: {
        secret: planted.signing,
        hosts: ["127.0.0.1"],
        allow: { hosts: [site.host] },
        maxAttempts: 1,
      },
      ingress: [
        webhook({
          name: "orders",
          secret: planted.webhook,
          map: ({ task }) => {
            if (task === "bad") throw new Error(`It can't map ${all(planted)}`);
            return { task: String(task), context: "it" };
          },
        }),
      ],
      listeners: [log.listener],
    });
    await overHttp(service, planted, seen);
    await overA2a(service, planted, seen);
    await webhooksIn(service, planted, seen);
    await overQueue(service, { backend, site, seen });
    await overNetwork(service, planted, seen);
    seen.add(await METRICS.metrics());
    await service.stop();
    for (const event of log.events) seen.add(event);
    for (const file of await readdir(folder)) seen.add(await readFile(join(folder, file), "utf8"));
    return seen;
  } finally {
    await site.close();
    await rm(folder, { recursive: true });
  }
}

/** Tokens are sent in headers; secrets of signatures may have any characters. */
const TOKENS = fc.stringMatching(/^[!-~]{16,40}$/);
const SECRETS = fc.string({ minLength: 16, maxLength: 40, unit: "binary" });

describe("the secrets of a service", () => {
  it("are not in anything that it stores, sends or reports, for any results of its tasks", async function () {
    this.timeout(120_000);
    const planted = fc.record({
      token: TOKENS,
      other: TOKENS,
      webhook: SECRETS,
      signing: SECRETS,
      backend: SECRETS,
    });
    const isHard = (one: Planted): boolean => new Set(Object.values(one)).size === 5;
    await fc.assert(
      fc.asyncProperty(planted.filter(isHard), async (secrets) => {
        let seen = new Seen();
        const warnings = await warningsOf(async () => void (seen = await lifeOf(secrets)));
        for (const warning of warnings) seen.add(warning);
        seen.expectNone(secrets);
        // Each path has shown the place of a secret.
        for (const text of ["The answer: [redacted]", "It failed with [redacted]", "can't map"])
          expect(seen.has(text), text).to.equal(true);
      }),
      { numRuns: Number(process.env["FUZZ_RUNS"] ?? 2), endOnFailure: true },
    );
  });
});
