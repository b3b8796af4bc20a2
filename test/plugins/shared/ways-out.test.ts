import { deepStrictEqual } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { expect } from "chai";
import type { EnsembleEvent } from "../../../src/index.js";
import { Agent, Ensemble, Task, tool, ValidationError } from "../../../src/index.js";
import { showProgress } from "../../../src/cli/progress.js";
import * as Redaction from "../../../src/contracts/redaction.js";
import { errorJson, errorText } from "../../../src/cli/report-error.js";
import { runJson } from "../../../src/cli/run-result.js";
import { OutputTerminal } from "../../../src/cli/terminal.js";
import { winstonLogging } from "../../../src/plugins/logging/index.js";
import { mcpServer } from "../../../src/mcp.js";
import {
  consoleProgress,
  jsonTraceExporter,
  redacted,
  type RedactedEvent,
} from "../../../src/observability.js";
import { otel } from "../../../src/plugins/observability/otel/index.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";
import type { ScriptStep } from "../../../src/plugins/testing/script-step.js";
import { setEnvironment } from "../../support/environment.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { RecordedSpans } from "../observability/otel/span-tree.js";

/** Neither has the form of a key: only a redactor with their values can remove them. */
const CONFIGURED = "aster zinnia configured";
const ENVIRONMENT = "marigold-in-the-environment";
const BOTH = `${CONFIGURED} and ${ENVIRONMENT}`;

/** A model that has its key, like those of vendors. */
function keyed(...script: readonly ScriptStep[]): ScriptedModel {
  return Object.assign(new ScriptedModel(script), {
    redact: (text: string) => text.replaceAll(CONFIGURED, "[redacted]"),
  });
}

const leak = tool({
  name: "leak",
  description: "Fails",
  input: { type: "object" },
  execute: () => {
    throw new Error(`refused with ${BOTH}`);
  },
});

const clerk = new Agent({ role: "Clerk", goal: `Use ${BOTH}`, tools: [leak] });
const callOfLeak = { toolCalls: [{ name: "leak", arguments: { note: BOTH } }] };
const failing = (): ScriptedModel => keyed(callOfLeak, new Error(`the vendor said ${BOTH}`));
const task = new Task({ name: "tell", description: `Tell of ${BOTH}`, agent: clerk });

function expectClean(shown: string, what: string): void {
  expect(shown, what).to.include("[redacted]");
  for (const secret of [CONFIGURED, ENVIRONMENT]) expect(shown, what).to.not.include(secret);
}

describe("a configured key and a key of the environment, at every output of the process", () => {
  beforeEach(() => setEnvironment({ ACME_API_KEY: ENVIRONMENT }));

  it("do not appear in console, logs, spans and exports", async () => {
    const folder = temporaryFolder();
    const printed: string[] = [];
    const logged: unknown[] = [];
    const spans = new RecordedSpans();
    const take = (...line: readonly unknown[]): void => void logged.push(line);
    await using ensemble: Ensemble = new Ensemble({
      model: failing(),
      tasks: [task],
      verbose: true,
      traceExporter: jsonTraceExporter({ dir: folder, dag: () => ensemble.toDag() }),
      plugins: [
        consoleProgress({ stream: { write: (text) => printed.push(text) }, color: false }),
        winstonLogging({ logger: { error: take, warn: take, info: take, debug: take } }),
        otel({ tracerProvider: spans.tracerProvider, captureContent: true }),
      ],
    });
    await ensemble.run({}, { throwOnError: false, runId: "run-1" });
    const told = spans.all.map(({ attributes, events, status }) => ({
      attributes,
      events,
      status,
    }));
    for (const [what, text] of [
      ["console", printed.join("")],
      ["logs", JSON.stringify(logged)],
      ["spans", JSON.stringify(told)],
      ["trace", readFileSync(join(folder, "run-1.trace.json"), "utf8")],
      ["diagram", readFileSync(join(folder, "run-1.dag.json"), "utf8")],
    ] as const)
      expectClean(text, what);
  });

  it("do not appear in the command line's output of a run", async () => {
    await using ensemble = new Ensemble({ model: failing(), tasks: [task] });
    const handle = ensemble.stream({}, { throwOnError: false });
    const progress: string[] = [];
    await showProgress(
      handle.events,
      { write: (text) => progress.push(text) },
      (_style, text) => text,
    );
    const output = await handle.output;
    expectClean(progress.join(""), "progress");
    expectClean(errorText(output.error, new OutputTerminal(true)), "error");
    expectClean(JSON.stringify(errorJson(output.error)), "error as JSON");
    expectClean(
      JSON.stringify((runJson(output, undefined) as { readonly error: unknown }).error),
      "error in a result",
    );
    const early = new ValidationError(`No model for ${ENVIRONMENT}`); // before there is a run
    expectClean(errorText(early, new OutputTerminal(false)), "error before the run");
  });

  it("do not appear in failures that clients of an MCP server receive", async () => {
    await using server = mcpServer({ model: failing(), tasks: [task], tools: [leak] });
    const [near, far] = InMemoryTransport.createLinkedPair();
    void server.serve(near);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(far);
    try {
      const told = await client.callTool({ name: "tell", arguments: {} });
      expectClean(JSON.stringify(told), "failure of a task");
      const failed = await client.callTool({ name: "leak", arguments: {} });
      expectClean(JSON.stringify(failed), "failure of a tool");
    } finally {
      await client.close();
    }
  });

  it("of a joining run are redacted in both runs", async () => {
    await using inner = new Ensemble({ model: failing(), tasks: [task] });
    const outer = new Ensemble({
      tasks: [
        new Task({
          description: "Run the others",
          handler: async ({ run }) => (await inner.run({}, { parent: run })).raw,
        }),
      ],
    });
    const { trace } = await outer.run({}, { throwOnError: false });
    expectClean(trace.toJson(), "trace of the outer run");
    await outer.dispose();
  });
});

