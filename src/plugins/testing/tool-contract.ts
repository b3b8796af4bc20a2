import assert from "node:assert/strict";
import type { Tool } from "../../contracts/tool.js";
import type { TrialEnding } from "./tool-trial.js";
import { isTool } from "../../contracts/tool.js";
import { checkOptions, preview, requireArray, requireText } from "../../contracts/validation.js";
import { checkToolInput } from "../../contracts/tool-input.js";
import { sleep } from "../../util/abort/timeouts.js";
import { absurdInputs } from "./absurd-inputs.js";
import {
  assertNoSecret,
  assertOrderly,
  assertSuccess,
  handles,
  handlesLeft,
  isFailure,
  seenText,
} from "./tool-findings.js";
import { schemaProblems, undescribed } from "./tool-schema-rules.js";
import { endingWithin, jsonSchemaOf, tryTool } from "./tool-trial.js";

/** Options of `toolContract`. */
export interface ToolContractOptions<I = unknown> {
  /** Called at least once per test. */
  create(): Tool<I>;
  /**
   * Inputs with which the tool succeeds, at least one. They are used several times and
   * concurrently.
   */
  readonly valid: readonly I[];
  /** Inputs that its schema must refuse. Default: none. Not allowed for tools without `input`. */
  readonly invalid?: readonly unknown[] | undefined;
  /** Inputs with which it must fail, by a failed result or by throwing. Default: none. */
  readonly failing?: readonly I[] | undefined;
  /**
   * An input with which it works for at least 100 ms unless it is stopped. Default: the first valid
   * input, which may end before it can be stopped.
   */
  readonly slow?: I | undefined;
  /**
   * Values, such as keys of the tool, that must not occur in a result or an error. Default: none.
   */
  readonly secrets?: readonly string[] | undefined;
}

/**
 * Time in milliseconds in which a tool must end after its signal. The target is a fifth of it. The
 * rest allows for busy machines.
 */
const ABORT_LIMIT_MS = 500;
/** Time in milliseconds after which a slow call is stopped. */
const AT_WORK_MS = 20;
/** Time in milliseconds after which a call with absurd input is stopped. */
const PATIENCE_MS = 300;
const HANDLE_LIMIT_MS = 2_000;
const TEST_LIMIT_MS = 60_000;

/** Registers a test. A runner that supports it, such as mocha, gets a time limit of a minute. */
function test(title: string, body: () => void | Promise<void>): void {
  const registered: unknown = it(title, body);
  const { timeout } = (registered ?? {}) as { readonly timeout?: unknown };
  if (typeof timeout === "function") timeout.call(registered, TEST_LIMIT_MS);
}

function shapeSuite({ create, valid, invalid = [] }: ToolContractOptions): void {
  test("has a name that models may write, and a description", () => {
    const tool = create();
    assert.ok(isTool(tool));
    assert.match(tool.name, /^[A-Za-z0-9_-]{1,64}$/);
    assert.match(tool.description, /\S/);
  });

  test("describes its input as an object, or takes a single text", () => {
    const schema = jsonSchemaOf(create());
    if (schema === undefined) for (const input of valid) assert.equal(typeof input, "string");
    else assert.equal(schema["type"] ?? "object", "object");
  });

  test("has a schema that OpenAI and Anthropic accept", () => {
    assert.deepEqual(schemaProblems(jsonSchemaOf(create()) ?? { type: "object" }), []);
  });

  test("describes each parameter to the model", () => {
    assert.deepEqual(
      undescribed(jsonSchemaOf(create()) ?? {}),
      [],
      "these parameters need a description",
    );
  });

  test("accepts the valid inputs and refuses the others before it runs", async () => {
    const tool = create();
    if (tool.input === undefined)
      assert.deepEqual(invalid, [], "without a schema nothing is refused");
    for (const input of valid)
      assert.ok((await checkToolInput(tool, input)).ok, `refused ${preview(input)}`);
    for (const input of invalid)
      assert.ok(!(await checkToolInput(tool, input)).ok, `accepted ${preview(input)}`);
  });
}

function runSuite({ create, valid, failing = [] }: ToolContractOptions): void {
  test("succeeds with the valid inputs, and leaves them unchanged", async () => {
    assert.ok(valid.length > 0, "toolContract() needs at least one valid input");
    for (const input of valid) {
      const trial = tryTool(create(), input);
      assertSuccess(await trial.ending);
      assert.ok(!trial.changedInput(), "the tool changed its input");
    }
  });

  test("runs several calls at once on one object", async () => {
    const tool = create();
    const endings = await Promise.all(
      [...valid, ...valid].map((input) => tryTool(tool, input).ending),
    );
    endings.forEach(assertSuccess);
  });

  test("does not mix calls that run at once", async () => {
    const alone: string[][] = [];
    for (const input of valid)
      alone.push([
        seenText(await tryTool(create(), input).ending),
        seenText(await tryTool(create(), input).ending),
      ]);
    const tool = create();
    const together = await Promise.all(valid.map((input) => tryTool(tool, input).ending));
    for (const [index, [first, second]] of alone.entries()) {
      const ending = together[index];
      // A difference between any two calls, such as the time, is not a finding.
      if (first === second && ending !== undefined)
        assert.equal(seenText(ending), first, `with ${preview(valid[index])}`);
    }
  });

  test("reports a failure with a failed result or by throwing", async () => {
    for (const input of failing)
      assert.ok(
        isFailure(await tryTool(create(), input).ending),
        `succeeded with ${preview(input)}`,
      );
  });

  test("answers absurd input with a result or an error of the framework", async () => {
    for (const { input, ending } of await endingsOfAbsurd(create, valid))
      assertOrderly(input, ending);
  });
}

