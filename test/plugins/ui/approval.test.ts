import type { AnyTool, LogEntry } from "agentensemble";
import type { UIChunk } from "agentensemble/ui";
import { Agent, Review, ReviewDecision, Task, tool, Workflow } from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { redacted } from "agentensemble/observability";
import { review, reviewInbox } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { toAgUiEvents, toUIMessageStream } from "agentensemble/ui";
import { expect } from "chai";
import { pageStream } from "../../../src/plugins/shared/ui-stream/open-chunks.js";
import { storedChunks } from "../../../src/plugins/shared/ui-stream/stored-chunks.js";
import { collect } from "../../support/collect.js";
import { pause } from "../../support/time.js";
import { checkUiParts, messageOf, ofType, partsOf, started, textsOf, typesOf } from "./fixtures.js";

const END_AT_APPROVAL = { endAtApproval: true };

function removing(o: { readonly private?: boolean } = {}): AnyTool {
  return tool({
    name: "remove",
    description: "Removes",
    requireApproval: true,
    execute: () => "removed",
    ...o,
  });
}

const asking = (name: string): ScriptedModel =>
  new ScriptedModel([
    { toolCalls: [{ id: name, name: "remove", arguments: { name } }] },
    `${name} done`,
  ]);

function agentThat(model: ScriptedModel, used: AnyTool = removing()): Agent {
  return new Agent({ role: "Clerk", goal: "g", model, tools: [used] });
}

function inbox() {
  const store = reviewInbox();
  store.onRequest(() => undefined); // this process answers
  return { store, plugins: [review({ store })] };
}