describe("redacted()", () => {
  beforeEach(() => setEnvironment({ ACME_API_KEY: ENVIRONMENT }));

  const eventsOf = async (): Promise<readonly EnsembleEvent[]> => {
    const events: EnsembleEvent[] = [];
    await using ensemble = new Ensemble({
      model: failing(),
      tasks: [task],
      on: (e) => void events.push(e),
    });
    await ensemble.run({}, { throwOnError: false });
    return events;
  };

  it("removes secrets from every event, and leaves the event unchanged", async () => {
    const events = await eventsOf();
    const shown = events.map((e) => redacted(e));
    expectClean(JSON.stringify(shown), "events");
    expect(structuredClone(shown), "no live object").to.deep.equal(shown);
    expect(shown.map(({ type, seq }) => ({ type, seq }))).to.deep.equal(
      events.map(({ type, seq }) => ({ type, seq })),
    );
    const started = ({ type }: EnsembleEvent | RedactedEvent): boolean => type === "task_started";
    expect(events.find(started)).to.have.property("taskDescription", `Tell of ${BOTH}`);
    expect(shown.find(started)).to.have.property(
      "taskDescription",
      "Tell of [redacted] and [redacted]",
    );
    const failed = shown.find(({ type }) => type === "task_failed");
    const cause = failed?.["cause"];
    expect(cause).to.have.all.keys("name", "message", "code");
    expect(cause).to.include({ name: "TaskExecutionError", code: "AE_TASK_EXECUTION" });
    expect(cause).to.have.property("message").that.includes("[redacted]");
  });

  it("omits a code that is not a text", async () => {
    const events = await eventsOf();
    const failed = events.find(({ type }) => type === "task_failed");
    if (failed?.type !== "task_failed") throw new Error("no task failed");
    Object.defineProperty(failed.cause, "code", { value: { live: () => BOTH } });
    expect(redacted(failed)["cause"]).to.have.all.keys("name", "message");
  });

  it("keeps the text of tokens, whose field has the name of a secret", async () => {
    const tokens: unknown[] = [];
    await using ensemble = new Ensemble({
      model: keyed("a plain answer"),
      tasks: [Task.of("Answer")],
      onToken: (e) => void tokens.push(redacted(e)["token"]),
    });
    await ensemble.run();
    expect(tokens.join("")).to.equal("a plain answer");
  });

  it("refuses events without a run: copies, and events that were read from JSON", async () => {
    const [event] = await eventsOf();
    if (event === undefined) throw new Error("there was no event");
    for (const copy of [{ ...event }, JSON.parse(JSON.stringify(event)) as EnsembleEvent])
      expect(() => redacted(copy)).to.throw(ValidationError, "redacted()");
    expect(JSON.stringify(event)).to.not.include("redactor");
  });

  it("requires no property of an event, which equals its copy", async () => {
    const [event] = await eventsOf();
    expect(Reflect.ownKeys(event ?? {})).to.deep.equal(Object.keys(event ?? {}));
    deepStrictEqual(event, { ...event });
  });

  it("reads the events of another copy of the package", async () => {
    const copy = (await import(
      new URL("../../../src/contracts/redaction.js?copy", import.meta.url).href
    )) as typeof Redaction;
    expect(copy.redactorOf).to.not.equal(Redaction.redactorOf);
    const [event] = await eventsOf();
    expect(copy.redactorOf(event)?.redactText(CONFIGURED)).to.equal("[redacted]");
    expect(copy.redactorOf({ ...event })).to.equal(undefined);
  });
});
