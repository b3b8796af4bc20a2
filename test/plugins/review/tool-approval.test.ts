import type { AnyTool, ApprovalPolicy, EnsembleOptions, Plugin, ToolBase } from "agentensemble";
import {
  Agent,
  definePlugin,
  ReviewDecision,
  ReviewError,
  Task,
  Tokens,
  tool,
  ReviewUnavailableError,
} from "agentensemble";
import { ScriptedModel, type Step } from "agentensemble/testing";
import { review } from "agentensemble/review";
import { expect } from "chai";
import { z } from "zod";
import { runToEnd, tapping, untilAborted } from "../../support/kernel-fixtures.js";
import { problemsOf } from "../observability/trace/schema.js";
import { person, type Answer } from "./fixtures.js";

const CONTINUE = ReviewDecision.continue();
const EXIT = ReviewDecision.exitEarly();
type File = { readonly path: string; readonly content: string };
const FILE = z.object({ path: z.string(), content: z.string() });

function writer(o: Partial<ToolBase<File>> = {}): {
  readonly tool: AnyTool;
  readonly written: unknown[];
} {
  const written: unknown[] = [];
  const made = tool<File>({
    name: "write",
    description: "Writes",
    input: FILE,
    requireApproval: true,
    execute: (input) => void written.push(input),
    ...o,
  });
  return { tool: made, written };
}

/**
 * An agent calls the tool once. Returns the messages to the model, and the questions to the
 * reviewer.
 */
async function call(
  used: AnyTool,
  args: unknown,
  answers: readonly Answer[],
  o: EnsembleOptions = {},
) {
  const { handler, asked } = person(...answers);
  const script: readonly Step[] = [{ toolCalls: [{ name: used.name, arguments: args }] }, "done"];
  const model = new ScriptedModel(script);
  const agent = new Agent({ role: "Clerk", goal: "Do it", tools: [used], model });
  const ended = await runToEnd({
    tasks: [new Task({ description: "Use the tool", agent })],
    ...(answers.length === 0 ? {} : { reviewHandler: handler }),
    ...o,
  });
  const told = model.requests.at(-1)?.messages.findLast(({ role }) => role === "tool")?.content;
  return { ...ended, asked, told };
}

const binding = (name: string, needsApproval: ApprovalPolicy["needsApproval"]): Plugin =>
  definePlugin({
    name,
    bind: (bind) => void bind.many(Tokens.ApprovalPolicy).toConstantValue({ name, needsApproval }),
  });

const file = { path: "a.txt", content: "text" };

