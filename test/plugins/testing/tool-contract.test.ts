import { createServer, type Server } from "node:net";
import type { AnyTool, Tool, ToolContext } from "agentensemble";
import { tool, ToolResult, ValidationError } from "agentensemble";
import { toolContract } from "agentensemble/testing";
import type { ToolContractOptions } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { schemaProblems, undescribed } from "../../../src/plugins/testing/tool-schema-rules.js";
import { untilAborted } from "../../support/kernel-fixtures.js";
import { failuresOf } from "./failures-of.js";
import { pause } from "../../support/time.js";

const SECRET = "sk-very/secret+key";

const NAME = "has a name that models may write, and a description";
const VENDORS = "has a schema that OpenAI and Anthropic accept";
const DESCRIBED = "describes each parameter to the model";
const CHECKED = "accepts the valid inputs and refuses the others before it runs";
const SUCCEEDS = "succeeds with the valid inputs, and leaves them unchanged";
const AT_ONCE = "runs several calls at once on one object";
const MIXED = "does not mix calls that run at once";
const FAILS = "reports a failure with a failed result or by throwing";
const ABSURD = "answers absurd input with a result or an error of the framework";
const ENDS = "ends soon after its signal";
const ENDS_BEFORE = "ends soon if its signal is aborted before the call";
const LEFT = "leaves nothing that keeps the process alive";
const SECRETS = "reveals no secret in its results and errors";

/** The rules that a tool of one text breaks. */
async function broken(
  execute: (input: string, ctx: ToolContext) => unknown,
  more: Partial<ToolContractOptions<string>> & Partial<Tool> = {},
): Promise<readonly string[]> {
  const {
    name = "subject",
    description = "A tool on trial",
    slow,
    secrets,
    failing,
    valid = ["a", "b"],
    create,
  } = more;
  const subject = { name, description, execute: execute as () => string };
  return failuresOf(() =>
    toolContract("t", { create: create ?? (() => subject), valid, failing, slow, secrets }),
  );
}

toolContract("one that works slowly, and minds its signal", {
  create: () => ({
    name: "slow",
    description: "Waits",
    execute: async (input: string, { signal }) => (input === "slow" ? untilAborted(signal) : input),
  }),
  valid: ["a"],
  slow: "slow",
  secrets: [SECRET],
});

