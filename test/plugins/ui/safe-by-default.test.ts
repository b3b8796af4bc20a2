import type { EnsembleEvent } from "agentensemble";
import type { UIChunk } from "agentensemble/ui";
import { AgentEnsembleError, RunCancelledError } from "agentensemble";
import { expect } from "chai";
import fc from "fast-check";
import type { PageEnd, PageStream } from "../../../src/plugins/shared/ui-stream/page-stream.js";
import { pageStream } from "../../../src/plugins/shared/ui-stream/open-chunks.js";
import { checkAgUiEvents, checkUiParts } from "./fixtures.js";
import { EVENT_TYPES, eventSequences, SECRET } from "./random-events.js";

const ENDS: readonly PageEnd[] = [
  { kind: "ended", exitReason: "COMPLETED", raw: "the answer" },
  { kind: "ended", exitReason: "COMPLETED" },
  { kind: "ended", exitReason: "USER_EXIT_EARLY", raw: SECRET },
  { kind: "ended", exitReason: "TIMEOUT", raw: SECRET },
  { kind: "failed", error: new AgentEnsembleError("AE_TASK_EXECUTION", SECRET) },
  { kind: "failed", error: new Error(SECRET) },
  { kind: "failed", error: new RunCancelledError(SECRET) },
];

const ends = fc.constantFrom<PageEnd | "pause">(...ENDS, "pause");

function allOf(
  stream: PageStream,
  events: readonly EnsembleEvent[],
  end: PageEnd | "pause",
): readonly UIChunk[] {
  const parts = events.flatMap((event) => stream.take(event));
  const last = end === "pause" ? stream.pause() : stream.end(end);
  expect(stream.take(events[0] as EnsembleEvent)).to.deep.equal([]); // nothing follows the end
  expect(stream.end(ENDS[0] as PageEnd)).to.deep.equal([]);
  return [...parts, ...last];
}

describe("streams for pages, with events of all types in any order", () => {
  it("are created from all types of events", () => {
    const drawn = new Set(fc.sample(eventSequences, 200).flatMap((s) => s.map(({ type }) => type)));
    expect([...drawn].sort()).to.deep.equal([...EVENT_TYPES].sort());
  });

  it("are UI message streams that the AI SDK reads, without planted values", async () => {
    await fc.assert(
      fc.asyncProperty(eventSequences, ends, async (events, end) => {
        const parts = allOf(pageStream("run-1", { protocol: "ui" }), events, end);
        await checkUiParts(parts);
        expect(JSON.stringify(parts)).to.not.contain(SECRET);
      }),
      { numRuns: 150 },
    );
  });

  it("are AG-UI events, without planted values", () => {
    fc.assert(
      fc.property(eventSequences, ends, (events, end) => {
        const parts = allOf(pageStream("run-1", { protocol: "ag-ui" }), events, end);
        checkAgUiEvents(parts);
        expect(JSON.stringify(parts)).to.not.contain(SECRET);
      }),
      { numRuns: 150 },
    );
  });

  it("can be read with `text: all`", async () => {
    await fc.assert(
      fc.asyncProperty(eventSequences, ends, async (events, end) => {
        const parts = allOf(pageStream("run-1", { protocol: "ui", text: "all" }), events, end);
        await checkUiParts(parts);
        checkAgUiEvents(
          allOf(pageStream("run-1", { protocol: "ag-ui", text: "all" }), events, end),
        );
      }),
      { numRuns: 80 },
    );
  });
});
