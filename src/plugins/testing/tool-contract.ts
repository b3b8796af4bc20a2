import assert from "node:assert/strict";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { AnyTool, Tool, ToolContext, ToolReturn } from "../../contracts/tool.js";
import { isTool, ToolResult } from "../../contracts/tool.js";
import { checkOptions } from "../../contracts/validation.js";
import { ScriptedModel } from "./scripted-model.js";
import { StagedScope } from "./staged-scope.js";

/** How `toolContract` gets its tools. */
export interface ToolContractOptions<I = unknown> {
  /** Called once per test. */
  create(): Tool<I>;
  /** Inputs with which the tool succeeds, at least one. */
  readonly valid: readonly I[];
  /** Inputs that its schema must refuse. Default: none; not for tools whose `input` is plain JSON Schema or missing. */
  readonly invalid?: readonly unknown[] | undefined;
  /** Inputs with which it must fail, by a failed result or by throwing. Default: none. */
  readonly failing?: readonly I[] | undefined;
}

/** Time within which a tool must have ended after its signal. */
const ABORT_LIMIT_MS = 1_000;

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}

function contextOf(scope: StagedScope): ToolContext {
  return { scope, signal: scope.signal, runId: scope.run.id, taskId: scope.taskId, agentRole: "Tester", toolCallId: "call_1" };
}

function newScope(): StagedScope {
  return new StagedScope("run-1", new ScriptedModel(["answer"], { onExhausted: "repeat-last" }));
}

async function execute(tool: AnyTool, input: unknown): Promise<ToolReturn> {
  return tool.execute(deepFreeze(structuredClone(input)), contextOf(newScope())); // frozen: a change would throw
}

function assertReturn(returned: ToolReturn): void {
  if (returned === undefined || typeof returned === "string") return;
  assert.equal(typeof returned, "object", `a tool returns a ToolResult, a text, plain data or nothing, not a ${typeof returned}`);
  if (ToolResult.isInstance(returned)) assert.ok(returned.ok, `the tool failed: ${returned.errorMessage ?? ""}`);
  else assert.equal(typeof JSON.stringify(returned), "string", "what a tool returns must have a JSON form");
}

type Validator = StandardSchemaV1["~standard"];

function validatorOf(tool: AnyTool): Validator | undefined {
  const input = tool.input as { readonly "~standard"?: Validator; readonly schema?: { readonly "~standard"?: Validator } } | undefined; // looked at, not trusted
  return input?.["~standard"] ?? input?.schema?.["~standard"];
}

function jsonSchemaOf(tool: AnyTool): Readonly<Record<string, unknown>> | undefined {
  const input = tool.input as { readonly "~standard"?: StandardJSONSchemaV1.Props; readonly jsonSchema?: Readonly<Record<string, unknown>> } | undefined;
  if (input === undefined) return undefined;
  if (input["~standard"] !== undefined) return input["~standard"].jsonSchema.input({ target: "draft-2020-12" });
  return validatorOf(tool) === undefined ? input : input.jsonSchema; // plain JSON Schema, else a pair
}

function shapeSuite({ create, valid, invalid = [] }: ToolContractOptions): void {
  it("has a name that models may write, and a description", () => {
    const tool = create();
    assert.ok(isTool(tool));
    assert.match(tool.name, /^[A-Za-z0-9_-]{1,64}$/);
    assert.match(tool.description, /\S/);
  });

  it("describes its input as an object, or takes a single text", () => {
    const schema = jsonSchemaOf(create());
    if (schema === undefined) for (const input of valid) assert.equal(typeof input, "string");
    else assert.equal(schema["type"] ?? "object", "object");
  });

  it("accepts the valid inputs and refuses the others before it runs", async () => {
    const validator = validatorOf(create());
    if (validator === undefined) {
      assert.deepEqual(invalid, [], "without a schema that validates nothing is refused");
      return;
    }
    for (const input of valid) assert.equal((await validator.validate(input)).issues, undefined, `refused ${JSON.stringify(input)}`);
    for (const input of invalid) assert.notEqual((await validator.validate(input)).issues, undefined, `accepted ${JSON.stringify(input)}`);
  });
}

function runSuite({ create, valid, failing = [] }: ToolContractOptions): void {
  it("succeeds with the valid inputs, and leaves them as they are", async () => {
    assert.ok(valid.length > 0, "toolContract() needs at least one valid input");
    for (const input of valid) assertReturn(await execute(create(), input));
  });

  it("runs several calls at once on one object", async () => {
    const tool = create();
    const returned = await Promise.all([...valid, ...valid].map((input) => execute(tool, input)));
    returned.forEach(assertReturn);
  });

  it("tells of a failure by a failed result or by throwing", async () => {
    for (const input of failing) {
      const returned: unknown = await execute(create(), input).catch((error: unknown) => error);
      const failed = returned instanceof Error || (ToolResult.isInstance(returned) && !returned.ok);
      assert.ok(failed, `succeeded with ${JSON.stringify(input)}`);
    }
  });

  it("ends soon after its signal", async () => {
    const scope = newScope();
    const [input] = valid;
    const work = Promise.resolve(create().execute(structuredClone(input), contextOf(scope))).then(
      () => true,
      () => true,
    );
    setTimeout(() => scope.abort(new Error("enough")), 1);
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ABORT_LIMIT_MS);
    });
    const ended = await Promise.race([work, limit]);
    clearTimeout(timer);
    assert.ok(ended, `the tool was still at work ${ABORT_LIMIT_MS} ms after its signal`);
  });
}

/**
 * Registers mocha tests (it uses the global `describe` and `it`) that every tool should pass.
 *
 * @example
 * toolContract("calculator", { create: calculator, valid: [{ expression: "1 + 1" }], invalid: [{}], failing: [{ expression: "1 / 0" }] });
 * @throws ValidationError for an unknown option.
 */
export function toolContract<I>(name: string, options: ToolContractOptions<I>): void {
  checkOptions("toolContract()", options, ["create", "valid", "invalid", "failing"]);
  const anyOptions = options as ToolContractOptions<never> as ToolContractOptions; // inputs are only handed from `valid` to the tool they belong to
  describe(`tool contract: ${name}`, () => {
    shapeSuite(anyOptions);
    runSuite(anyOptions);
  });
}
