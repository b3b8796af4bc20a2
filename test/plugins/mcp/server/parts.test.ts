import { expect } from "chai";
import fc from "fast-check";
import {
  AgentExecutionError,
  TaskExecutionError,
  ToolExecutionError,
} from "../../../../src/contracts/errors.js";
import { CallSlots, NoSlotError } from "../../../../src/plugins/mcp/server/call-slots.js";
import { structuredOf } from "../../../../src/plugins/shared/offers/offer.js";
import { failureText } from "../../../../src/plugins/shared/offers/run-result.js";
import { rejection } from "../../../support/rejection.js";

const never = new AbortController().signal;

describe("CallSlots", () => {
  it("never runs more than its limit, keeps the order, and frees every slot", () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.record({ ticks: fc.nat(5), fails: fc.boolean(), cancelled: fc.boolean() }), {
          maxLength: 20,
        }),
        async (limit, calls) => {
          const slots = new CallSlots(limit, 100);
          const begun: number[] = [];
          let running = 0;
          const outcomes = await Promise.allSettled(
            calls.map(({ ticks, fails, cancelled }, i) => {
              const cancel = new AbortController();
              const call = slots.run(cancel.signal, async () => {
                begun.push(i);
                expect(++running).to.be.at.most(limit);
                for (let t = 0; t < ticks; t++) await Promise.resolve();
                running--;
                if (fails) throw new Error("failed");
                return i;
              });
              if (cancelled) cancel.abort(new Error("cancelled"));
              return call;
            }),
          );
          expect(begun).to.deep.equal([...begun].sort((a, b) => a - b));
          outcomes.forEach((outcome, i) => {
            if (outcome.status === "rejected" && calls[i]?.fails !== true)
              expect((outcome.reason as Error).message).to.equal("cancelled");
            if (calls[i]?.cancelled !== true) expect(begun).to.include(i);
          });
          // All slots are free again: as many calls as the limit begin immediately.
          let atOnce = 0;
          const all = Array.from({ length: limit }, () =>
            slots.run(never, async () => void atOnce++),
          );
          expect(atOnce).to.equal(limit);
          await Promise.all(all);
        },
      ),
    ));

  it("refuses calls beyond the queue, and does not start a cancelled call", async () => {
    const slots = new CallSlots(1, 0);
    let end: () => void = () => undefined;
    const first = slots.run(never, () => new Promise<void>((resolve) => (end = resolve)));
    expect(await rejection(slots.run(never, async () => undefined))).to.be.instanceOf(NoSlotError);
    end();
    await first;
    expect(
      await rejection(slots.run(AbortSignal.abort("gone"), async () => expect.fail("it ran"))),
    ).to.equal("gone");
  });
});

describe("failureText", () => {
  const place = { agentRole: "r", taskDescription: "d" };
  const failed = (cause: unknown): TaskExecutionError =>
    new TaskExecutionError(
      "Task failed: d",
      { ...place, completedTaskOutputs: [] },
      { cause, hint: "do this" },
    );

  it("states the reason inside the task, without stack and hints", () => {
    expect(
      failureText(
        failed(new AgentExecutionError("no luck\n    at file.js:1:2\n    at more", place)),
      ),
    ).to.equal("no luck");
    expect(
      failureText(
        failed(
          new ToolExecutionError(
            "Tool 't' failed: x",
            { toolName: "t", toolInput: "" },
            { cause: new Error("x") },
          ),
        ),
      ),
    ).to.equal("x");
  });

  it("returns no text for errors of other packages", () => {
    expect(failureText(new TypeError("undefined is not a function at secret place"))).to.equal(
      "Internal error",
    );
    expect(failureText("text")).to.equal("Internal error");
  });

  it("hides texts that resemble secrets, and is limited in length", () => {
    for (const [text, hidden] of [
      ["Authorization: Bearer abc.def-123", "abc.def-123"],
      ['{"api_key":"k-99887766","ok":true}', "k-99887766"],
      ["API key = topsecret1", "topsecret1"],
      ["cookie=sid42; path", "sid42"],
      ["GET https://ann:hunter2@host/", "hunter2"],
      ["wrong key sk-proj-0123456789abcdef", "0123456789abcdef"],
    ] as const) {
      expect(failureText(failed(new Error(text))), text)
        .to.include("[redacted]")
        .and.not.include(hidden);
    }
    expect(failureText(failed(new Error("x".repeat(10_000))))).to.have.lengthOf(2000);
    expect(failureText(failed(new Error("the tokens were 5 too many")))).to.equal(
      "the tokens were 5 too many",
    );
  });

  it("processes extreme texts quickly", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 3000 }),
        (text) => failureText(failed(new Error(text))).length <= 4000,
      ),
    );
    for (const part of ["password=", "bearer ", "//a:", "at \n", "sk-"])
      failureText(failed(new Error(part.repeat(100_000))));
  });
});

describe("structuredOf", () => {
  it("returns plain data of objects, and nothing of other values", () => {
    expect(structuredOf({ a: new Date(0), b: undefined })).to.deep.equal({
      a: "1970-01-01T00:00:00.000Z",
    });
    const circular: { self?: unknown } = {};
    circular.self = circular;
    for (const value of [undefined, null, 1, "text", [1], new Date(0), circular, { n: 1n }])
      expect(structuredOf(value)).to.equal(undefined);
  });
});
