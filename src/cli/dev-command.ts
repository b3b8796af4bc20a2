import { spawn } from "node:child_process";
import { once } from "node:events";
import type { OutputTerminal } from "./terminal.js";
import { portOf } from "./arguments.js";
import { ExitCode } from "./exit-codes.js";

/** The options of `agentensemble dev`. */
export interface DevArguments {
  readonly input?: readonly string[] | undefined;
  readonly inputs?: string | undefined;
  readonly model?: string | undefined;
  readonly port?: string | undefined;
}

/**
 * `agentensemble dev <file>`: runs the ensemble with the dashboard. Runs it again after each change
 * of a file that it imports. Uses the watch mode of Node.js. Ends with Ctrl-C.
 */
export async function devCommand(
  file: string,
  o: DevArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const port = portOf(o.port);
  const args = [
    ...["--watch", "--watch-preserve-output", process.argv[1] ?? ""],
    ...["run", file, `--dashboard${port === undefined ? "" : `=${port}`}`, "--stay"],
    ...(o.input ?? []).flatMap((value) => ["--input", value]),
    ...(o.inputs === undefined ? [] : ["--inputs", o.inputs]),
    ...(o.model === undefined ? [] : ["--model", o.model]),
  ];
  await terminal.message(`Runs ${file} after each change, until Ctrl-C`);
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: "inherit" });
  const stop = (): void => void child.kill("SIGTERM");
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  const [code] = (await once(child, "close")) as [number | null];
  return code === null || code === 130 ? ExitCode.OK : code;
}
