import type { EvaluationResult } from "../evaluation-result.js";
import { toJsonText } from "./json-text.js";

/** The result as JSON, which `readEvaluation` and `baseline` read. */
export function evaluationJson(result: EvaluationResult): string {
  return `${toJsonText(result)}\n`;
}
