import type { LogEntry } from "agentensemble";
import { Agent, ReviewDecision, Task } from "agentensemble";
import { redacted } from "agentensemble/observability";
import { review, reviewInbox } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { clientTool } from "agentensemble/tools";
import { toAgUiEvents, toUIMessageStream, type UIStreamOptions } from "agentensemble/ui";
import { expect } from "chai";
import { z } from "zod";
import { pageStream } from "../../../src/plugins/shared/ui-stream/open-chunks.js";
import { storedChunks } from "../../../src/plugins/shared/ui-stream/stored-chunks.js";
import { collect } from "../../support/collect.js";
import {
  checkAgUiEvents,
  checkUiParts,
  messageOf,
  ofType,
  partsOf,
  started,
  typesOf,
} from "./fixtures.js";

const theme = clientTool({
  name: "theme",
  description: "Switches the theme",
  title: "Switches the theme",
  input: z.object({ to: z.string().transform((text) => text.toUpperCase()) }),
});
const OUTPUT = { state: "done" };

/** A run that waits for the page at its call. */
function waiting(entries: LogEntry[] = []) {
  const inbox = reviewInbox();
  const model = new ScriptedModel([
    { toolCalls: [{ id: "c1", name: "theme", arguments: { to: "dark" } }] },
    "It is dark.",
  ]);
  const agent = new Agent({ role: "Clerk", goal: "g", model, tools: [theme] });
  const handle = started({
    tasks: [new Task({ name: "t", description: "d", agent })],
    plugins: [review({ store: inbox })],
    on: (event) => void entries.push({ ...redacted(event), n: entries.length }),
  });
  const answer = (): void => {
    const [asked] = inbox.pending();
    inbox.resolve(asked?.reviewId ?? "", ReviewDecision.edit(JSON.stringify(OUTPUT)));
  };
  return { handle, answer, inbox, entries };
}
const END: UIStreamOptions = { endAtApproval: true };

describe("calls that a page executes", () => {
  it("show their input, then are executed by the page with the input of the tool", async () => {
    const { handle, answer } = waiting();
    const first = await partsOf(toUIMessageStream(handle, END));
    await checkUiParts(first);
    const call = { toolCallId: "c1", toolName: "theme", title: "Switches the theme" };
    expect(first.filter(({ type }) => type.startsWith("tool-"))).to.deep.equal([
      { type: "tool-input-start", ...call },
      { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: '{"to":"dark"}' },
      { type: "tool-input-available", ...call, input: { to: "DARK" } },
    ]);
    expect(ofType(first, "data-review")).to.deep.equal([]);
    expect(first.at(-1)).to.include({ type: "finish", finishReason: "tool-calls" });
    answer();
    const rest = await partsOf(toUIMessageStream(handle, END));
    expect(ofType(rest, "tool-output-available")).to.deep.equal([
      { type: "tool-output-available", toolCallId: "c1", output: OUTPUT },
    ]);
    const message = await messageOf(rest, await messageOf(first));
    expect(message.parts.find(({ type }) => type === "tool-theme")).to.deep.include({
      state: "output-available",
      input: { to: "DARK" },
      output: OUTPUT,
    });
  });

  it("are complete if tools are shown by name or not at all", async () => {
    for (const tools of ["names", "none"] as const) {
      const { handle, answer } = waiting();
      const parts = await partsOf(toUIMessageStream(handle, { ...END, tools }));
      expect(ofType(parts, "tool-input-available")[0]).to.deep.include({ input: { to: "DARK" } });
      answer();
      await handle.output;
    }
  });

  it("are interrupts with the id of their review in AG-UI", async () => {
    const { handle, answer, inbox } = waiting();
    const first = await collect(toAgUiEvents(handle, END));
    checkAgUiEvents(first);
    expect(typesOf(first)).to.include.members([
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
    ]);
    expect(first.at(-1)?.["outcome"]).to.deep.equal({
      type: "interrupt",
      interrupts: [{ id: inbox.pending()[0]?.reviewId, reason: "tool_call", toolCallId: "c1" }],
    });
    answer();
    const rest = await collect(toAgUiEvents(handle, END));
    expect(rest.find(({ type }) => type === "TOOL_CALL_RESULT")).to.deep.include({
      toolCallId: "c1",
      content: JSON.stringify(OUTPUT),
    });
  });

  it("are executed from a log only while their output is awaited", async () => {
    const { handle, answer, entries } = waiting();
    await partsOf(toUIMessageStream(handle, END));
    const replayed = async () => {
      const store = {
        read: (_id: string, after: number, limit: number) =>
          entries.filter(({ n }) => n > after).slice(0, limit),
      };
      return collect(
        storedChunks(store, handle.id, pageStream(handle.id, { protocol: "ui" }), () => true),
      );
    };
    const waits = await replayed();
    await checkUiParts(waits);
    expect(ofType(waits, "tool-input-available")).to.have.length(1);
    answer();
    await handle.output;
    const ended = await replayed();
    expect(
      (await checkUiParts(ended)).parts.find(({ type }) => type === "tool-theme"),
    ).to.deep.include({
      state: "output-available",
      output: OUTPUT,
    });
    expect(ofType(ended, "tool-input-available")).to.deep.equal([]);
  });
});
