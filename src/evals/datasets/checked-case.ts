import type { EvaluationCase, NamedCase } from "../evaluation-case.js";
import { DatasetError } from "../../contracts/evaluation-errors.js";
import { knownNames, preview } from "../../contracts/validation.js";
import { asFields } from "../../util/objects.js";

const FIELDS = ["id", "input", "expected", "tags", "metadata"];
const ID = /^\P{Cc}{1,200}$/u;

/** The case with its id. @throws DatasetError naming the position, counted from 1. */
export function namedCase<In, Out>(
  given: EvaluationCase<In, Out>,
  position: number,
): NamedCase<In, Out> {
  const fields = asFields(given);
  const refuse = (problem: string): never => {
    throw new DatasetError(`Case ${position + 1} ${problem}`, "INVALID_CASE");
  };
  if (fields === undefined) return refuse(`must be an object, got: ${preview(given)}`);
  for (const name of Object.keys(fields))
    if (!FIELDS.includes(name))
      refuse(`has an unknown field '${preview(name, 60)}'. ${knownNames(name, FIELDS)}`);
  const { id = `case-${position + 1}`, input, tags = [], metadata } = fields;
  if (typeof id !== "string" || !ID.test(id))
    return refuse(
      `has an id that is not a text of 1 to 200 characters without control characters: ${preview(id, 60)}`,
    );
  if (input === undefined) return refuse("has no input");
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === "string"))
    return refuse(`has tags that are not a list of texts: ${preview(tags, 60)}`);
  if (metadata !== undefined && asFields(metadata) === undefined)
    return refuse(`has metadata that is not an object: ${preview(metadata, 60)}`);
  return { ...given, id, position };
}
