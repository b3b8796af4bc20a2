import type { EnsembleEvent, EnsembleOptions, LogEntry, RunOptions, RunStore } from "agentensemble";
import type { UIChunk, UIStreamOptions } from "agentensemble/ui";
import { Agent, Phase, ReviewDecision, Task, tool } from "agentensemble";
import { redacted } from "agentensemble/observability";
import { ScriptedModel } from "agentensemble/testing";
import { toAgUiEvents, toUIMessageStream } from "agentensemble/ui";
import { expect } from "chai";
import { pageStream } from "../../../src/plugins/shared/ui-stream/open-chunks.js";
import { storedChunks } from "../../../src/plugins/shared/ui-stream/stored-chunks.js";
import { asText } from "../../../src/util/objects.js";
import { collect } from "../../support/collect.js";
import { rejection } from "../../support/rejection.js";
import { checkUiParts, started, typesOf } from "./fixtures.js";

/** A log as a store keeps it: JSON. */
function logOf(events: readonly EnsembleEvent[]): Pick<RunStore, "read"> {
  const entries = events.map(
    (event, n) =>
      JSON.parse(
        JSON.stringify({
          ...redacted(event),
          n,
        }),
      ) as LogEntry,
  );
  return { read: (_id, after, limit) => entries.filter(({ n }) => n > after).slice(0, limit) };
}

const ids = { runId: "run-1", protocol: "ui" as const };

const fromLog = (
  store: Pick<RunStore, "read">,
  o: UIStreamOptions = {},
): Promise<readonly UIChunk[]> =>
  collect(storedChunks(store, "run-1", pageStream("run-1", { ...ids, ...o })));

/**
 * Deltas of a part arrive in pieces of any size. States in between are omitted while a reader is
 * slow.
 */
function asReadSlowly(parts: readonly UIChunk[]): readonly UIChunk[] {
  const joined: UIChunk[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part["delta"] !== undefined && last?.type === part.type && last["id"] === part["id"])
      joined[joined.length - 1] = { ...last, delta: asText(last["delta"]) + asText(part["delta"]) };
    else if (part.type.startsWith("data-") && last?.type === part.type && last["id"] === part["id"])
      joined[joined.length - 1] = part;
    else joined.push(part);
  }
  return joined;
}

async function recorded(
  options: EnsembleOptions,
  run: RunOptions = {},
  o: UIStreamOptions = {},
): Promise<{ readonly events: readonly EnsembleEvent[]; readonly live: readonly UIChunk[] }> {
  const events: EnsembleEvent[] = [];
  const handle = started(
    { ...options, on: (event) => void events.push(event) },
    { ...run, runId: "run-1" },
  );
  const live = await collect(toUIMessageStream(handle, o));
  return { events, live };
}

const look = tool({ name: "look", description: "l", execute: () => "seen" });

const withTool = (): EnsembleOptions => ({
  tasks: [
    new Task({
      name: "t",
      description: "d",
      review: undefined,
      agent: new Agent({
        role: "A",
        goal: "g",
        tools: [look],
        model: new ScriptedModel([
          { text: "Wait.", toolCalls: [{ id: "l", name: "look", arguments: {} }] },
          { text: "It is there.", chunks: ["It is ", "there."] },
        ]),
      }),
    }),
  ],
});

const failing = (): EnsembleOptions => ({
  tasks: [
    new Task({
      description: "d",
      handler: (): string => {
        throw new Error("secret");
      },
    }),
  ],
});

