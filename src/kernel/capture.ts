import type { CaptureModeDefinition } from "../contracts/capture.js";
import type { Settings } from "./settings.js";
import { ValidationError } from "../contracts/errors.js";
import { Tokens } from "../contracts/tokens.js";
import { knownNames } from "../contracts/validation.js";

/** Nothing beyond the base trace; there on every kernel. */
const CAPTURE_OFF: CaptureModeDefinition = Object.freeze({ name: "OFF", capturesMessages: false, capturesMemory: false, parsesToolInput: false });

const VARIABLE = "AGENTENSEMBLE_CAPTURE_MODE";

/** The mode of a run, and a complaint where the environment names an unknown one. */
export interface ChosenCapture {
  readonly mode: CaptureModeDefinition;
  readonly problem?: string;
}

/**
 * Run option, ensemble option, the container's default, the environment, OFF: the first that is set.
 * @throws ValidationError for an unknown name, except in the environment.
 */
export function chooseCapture(settings: Settings, ofRun: string | undefined): ChosenCapture {
  const explicit = ofRun ?? settings.options.captureMode ?? settings.find(Tokens.DefaultCaptureMode);
  if (explicit !== undefined) {
    const mode = findMode(settings, explicit);
    if (mode !== undefined) return { mode };
    throw new ValidationError(`Unknown captureMode '${explicit}'. ${knownNames(explicit, namesOf(settings))}`);
  }
  const named = process.env[VARIABLE];
  if (named === undefined || named.trim() === "") return { mode: CAPTURE_OFF };
  const mode = findMode(settings, named.trim().toUpperCase()) ?? findMode(settings, named.trim());
  return mode === undefined
    ? { mode: CAPTURE_OFF, problem: `${VARIABLE} names no capture mode and is ignored: '${named}'. ${knownNames(named, namesOf(settings))}` }
    : { mode };
}

function findMode(settings: Settings, name: string): CaptureModeDefinition | undefined {
  return settings.all(Tokens.CaptureMode).findLast((mode) => mode.name === name) ?? (name === CAPTURE_OFF.name ? CAPTURE_OFF : undefined);
}

function namesOf(settings: Settings): string[] {
  return [...new Set([CAPTURE_OFF.name, ...settings.all(Tokens.CaptureMode).map((mode) => mode.name)])];
}
