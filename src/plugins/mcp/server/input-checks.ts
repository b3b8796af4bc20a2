import type { Arguments, Offer } from "../../shared/offers/offer.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { checkingSchemaOf } from "../../../util/schema/json-schema.js";
import { checkValueNow } from "../../../util/schema/standard-schema.js";
import { messageOf } from "../../../util/errors.js";

/** Returns the problem with arguments, or `undefined`. */
export type InputCheck = (args: Arguments) => string | undefined;

const DIALECT =
  /^https?:\/\/json-schema\.org\/(?:draft-0[467]|draft\/20(?:19-09|20-12))\/schema#?$/;
const LONGEST_PROBLEM = 1_000;

/**
 * Returns checks for the offers whose arguments are not validated elsewhere.
 * @throws ValidationError for an unusable schema
 */
export async function inputChecksOf(offers: Iterable<Offer>): Promise<Map<string, InputCheck>> {
  const checks = new Map<string, InputCheck>();
  for (const { name, inputSchema, checksInput } of offers) {
    if (!checksInput) continue;
    const dialect = inputSchema["$schema"];
    if (dialect !== undefined && !(typeof dialect === "string" && DIALECT.test(dialect)))
      throw new ValidationError(
        `The JSON Schema of '${name}' can't be used: its dialect is unknown: ${preview(dialect)}`,
      );
    const schema = await checkingSchemaOf(`The input of tool '${name}'`, inputSchema).catch(
      (cause: unknown) => {
        throw new ValidationError(messageOf(cause), { cause });
      },
    );
    checks.set(name, (args) => {
      try {
        const checked = checkValueNow(schema, args);
        return checked?.ok === false ? checked.problem.slice(0, LONGEST_PROBLEM) : undefined;
      } catch (error) {
        return messageOf(error).slice(0, LONGEST_PROBLEM); // a dangling or circular reference
      }
    });
  }
  return checks;
}