describe("toolContract", () => {
  it("accepts a correct tool", async () => {
    expect(await broken((input) => input, { secrets: [SECRET] })).to.deep.equal([]);
  });

  it("detects an invalid name or description", async () => {
    expect(await broken((input) => input, { name: "get weather" })).to.deep.equal([NAME]);
    expect(await broken((input) => input, { name: "x".repeat(65) })).to.deep.equal([NAME]);
    expect(await broken((input) => input, { description: " " })).to.deep.equal([NAME]);
  });

  it("detects parameters without a description, and schemas that a vendor refuses", async () => {
    const bare = tool({
      name: "bare",
      description: "d",
      input: z.object({ a: z.string() }),
      execute: ({ a }) => a,
    });
    expect(
      await failuresOf(() => toolContract("t", { create: () => bare, valid: [{ a: "x" }] })),
    ).to.deep.equal([DESCRIBED]);
    const loose = tool({
      name: "loose",
      description: "d",
      input: { properties: { a: { description: "a list", type: "array" } } },
      execute: () => "x",
    });
    expect(
      await failuresOf(() => toolContract("t", { create: () => loose, valid: [{}] })),
    ).to.deep.equal([VENDORS]);
  });

  it("detects a schema that accepts invalid input", async () => {
    const input = z.object({ a: z.unknown().describe("anything") });
    const lenient = tool({ name: "lenient", description: "d", input, execute: () => "x" });
    expect(
      await failuresOf(() =>
        toolContract("t", { create: () => lenient, valid: [{ a: 1 }], invalid: [{ a: 2 }] }),
      ),
    ).to.deep.equal([CHECKED]);
  });

  it("detects results without a JSON form", async () => {
    const circle: { self?: object } = {};
    circle.self = circle;
    expect(await broken(() => circle)).to.include.members([SUCCEEDS, AT_ONCE]);
    expect(await broken(() => ToolResult.success("x", { big: 1n }))).to.include.members([
      SUCCEEDS,
      AT_ONCE,
    ]);
    expect(await broken(() => 5)).to.include.members([SUCCEEDS, AT_ONCE]);
  });

  it("detects an input that was changed", async () => {
    const input = z.object({ a: z.array(z.number()).describe("numbers") });
    const sorting = (sort: (a: number[]) => unknown): AnyTool =>
      tool({ name: "sort", description: "d", input, execute: ({ a }) => JSON.stringify(sort(a)) });
    const inPlace = await failuresOf(() =>
      toolContract("t", { create: () => sorting((a) => a.sort()), valid: [{ a: [2, 1] }] }),
    );
    expect(inPlace).to.include.members([SUCCEEDS, AT_ONCE]);
    expect(
      await failuresOf(() =>
        toolContract("t", { create: () => sorting((a) => a.toSorted()), valid: [{ a: [2, 1] }] }),
      ),
    ).to.deep.equal([]);
  });

  it("detects calls with shared state, but not different times of day", async () => {
    let last = "";
    const mixing = async (input: string): Promise<string> => {
      last = input;
      await pause(1);
      return last;
    };
    expect(await broken(mixing)).to.deep.equal([MIXED]);
    let count = 0;
    expect(await broken(() => `call ${++count}`)).to.deep.equal([]);
  });

  it("detects a failure that is returned as a success", async () => {
    expect(await broken(() => "fine", { failing: ["x"] })).to.deep.equal([FAILS]);
    expect(
      await broken((input) => (input === "x" ? ToolResult.failure("no") : "fine"), {
        failing: ["x"],
      }),
    ).to.deep.equal([]);
  });

  it("detects failures of tools for extreme input", async () => {
    expect(await broken((input) => JSON.parse(`["${input}"]`) as object)).to.deep.equal([ABSURD]); // a raw SyntaxError
    const nested = (input: string): string => (input.startsWith("(((") ? nested(input) : input); // a raw RangeError
    expect(await broken(nested)).to.deep.equal([ABSURD]);
    const input = {
      type: "object",
      properties: { a: { type: "string", description: "a text" } },
      required: ["a"],
    } as const;
    const trusting = tool({
      name: "trusting",
      description: "d",
      input,
      execute: ({ a }: { a: string }) => a.trim(),
    }); // the framework checks the type
    expect(
      await failuresOf(() =>
        toolContract("t", { create: () => trusting, valid: [{ a: "x" }], invalid: [{ a: 1 }] }),
      ),
    ).to.deep.equal([]);
    const parsing = tool({
      name: "parsing",
      description: "d",
      input,
      execute: ({ a }: { a: string }) => JSON.parse(`["${a}"]`) as object,
    });
    expect(
      await failuresOf(() => toolContract("t", { create: () => parsing, valid: [{ a: "x" }] })),
    ).to.deep.equal([ABSURD]);
    const waiting = (text: string, { signal }: ToolContext): Promise<string> | string =>
      text.length < 3
        ? text
        : new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason as Error)),
          );
    expect(await broken(waiting)).to.deep.equal([]); // ends on request
    const refusing = (text: string): string => {
      if (text.length < 3) return text;
      throw new ValidationError("too long");
    };
    expect(await broken(refusing)).to.deep.equal([]);
    expect(
      await broken((text) => (text.length > 1_000 ? new Promise(() => undefined) : text)),
    ).to.deep.equal([ABSURD]); // never ends
  });

  it("detects a tool that ignores its signal", async () => {
    expect(
      await broken((input) => (input === "slow" ? pause(1_500) : input), { slow: "slow" }),
    ).to.deep.equal([ENDS, ENDS_BEFORE]);
    const onlyLater = (input: string, { signal }: ToolContext): unknown =>
      input === "slow"
        ? new Promise((_, fail) =>
            signal.addEventListener("abort", () => fail(signal.reason), { once: true }),
          )
        : input; // ignores an earlier abort
    expect(await broken(onlyLater, { slow: "slow" })).to.deep.equal([ENDS_BEFORE]);
  });

  it("reports a slow input that is not slow", async () => {
    expect(await broken((input) => input, { slow: "slow" })).to.include(ENDS);
  });

  it("detects timers and servers that remain open", async () => {
    const timers: NodeJS.Timeout[] = [];
    expect(
      await broken((input) => (timers.push(setTimeout(() => undefined, 100_000)), input)),
    ).to.deep.equal([LEFT]);
    timers.forEach(clearTimeout);
    const servers: Server[] = [];
    const serving = async (input: string): Promise<string> => {
      const server = createServer();
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return input;
    };
    expect(await broken(serving)).to.deep.equal([LEFT]);
    servers.forEach((server) => server.close());
  });

  it("detects secrets, plain and encoded, in results, errors and their causes", async () => {
    const leaks: readonly ((input: string) => unknown)[] = [
      () => `url?key=${encodeURIComponent(SECRET)}`,
      () => ToolResult.success("fine", { headers: { authorization: SECRET } }),
      () => ({ basic: Buffer.from(SECRET).toString("base64") }),
    ];
    for (const leak of leaks)
      expect(await broken(leak, { secrets: ["other", SECRET] })).to.deep.equal([SECRETS]);
    const inCause = (input: string): string => {
      if (input !== "x") return input;
      throw new ValidationError("refused", { cause: new Error(`request with ${SECRET} failed`) });
    };
    expect(await broken(inCause, { secrets: [SECRET], failing: ["x"] })).to.deep.equal([SECRETS]);
    expect(
      await broken((input) => (input === "x" ? ToolResult.failure(SECRET) : input), {
        secrets: [SECRET],
        failing: ["x"],
      }),
    ).to.deep.equal([SECRETS]);
  });

  it("refuses invalid options", () => {
    expect(() => toolContract("t", { secret: [] } as never)).to.throw(
      ValidationError,
      "Did you mean 'secrets'",
    );
    expect(() => toolContract("t", { secrets: "x" } as never)).to.throw(
      ValidationError,
      "secrets must be an array",
    );
    expect(() => toolContract("t", { secrets: [""] } as never)).to.throw(
      ValidationError,
      "must be texts",
    );
  });
});

