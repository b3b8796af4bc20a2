import type { AnyTool, EnsembleOptions, ReviewHandler } from "agentensemble";
import type { ClientToolCall } from "agentensemble/tools";
import {
  Agent,
  definePlugin,
  Ensemble,
  replace,
  ReviewDecision,
  ReviewHandler as Handlers,
  ReviewUnavailableError,
  RunCancelledError,
  Task,
  tool,
  ToolResult,
  ValidationError,
} from "agentensemble";
import { review, reviewInbox } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { clientTool } from "agentensemble/tools";
import { expect } from "chai";
import { expectTypeOf } from "expect-type";
import { z } from "zod";
import { runToEnd } from "../../support/kernel-fixtures.js";
import { rejection } from "../../support/rejection.js";
import { until } from "../../support/time.js";
import { person } from "./fixtures.js";

const choice = clientTool({
  name: "choose",
  description: "Lets the user choose a color",
  input: z.object({ colors: z.array(z.string()) }),
  output: z.object({ color: z.enum(["red", "blue"]) }),
});

/** A run whose model calls the tool once. */
async function called(o: EnsembleOptions & { readonly used?: AnyTool } = {}) {
  const { used = choice, ...options } = o;
  const model = new ScriptedModel([
    { toolCalls: [{ id: "c1", name: "choose", arguments: { colors: ["red", "blue"] } }] },
    "done",
  ]);
  const agent = new Agent({
    role: "Painter",
    goal: "Paint",
    tools: [used],
    model,
  });
  const ended = await runToEnd({ tasks: [new Task({ description: "Paint", agent })], ...options });
  const last = model.requests.at(-1)?.messages.findLast(({ role }) => role === "tool");
  return { ...ended, model, received: typeof last?.content === "string" ? last.content : "" };
}
const by = (decision: ReviewDecision): { readonly reviewHandler: ReviewHandler } => ({
  reviewHandler: () => decision,
});

