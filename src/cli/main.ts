#!/usr/bin/env node
import { writeSync } from "node:fs";
import { CommanderError } from "commander";
import { ExitCode, exitCodeOf } from "./exit-codes.js";
import { commandLine } from "./program.js";
import { errorJson, errorText } from "./report-error.js";
import { OutputTerminal } from "./terminal.js";

const UNSETTLED = 13; // Node's code for a module whose top-level await never settles

/** Returns whether errors are shown with stack traces. */
function isVerbose(argv: readonly string[]): boolean {
  return argv.includes("--verbose") || (process.env["DEBUG"] ?? "") !== "";
}

async function report(
  error: unknown,
  argv: readonly string[],
  terminal: OutputTerminal,
): Promise<number> {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return ExitCode.OK; // help and version, which commander has printed
    const message = error.message.replace(/^error: /, "");
    if (argv.includes("--json"))
      await terminal.json({
        error: { code: "AE_VALIDATION", name: "UsageError", message, causes: [], hints: [] },
      });
    return ExitCode.USAGE; // commander has printed the reason
  }
  const say = (): Promise<void> => terminal.message(errorText(error, terminal));
  if (argv.includes("--json"))
    // The output of JSON may have failed.
    await terminal.json({ error: errorJson(error) }).catch(say);
  else await say();
  return exitCodeOf(error);
}

async function main(argv: readonly string[], terminal: OutputTerminal): Promise<number> {
  let code: number = ExitCode.OK;
  try {
    await commandLine(terminal, (result) => (code = result)).parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    return report(error, argv, terminal);
  }
}

const argv = process.argv.slice(2);
const terminal = new OutputTerminal(isVerbose(argv));
let ended = false;

// The event loop may have no more work while the command waits for the program of the user. Node.js
// would then end without a message.
process.once("exit", (code) => {
  if (ended || (code !== 0 && code !== UNSETTLED)) return;
  writeSync(
    2,
    "error: the process ended before its work was done: something waits for a promise that nothing can settle\n",
  );
  process.exitCode = ExitCode.FAILED;
});
process.once("uncaughtException", (error) => {
  ended = true;
  void report(error, argv, terminal).then(() => process.exit(ExitCode.FAILED));
});

const code = await main(argv, terminal);
await terminal.flush();
ended = true;
process.exit(code); // open handles of the program must not delay the end