describe("schemaProblems", () => {
  const object = (changes: object): Readonly<Record<string, unknown>> => ({
    type: "object",
    ...changes,
  });
  const CASES: readonly (readonly [Readonly<Record<string, unknown>>, readonly string[]])[] = [
    [object({}), []],
    [
      object({
        properties: { a: { type: ["string", "null"] }, b: { type: "array", items: {} } },
        required: ["a"],
      }),
      [],
    ],
    [
      object({
        properties: { a: { $ref: "#/$defs/place" } },
        $defs: { place: { type: "string" } },
      }),
      [],
    ],
    [{}, ['input: the root must say type: "object"']],
    [{ type: "array", items: {} }, ['input: the root must say type: "object"']],
    [object({ anyOf: [{ type: "object" }] }), ["input: anyOf is not allowed at the root"]],
    [object({ properties: { a: { type: "text" } } }), ["input.a: 'text' is no type"]],
    [object({ required: ["a"] }), ["input: 'a' is required and not described"]],
    [object({ required: true }), ["input: required must be a list"]],
    [
      object({ properties: { "a b": {} } }),
      ["input: 'a b' must have 1 to 64 letters, digits, '_', '.' or '-'"],
    ],
    [
      object({ properties: { a: { type: "object", properties: { b: { type: "array" } } } } }),
      ["input.a.b: an array needs items"],
    ],
    [
      object({ properties: { a: { anyOf: [{ enum: [] }] } } }),
      ["input.a.anyOf[0]: enum must be a list with something in it"],
    ],
    [
      object({ properties: { a: { $ref: "https://example.org/a" } } }),
      ["input.a: the reference https://example.org/a leads nowhere within the schema"],
    ],
    [
      object({ properties: { a: { $ref: "#/$defs/none" } } }),
      ["input.a: the reference #/$defs/none leads nowhere within the schema"],
    ],
    [object({ examples: [1n] }), ["input: the schema has no JSON form"]],
  ];
  for (const [schema, problems] of CASES) {
    it(problems[0] ?? `finds nothing in ${JSON.stringify(schema)}`, () => {
      expect(schemaProblems(schema)).to.deep.equal(problems);
    });
  }

  it("requires a description of every parameter, at any depth, and accepts that of a reference", () => {
    const place = { type: "string", description: "where" };
    const schema = {
      properties: {
        a: { type: "object", description: " ", properties: { b: {} } },
        c: { $ref: "#/$defs/place" },
      },
      $defs: { place, other: {} },
    };
    expect(undescribed(schema)).to.deep.equal(["input.a", "input.a.b"]);
  });
});
