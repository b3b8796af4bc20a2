import type { ChatResponse } from "../../../contracts/chat-model.js";
import type { OutputSchema } from "../../../contracts/types.js";
import type { Checked } from "../../../util/schema/standard-schema.js";
import type { SchemaFacts } from "../../shared/schemas.js";
import type { ToolLoop } from "../shared/tool-loop.js";
import type { ToolLoopParts } from "../shared/tool-loop-parts.js";
import { preview } from "../../../contracts/validation.js";
import { taskFieldsOf } from "../shared/tool-loop-parts.js";
import { outputParsingError, parseOutput } from "../shared/output-parser.js";

const CUT =
  'The response was cut by the output limit (finishReason "length") before it was complete';

/**
 * Maximum length of the problem in a correction, in characters. A long list of wrong items may have
 * thousands of lines.
 */
const LONGEST_PROBLEM = 2_000;

/**
 * Returns the value of a structured task, parsed from the answer. If the answer does not match,
 * requests corrected answers in the same loop, up to the limit of the task. `raw` is the accepted
 * text.
 * @throws OutputParsingError when no answer matches the schema.
 */
export async function parseWithCorrections(
  loop: ToolLoop,
  answer: ChatResponse,
  type: OutputSchema<unknown>,
  facts: SchemaFacts,
): Promise<{ readonly raw: string; readonly parsed: unknown }> {
  const { call, texts } = loop.parts;
  const problems: string[] = [];
  let response = answer;
  for (;;) {
    const raw = response.message.content;
    const result: Checked =
      response.finishReason === "length"
        ? { ok: false, problem: CUT }
        : await parseOutput(raw, type, facts);
    if (result.ok) return { raw, parsed: result.value };
    problems.push(result.problem);
    if (problems.length > call.task.maxOutputRetries)
      throw outputParsingError(call.task.description, facts.title, raw, problems);
    announceCorrection(loop.parts, problems);
    response = await loop.ask(
      response,
      texts.render("task.correction", {
        error: preview(result.problem, LONGEST_PROBLEM),
        schema: facts.text,
      }),
    );
  }
}

function announceCorrection({ call, scope }: ToolLoopParts, problems: readonly string[]): void {
  if (!scope.listens("output_corrected")) return;
  scope.emit({
    type: "output_corrected",
    ...taskFieldsOf(scope),
    correction: problems.length,
    of: call.task.maxOutputRetries,
    errors: (problems.at(-1) ?? "").split("\n"),
  });
}
