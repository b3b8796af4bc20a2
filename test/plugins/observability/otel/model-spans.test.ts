import { ROOT_CONTEXT } from "@opentelemetry/api";
import { expect } from "chai";
import { ModelSpans } from "../../../../src/plugins/observability/otel/model-spans.js";
import { RunTrace } from "../../../../src/plugins/observability/otel/run-trace.js";
import { startTelemetry } from "../../../../src/plugins/observability/otel/start-telemetry.js";
import { RecordedSpans } from "./span-tree.js";

const model = { provider: "p", modelId: "m", chat: () => undefined };
const run = { id: "run-1", tags: { team: "a" }, redact: (text: string) => text };
const usage = { inputTokens: 5, outputTokens: 2, cachedInputTokens: 1, reasoningTokens: 1 };

/** The parts of a trace, without a kernel. A test sets the time. */
async function traced(o: { captureContent?: boolean } = {}): Promise<{
  readonly spans: RecordedSpans;
  readonly trace: RunTrace;
  readonly calls: ModelSpans;
  readonly time: { ms: number };
}> {
  const spans = new RecordedSpans();
  const time = { ms: 0 };
  const clock = { now: () => new Date(time.ms), monotonicMs: () => time.ms };
  const tracing = await startTelemetry(
    { tracerProvider: spans.tracerProvider, ...o },
    clock,
    () => undefined,
  );
  const started = { runId: "run-1", workflow: "SEQUENTIAL", totalTasks: 1 };
  const trace = new RunTrace(tracing, started as never, ROOT_CONTEXT);
  return { spans, trace, calls: new ModelSpans(tracing), time };
}

function callOf(fields: object = {}): never {
  const request = { messages: [{ role: "user", content: "Hello" }] };
  return {
    ...{ model, request, agentRole: "Writer", purpose: "task", iteration: 0, attempt: 1, run },
    ...{ taskId: "t", durationMs: 10, outcome: "ok" },
    ...fields,
  } as never;
}

const attemptOf = (fields: object = {}): never =>
  ({
    taskId: "t",
    attempt: 1,
    task: { description: "Write" },
    agent: { role: "Writer" },
    ...fields,
  }) as never;

describe("the spans of model calls", () => {
  it("have the options of the request and the usage that the vendor reports", async () => {
    const { spans, trace, calls } = await traced({ captureContent: true });
    const request = {
      messages: [{ role: "user", content: "Hello" }],
      ...{ maxOutputTokens: 9, temperature: 0.5, stopSequences: ["."] },
      responseFormat: { type: "json" },
    };
    trace.beginAttempt(attemptOf(), undefined);
    calls.begin(trace, callOf({ request }));
    const message = { role: "assistant", content: "Hi" };
    const response = { message, finishReason: "stop", responseId: "r", modelId: "m-1", usage };
    calls.end(trace, callOf({ request, response }));
    expect(spans.one("chat m").attributes).to.include({
      "gen_ai.request.max_tokens": 9,
      "gen_ai.request.temperature": 0.5,
      "gen_ai.output.type": "json",
      "gen_ai.response.id": "r",
      "gen_ai.response.model": "m-1",
      "gen_ai.usage.input_tokens": 5,
      "gen_ai.usage.output_tokens": 2,
    });
  });

  it("contain the kind of each file of a message, without its data", async () => {
    const { spans, trace, calls } = await traced({ captureContent: true });
    const content = [
      { type: "image", data: "AAAA", mediaType: "image/png" },
      { type: "audio", data: "AAAA", mediaType: "audio/wav" },
      { type: "file", data: "AAAA", mediaType: "application/pdf" },
      { type: "file", data: "AAAA", mediaType: "video/mp4" },
    ];
    const request = { messages: [{ role: "user", content }] };
    calls.begin(trace, callOf({ request }));
    calls.end(trace, callOf({ request }));
    const [message] = JSON.parse(
      String(spans.one("chat m").attributes["gen_ai.input.messages"]),
    ) as { parts: { modality: string; mime_type: string; content: string }[] }[];
    expect(message?.parts.map((part) => [part.modality, part.mime_type, part.content])).to.eql([
      ["image", "image/png", ""],
      ["audio", "audio/wav", ""],
      ["document", "application/pdf", ""],
      ["video", "video/mp4", ""],
    ]);
  });

  it("contain known values only", async () => {
    const { spans, trace, calls } = await traced();
    calls.begin(trace, callOf());
    const message = { role: "assistant", content: "Hi" };
    calls.end(trace, callOf({ response: { message, finishReason: "stop" } }));
    calls.begin(trace, callOf());
    calls.end(trace, callOf({ outcome: "failed", error: new Error("down") }));
    const [ok, failed] = spans.named("chat m");
    expect(ok?.attributes).to.not.have.any.keys("gen_ai.response.id", "gen_ai.usage.input_tokens");
    expect(failed?.attributes).to.include({ "error.type": "Error" });
    expect(failed?.status.message).to.equal("down");
  });

  it("contain the time to the first chunk of a streamed answer", async () => {
    const { spans, trace, calls, time } = await traced();
    trace.beginAttempt(attemptOf(), undefined);
    const streaming = { ...model, stream: () => undefined };
    calls.begin(trace, callOf({ iteration: 1 })); // does not stream
    calls.begin(trace, callOf({ model: streaming }));
    for (const ms of [200, 900]) {
      time.ms = ms;
      calls.chunk(trace, "t");
    }
    calls.chunk(trace, "unknown");
    calls.end(trace, callOf({ model: streaming }));
    calls.end(trace, callOf({ iteration: 1 }));
    const [streamed, whole] = spans.named("chat m");
    const name = "gen_ai.response.time_to_first_chunk";
    expect(streamed?.attributes[name]).to.equal(0.2);
    expect(whole?.attributes).to.not.have.property(name);
  });

  it("represent answers without a call, and the task has an event for a call that was never made", async () => {
    const { spans, trace, calls } = await traced();
    calls.end(trace, callOf({ outcome: "failed", error: new Error("too late") })); // no task yet
    trace.beginAttempt(attemptOf(), undefined);
    calls.end(trace, callOf({ outcome: "answered" }));
    calls.end(trace, callOf({ outcome: "aborted" }));
    calls.end(trace, callOf({ outcome: "failed", error: new Error("refused") }));
    trace.completed({ taskId: "t", taskOutput: { metrics: usage } } as never);
    const answered = spans.one("chat m");
    expect(Object.values(answered.attributes)).to.include("answered");
    const { events } = spans.one("invoke_agent Writer");
    expect(events.map(({ attributes }) => attributes?.["error.type"])).to.deep.equal([
      undefined,
      "Error",
    ]);
  });

  it("belong to the attempt if a cache completed its started answer", async () => {
    const { spans, trace, calls } = await traced();
    calls.begin(trace, callOf());
    calls.end(trace, callOf({ outcome: "answered" }));
    expect(Object.values(spans.one("chat m").attributes)).to.include("answered");
  });
});

