import { ToolResult } from "agentensemble";
import { toolContract } from "agentensemble/testing";
import { expect } from "chai";
import fc from "fast-check";
import { calculatorTool } from "../../../../src/plugins/tools/calculator/index.js";
import { loneContext } from "../lone-context.js";

async function calculate(expression: unknown): Promise<ToolResult> {
  const result: unknown = await calculatorTool().execute(expression as string, loneContext());
  if (!ToolResult.isInstance(result)) throw new Error("no ToolResult");
  return result;
}

const VALUES: readonly (readonly [string, string])[] = [
  ["1 + 2 * 3", "7"],
  ["(1 + 2) * 3", "9"],
  ["-2^2", "-4"],
  ["(-2)^2", "4"],
  ["2^-3", "0.125"],
  ["2^3^2", "512"],
  ["--5", "5"],
  ["+-3", "-3"],
  ["-7 % 3", "-1"],
  ["7 % -3", "1"],
  ["8 / 4 / 2", "1"],
  ["10 - 4 - 3", "3"],
  ["2 * -3", "-6"],
  ["2 - -3", "5"],
  [".5 + 1.", "1.5"],
  ["0.1 + 0.2", "0.30000000000000004"],
  ["1/3", "0.3333333333333333"],
  ["0 * -1", "0"],
  ["999999999999999", "999999999999999"],
  ["1000000000000000", "1.0E15"],
  ["-10^15", "-1.0E15"],
  ["12345678.5", "1.23456785E7"],
  ["1 / 10000", "1.0E-4"],
  ["10^400", "Infinity"],
  ["-(10^400)", "-Infinity"],
  ["\t1\n+\u00a01 ", "2"],
];

const FAILURES: readonly (readonly [unknown, string])[] = [
  ["", "Expression must not be blank"],
  [" \n", "Expression must not be blank"],
  [undefined, "Expression must not be blank"],
  [null, "Expression must not be blank"],
  [5, "Expression must be a text, got: 5"],
  ["1 / 0", "Division by zero"],
  ["1 / -0", "Division by zero"],
  ["1 % (2 - 2)", "Modulo by zero"],
  ["1 + 2 3", "Invalid expression: Unexpected character '3' at position 6"],
  ["(1))", "Invalid expression: Unexpected character ')' at position 3"],
  ["2 ** 3", "Invalid expression: Unexpected character '*'"],
  ["1 +", "Invalid expression: Unexpected end of expression"],
  ["(1 + 2", "Invalid expression: Missing closing parenthesis"],
  ["1.2.3", "Invalid expression: Invalid number: 1.2.3"],
  [".", "Invalid expression: Invalid number: ."],
  ["x + 1", "Invalid expression: Unexpected character 'x'"],
  ["1e5", "Invalid expression: Unexpected character 'e' at position 1"],
  ["😀", "Invalid expression: Unexpected character '😀'"],
  ["process.exit(1)", "Invalid expression: Unexpected character 'p'"],
  ["constructor", "Invalid expression: Unexpected character 'c'"],
  ["1 constructor 2", "Invalid expression: Unexpected character 'c' at position 2"],
  ["(0 - 8)^0.5", "The result is not a number"],
  ["1+".repeat(500) + "1", "Expression must not have more than 1000 characters, got 1001"],
];

/**
 * An expression as a tree, its text with the fewest parentheses, and its value by JavaScript's own
 * operators.
 */
interface Sample {
  readonly text: string;
  /** `undefined` if a part of it divides by zero. */
  readonly value: number | undefined;
  /** Of the operator at the top: 1 sum, 2 product, 3 sign, 4 power, 5 number or parentheses. */
  readonly level: number;
}

const number = fc
  .oneof(
    fc.nat(1_000),
    fc.nat(99_999).map((n) => n / 100),
  )
  .map((n): Sample => ({ text: String(n), value: n, level: 5 }));
const within = (sample: Sample, level: number): string =>
  sample.level < level ? `(${sample.text})` : sample.text;
type Operation = (a: number, b: number) => number | undefined;
const apply = (of: Operation, a: Sample, b: Sample): number | undefined =>
  a.value === undefined || b.value === undefined ? undefined : of(a.value, b.value);