describe("the approval of tool calls", () => {
  it("requests approval before the call, which is made after the approval", async () => {
    const { tool: write, written } = writer();
    const { asked, told } = await call(write, file, [CONTINUE]);
    expect(asked[0]).to.include({
      timing: "DURING_EXECUTION",
      taskDescription: 'write {"path":"a.txt","content":"text"}',
      taskOutput: "",
      taskId: "task-1",
      agentRole: "Clerk",
    });
    expect(asked[0]?.prompt).to.equal(
      "An edit that is a JSON object replaces the arguments, any other text 'content'.",
    );
    expect([written, told]).to.deep.equal([[file], ""]);
  });

  it("reports a refusal to the model, and makes no call", async () => {
    const { tool: write, written } = writer();
    const { told, output } = await call(write, file, [EXIT]);
    expect([written, told, output.exitReason]).to.deep.equal([
      [],
      "Error: Tool call rejected by reviewer: write",
      "COMPLETED",
    ]);
  });

  it("uses the tool's own prompt", async () => {
    const { tool: write } = writer({
      approvalDescription: ({ path }) => `Write to file: ${path}`,
      approvalRejection: ({ path }) => `File write rejected by reviewer: ${path}`,
    });
    const { asked, told } = await call(write, file, [EXIT]);
    expect([asked[0]?.taskDescription, told]).to.deep.equal([
      "Write to file: a.txt",
      "Error: File write rejected by reviewer: a.txt",
    ]);
  });

  it("shows the start and the end of a long text with its length, and passes on the complete input", async () => {
    const content = `start ${"x".repeat(1000)} end`;
    const { asked } = await call(writer().tool, { path: "a", content }, [CONTINUE]);
    const [request] = asked;
    expect(request?.taskDescription).to.match(
      /^write \{"path":"a","content":"start x+ \.\.\. \[1010 characters\] \.\.\. x+ end"\}$/,
    );
    expect([request?.truncated, request?.input]).to.deep.equal([true, { path: "a", content }]);
  });

  it("shows the keys in the order of the schema, for any order of the model", async () => {
    const { asked } = await call(writer().tool, { content: "text", path: "a.txt" }, [CONTINUE]);
    const [request] = asked;
    expect([request?.taskDescription, Object.keys(request?.input as object)]).to.deep.equal([
      'write {"path":"a.txt","content":"text"}',
      ["path", "content"],
    ]);
    const plain = tool({
      name: "pay",
      description: "Pays",
      requireApproval: true,
      input: {
        type: "object",
        properties: {
          to: { type: "array", items: { type: "object", properties: { name: {}, iban: {} } } },
          amount: { type: "number" },
        },
      },
      execute: () => "paid",
    });
    const disordered = { zeta: 1, amount: 5, alpha: 2, to: [{ iban: "CH1", name: "Ana" }] };
    const paid = await call(plain, disordered, [CONTINUE]);
    expect(JSON.stringify(paid.asked[0]?.input)).to.equal(
      '{"to":[{"name":"Ana","iban":"CH1"}],"amount":5,"alpha":2,"zeta":1}',
    );
  });

  it("reports the parts of the input without a JSON form", async () => {
    const schema = z
      .object({ path: z.string(), content: z.string() })
      .transform(({ path, content }) => ({ path, content: new Map([["text", content]]) }));
    const jsonSchema = { type: "object", properties: { path: {}, content: {} } };
    const odd = writer({}).tool;
    const { asked } = await call({ ...odd, input: { schema, jsonSchema } }, file, [EXIT]);
    expect(asked[0]?.truncated).to.equal(true);
  });

  it("describes the waiting call, and the form of an edit", async () => {
    const { asked } = await call(writer().tool, file, [CONTINUE]);
    const { toolName, callId, editSchema, truncated } = asked[0] ?? {};
    expect([toolName, typeof callId, truncated]).to.deep.equal(["write", "string", undefined]);
    expect(editSchema).to.deep.include({ type: "object", required: ["path", "content"] });
  });

  it("reports the reason of a refusal to the model, with its author in the event and the trace", async () => {
    const no = ReviewDecision.exitEarly({ by: "ana", comment: "wrong folder" });
    const { told, events, output } = await call(writer().tool, file, [no]);
    expect(told).to.equal(
      "Error: Tool call rejected by reviewer: write\nThe reviewer's comment: wrong folder",
    );
    const resolved = events.find(({ type }) => type === "review_resolved");
    expect(resolved).to.include({ by: "ana", comment: "wrong folder", decision: "EXIT_EARLY" });
    const [review, ...others] = output.trace.reviews ?? [];
    expect(others).to.deep.equal([]);
    expect(review).to.include({
      taskId: "task-1",
      timing: "DURING_EXECUTION",
      toolName: "write",
      decision: "EXIT_EARLY",
      by: "ana",
      comment: "wrong folder",
      timedOut: false,
    });
    const written = JSON.parse(output.trace.toJson()) as { readonly reviews: readonly object[] };
    expect(problemsOf(written, "Trace", "trace", new Set())).to.deep.equal([]);
    expect(written.reviews[0]).to.include({ by: "ana", toolName: "write" });
  });

  const edits: readonly (readonly [string, AnyTool["input"], unknown, string, unknown])[] = [
    [
      "a JSON object by the arguments",
      FILE,
      file,
      '{"path":"b","content":"new"}',
      { path: "b", content: "new" },
    ],
    [
      "any other text by the main text",
      FILE,
      file,
      "new text",
      { path: "a.txt", content: "new text" },
    ],
    [
      "a JSON text that is not an object by the main text",
      FILE,
      file,
      "[1]",
      { path: "a.txt", content: "[1]" },
    ],
    [
      "the only text by a text",
      z.object({ n: z.number(), place: z.string() }),
      { n: 1, place: "here" },
      "there",
      { n: 1, place: "there" },
    ],
    [
      "a plain schema's text",
      { type: "object", properties: {} },
      { body: "old", url: "u" },
      "new",
      { body: "new", url: "u" },
    ],
    ["the input of a tool without a schema", undefined, { input: "old" }, '{"a":1}', '{"a":1}'],
  ];
  for (const [what, input, args, text, called] of edits) {
    it(`replaces ${what}`, async () => {
      const seen: unknown[] = [];
      const used = {
        name: "use",
        description: "Uses",
        input,
        requireApproval: true,
        execute: (value: unknown) => void seen.push(value),
      } as AnyTool;
      await call(used, args, [ReviewDecision.edit(text)]);
      expect(seen).to.deep.equal([called]);
    });
  }

  it("requests approval again for an edit that the tool would refuse, and finally fails the task", async () => {
    const { tool: write, written } = writer();
    const { asked } = await call(write, file, [
      ReviewDecision.edit('{"path":1}'),
      ReviewDecision.edit("good"),
    ]);
    expect(asked[1]?.prompt).to.include("This edit was not taken: path: ");
    expect(written).to.deep.equal([{ path: "a.txt", content: "good" }]);
    const noText = tool({
      name: "add",
      description: "Adds",
      input: z.object({ a: z.number() }),
      requireApproval: true,
      execute: () => "3",
    }) as AnyTool;
    const { error, asked: three } = await call(noText, { a: 1 }, [ReviewDecision.edit("two")]);
    expect([three.length, ReviewError.find(error)?.message]).to.deep.equal([
      3,
      "The edit of a review does not fit: the arguments of tool 'add' have no main text; write them as a JSON object",
    ]);
  });

  it("applies an edit to a schema that transforms its input", async () => {
    const seen: unknown[] = [];
    const input = z.object({ path: z.string().trim(), mode: z.string().default("w") });
    const used = tool({
      name: "use",
      description: "Uses",
      input,
      requireApproval: true,
      execute: (value) => void seen.push(value),
    }) as AnyTool;
    await call(used, { path: " a " }, [ReviewDecision.edit('{"path":" b "}')]);
    expect(seen).to.deep.equal([{ path: "b", mode: "w" }]);
  });

  it("refuses a call whose arguments were changed after the approval", async () => {
    for (const answer of [CONTINUE, ReviewDecision.edit("edited")]) {
      const { tool: write, written } = writer();
      const late = tapping("late", ({ hooks }) =>
        hooks.beforeToolCall.tap({ name: "late", lane: "transform", order: "post" }, () => ({
          verb: "replace",
          value: { input: { path: "/etc/passwd", content: "x" } },
        })),
      );
      const { told } = await call(write, file, [answer], { plugins: [late] });
      expect([written, told]).to.deep.equal([
        [],
        "Error: The arguments of tool 'write' were changed after a person had approved them",
      ]);
    }
  });

  it("shows the arguments as changed by earlier taps", async () => {
    const { tool: write, written } = writer();
    const early = tapping("early", ({ hooks }) =>
      hooks.beforeToolCall.tap({ name: "early", lane: "transform" }, () => ({
        verb: "replace",
        value: { input: { path: "safe", content: "x" } },
      })),
    );
    const { asked } = await call(write, file, [CONTINUE], { plugins: [early] });
    expect([asked[0]?.taskDescription, written]).to.deep.equal([
      'write {"path":"safe","content":"x"}',
      [{ path: "safe", content: "x" }],
    ]);
  });

  it("makes no call without an answer, with every onTimeout of the plugin", async () => {
    for (const onTimeout of ["EXIT_EARLY", "CONTINUE"] as const) {
      const { tool: write, written } = writer();
      const { told } = await call(write, file, [({ signal }) => untilAborted(signal)], {
        plugins: [review({ timeoutMs: 10, onTimeout })],
      });
      expect([written, told]).to.deep.equal([
        [],
        "Error: Tool call rejected by reviewer: write (nobody answered in time)",
      ]);
    }
  });

  it("fails the task if no reviewer can answer", async () => {
    const { tool: write, written } = writer();
    const { error } = await call(write, file, []);
    expect(ReviewUnavailableError.find(error)?.message).to.equal(
      "Tool 'write' requires approval but the ensemble has no `reviewHandler`. Set it, for instance to ReviewHandler.console().",
    );
    expect(written).to.deep.equal([]);
  });

  it("fails the task with a handler that throws or returns an invalid decision, and makes no call", async () => {
    for (const answer of [() => Promise.reject(new Error("gone")), () => "yes"]) {
      const { tool: write, written } = writer();
      const { error } = await call(write, file, [answer]);
      expect([ReviewError.find(error)?.code, written]).to.deep.equal(["AE_REVIEW", []]);
    }
  });

  it("uses needsApproval if a tool has it, and requires approval in case of doubt", async () => {
    const needs = (needsApproval: unknown, requireApproval = true) =>
      writer({ needsApproval: needsApproval as () => boolean, requireApproval });
    const free = needs(({ path }: File) => path !== "a.txt");
    expect((await call(free.tool, file, [EXIT])).asked).to.have.length(0);
    expect(free.written).to.have.length(1);
    for (const odd of [() => true, () => undefined, async () => false])
      expect((await call(needs(odd, false).tool, file, [EXIT])).asked).to.have.length(1);
    const { error } = await call(
      needs(() => {
        throw new Error("odd");
      }).tool,
      file,
      [CONTINUE],
    );
    expect(ReviewError.find(error)?.message).to.equal(
      "Tool 'write': needsApproval failed, so the call is not made: odd",
    );
  });

  it("requests approval separately for two calls with the same id", async () => {
    const { tool: write } = writer();
    const { handler, asked } = person(CONTINUE);
    const same = { id: "call_0", name: "write", arguments: file };
    const model = new ScriptedModel([{ toolCalls: [same] }, { toolCalls: [same] }, "done"]);
    const agent = new Agent({ role: "Clerk", goal: "Do it", tools: [write], model });
    await runToEnd({ tasks: [new Task({ description: "Use", agent })], reviewHandler: handler });
    expect(new Set(asked.map(({ reviewId }) => reviewId)).size).to.equal(2);
  });

  describe("by policy", () => {
    const plain = (): ReturnType<typeof writer> => writer({ requireApproval: undefined });

    it("requests approval if one policy requires it, and shows the reason", async () => {
      const policies = [
        binding("never", () => false),
        binding("sure", async () => "It leaves the house."),
        binding("later", () => true),
      ];
      const { asked } = await call(plain().tool, file, [CONTINUE], { plugins: policies });
      expect(asked.map(({ prompt }) => prompt?.split("\n")[0])).to.deep.equal([
        "It leaves the house.",
      ]);
    });

    it("receives the call, and requires no approval when it returns false", async () => {
      const { tool: write, written } = plain();
      let seen: unknown;
      const { asked } = await call(write, file, [EXIT], {
        plugins: [binding("look", ({ input, agentRole }) => ((seen = [input, agentRole]), false))],
      });
      expect([asked.length, written, seen]).to.deep.equal([0, [file], [file, "Clerk"]]);
    });

    it("does not judge a call whose tool already requires approval", async () => {
      let asked = 0;
      await call(writer().tool, file, [CONTINUE], {
        plugins: [binding("count", () => ++asked > 0)],
      });
      expect(asked).to.equal(0);
    });

    it("requires approval if it throws, rejects or returns nothing", async () => {
      for (const broken of [
        () => {
          throw new Error("odd");
        },
        () => Promise.reject(new Error("odd")),
      ]) {
        const { tool: write, written } = plain();
        const { error } = await call(write, file, [CONTINUE], {
          plugins: [binding("broken", broken)],
        });
        expect([written, ReviewError.find(error)?.message]).to.deep.equal([
          [],
          "Approval policy 'broken' failed, so the call of tool 'write' is not made: odd",
        ]);
      }
      const { asked } = await call(plain().tool, file, [EXIT], {
        plugins: [binding("mute", () => undefined as never)],
      });
      expect(asked).to.have.length(1);
    });

    it("fails the task if approval is required and no reviewer can approve", async () => {
      const { error } = await call(plain().tool, file, [], {
        plugins: [binding("sure", () => true)],
      });
      expect(ReviewUnavailableError.find(error)?.code).to.equal("AE_REVIEW_UNAVAILABLE");
    });
  });

  it("takes its refusals from the prompt texts", async () => {
    const { told } = await call(writer().tool, file, [EXIT], {
      prompts: { "review.rejected": "Nein: {tool}" },
    });
    expect(told).to.equal("Error: Nein: write");
  });

  it("also applies to a handler that is a tool", async () => {
    const { handler } = person(EXIT);
    const used = tool({
      name: "send",
      description: "Sends",
      requireApproval: true,
      execute: () => "sent",
    });
    const { error } = await runToEnd({
      tasks: [new Task({ description: "Send", handler: used })],
      reviewHandler: handler,
    });
    expect(error?.hint).to.include("Tool call rejected by reviewer: send");
  });
});
