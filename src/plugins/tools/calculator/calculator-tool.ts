import type { Tool } from "../../../contracts/tool.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { answering, readText } from "../shared/input-problem.js";
import { valueOfExpression } from "./expression.js";
import { numberText } from "./number-text.js";

const DESCRIPTION =
  "Computes an arithmetic expression. Operators: + - * / % (remainder) ^ (power) and parentheses; plain decimal numbers only, no functions, names or units. Example: (12.5 + 7) * 4 / 3";

const MAX_LENGTH = 1_000;

function calculate(input: unknown): ToolResult {
  const value = valueOfExpression(readText("Expression", input, MAX_LENGTH));
  // JSON has no Infinity
  return ToolResult.success(numberText(value), Number.isFinite(value) ? value : undefined);
}

/**
 * Creates the tool `calculator`. It takes one text: an arithmetic expression of at most 1,000
 * characters. A parser computes it in doubles and never runs it as code. The number is the
 * `structured` value of the result. An invalid expression returns a failed result that names the
 * position of the error.
 */
export function calculatorTool(): Tool {
  return tool({
    name: "calculator",
    description: DESCRIPTION,
    effect: "read",
    execute: (input: unknown) => answering(() => calculate(input)),
  });
}
