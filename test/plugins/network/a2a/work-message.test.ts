import { expect } from "chai";
import fc from "fast-check";
import type { Message, Part } from "@a2a-js/sdk";
import { Message as MessageJson } from "@a2a-js/sdk";
import type { SharedCapability, WorkRequest } from "../../../../src/contracts/network.js";
import { WORK_VERSION } from "../../../../src/contracts/network.js";
import {
  dataPart,
  messageWith,
  textPart,
} from "../../../../src/plugins/network/shared/a2a/parts.js";
import { ROLE, WORK_EXTENSION } from "../../../../src/plugins/network/shared/a2a/protocol.js";
import { taskIdOf, taskNameOf } from "../../../../src/plugins/network/shared/a2a/task-ids.js";
import { answerInMessage } from "../../../../src/plugins/network/shared/a2a/review-message.js";
import {
  messageOfWork,
  workOfMessage,
} from "../../../../src/plugins/network/shared/a2a/work-message.js";
import { checkWorkRequest } from "../../../../src/plugins/network/shared/work-request.js";
import { ECHO } from "./agent.js";

const TOOL: SharedCapability = { name: "stock", type: "TOOL", description: "What is there" };

function workOf(
  fields: Partial<Message>,
  capabilities: readonly SharedCapability[] = [ECHO],
): ReturnType<typeof workOfMessage> {
  const message = messageWith({ messageId: "m", role: ROLE.USER, parts: [], ...fields });
  return workOfMessage(message, { requestId: "r", from: "a", to: "kitchen", capabilities });
}

function problemOf(fields: Partial<Message>, capabilities?: readonly SharedCapability[]): string {
  const work = workOf(fields, capabilities);
  return "problem" in work ? `${work.reason}: ${work.problem}` : "none";
}

function extension(fields: unknown): Pick<Message, "metadata"> {
  return { metadata: { [WORK_EXTENSION]: fields } };
}