describe("the span of a run", () => {
  it("ends all open spans as aborted", async () => {
    const { spans, trace, calls } = await traced();
    calls.begin(trace, callOf({ taskId: "early" }));
    trace.beginAttempt(attemptOf(), model as never);
    calls.begin(trace, callOf());
    trace.error = new Error("stopped");
    trace.end(undefined);
    const outcomes = spans.all.map(({ name, attributes }) => [
      name,
      Object.values(attributes).includes("aborted"),
    ]);
    expect(outcomes).to.deep.equal([
      ["chat m", true],
      ["chat m", true],
      ["invoke_agent Writer", true],
      ["invoke_workflow", false],
    ]);
    expect(Object.values(spans.one("invoke_workflow").attributes)).to.include("ERROR");
  });

  it("contains the tags of its run and its outcome", async () => {
    const { spans, trace } = await traced();
    trace.root(run as never);
    trace.end({ exitReason: "COMPLETED", totalTokens: 7 } as never);
    const values = Object.values(spans.one("invoke_workflow").attributes);
    expect(values).to.include.members(["a", "COMPLETED", 7]);
  });

  it("contains tasks that fail before they begin, and ignores the end of an unknown task", async () => {
    const { spans, trace } = await traced();
    trace.completed({ taskId: "x", taskOutput: { metrics: usage } } as never);
    const event = { taskId: "t", taskIndex: 2, taskDescription: "Write" };
    trace.announce(event as never);
    trace.failed({ ...event, cause: new Error("no agent") } as never);
    trace.failed({
      ...event,
      taskId: "u",
      parentTaskId: "t",
      cause: new Error("no model"),
    } as never);
    trace.end(undefined);
    const failed = spans.all.filter(({ status }) => status.message !== undefined);
    expect(failed.map(({ status }) => status.message)).to.deep.equal(["no agent", "no model"]);
  });

  it("holds tasks without an agent, further attempts, and steps of a task below its parent", async () => {
    const { spans, trace } = await traced();
    trace.beginAttempt(attemptOf({ agent: undefined }), undefined);
    trace.beginAttempt(attemptOf({ agent: undefined, attempt: 2 }), undefined);
    const { context } = trace.task("t") ?? {};
    expect(trace.contextOf("child", "t")).to.equal(context);
    expect(trace.contextOf("child", undefined)).to.equal(trace.root().context);
    expect(trace.contextForInner()).to.equal(context);
    trace.memoryRead({ taskId: "t", kind: "entity", entries: 1, durationMs: 0 } as never);
    trace.memoryRead({
      taskId: "t",
      kind: "scope",
      scope: "s",
      entries: 0,
      durationMs: 0,
    } as never);
    trace.memoryWrite("s", ROOT_CONTEXT, new Error("full"));
    trace.beginMemoryWrite({ scope: "s" } as never);
    trace.memoryWrite("s", ROOT_CONTEXT, undefined);
    trace.completed({ taskId: "t", taskOutput: { metrics: usage } } as never);
    expect(trace.contextForInner()).to.equal(trace.root().context);
    trace.end(undefined);
    const [, full, written] = spans.all.filter(({ name }) => name.endsWith(" s"));
    expect([full?.status.message, written?.status.message]).to.deep.equal(["full", undefined]);
    expect(spans.all.some(({ name }) => name.endsWith(" entity"))).to.equal(true);
    const task = spans.all.find(
      ({ events }) => events.length > 0 && events[0]?.name !== "exception",
    );
    expect(task?.attributes).to.not.have.any.keys("gen_ai.usage.input_tokens", "gen_ai.agent.name");
  });
});
