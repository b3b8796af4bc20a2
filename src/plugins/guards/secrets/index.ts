import type { Plugin } from "../../../contracts/plugin.js";
import { ValidationError } from "../../../contracts/errors.js";
import { requireBoolean, requireOneOf } from "../../../contracts/validation.js";
import { isSecretVariable } from "../../../util/redaction/secret-shapes.js";
import type { Detector, GuardReporting } from "../shared/findings.js";
import { readingEscapes } from "../shared/escapes.js";
import { checkGuardOptions, requireTextList } from "../shared/guarded-tasks.js";
import { maskingGuard } from "../shared/masking-guard.js";
import {
  isSecretLike,
  needsLabel,
  plainSecretWords,
  secretDetector,
  secretHoldFrom,
} from "./secret-detector.js";

/** Options of {@link secrets}. */
export interface SecretsOptions extends GuardReporting {
  /** `mask` (default): secrets in outputs are replaced by `[secret]`. `refuse`: the task fails. */
  readonly action?: "mask" | "refuse" | undefined;
  /** Further secrets to find anywhere. Each needs at least 8 characters. Default: none. */
  readonly values?: readonly string[] | undefined;
  /** Texts that do not count as secrets, for instance keys in documentation. Default: none. */
  readonly allow?: readonly string[] | undefined;
  /** Whether a tool call with a secret in its input is refused. Default true. */
  readonly toolInputs?: boolean | undefined;
}

const SHORTEST = 8;
/** Characters of a label and of the words after it that precede a value. */
const LABEL_LENGTH = 120;

/** Returns the known secrets, the longest first. */
function knownSecrets(values: readonly string[] = []): readonly string[] {
  const known = Object.entries(process.env).flatMap(([name, value = ""]) =>
    isSecretVariable(name) && value.trim().length >= SHORTEST ? [value.trim()] : [],
  );
  return [...new Set([...known, ...values])].sort((a, b) => b.length - a.length);
}

/** Returns the detector without the values that are allowed. */
function detectorOf(known: readonly string[], allow: readonly string[] = []): Detector {
  const find = readingEscapes(secretDetector(known));
  const allowed = new Set(allow);
  return (text) => find(text).filter(({ start, end }) => !allowed.has(text.slice(start, end)));
}

/** Refuses short values, which would be found in ordinary words. @throws ValidationError */
function requireLong(values: readonly string[] = []): void {
  values.forEach((value, index) => {
    if (value.length < SHORTEST)
      throw new ValidationError(
        `secrets values[${index}] must have at least ${SHORTEST} characters`,
      );
  });
}

/**
 * Keeps secrets out of outputs, streams, tool results and tool inputs. Finds keys in the format of
 * a vendor, passwords after their label, and private keys. Finds the values of environment
 * variables with names of secrets, and the given values.
 *
 * @throws ValidationError for an unknown option or an invalid value.
 */
export function secrets(options: SecretsOptions = {}): Plugin {
  checkGuardOptions("secrets", options, ["action", "values", "allow", "toolInputs"]);
  requireOneOf("secrets action", options.action, ["mask", "refuse"]);
  requireTextList("secrets allow", options.allow);
  requireTextList("secrets values", options.values);
  requireLong(options.values);
  requireBoolean("secrets toolInputs", options.toolInputs);
  const known = knownSecrets(options.values);
  return maskingGuard(options, {
    name: "guards-secrets",
    detect: detectorOf(known, options.allow),
    mask: "[secret]",
    found: (kinds) => `a secret (${kinds.join(", ")})`,
    holdFrom: secretHoldFrom(known),
    quick: plainSecretWords(known),
    context: LABEL_LENGTH,
    needsContext: needsLabel,
    isSuspect: (text) => isSecretLike(text, known),
    toolInputs: options.toolInputs ?? true,
    toolResults: true,
  });
}
