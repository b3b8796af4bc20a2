import type { EvaluationResult } from "../evaluation-result.js";
import { toJsonText } from "./json-text.js";

/** Returns the result as JSON, for `readEvaluation` and `baseline`. */
export function evaluationJson(result: EvaluationResult): string {
  return `${toJsonText(result)}\n`;
}
