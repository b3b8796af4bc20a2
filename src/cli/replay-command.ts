import type { RunArguments } from "./run-command.js";
import type { OutputTerminal } from "./terminal.js";
import { accessSync, constants } from "node:fs";
import { ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { runCommand } from "./run-command.js";

/** Options of `agentensemble replay`. */
export interface ReplayCommandOptions extends Omit<RunArguments, "model" | "record"> {
  readonly onMiss?: string | undefined;
}

/** @throws ValidationError before the file of the user is loaded. */
function checkReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw new ValidationError(`Can't read the recording ${preview(path)}`, {
      cause,
      hint: "Make one with: agentensemble run <file> --record recording.jsonl",
    });
  }
}

/** `agentensemble replay <recording> <file>`: repeats the run of a recording, without models. */
export async function replayCommand(
  recording: string,
  file: string,
  { onMiss, ...o }: ReplayCommandOptions,
  terminal: OutputTerminal,
): Promise<number> {
  checkReadable(recording);
  const { replayFrom } = await import("../replay.js");
  // `replayFrom` checks the value.
  const plugin = replayFrom(recording, { onMiss: onMiss as "fail" | "live" | undefined });
  return runCommand(file, o, terminal, [plugin]);
}