describe("approval in a page", () => {
  it("requests a call's approval, and shows the answer as a state", async () => {
    const { store, plugins } = inbox();
    store.onRequest(({ reviewId }) => void store.resolve(reviewId, ReviewDecision.continue()));
    const handle = started({
      tasks: [new Task({ name: "t", description: "d", agent: agentThat(asking("a")) })],
      plugins,
    });
    const parts = await partsOf(toUIMessageStream(handle));
    await checkUiParts(parts);
    const [request] = ofType(parts, "tool-approval-request");
    expect(request).to.deep.include({ toolCallId: "a" });
    const states = ofType(parts, "data-review").map(({ id, data }) => ({
      id,
      ...(data as object),
    }));
    expect(states[0]).to.deep.include({ id: request?.["approvalId"], state: "waiting" });
    expect(states[0]).to.have.property("prompt");
    expect(states.at(-1)).to.deep.include({ id: request?.["approvalId"], state: "continue" });
    expect(
      ofType(parts, "data-task").map(({ data }) => (data as { state: string }).state),
    ).to.deep.equal(["running", "waiting", "running", "done"]);
  });

  it("does not show the question about a private call", async () => {
    const agent = agentThat(asking("a"), removing({ private: true }));
    const handle = started({
      tasks: [new Task({ description: "d", agent })],
      reviewHandler: () => ReviewDecision.continue(),
    });
    const parts = await partsOf(toUIMessageStream(handle));
    expect(ofType(parts, "data-review").map(({ data }) => data)).to.deep.equal([
      { state: "waiting" },
      { state: "continue" },
    ]);
    expect(ofType(parts, "tool-approval-request")).to.have.length(1);
  });

  it("ends the response while the run only waits for reviews, and continues in the next response", async () => {
    const { store, plugins } = inbox();
    const handle = started({
      tasks: [new Task({ description: "d", agent: agentThat(asking("a")) })],
      plugins,
    });
    const first = await partsOf(toUIMessageStream(handle, END_AT_APPROVAL));
    const before = await checkUiParts(first);
    expect(first.at(-1)).to.deep.include({ type: "finish", finishReason: "tool-calls" });
    const part = before.parts.find(({ type }) => type === "dynamic-tool");
    expect(part).to.deep.include({ state: "approval-requested", toolCallId: "a" });
    const [waits] = store.pending();
    expect((part as { approval: { id: string } }).approval.id).to.equal(waits?.reviewId);

    store.resolve(waits?.reviewId ?? "", ReviewDecision.continue());
    const second = await partsOf(toUIMessageStream(handle, END_AT_APPROVAL));
    expect(second[0]).to.deep.equal(first[0]); // the same message
    expect(second.at(-1)).to.deep.include({ type: "finish", finishReason: "stop" });
    const after = await messageOf(second, before);
    expect(after.parts.find(({ type }) => type === "dynamic-tool")).to.deep.include({
      state: "output-available",
      output: "removed",
    });
    expect(after.parts.findLast(({ type }) => type === "text")).to.deep.include({ text: "a done" });
  });

  it("separates a response from the previous one, also if that is read or cancelled late", async () => {
    const { store, plugins } = inbox();
    const handle = started({
      tasks: [new Task({ description: "d", agent: agentThat(asking("a")) })],
      plugins,
    });
    const first = toUIMessageStream(handle, END_AT_APPROVAL).getReader();
    const early: UIChunk[] = [];
    while (early.at(-1)?.type !== "tool-approval-request")
      early.push((await first.read()).value ?? { type: "" });
    const [waits] = store.pending();
    await pause(300); // the response has ended, and its reader is slow
    store.resolve(waits?.reviewId ?? "", ReviewDecision.continue());
    const second = toUIMessageStream(handle, END_AT_APPROVAL);
    const late: UIChunk[] = [];
    for (let next = await first.read(); next.value !== undefined; next = await first.read())
      late.push(next.value);
    expect(late.at(-1)).to.deep.include({ type: "finish", finishReason: "tool-calls" });
    const rest = await partsOf(second);
    await checkUiParts([...early, ...late]);
    expect(rest[0]?.type).to.equal("start");
    expect(textsOf(rest)).to.deep.equal(["a done"]);
    expect(rest.at(-1)).to.deep.include({ type: "finish", finishReason: "stop" });
  });

  it("waits for other tasks in progress before it ends the response", async () => {
    const { store, plugins } = inbox();
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const busy = new Task({
      name: "busy",
      description: "b",
      handler: async () => {
        await released;
        return "busy is done";
      },
    });
    const handle = started({
      workflow: Workflow.PARALLEL,
      tasks: [busy, new Task({ name: "ask", description: "d", agent: agentThat(asking("a")) })],
      plugins,
    });
    store.onRequest(() => void setImmediate(() => setImmediate(() => setImmediate(release))));
    const first = await partsOf(toUIMessageStream(handle, END_AT_APPROVAL));
    const done = first.findIndex(
      ({ type, data }) => type === "data-task" && (data as { state: string }).state === "done",
    );
    expect(done).to.be.greaterThan(typesOf(first).indexOf("tool-approval-request"));
    expect(first.at(-1)).to.deep.include({ finishReason: "tool-calls" });
    store.resolve(store.pending()[0]?.reviewId ?? "", ReviewDecision.exitEarly({ comment: "no" }));
    const second = await partsOf(toUIMessageStream(handle));
    expect(ofType(second, "tool-output-denied")).to.have.length(1);
    expect(textsOf(second)).to.deep.equal(["a done"]);
  });

  it("ends the response at a review of a task, and a later disconnection does not cancel the run", async () => {
    const { store, plugins } = inbox();
    const handle = started({
      model: new ScriptedModel(["draft"]),
      tasks: [new Task({ description: "d", review: Review.required("Fine?") })],
      plugins,
    });
    const stream = toUIMessageStream(handle, END_AT_APPROVAL);
    const reader = stream.getReader();
    const types: unknown[] = [];
    for (let read = await reader.read(); ; read = await reader.read()) {
      types.push(read.value?.type);
      if (read.value?.type === "data-review") break;
    }
    await new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
    await reader.cancel(); // `finish` has not been read
    store.resolve(store.pending()[0]?.reviewId ?? "", ReviewDecision.continue());
    expect((await handle.output).exitReason).to.equal("COMPLETED");
    const rest = await partsOf(toUIMessageStream(handle));
    expect(rest.at(-1)).to.deep.include({ type: "finish", finishReason: "stop" });
  });

  it("is an interrupt in AG-UI", async () => {
    const { store, plugins } = inbox();
    const handle = started({
      tasks: [new Task({ description: "d", agent: agentThat(asking("a")) })],
      plugins,
    });
    const first = await collect(toAgUiEvents(handle, END_AT_APPROVAL));
    const reviewId = store.pending()[0]?.reviewId ?? "";
    expect(first.at(-1)?.["outcome"]).to.deep.equal({
      type: "interrupt",
      interrupts: [{ id: reviewId, reason: "tool_call", toolCallId: "a" }],
    });
    expect(() => toUIMessageStream(handle))
      .to.throw()
      .with.property("code", "AE_VALIDATION");
    store.resolve(reviewId, ReviewDecision.continue());
    const second = await collect(toAgUiEvents(handle));
    expect(second[0]?.type).to.equal("RUN_STARTED");
    expect(second.at(-1)?.["outcome"]).to.deep.equal({ type: "success" });
  });

  it("remains open if the run is suspended, live and from the log", async () => {
    for (const endAtApproval of [false, true]) {
      const entries: LogEntry[] = [];
      const book = tool({
        name: "book",
        description: "b",
        requireApproval: true,
        execute: () => "x",
      });
      const handle = started(
        {
          model: new ScriptedModel([
            { text: "Wait.", toolCalls: [{ name: "book", arguments: {} }] },
          ]),
          tasks: [
            new Task({
              description: "d",
              agent: new Agent({ role: "A", goal: "g", tools: [book] }),
            }),
          ],
          plugins: [durable({ journal: Journal.inMemory(), suspendAfterMs: 0 })],
          on: (event) => void entries.push({ ...redacted(event), n: entries.length }),
        },
        { runId: "run-1" },
      );
      const live = await collect(toUIMessageStream(handle, { endAtApproval }));
      await handle.output.catch(() => undefined);
      const log = {
        read: (_id: string, after: number, limit: number) =>
          entries.filter(({ n }) => n > after).slice(0, limit),
      };
      const page = pageStream("run-1", { protocol: "ui", endAtApproval });
      const again = await collect(storedChunks(log, "run-1", page));
      for (const parts of [live, again]) {
        const { parts: shown } = await checkUiParts(parts);
        expect(shown.find(({ type }) => type === "dynamic-tool")).to.include({
          state: "approval-requested",
        });
        expect(parts.at(-1)).to.include({ type: "finish", finishReason: "tool-calls" });
      }
    }
  });
});
