import type { ReviewDecision, StoredReview } from "../../../contracts/review.js";
import { parseJson } from "../../../util/json/parse-json.js";
import { isObject } from "../../../util/objects.js";
import { checkingSchemaOf } from "../../../util/schema/json-schema.js";
import { checkValue } from "../../../util/schema/standard-schema.js";
import { HttpRefusal } from "./http-refusal.js";

/**
 * Checks an edit against the schema of its review, before the run receives it.
 * @throws HttpRefusal 422
 */
export async function requireFittingEdit(
  { editSchema, toolName }: StoredReview,
  { type, revisedOutput = "" }: ReviewDecision,
): Promise<void> {
  if (type !== "EDIT" || editSchema === undefined) return;
  const value = parseJson(revisedOutput);
  // a plain text replaces the main argument of a tool call
  if (toolName !== undefined && !isObject(value)) return;
  const schema = await checkingSchemaOf("The schema of the edit", editSchema);
  const asIs = await checkValue(schema, value ?? revisedOutput);
  if (asIs.ok || (await checkValue(schema, revisedOutput)).ok) return;
  throw new HttpRefusal(422, "EDIT_INVALID", `The edit does not fit: ${asIs.problem}`);
}