describe("A2A: messages and requests", () => {
  it("reads text as the context and data as the inputs", () => {
    const parts = [textPart("one"), dataPart({ a: 1, b: 1 }), textPart("two"), dataPart({ b: 2 })];
    expect(workOf({ parts, ...extension({ priority: "HIGH", custom: true }) })).to.deep.equal({
      request: {
        v: 1,
        requestId: "r",
        from: "a",
        to: "kitchen",
        type: "TASK",
        task: "echo",
        context: "one\ntwo",
        inputs: { a: 1, b: 2 },
        priority: "HIGH",
        custom: true,
      },
    });
  });

  it("use the type of the shared function", () => {
    const work = workOf(extension({ task: "stock" }), [ECHO, TOOL]);
    expect("request" in work && work.request.type).to.equal("TOOL");
  });

  it("never let a message determine its sender, its target and its storage key", () => {
    const work = workOf(
      extension({
        requestId: "x",
        from: "x",
        to: "x",
        context: "x",
        inputs: { x: 1 },
        traceContext: { traceparent: "x" },
      }),
    );
    expect("request" in work && work.request).to.deep.equal({
      v: 1,
      requestId: "r",
      from: "a",
      to: "kitchen",
      type: "TASK",
      task: "echo",
    });
  });

  it("separates cached results of callers", () => {
    const cache = { policy: "USE_CACHED", key: "soup", maxAgeMs: 10 };
    const work = workOf(extension({ cache }));
    expect("request" in work && work.request.cache).to.deep.equal({
      ...cache,
      key: '["a","soup"]',
    });
  });

  it("names the problem of an invalid message", () => {
    const file: Part = { ...textPart(""), content: { $case: "url", value: "http://x" } };
    expect(problemOf({ parts: [file] })).to.contain("INVALID_INPUT: Files are not accepted");
    expect(problemOf({ parts: [dataPart([1])] })).to.contain("must be a JSON object, got: [1]");
    expect(problemOf(extension("x"))).to.contain("must be an object, got: x");
    expect(problemOf(extension({ task: 5 }))).to.contain("task must be a text, got: 5");
    expect(problemOf(extension({ task: "ecko" }))).to.contain("UNKNOWN: 'ecko' is not shared. Did");
    expect(problemOf({}, [ECHO, TOOL])).to.contain("Known: echo, stock.");
    expect(problemOf({}, [])).to.contain("None is registered.");
    expect(problemOf(extension({ type: "X" }))).to.contain("INVALID_INPUT: type");
    expect(problemOf(extension({ deadlineMs: -1 }))).to.contain("deadlineMs");
    expect(problemOf(extension({ path: [1] }))).to.contain("path must be an array of names");
    expect(problemOf(extension({ delivery: { method: "TOPIC" } }))).to.contain("delivery.method");
    expect(problemOf(extension({ budget: { maxTokens: "1" } }))).to.contain("budget.maxTokens");
    expect(problemOf(extension({ cache: { key: "x" } }))).to.contain("cache must have policy");
  });

  it("returns an error for hostile messages and never throws", () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.jsonValue(),
        fc.record(
          {
            task: fc.oneof(fc.constant("echo"), fc.jsonValue()),
            type: fc.jsonValue(),
            priority: fc.jsonValue(),
            deadlineMs: fc.jsonValue(),
            path: fc.jsonValue(),
            budget: fc.jsonValue(),
            cache: fc.jsonValue(),
            delivery: fc.jsonValue(),
            version: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
        (data, metadata, fields) => {
          const parts = data.map((value) => dataPart(value));
          for (const given of [
            metadata,
            { [WORK_EXTENSION]: metadata },
            extension(fields).metadata,
          ]) {
            const message = MessageJson.fromJSON({ messageId: "m", metadata: given });
            const work = workOf({ ...message, parts });
            if ("request" in work) checkWorkRequest(work.request);
            else expect(work.problem).to.be.a("string");
            expect(answerInMessage({ ...message, parts }, "a")).to.be.an("object");
          }
        },
      ),
    );
  });

  it("calls another ensemble with the same request", () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            context: fc.string(),
            inputs: fc.dictionary(
              fc.string().filter((key) => key !== "__proto__"),
              fc.jsonValue(),
            ),
            priority: fc.constantFrom("CRITICAL" as const, "LOW" as const),
            deadlineMs: fc.integer({ min: 1, max: 1e9 }),
            version: fc.string(),
          },
          { requiredKeys: [] },
        ),
        (fields) => {
          const request = {
            ...fields,
            v: WORK_VERSION,
            requestId: "r",
            from: "a",
            to: "kitchen",
            type: "TASK",
            task: "echo",
          } as WorkRequest;
          const sent = MessageJson.toJSON(messageOfWork(request, true));
          const message = MessageJson.fromJSON(JSON.parse(JSON.stringify(sent)));
          const work = workOf(message);
          expect("request" in work && work.request).to.deep.equal(
            JSON.parse(JSON.stringify(request)),
          );
        },
      ),
    );
  });

  it("reads the ids of tasks unchanged", () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: "grapheme" }), (messageId, contextId) => {
        const name = taskNameOf(taskIdOf({ messageId, contextId }));
        expect(name).to.deep.equal({
          messageId,
          contextId: contextId === "" ? messageId : contextId,
        });
      }),
    );
    expect(taskNameOf(taskIdOf({ messageId: "ctx~a~b", contextId: "" })).messageId).to.equal(
      "ctx~a~b",
    );
  });

  it("reads the answer to a review", () => {
    const answer = (data: unknown): unknown =>
      answerInMessage(
        messageWith({ messageId: "m", role: ROLE.USER, parts: [dataPart(data)] }),
        "ann",
      );
    expect(
      answer({ reviewId: "r", decision: "edit", revisedOutput: "x", comment: "c" }),
    ).to.deep.equal({
      reviewId: "r",
      decision: { type: "EDIT", revisedOutput: "x", comment: "c", by: "ann" },
    });
    expect(answer({ reviewId: "r", decision: "ok" }))
      .to.have.property("problem")
      .that.contains("decision");
    expect(answer({ reviewId: "r", decision: "edit" })).to.have.property("problem");
    expect(answer({ reviewId: "r", decision: "continue", by: "x" })).to.have.property("problem");
    expect(answer({ reviewId: "r", decision: "continue", revisedOutput: "x" })).to.have.property(
      "problem",
    );
    expect(answer({ decision: "continue" }))
      .to.have.property("problem")
      .that.contains("reviewId");
  });
});
