import type { OutputSchema } from "../../../contracts/types.js";
import type { Checked } from "../../../util/schema/standard-schema.js";
import type { SchemaFacts } from "../../shared/schemas.js";
import { OutputParsingError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { checkValue } from "../../../util/schema/standard-schema.js";
import { jsonCandidates } from "./json-extraction.js";

/** Finds the value in the text of a model: the first candidate that the schema accepts. */
export async function parseOutput(
  text: string,
  type: OutputSchema<unknown>,
  { title, rootType }: SchemaFacts,
): Promise<Checked> {
  if (text.trim() === "") return { ok: false, problem: "LLM produced an empty response" };
  const wantsStructure = rootType === "object" || rootType === "array";
  let problem: string | undefined;
  for await (const candidate of jsonCandidates(text)) {
    const result = candidate.ok ? await checkValue(type, candidate.value) : candidate;
    if (result.ok) return result;
    // The first refusal concerns the most likely candidate. A refusal of the bare text does not
    // describe the missing JSON.
    if (wantsStructure && candidate.ok && typeof candidate.value === "string") continue;
    problem ??= `JSON could not be deserialized as ${title}: ${result.problem}`;
  }
  return {
    ok: false,
    problem: problem ?? `Could not find valid JSON in response: ${preview(text)}`,
  };
}

/** The failure of a task without a valid value, with one error text per attempt. */
export function outputParsingError(
  taskDescription: string,
  title: string,
  rawOutput: string,
  parseErrors: readonly string[],
): OutputParsingError {
  const message = `Structured output parsing failed for task '${taskDescription.slice(0, 80)}' after ${parseErrors.length} attempt(s). Expected type: ${title}`;
  return new OutputParsingError(
    message,
    { rawOutput, parseErrors },
    { hint: `The last problem: ${parseErrors.at(-1) ?? "unknown"}` },
  );
}