describe("a stream rebuilt from the log of a run", () => {
  const phase = new Phase({ name: "one", tasks: [Task.of("a")] });
  const cases: Readonly<Record<string, () => Promise<Awaited<ReturnType<typeof recorded>>>>> = {
    "that called a tool": () => recorded(withTool()),
    "that failed": () => recorded(failing()),
    "that was too slow": () =>
      recorded(
        {
          tasks: [
            new Task({ description: "d", handler: () => new Promise<string>(() => undefined) }),
          ],
        },
        { timeoutMs: 500, cancelGraceMs: 1 },
      ),
    "that a reviewer ended": () =>
      recorded({
        model: new ScriptedModel(["x"]),
        tasks: [Task.of("a"), Task.of("b")],
        reviewPolicy: "AFTER_EVERY_TASK",
        reviewHandler: () => ReviewDecision.exitEarly(),
      }),
    "whose last task was not known in advance": () =>
      recorded({
        model: new ScriptedModel(["x", "the end"]),
        phases: [phase, new Phase({ name: "two", tasks: [Task.of("b")], after: [phase] })],
      }),
  };
  for (const [name, record] of Object.entries(cases))
    it(`equals the live stream for a run ${name}`, async () => {
      const { events, live } = await record();
      const parts = await fromLog(logOf(events));
      expect(asReadSlowly(parts)).to.deep.equal(asReadSlowly(live));
    });

  it("equals the live stream for a run that was cancelled", async () => {
    const events: EnsembleEvent[] = [];
    const model = new ScriptedModel([{ text: "late", delayMs: 60_000 }]);
    const handle = started(
      { model, tasks: [Task.of("t")], on: (event) => void events.push(event) },
      { runId: "run-1" },
    );
    const reader = toUIMessageStream(handle);
    handle.cancel("enough");
    const live = await collect(reader);
    const parts = await fromLog(logOf(events));
    expect(parts).to.deep.equal(live);
    expect(parts.at(-1)).to.deep.equal({ type: "abort" });
  });

  it("ends with an error wherever the log ends early", async () => {
    const { events } = await recorded(withTool());
    const kept = events.filter(({ type }) => type !== "ensemble_completed");
    for (let length = 1; length <= kept.length; length++) {
      const parts = await fromLog(logOf(kept.slice(0, length)));
      await checkUiParts(parts);
      expect(parts.at(-1)).to.deep.equal({
        type: "error",
        errorText: "An error occurred. (AE_RUN_INTERRUPTED)",
      });
    }
  });

  it("has no parts without a log, and reads long logs page by page", async () => {
    expect(await fromLog(logOf([]))).to.deep.equal([]);
    const text = "word ".repeat(1_000);
    const { events } = await recorded({
      model: new ScriptedModel([{ text, chunks: text.match(/.{5}/g) ?? [] }]),
      tasks: [Task.of("t")],
    });
    const log = logOf(events);
    const asked: number[] = [];
    const parts = await fromLog({
      read: (id, after, limit) => {
        asked.push(after);
        return log.read(id, after, limit);
      },
    });
    expect(asked.length).to.be.greaterThan(5);
    expect(typesOf(parts).at(-1)).to.equal("finish");
    expect(typesOf(parts).filter((type) => type === "text-delta").length).to.be.lessThan(20);
  });

  it("shows only the end of a run whose contents were not stored", async () => {
    const { events } = await recorded(withTool());
    const bare = ["taskOutput", "token", "toolResult", "structuredResult", "toolArguments"];
    const entries = events.map((event, n) => {
      const fields = Object.entries(redacted(event)).filter(([name]) => !bare.includes(name));
      return { ...Object.fromEntries(fields), n } as LogEntry;
    });
    const parts = await fromLog({
      read: (_id, after, limit) => entries.filter(({ n }) => n > after).slice(0, limit),
    });
    await checkUiParts(parts);
    expect(typesOf(parts)).to.not.include("text-delta");
    expect(parts.at(-1)).to.deep.include({ type: "finish", finishReason: "stop" });
  });

  it("continues after the end of an execution that was not the last", async () => {
    const { events } = await recorded(withTool());
    const twice = [...events, ...events.slice(0, -1)];
    const parts = await fromLog(logOf(twice));
    expect(parts.at(-1)?.type).to.equal("error");
    await checkUiParts(parts);
  });

  it("passes on errors of the store", async () => {
    const broken = { read: () => Promise.reject(new Error("no disk")) };
    expect(await rejection(fromLog(broken))).to.have.property("message", "no disk");
  });

  it("also supports AG-UI", async () => {
    const events: EnsembleEvent[] = [];
    const handle = started(
      { ...withTool(), on: (event) => void events.push(event) },
      { runId: "run-1" },
    );
    const live = await collect(toAgUiEvents(handle, { threadId: "th" }));
    const stream = pageStream("run-1", { protocol: "ag-ui", threadId: "th" });
    const parts = await collect(storedChunks(logOf(events), "run-1", stream));
    expect(typesOf(parts).filter((type) => type !== "TEXT_MESSAGE_CONTENT")).to.deep.equal(
      typesOf(live).filter((type) => type !== "TEXT_MESSAGE_CONTENT"),
    );
  });
});
