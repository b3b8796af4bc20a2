import type { CaptureModeDefinition } from "./capture.js";
import type { EnsembleOptions } from "./ensemble-options.js";
import type { HookRun } from "./run.js";
import { ValidationError } from "./errors.js";
import { Tokens } from "./tokens.js";
import { knownNames, preview, requireBoolean, requireFunction, requireText } from "./validation.js";

/** Captures only the base trace. Available on every kernel. */
const CAPTURE_OFF: CaptureModeDefinition = Object.freeze({
  name: "OFF",
  capturesMessages: false,
  capturesMemory: false,
  parsesToolInput: false,
});

const VARIABLE = "AGENTENSEMBLE_CAPTURE_MODE";

/** The settings that a run looks up. */
type Settings = Pick<HookRun, "find" | "all"> & { readonly options: EnsembleOptions };

/** The mode of a run, and a warning if the environment names an unknown one. */
export interface ChosenCapture {
  readonly mode: CaptureModeDefinition;
  readonly problem?: string;
}

/**
 * Returns the first mode that is set: run option, ensemble option, the container's default, the
 * environment, OFF.
 * @throws ValidationError for an unknown name, except in the environment, and for an invalid mode.
 */
export function chooseCapture(settings: Settings, ofRun: string | undefined): ChosenCapture {
  const explicit = ofRun ?? settings.options.captureMode;
  if (explicit !== undefined) return { mode: modeNamed(settings, "captureMode", explicit) };
  const bound = settings.find(Tokens.DefaultCaptureMode);
  if (bound !== undefined) return { mode: modeNamed(settings, "Tokens.DefaultCaptureMode", bound) };
  const named = process.env[VARIABLE];
  if (named === undefined || named.trim() === "") return { mode: CAPTURE_OFF };
  const mode = findMode(settings, named.trim().toUpperCase()) ?? findMode(settings, named.trim());
  return mode === undefined
    ? {
        mode: CAPTURE_OFF,
        problem: `${VARIABLE} names no capture mode and is ignored: '${named}'. ${knownNames(named, namesOf(settings))}`,
      }
    : { mode };
}

function modeNamed(settings: Settings, what: string, name: string): CaptureModeDefinition {
  // The value bound to a token may have any type.
  if (isNoName(name))
    throw new ValidationError(`${what} must be the name of a capture mode, got: ${preview(name)}`);
  const mode = findMode(settings, name);
  if (mode !== undefined) return mode;
  throw new ValidationError(`Unknown ${what} '${name}'. ${knownNames(name, namesOf(settings))}`);
}

function findMode(settings: Settings, name: string): CaptureModeDefinition | undefined {
  const mode = modesOf(settings).findLast((m) => m.name === name);
  if (mode === undefined) return name === CAPTURE_OFF.name ? CAPTURE_OFF : undefined;
  const what = `Capture mode '${name}'`;
  for (const field of ["capturesMessages", "capturesMemory", "parsesToolInput"] as const)
    requireBoolean(`${what} ${field}`, mode[field]);
  for (const field of ["capturesTexts", "capturesReasoning", "capturesFiles"] as const)
    if (mode[field] !== undefined) requireBoolean(`${what} ${field}`, mode[field]);
  if (mode.exportsTo !== undefined)
    requireText(
      mode.exportsTo,
      `${what} exportsTo must be a folder, got: ${preview(mode.exportsTo)}`,
    );
  requireFunction(`${what} redact`, mode.redact);
  return mode;
}

/**
 * Not `requireText()`, whose message requires a preview of the value: every run checks all modes.
 */
function isNoName(name: unknown): boolean {
  return typeof name !== "string" || name.trim() === "";
}

function modesOf(settings: Settings): readonly CaptureModeDefinition[] {
  const modes = settings.all(Tokens.CaptureMode);
  for (const mode of modes)
    if (isNoName((mode as CaptureModeDefinition | null)?.name))
      throw new ValidationError(
        `A value of Tokens.CaptureMode must have a name, got: ${preview(mode)}`,
      );
  return modes;
}

function namesOf(settings: Settings): string[] {
  return [
    ...new Set([CAPTURE_OFF.name, ...settings.all(Tokens.CaptureMode).map((mode) => mode.name)]),
  ];
}