/** Executes calls with all absurd inputs that pass the schema, several at a time. */
async function endingsOfAbsurd(
  create: ToolContractOptions["create"],
  valid: readonly unknown[],
): Promise<readonly { readonly input: unknown; readonly ending: TrialEnding }[]> {
  const inputs = await absurdInputs(create(), valid[0]);
  const tool = create();
  const found: { readonly input: unknown; readonly ending: TrialEnding }[] = [];
  for (let start = 0; start < inputs.length; start += 8) {
    const some = inputs
      .slice(start, start + 8)
      .map(async (input) => ({ input, ending: await patiently(tool, input) }));
    found.push(...(await Promise.all(some)));
  }
  return found;
}

async function patiently(tool: Tool<unknown>, input: unknown): Promise<TrialEnding> {
  const trial = tryTool(tool, input);
  const ending = await Promise.race([trial.ending, endingWithin(trial, PATIENCE_MS)]);
  if (ending.kind !== "hung") return ending;
  trial.abort();
  return endingWithin(trial, ABORT_LIMIT_MS);
}

function endSuite(options: ToolContractOptions): void {
  const { create, valid, failing = [], secrets = [] } = options;
  const hasSlow = options.slow !== undefined;
  const long = hasSlow ? options.slow : valid[0];
  const stopped = async (): Promise<TrialEnding> => {
    const trial = tryTool(create(), long);
    await sleep(hasSlow ? AT_WORK_MS : 1);
    if (hasSlow)
      assert.ok(
        !trial.ended(),
        "the slow input was done before it could be stopped: give one that takes longer",
      );
    trial.abort();
    return endingWithin(trial, ABORT_LIMIT_MS);
  };

  test("ends soon after its signal", async () => {
    assert.notEqual(
      (await stopped()).kind,
      "hung",
      `the tool was still at work ${ABORT_LIMIT_MS} ms after its signal`,
    );
  });

  test("ends soon if its signal is aborted before the call", async () => {
    const trial = tryTool(create(), long, { aborted: true });
    assert.notEqual(
      (await endingWithin(trial, ABORT_LIMIT_MS)).kind,
      "hung",
      `the tool was still at work after ${ABORT_LIMIT_MS} ms, aborted from the start`,
    );
  });

  test("leaves nothing that keeps the process alive", async () => {
    await sleep(1); // the test runner sets a timer at the start of the test
    const before = handles();
    for (const input of [...valid, ...failing]) await patiently(create(), input);
    await stopped();
    assert.deepEqual(await handlesLeft(before, HANDLE_LIMIT_MS), []);
  });

  if (secrets.length === 0) return;
  test("reveals no secret in its results and errors", async () => {
    for (const input of [...valid, ...failing])
      assertNoSecret(secrets, await tryTool(create(), input).ending);
    assertNoSecret(secrets, await stopped());
    for (const { ending } of await endingsOfAbsurd(create, valid)) assertNoSecret(secrets, ending);
  });
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every tool should pass:
 * - valid name, description and schema for the vendors, and a description of every parameter
 * - results with a JSON form, unchanged inputs and independent calls
 * - proper results for absurd input
 * - a prompt end after the signal, without open handles
 * - no revealed secret
 *
 * @example
 * toolContract("calculator", {
 *   create: calculator,
 *   valid: [{ expression: "1 + 1" }],
 *   invalid: [{}],
 *   failing: [{ expression: "1 / 0" }],
 * });
 * @throws ValidationError for an unknown option.
 */
export function toolContract<I>(name: string, options: ToolContractOptions<I>): void {
  checkOptions("toolContract()", options, [
    "create",
    "valid",
    "invalid",
    "failing",
    "slow",
    "secrets",
  ]);
  requireArray("toolContract() secrets", options.secrets);
  for (const secret of options.secrets ?? [])
    requireText(secret, "toolContract() secrets must be texts with something in them");
  // the tool receives only inputs of its own options
  const anyOptions = options as ToolContractOptions<never> as ToolContractOptions;
  describe(`tool contract: ${name}`, () => {
    shapeSuite(anyOptions);
    runSuite(anyOptions);
    endSuite(anyOptions);
  });
}
