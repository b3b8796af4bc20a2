import type { Principal } from "../../../contracts/http-route.js";
import { ValidationError } from "../../../contracts/errors.js";
import { asText, isObject } from "../../../util/objects.js";

const ROLES = ["viewer", "reviewer", "operator", "caller", "reporter"];

/**
 * Checks the principal that a program's `authenticate` returns. A text in the place of a list of
 * rights would admit each part of the text.
 * @throws ValidationError for a principal of another form.
 */
export function checkedPrincipal(found: Principal | undefined): Principal | undefined {
  const given: unknown = found ?? undefined;
  if (given === undefined) return undefined;
  const problem = principalProblem(given);
  if (problem === undefined) return found;
  throw new ValidationError(`authenticate() must return a principal or undefined: ${problem}`, {
    hint: 'For instance { name: "shop", role: "caller", may: ["prepare-meal"] }.',
  });
}

function principalProblem(given: unknown): string | undefined {
  if (!isObject(given)) return "it is not an object";
  if (asText(given["name"]).trim() === "") return "its name is missing";
  if (!ROLES.includes(asText(given["role"]))) return `its role must be one of ${ROLES.join(", ")}`;
  const wrong = ["may", "reviewRoles"].find((field) => !isTexts(given[field]));
  if (wrong !== undefined) return `${wrong} must be an array of texts`;
  return given["owner"] === undefined || asText(given["owner"]) !== ""
    ? undefined
    : "owner must be a text";
}

function isTexts(value: unknown): boolean {
  if (value === undefined) return true;
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