const OPERATORS: readonly (readonly [string, number, Operation])[] = [
  ["+", 1, (a, b) => a + b],
  ["-", 1, (a, b) => a - b],
  ["*", 2, (a, b) => a * b],
  ["/", 2, (a, b) => (b === 0 ? undefined : a / b)],
  ["%", 2, (a, b) => (b === 0 ? undefined : a % b)],
];
const { tree } = fc.letrec<{ readonly tree: Sample; readonly inner: Sample }>((tie) => ({
  inner: fc.oneof({ depthSize: "small" }, number, tie("tree")),
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    number,
    fc
      .tuple(fc.constantFrom(...OPERATORS), tie("tree"), tie("tree"))
      .map(([[sign, level, of], a, b]): Sample => {
        return {
          text: `${within(a, level)} ${sign} ${within(b, level + 1)}`,
          value: apply(of, a, b),
          level,
        };
      }),
    tie("tree").map((a): Sample => ({
      text: `-${within(a, 3)}`,
      value: a.value === undefined ? undefined : -a.value,
      level: 3,
    })),
    fc.tuple(tie("tree"), tie("tree")).map(([a, b]): Sample => ({
      text: `${within(a, 5)}^${within(b, 3)}`,
      value: apply((x, y) => x ** y, a, b),
      level: 4,
    })),
  ),
}));

describe("calculatorTool", () => {
  for (const [expression, text] of VALUES) {
    it(`computes ${JSON.stringify(expression)} as ${text}`, async () => {
      const result = await calculate(expression);
      expect(result.errorMessage).to.equal(undefined);
      expect(result.output).to.equal(text);
      expect(result.structured).to.equal(Number.isFinite(Number(text)) ? Number(text) : undefined);
    });
  }

  for (const [expression, message] of FAILURES) {
    it(`fails with "${message.slice(0, 60)}"`, async () => {
      const { ok, errorMessage } = await calculate(expression);
      expect({ ok, errorMessage }).to.deep.equal({ ok: false, errorMessage: message });
    });
  }

  it("limits the nesting of parentheses, signs and powers, far beyond usual expressions", async () => {
    for (const deep of [
      `${"(".repeat(400)}1${")".repeat(400)}`,
      `${"-".repeat(400)}1`,
      `${"1^".repeat(400)}1`,
      "(".repeat(1_000),
    ]) {
      expect((await calculate(deep)).errorMessage).to.equal(
        "Invalid expression: More than 200 levels of nesting",
      );
    }
    expect((await calculate(`${"(".repeat(150)}1${")".repeat(150)}`)).output).to.equal("1");
    expect((await calculate("1+".repeat(499) + "1")).output).to.equal("500"); // a long sum is not a deep one
  });

  it("agrees with a reference evaluator", async () => {
    const short = tree.filter(({ text }) => text.length <= 1_000);
    await fc.assert(
      fc.asyncProperty(short, async ({ text, value }) => {
        const { output, errorMessage } = await calculate(text);
        if (value === undefined)
          expect(errorMessage, text).to.be.oneOf(["Division by zero", "Modulo by zero"]);
        else if (Number.isNaN(value))
          expect(errorMessage, text).to.equal("The result is not a number");
        else expect(Number(output), text).to.equal(value + 0);
      }),
      { numRuns: 500 },
    );
  });

  it("returns a text that can be read as the same number", async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(fc.nat(), fc.integer({ min: 1 })), async ([a, b]) => {
        expect(Number((await calculate(`${a} / ${b}`)).output)).to.equal(a / b);
      }),
    );
  });

  it("answers every text with a number or a failed result", async () => {
    const alphabet = fc.string({
      unit: fc.constantFrom(..."0123456789.+-*/%^() x"),
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(alphabet, fc.string()), async (text) => {
        const { ok, output, errorMessage } = await calculate(text);
        if (ok) expect(Number(output)).not.to.be.NaN;
        else
          expect(errorMessage).to.match(
            /^(?:Invalid expression: |Expression must not |Division by zero|Modulo by zero|The result is not)/,
          );
      }),
      { numRuns: 500 },
    );
  });
});

toolContract("calculator", {
  create: calculatorTool,
  valid: ["1 + 1", "2^10", "0.1 + 0.2"],
  failing: ["1 / 0", "", "x"],
});