describe("clientTool", () => {
  it("sends the input and the schema of the output to a review handler, and its edit to the model", async () => {
    const { handler, asked } = person(ReviewDecision.edit('{"color":"blue"}'));
    const { received, output, error } = await called({ reviewHandler: handler });
    expect(error).to.equal(undefined);
    expect(asked[0]).to.deep.include({
      expects: "output",
      toolName: "choose",
      callId: "c1",
      input: { colors: ["red", "blue"] },
      taskDescription: 'choose {"colors":["red","blue"]}',
      timeoutMs: 300_000,
      onTimeout: "EXIT_EARLY",
    });
    expect(asked[0]?.editSchema).to.have.nested.property("properties.color.enum");
    expect(received).to.contain('{"color":"blue"}');
    const [call] = output?.trace.taskTraces[0]?.llmInteractions[0]?.toolCalls ?? [];
    expect(call).to.deep.include({ toolName: "choose", result: '{"color":"blue"}' });
    expect(output?.trace.reviews).to.have.length(1);
  });

  it("marks the output for the model, unless the tool is trusted", async () => {
    const marked = await called(by(ReviewDecision.edit('{"color":"red"}')));
    expect(marked.received).to.not.equal('{"color":"red"}');
    const used = clientTool({
      name: "choose",
      description: "d",
      input: { type: "object" },
      untrusted: false,
    });
    const plain = await called({ used, ...by(ReviewDecision.edit('{"color":"red"}')) });
    expect(plain.received).to.equal('{"color":"red"}');
  });

  it("accepts any JSON value without a schema, and a text that is not JSON as a text", async () => {
    const used = clientTool({
      name: "choose",
      description: "d",
      input: { type: "object" },
      untrusted: false,
    });
    for (const [given, received] of [
      ["red", "red"],
      ['"red"', "red"],
      ["7", "7"],
      ["null", "null"],
      ["[1]", "[1]"],
    ] as const)
      expect((await called({ used, ...by(ReviewDecision.edit(given)) })).received).to.equal(
        received,
      );
  });

  it("requests the review with the input after the hooks, which can also change the output for the model", async () => {
    const { handler, asked } = person(ReviewDecision.edit('{"color":"red"}'));
    const seen: unknown[] = [];
    const changes = definePlugin({
      name: "changes",
      apply({ hooks }) {
        hooks.beforeToolCall.tap({ name: "input", lane: "transform" }, () =>
          replace({ input: { colors: ["red"] } }),
        );
        hooks.afterToolCall.tap({ name: "output", lane: "transform" }, (call) => {
          if (call.outcome !== "ok") return undefined;
          seen.push(call.result.structured);
          return replace({ result: ToolResult.success("checked") });
        });
      },
    });
    const { received } = await called({ reviewHandler: handler, plugins: [changes] });
    expect(asked[0]?.input).to.deep.equal({ colors: ["red"] });
    expect(seen).to.deep.equal([{ color: "red" }]);
    expect(received).to.contain("checked").and.not.contain("color");
  });

  it("reports a failure to the model for an invalid output, and for a missing output", async () => {
    for (const [decision, text] of [
      [ReviewDecision.edit('{"color":"green"}'), "does not match its schema: color"],
      [ReviewDecision.edit("red"), "does not match its schema"],
      [ReviewDecision.continue(), "did not execute tool 'choose'"],
      [
        ReviewDecision.exitEarly({ comment: "No color" }),
        "did not execute tool 'choose': No color",
      ],
      [ReviewDecision.exitEarly({ comment: "x".repeat(3_000) }), `${"x".repeat(2_000)}...`],
    ] as const) {
      const { received, output } = await called(by(decision));
      expect(received).to.contain(text);
      expect(output?.exitReason).to.equal("COMPLETED");
    }
    const { received } = await called({ reviewHandler: Handlers.autoApprove() });
    expect(received).to.contain("did not execute tool 'choose'");
  });

  it("reports a failure to the model after its time limit and beyond its size limit", async () => {
    const input = { type: "object" };
    const slow = clientTool({ name: "choose", description: "d", input, timeoutMs: 20 });
    const late = await called({ used: slow, reviewHandler: () => new Promise(() => undefined) });
    expect(late.received).to.contain("no output of tool 'choose' within 20 ms");
    const small = clientTool({ name: "choose", description: "d", input, maxOutputBytes: 4 });
    expect((await called({ used: small, ...by(ReviewDecision.edit('"é"')) })).received).to.contain(
      "é",
    );
    expect((await called({ used: small, ...by(ReviewDecision.edit('"éé"')) })).received).to.contain(
      "has 6 bytes, at most 4 are allowed",
    );
  });

  it("is not limited by the general time limit of tools", async () => {
    const { received } = await called({
      toolTimeoutMs: 10,
      reviewHandler: async () => {
        await new Promise((resolve) => setTimeout(resolve, 40));
        return ReviewDecision.edit('{"color":"red"}');
      },
    });
    expect(received).to.contain('{"color":"red"}');
  });

  it("fails its task before a model is called if nothing can answer", async () => {
    const { error, model } = await called();
    expect(error).to.have.property("cause").that.is.instanceOf(ReviewUnavailableError);
    expect(String((error as Error).cause)).to.contain("Tool 'choose' is executed by a page");
    expect(model.requests).to.deep.equal([]);
  });

  it("ends with its run, and leaves no open review", async () => {
    const inbox = reviewInbox();
    const model = new ScriptedModel([
      { toolCalls: [{ name: "choose", arguments: { colors: [] } }] },
      "done",
    ]);
    const agent = new Agent({ role: "Painter", goal: "Paint", tools: [choice], model });
    await using team = new Ensemble({
      tasks: [new Task({ description: "Paint", agent })],
      plugins: [review({ store: inbox })],
    });
    const handle = team.stream();
    await until(() => inbox.pending().length > 0);
    handle.cancel();
    expect(await rejection(handle.output)).to.be.instanceOf(RunCancelledError);
    expect(inbox.pending()).to.deep.equal([]);
  });

  it("refuses invalid options", () => {
    const valid = { name: "choose", description: "d", input: { type: "object" } };
    for (const [more, text] of [
      [{ execute: () => "" }, "Unknown option 'execute'"],
      [{ outputSchema: {} }, "Use output instead"],
      [{ private: true }, "Unknown option 'private'"],
      [{ timeoutMs: -1 }, "timeoutMs"],
      [{ maxOutputBytes: 0 }, "maxOutputBytes"],
      [{ output: { type: "object" } }, "output must be a schema"],
      [{ name: "a b" }, "Tool name"],
      [{ description: " " }, "description"],
      [{ untrusted: "no" }, "untrusted"],
    ] as const)
      expect(() => clientTool({ ...valid, ...more } as never), text).to.throw(
        ValidationError,
        text,
      );
    expect(() => tool({ ...valid, execute: () => "", client: true } as never)).to.throw(
      ValidationError,
      "client",
    );
  });

  it("types the input and the output of a call", () => {
    expectTypeOf<ClientToolCall<typeof choice>>().toEqualTypeOf<{
      readonly input: { colors: string[] };
      readonly output: { color: "red" | "blue" };
    }>();
    clientTool({
      name: "choose",
      description: "d",
      input: z.object({ n: z.number() }),
      needsApproval: ({ n }) => n > 1,
      // @ts-expect-error: the input has no such field
      approvalDescription: ({ m }) => String(m),
    });
  });
});
