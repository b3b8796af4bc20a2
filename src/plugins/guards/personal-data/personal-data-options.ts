import { ValidationError } from "../../../contracts/errors.js";
import {
  knownNames,
  preview,
  requireBoolean,
  requireOneOf,
  requireText,
} from "../../../contracts/validation.js";
import type { Detector, GuardReporting } from "../shared/findings.js";
import { checkGuardOptions, requireDetectors, requireTextList } from "../shared/guarded-tasks.js";

/**
 * The kinds of personal data that the guard can find. The type is declared here, because the types
 * of the detector depend on development packages.
 */
export type PersonalDataKind = "email" | "phone" | "card" | "iban" | "identity";

/** Options of {@link personalData}. */
export interface PersonalDataOptions extends GuardReporting {
  /** The kinds of data to find. Default: all kinds. */
  readonly kinds?: readonly PersonalDataKind[] | undefined;
  /**
   * `mask` (default): models receive placeholders in place of personal data. `refuse`: a task fails
   * if its requests or its output contain personal data.
   */
  readonly action?: "mask" | "refuse" | undefined;
  /**
   * Whether tools, outputs and streams receive the original values. If `false`, they keep the
   * placeholders, and personal data in the outputs of handlers and tools is also masked. Allowed
   * only with `mask`. Default true.
   */
  readonly restore?: boolean | undefined;
  /**
   * ISO codes of the countries whose identity numbers are searched for. Default: all supported
   * countries.
   */
  readonly countries?: readonly string[] | undefined;
  /**
   * ISO codes of the countries whose phone numbers are found even without a country code. Numbers
   * with a country code are always found. Default: none.
   */
  readonly phoneRegions?: readonly string[] | undefined;
  /**
   * Further detectors, for instance of names. The names of their kinds must consist of letters.
   * Default: none.
   */
  readonly detectors?: readonly Detector[] | undefined;
  /**
   * A key from which placeholders are derived. The same value then has the same placeholder in all
   * runs, for response caches and comparisons. Keep the key secret, because it links persons
   * between runs. Default: each run has different placeholders.
   */
  readonly key?: string | undefined;
}

export const PERSONAL_KINDS: readonly PersonalDataKind[] = [
  "email",
  "phone",
  "card",
  "iban",
  "identity",
];

const OPTIONS = ["kinds", "action", "restore", "countries", "phoneRegions", "detectors", "key"];

/** @throws ValidationError */
export function checkPersonalDataOptions(options: PersonalDataOptions): void {
  const what = "personalData";
  checkGuardOptions(what, options, OPTIONS);
  requireTextList(`${what} kinds`, options.kinds);
  for (const kind of options.kinds ?? [])
    if (!PERSONAL_KINDS.includes(kind))
      throw new ValidationError(
        `Unknown kind in ${what}: ${preview(kind)}. ${knownNames(kind, PERSONAL_KINDS)}`,
      );
  requireOneOf(`${what} action`, options.action, ["mask", "refuse"]);
  requireBoolean(`${what} restore`, options.restore);
  if (options.restore !== undefined && options.action === "refuse")
    throw new ValidationError(`${what} restore needs the action 'mask'`);
  for (const name of ["countries", "phoneRegions"] as const) {
    requireTextList(`${what} ${name}`, options[name]);
    for (const code of options[name] ?? [])
      if (!/^[A-Z]{2}$/.test(code))
        throw new ValidationError(
          `${what} ${name} must be ISO codes such as 'DE', got: ${preview(code)}`,
        );
  }
  requireDetectors(`${what} detectors`, options.detectors);
  if (options.key !== undefined) requireText(options.key, `${what} key must not be blank`);
}
