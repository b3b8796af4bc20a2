import type { AnyTool, EnsembleEvent, Plugin, ToolContext } from "agentensemble";
import {
  Agent,
  definePlugin,
  Ensemble,
  ExitEarlySignal,
  PluginError,
  reject,
  ReviewHandler,
  RunCancelledError,
  Task,
  Tokens,
  tool,
  ToolConfigurationError,
  ToolResult,
  ValidationError,
} from "agentensemble";
import { ScriptedModel, toolContract } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import type { ToolPipelineOptions } from "../../../../src/plugins/tools/pipeline/index.js";
import { calculatorTool } from "../../../../src/plugins/tools/calculator/index.js";
import { jsonParserTool } from "../../../../src/plugins/tools/json-parser/index.js";
import { ToolPipeline } from "../../../../src/plugins/tools/pipeline/index.js";
import { untilAborted } from "../../../support/kernel-fixtures.js";
import { loneContext } from "../lone-context.js";

const step = (name: string, execute: (input: string, ctx: ToolContext) => unknown): AnyTool =>
  tool({ name, description: name, execute: execute as () => string });
const trim = step("trim", (text) => text.trim());
const upper = step("upper", (text) => text.toUpperCase());
const refuse = step("refuse", (text) => ToolResult.failure(`no ${text}`));
const explode = step("explode", () => {
  throw new Error("boom");
});
const mute = step("mute", () => {
  throw new Error("");
});
const city = tool({
  name: "city",
  description: "d",
  input: z.object({ city: z.string().min(2) }),
  execute: (input) => ({ town: input.city }),
});
const town = tool({
  name: "town",
  description: "d",
  input: z.object({ town: z.string().transform((text) => text.length) }),
  execute: (input) => `${input.town}`,
});

async function run(
  pipeline: ToolPipeline,
  input: unknown,
  ctx: ToolContext = loneContext(),
): Promise<Pick<ToolResult, "ok" | "output" | "errorMessage">> {
  const { ok, output, errorMessage } = await pipeline.execute(input, ctx);
  return { ok, output, errorMessage };
}

const success = (output: string): object => ({ ok: true, output, errorMessage: undefined });
const failure = (errorMessage: string): object => ({ ok: false, output: "", errorMessage });

const options = (changes: object): ToolPipelineOptions => ({
  name: "p",
  description: "d",
  steps: [],
  ...changes,
});

/** A run in which an agent calls the pipeline once with `args`. */
async function called(
  pipeline: AnyTool,
  args: unknown,
  {
    plugins = [],
    signal,
  }: { readonly plugins?: readonly Plugin[]; readonly signal?: AbortSignal } = {},
): Promise<{
  readonly calls: readonly string[];
  readonly answer: string;
  readonly error: unknown;
}> {
  const calls: string[] = [];
  const model = new ScriptedModel([
    { toolCalls: [{ name: pipeline.name, arguments: args, id: "c" }] },
    "Done.",
  ]);
  const agent = new Agent({ role: "Worker", goal: "Work", tools: [pipeline] });
  const on = (e: EnsembleEvent): void =>
    void (
      e.type === "tool_called" && calls.push(`${e.toolName} ${e.toolArguments} -> ${e.toolResult}`)
    );
  await using ensemble = new Ensemble({
    model,
    tasks: [new Task({ description: "Work", agent })],
    on,
    plugins,
  });
  const output = await ensemble.run({}, { throwOnError: false, signal });
  const answer = model.requests[1]?.messages.at(-1);
  return {
    calls,
    answer: typeof answer?.content === "string" ? answer.content : "",
    error: output.error,
  };
}

