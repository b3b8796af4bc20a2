import type { Plugin } from "../../../contracts/plugin.js";
import { requireOneOf } from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";
import { messageOf } from "../../../util/errors.js";
import {
  checkOutputOptions,
  outputGuard,
  type OutputGuardOptions,
  type OutputProblem,
} from "../shared/output-guard.js";
import { SegmentFilter } from "../shared/stream-filter.js";

/** Options of {@link jsonOnly}. */
export interface JsonOnlyOptions extends OutputGuardOptions {
  /** The required type of the value. Default: any JSON value. */
  readonly type?: "object" | "array" | undefined;
}

const BEGINNINGS = { object: /^\s*\{/, array: /^\s*\[/, any: /^\s*[{["\dtfn-]/ };

/**
 * Refuses outputs that are not exactly one JSON value. A sentence or a code fence around the value
 * is refused, for instance. For a schema, use `outputType`. A stream is shown as soon as it begins
 * like JSON.
 *
 * @throws ValidationError for an unknown option.
 */
export function jsonOnly(options: JsonOnlyOptions = {}): Plugin {
  checkOutputOptions("jsonOnly", options, ["type"]);
  requireOneOf("jsonOnly type", options.type, ["object", "array"]);
  const { type } = options;
  const judge = (text: string): OutputProblem | undefined => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      return { kind: "no JSON", reason: `the text is not one JSON value: ${messageOf(error)}` };
    }
    const fits = type === undefined || (type === "array" ? Array.isArray(value) : isObject(value));
    return fits ? undefined : { kind: "other JSON", reason: `the text is no JSON ${type}` };
  };
  return outputGuard(options, {
    name: "guards-json-only",
    judge,
    filter: () => {
      let begins: boolean | undefined;
      return new SegmentFilter({
        quick: { decide: (piece) => (begins === true ? piece.length : -1) },
        holdFrom(text) {
          if (begins === undefined && /\S/.test(text))
            begins = BEGINNINGS[type ?? "any"].test(text);
          return begins === true ? text.length : 0;
        },
        release: (text) => (begins === true ? text : undefined),
      });
    },
  });
}