describe("ToolPipeline", () => {
  describe("when it is created", () => {
    it("has a name and a description derived from its steps", () => {
      const pipeline = ToolPipeline.of(trim, upper, trim);
      expect(pipeline.name).to.equal("trim_then_upper_then_trim");
      expect(pipeline.description).to.equal("Pipeline: trim -> upper -> trim");
      expect(ToolPipeline.of("shout", "Shouts", trim, upper)).to.include({
        name: "shout",
        description: "Shouts",
        errorStrategy: "FAIL_FAST",
      });
      expect(() => new Agent({ role: "r", goal: "g", tools: [pipeline] })).not.to.throw();
      expect(Object.isFrozen(pipeline)).to.equal(true);
      expect(pipeline.steps.map(({ tool }) => tool.name)).to.deep.equal(["trim", "upper", "trim"]);
    });

    const MISTAKES: readonly (readonly [string, () => unknown, string])[] = [
      ["no first step", () => ToolPipeline.of(undefined as never), "first step must not be null"],
      [
        "null for the first step",
        () => ToolPipeline.of("n", "d", null as never),
        "first step must not be null",
      ],
      [
        "null for a later step",
        () => ToolPipeline.of(trim, null as never),
        "pipeline steps must not contain null elements",
      ],
      [
        "a null step",
        () => new ToolPipeline(options({ steps: [null] })),
        "pipeline steps must not contain null elements",
      ],
      [
        "a step without a tool",
        () => new ToolPipeline(options({ steps: [{}] })),
        "step tool must not be null",
      ],
      [
        "a tool for a step",
        () => new ToolPipeline(options({ steps: [trim] })),
        "ToolPipeline step 1 is a tool and must be { tool, adapter? }",
      ],
      [
        "no tool",
        () => ToolPipeline.of(5 as never),
        "ToolPipeline step 1 tool must be a tool, got: 5",
      ],
      [
        "a null adapter",
        () => new ToolPipeline(options({ steps: [{ tool: trim, adapter: null }] })),
        "adapter must not be null",
      ],
      [
        "an invalid adapter",
        () => new ToolPipeline(options({ steps: [{ tool: trim, adapter: 1 }, { tool: trim }] })),
        "ToolPipeline step 1 adapter must be a function, got: 1",
      ],
      [
        "an adapter after the last step",
        () => new ToolPipeline(options({ steps: [{ tool: trim, adapter: () => "" }] })),
        "ToolPipeline step 1 ('trim') is the last one: its adapter would never run",
      ],
      [
        "a null strategy",
        () => new ToolPipeline(options({ errorStrategy: null })),
        "errorStrategy must not be null",
      ],
      [
        "an unknown strategy",
        () => new ToolPipeline(options({ errorStrategy: "RETRY" })),
        'ToolPipeline errorStrategy must be one of "FAIL_FAST", "CONTINUE_ON_FAILURE", got: RETRY',
      ],
      [
        "a blank name",
        () => new ToolPipeline(options({ name: " " })),
        "ToolPipeline name must not be blank",
      ],
      [
        "an empty name",
        () => ToolPipeline.of("", "d", trim),
        "ToolPipeline name must not be blank",
      ],
      [
        "a blank description",
        () => new ToolPipeline(options({ description: "" })),
        "ToolPipeline description must not be blank",
      ],
      [
        "a name that no vendor accepts",
        () => ToolPipeline.of("a b", "d", trim),
        "ToolPipeline name must have 1 to 64 letters, digits, '_' or '-', got: a b",
      ],
      [
        "steps that are not a list",
        () => new ToolPipeline(options({ steps: undefined })),
        "ToolPipeline steps must be an array, got: undefined",
      ],
      [
        "an unknown option",
        () => new ToolPipeline(options({ timeoutMS: 1 })),
        "Unknown option 'timeoutMS' in ToolPipeline.",
      ],
      [
        "an unknown option of a step",
        () => new ToolPipeline(options({ steps: [{ tool: trim, adaptor: 1 }] })),
        "Did you mean 'adapter'?",
      ],
      [
        "a time limit of 0",
        () => new ToolPipeline(options({ timeoutMs: 0 })),
        "ToolPipeline timeoutMs must be a positive number",
      ],
      [
        "a `sequential` that is not a boolean",
        () => new ToolPipeline(options({ sequential: 1 })),
        "ToolPipeline sequential must be true or false",
      ],
      [
        "a `requireApproval` that is not a boolean",
        () => new ToolPipeline(options({ requireApproval: 1 })),
        "ToolPipeline requireApproval must be true or false",
      ],
    ];
    for (const [mistake, make, message] of MISTAKES) {
      it(`refuses ${mistake}`, () => {
        expect(make).to.throw(ValidationError, message);
      });
    }

    it("refuses a derived name that is too long, and names the option for another name", () => {
      const long = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => step(`number_${n}`, String));
      const error: unknown = (() => {
        try {
          return ToolPipeline.of(trim, ...long);
        } catch (thrown) {
          return thrown;
        }
      })();
      expect(error).to.be.instanceOf(ValidationError);
      expect((error as ValidationError).hint).to.include(
        "ToolPipeline.of(name, description, ...steps)",
      );
    });

    it("checks the schemas of all steps", () => {
      const list = tool({
        name: "list",
        description: "d",
        input: z.array(z.string()) as never,
        execute: () => "",
      });
      expect(() => ToolPipeline.of(trim, list)).to.throw(
        ValidationError,
        "ToolPipeline step 2 ('list'): its input schema must describe an object, got type: array",
      );
      const odd = tool({
        name: "odd",
        description: "d",
        input: z.object({ when: z.date() }),
        execute: () => "",
      });
      expect(() => ToolPipeline.of(odd)).to.throw(
        ValidationError,
        "ToolPipeline step 1 ('odd'): its input schema could not be converted",
      );
    });

    it("accepts the input of its first step", () => {
      expect(ToolPipeline.of(trim, city).input).to.equal(undefined);
      expect(ToolPipeline.of(city, trim).input?.jsonSchema).to.deep.include({
        type: "object",
        required: ["city"],
      });
      expect(ToolPipeline.of(city).input?.jsonSchema).not.to.have.property("$schema");
      const plain = tool({
        name: "plain",
        description: "d",
        input: { type: "object", properties: {} },
        execute: () => "",
      });
      expect(ToolPipeline.of(plain).input?.jsonSchema).to.deep.equal({
        type: "object",
        properties: {},
      });
      expect(ToolPipeline.of(jsonParserTool()).input?.jsonSchema).to.have.property(
        "additionalProperties",
        false,
      );
    });

    it("has the strictest properties of its steps", () => {
      const alone = tool({
        name: "alone",
        description: "d",
        sequential: true,
        effect: "write",
        untrusted: true,
        execute: () => "",
      });
      const reads = calculatorTool();
      expect(ToolPipeline.of(reads, alone)).to.include({
        sequential: true,
        effect: "write",
        untrusted: true,
        replay: "run",
        delegates: true,
      });
      expect(ToolPipeline.of(reads)).to.include({
        sequential: false,
        effect: "read",
        untrusted: false,
      });
      expect(ToolPipeline.of(reads, trim).effect).to.equal(undefined); // unknown
      expect(new ToolPipeline(options({ sequential: true })).sequential).to.equal(true);
      expect(
        () => new ToolPipeline(options({ sequential: false, steps: [{ tool: alone }] })),
      ).to.throw(ValidationError, "step 'alone' must never run in parallel with other calls");
    });
  });

  describe("during its execution", () => {
    it("passes the output of each step to the next, and returns the last output", async () => {
      expect(await run(ToolPipeline.of(trim, upper), "  hi ")).to.deep.equal(success("HI"));
      expect(
        await run(
          ToolPipeline.of(
            ToolPipeline.of(trim, upper),
            step("twice", (text) => text + text),
          ),
          " a",
        ),
      ).to.deep.equal(success("AA"));
    });

    it("keeps the last step's structured value", async () => {
      expect(
        (await ToolPipeline.of(trim, calculatorTool()).execute(" 6 * 7 ", loneContext()))
          .structured,
      ).to.equal(42);
    });

    it("returns its input if it has no steps", async () => {
      expect(await run(new ToolPipeline(options({})), "same")).to.deep.equal(success("same"));
      expect(await run(new ToolPipeline(options({})), undefined)).to.deep.equal(success(""));
    });

    it("accepts texts, objects and no value from adapters", async () => {
      const pipeline = new ToolPipeline(
        options({
          steps: [
            { tool: trim, adapter: (result: ToolResult) => ({ city: result.output }) },
            { tool: city, adapter: async (result: ToolResult) => result.structured },
            { tool: town, adapter: () => undefined },
            { tool: step("count", (text) => `${text.length} characters`) },
          ],
        }),
      );
      expect(await run(pipeline, " Oslo ")).to.deep.equal(success("0 characters"));
      expect(await run(ToolPipeline.of(city, town), { city: "Oslo" })).to.deep.equal(success("4")); // its output is the JSON that the next one takes
    });

    it("writes an object as JSON for a step that accepts a text", async () => {
      const pipeline = new ToolPipeline(
        options({ steps: [{ tool: trim, adapter: () => ({ a: [1] }) }, { tool: upper }] }),
      );
      expect(await run(pipeline, "x")).to.deep.equal(success('{"A":[1]}'));
    });

    it("accepts the JSON of the first step's arguments as a text", async () => {
      expect(
        await run(
          ToolPipeline.of(jsonParserTool(), calculatorTool()),
          '{"jsonPath":"a","json":"{\\"a\\":\\"1+1\\"}"}',
        ),
      ).to.deep.equal(success("2"));
    });

    it("ends with the first failure", async () => {
      const reached: string[] = [];
      const after = step("after", (text) => (reached.push(text), text));
      expect(await run(ToolPipeline.of(trim, refuse, after), "way")).to.deep.equal(
        failure("no way"),
      );
      expect(await run(ToolPipeline.of(explode, after), "way")).to.deep.equal(
        failure("Step 'explode' threw: boom"),
      );
      expect(await run(ToolPipeline.of(mute, after), "way")).to.deep.equal(
        failure("Tool execution failed with no message"),
      );
      expect(reached).to.deep.equal([]);
    });

    it("continues with the message of a failure by the option, without the adapter", async () => {
      const adapted: string[] = [];
      const adapter = (result: ToolResult): string => (adapted.push(result.output), "adapted");
      const goOn = (...tools: readonly AnyTool[]): ToolPipeline =>
        new ToolPipeline(
          options({
            errorStrategy: "CONTINUE_ON_FAILURE",
            steps: tools.map((t, i) => (i < tools.length - 1 ? { tool: t, adapter } : { tool: t })),
          }),
        );
      expect(await run(goOn(refuse, upper), "way")).to.deep.equal(success("NO WAY"));
      expect(await run(goOn(explode, upper), "way")).to.deep.equal(
        success("STEP 'EXPLODE' THREW: BOOM"),
      );
      expect(adapted).to.deep.equal([]);
      expect(await run(goOn(upper, refuse), "way")).to.deep.equal(failure("no adapted"));
      expect(adapted).to.deep.equal(["WAY"]);
    });

    it("fails if an adapter throws, or returns a value that JSON can't represent", async () => {
      const adapting = (adapter: () => unknown): ToolPipeline =>
        new ToolPipeline(
          options({
            errorStrategy: "CONTINUE_ON_FAILURE",
            steps: [{ tool: trim, adapter }, { tool: upper }],
          }),
        );
      const thrower = (): never => {
        throw new TypeError("undefined is not a city");
      };
      expect(await run(adapting(thrower), "x")).to.deep.equal(
        failure("Adapter after step 'trim' threw: undefined is not a city"),
      );
      expect(
        (
          await run(
            adapting(() => ({ big: 1n })),
            "x",
          )
        ).errorMessage,
      ).to.match(/^Adapter after step 'trim' threw: /);
    });

    it("passes on configuration errors and early exits", async () => {
      for (const error of [new ToolConfigurationError("no key"), new ExitEarlySignal("enough")]) {
        const thrower = step("thrower", () => {
          throw error;
        });
        const pipeline = new ToolPipeline(
          options({
            errorStrategy: "CONTINUE_ON_FAILURE",
            steps: [{ tool: thrower }, { tool: upper }],
          }),
        );
        for (const ctx of [{} as ToolContext, undefined as never]) {
          expect(await pipeline.execute("x", ctx).catch((thrown: unknown) => thrown)).to.equal(
            error,
          );
        }
      }
    });

    it("works without a run, with the steps' own checks", async () => {
      const alone = null as never as ToolContext; // plain JavaScript
      expect(await run(ToolPipeline.of(trim, upper), " a", alone)).to.deep.equal(success("A"));
      expect(
        await run(ToolPipeline.of(city, town), { city: "Oslo" }, {} as ToolContext),
      ).to.deep.equal(success("4"));
      expect((await run(ToolPipeline.of(city), { city: "O" }, alone)).errorMessage).to.match(
        /^Invalid input for tool 'city': city: /,
      );
      expect((await run(ToolPipeline.of(city), "Oslo", alone)).errorMessage).to.match(
        /^Invalid input for tool 'city': /,
      );
      expect(await run(ToolPipeline.of(explode), "x", alone)).to.deep.equal(
        failure("Step 'explode' threw: boom"),
      );
      const plain = tool({
        name: "plain",
        description: "d",
        input: { type: "object" },
        execute: (input: object) => input,
      });
      expect(await run(ToolPipeline.of(plain), { a: 1 }, alone)).to.deep.equal(success('{"a":1}'));
      expect((await run(ToolPipeline.of(plain), "[1]", alone)).errorMessage).to.equal(
        "Invalid input for tool 'plain': expected a JSON object",
      );
      expect(
        await run(ToolPipeline.of(step("nothing", () => undefined)), "x", alone),
      ).to.deep.equal(success(""));
    });
  });

  describe("in a run", () => {
    it("shows every step with its own id, and answers the model once", async () => {
      const { answer, calls } = await called(
        ToolPipeline.of(trim, ToolPipeline.of("loud", "d", upper, upper)),
        { input: " hi " },
      );
      expect(answer).to.equal("HI");
      expect(calls).to.deep.equal([
        'trim {"input":" hi "} -> hi',
        'upper {"input":"hi"} -> HI',
        'upper {"input":"HI"} -> HI',
        'loud {"input":"hi"} -> HI',
        'trim_then_loud {"input":" hi "} -> HI',
      ]);
    });

    it("has the arguments of its first step checked by its schema, once", async () => {
      const pipeline = ToolPipeline.of(town, upper); // a transform that would not bear its own result
      expect((await called(pipeline, { town: "Oslo" })).answer).to.equal("4");
      expect((await called(pipeline, { town: 5 })).answer).to.match(
        /^Error: Invalid input for tool 'town': town: /,
      );
      expect((await called(pipeline, {})).answer).to.equal(
        "Error: Invalid input for tool 'town_then_upper': missing required parameter(s): town",
      );
    });

    it("passes each step through the hooks, under its own name and id", async () => {
      const ids: string[] = [];
      const guard = definePlugin({
        name: "guard",
        apply: ({ hooks }) =>
          hooks.beforeToolCall.tap({ name: "guard" }, ({ call, tool: subject }) => {
            ids.push(`${subject.name} ${call.id}`);
            return subject.name === "upper" ? reject("no shouting") : undefined;
          }),
      });
      const { answer } = await called(
        ToolPipeline.of("p", "d", trim, upper, trim),
        { input: " hi" },
        { plugins: [guard] },
      );
      expect(answer).to.equal("Error: no shouting");
      expect(ids).to.deep.equal(["p c", "trim c.1", "upper c.2"]);
    });

    it("fails the task when a hook breaks or a step has an invalid configuration", async () => {
      const broken = definePlugin({
        name: "broken",
        apply: ({ hooks }) =>
          hooks.beforeToolCall.tap({ name: "broken" }, ({ tool: subject }) => {
            if (subject.name === "upper") throw new Error("guard is ill");
          }),
      });
      const inHook = await called(
        ToolPipeline.of(trim, upper),
        { input: "x" },
        { plugins: [broken] },
      );
      expect(PluginError.find(inHook.error)?.message).to.include("guard is ill");
      const unconfigured = step("unconfigured", () => {
        throw new ToolConfigurationError("no key");
      });
      const inStep = await called(ToolPipeline.of(trim, unconfigured), { input: "x" });
      expect(ToolConfigurationError.find(inStep.error)?.message).to.equal("no key");
    });

    it("reports a step that threw to the model", async () => {
      expect((await called(ToolPipeline.of(explode), { input: "x" })).answer).to.equal(
        "Error: Step 'explode' threw: boom",
      );
    });

    it("stops the current step at its own time limit, and starts no other", async () => {
      const seen: string[] = [];
      const waiting = (timeoutMs: number | undefined): AnyTool =>
        tool({
          name: "wait",
          description: "d",
          timeoutMs,
          execute: (_input, { signal }) => untilAborted(signal).finally(() => seen.push("stopped")),
        });
      const after = step("after", () => void seen.push("after"));
      for (const own of [undefined, 10_000]) {
        // Through a pipeline within the pipeline, which has no limit of its own.
        const pipeline = new ToolPipeline({
          name: "p",
          description: "d",
          timeoutMs: 20,
          steps: [{ tool: ToolPipeline.of(waiting(own)) }, { tool: after }],
        });
        expect((await called(pipeline, { input: "x" })).answer).to.equal(
          "Tool error: Tool 'p' did not finish within 20 ms",
        );
      }
      expect(seen).to.deep.equal(["stopped", "stopped"]);
    });

    it("ends a step with the step's own time limit, and continues by the option", async () => {
      const waiting = tool({
        name: "wait",
        description: "d",
        timeoutMs: 10,
        execute: (_input, { signal }) => untilAborted(signal),
      });
      const steps = [{ tool: waiting }, { tool: upper }];
      const pipeline = new ToolPipeline({
        name: "p",
        description: "d",
        timeoutMs: 60_000,
        errorStrategy: "CONTINUE_ON_FAILURE",
        steps,
      });
      expect((await called(pipeline, { input: "x" })).answer).to.equal(
        "STEP 'WAIT' THREW: TOOL 'WAIT' DID NOT FINISH WITHIN 10 MS",
      );
    });

    it("keeps the approval of its steps available within a time limit", async () => {
      const asked: unknown[] = [];
      const careful = tool({
        name: "careful",
        description: "d",
        requireApproval: true,
        approvalDescription: (input) => `Do ${input}`,
        needsApproval: (input) => input === "x",
        execute: () => "done",
      });
      const watch = definePlugin({
        name: "watch",
        bind: (bind) =>
          void bind.single(Tokens.ReviewHandler).toConstantValue(ReviewHandler.autoApprove()),
        apply: ({ hooks }) =>
          hooks.beforeToolCall.tap({ name: "watch" }, ({ tool: subject, input }) => {
            if (subject.name === "careful")
              asked.push(
                subject.requireApproval,
                subject.approvalDescription?.(input),
                subject.needsApproval?.(input),
              );
          }),
      });
      await called(
        new ToolPipeline({
          name: "p",
          description: "d",
          timeoutMs: 5_000,
          steps: [{ tool: careful }],
        }),
        { input: "x" },
        { plugins: [watch] },
      );
      expect(asked).to.deep.equal([true, "Do x", true]);
    });

    it("starts no step after the run was cancelled", async () => {
      const controller = new AbortController();
      const seen: string[] = [];
      const cancel = step("cancel", () => (controller.abort(), "x"));
      const pipeline = new ToolPipeline(
        options({
          errorStrategy: "CONTINUE_ON_FAILURE",
          steps: [{ tool: cancel }, { tool: step("after", () => void seen.push("after")) }],
        }),
      );
      const { error } = await called(pipeline, { input: "x" }, { signal: controller.signal });
      expect(seen).to.deep.equal([]);
      expect(error).to.be.instanceOf(RunCancelledError);
    });

    it("executes a task as its handler", async () => {
      const sum = new Task({ description: "6 * 7", handler: ToolPipeline.of(calculatorTool()) });
      await using ensemble = new Ensemble({ tasks: [sum] });
      expect((await ensemble.run()).raw).to.equal("42");
    });
  });
});

toolContract("pipeline", { create: () => ToolPipeline.of(trim, upper), valid: ["a", " b "] });
toolContract("typed pipeline", {
  create: () => ToolPipeline.of(jsonParserTool(), calculatorTool()),
  valid: [{ jsonPath: "sum", json: '{"sum":"1+1"}' }],
  failing: [{ jsonPath: "none", json: "{}" }],
});
