import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import {
  AgentEnsembleError,
  RunCancelledError,
  ToolConfigurationError,
} from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { firstEnding } from "../../../util/abort/timeouts.js";
import { killAtExit } from "../../shared/processes/kill-at-exit.js";
import { ProcessGroup } from "../../shared/processes/process-group.js";
import type { ResolvedCommand, RunCommandOptions } from "./run-command-options.js";
import { cannotStart, resolveCommand } from "./run-command-options.js";
import { KeptOutput } from "./run-command-output.js";
import { checkFolder, findProgram } from "./run-command-program.js";
import { messageOf } from "../../../util/errors.js";

/** Result of a command. */
export interface CommandResult {
  /** 0 for success; `undefined` if a signal ended the program. */
  readonly exitCode: number | undefined;
  /** The signal that ended the program, such as "SIGKILL". */
  readonly signal: string | undefined;
  /** Standard output up to `maxOutputBytes`, decoded as UTF-8. */
  readonly stdout: string;
  /** Error output, with the same limit and encoding. */
  readonly stderr: string;
  /** Whether the time limit ended the program. */
  readonly timedOut: boolean;
  /** Whether one of the outputs was longer than `maxOutputBytes`. */
  readonly truncated: boolean;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly durationMs: number;
  /**
   * Ids of processes of the group that could not be ended because they belong to another user.
   * Nearly always empty.
   */
  readonly leftRunning: readonly number[];
}

/**
 * Maximum time in milliseconds between an abort and SIGKILL. It is short, so a cancelled run does
 * not wait for its tools.
 */
const ABORT_GRACE_MS = 50;
/** Time limit in milliseconds for reading the pipes after all writers have ended. */
const DRAIN_LIMIT_MS = 1_000;

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running command. */
interface Running {
  readonly group: ProcessGroup;
  readonly exited: Promise<Exit>;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  /** Releases the resources that would outlive the call. */
  release(): void;
}

/**
 * Runs a program with a list of arguments, never through a shell. The program runs in a process
 * group that ends at the time limit, on abort, and when the program exits. It inherits only the
 * variables on an allow-list. A process that starts its own session leaves the group and keeps
 * running. On Windows the children of living processes are ended. A program that fails is not an
 * error: see `exitCode`. `processTool` and `gitTool` use this function. Custom tools can use it.
 *
 * @example const { stdout } = await runCommand({
 *   command: ["jq", ".name", "package.json"],
 *   signal: ctx.signal,
 *   allow: ["jq"],
 * });
 * @throws ValidationError for invalid options
 * @throws AccessDeniedError for a program that `allow` does not list
 * @throws CommandError if the program cannot be started
 * @throws ToolConfigurationError if the `sandbox` cannot be started. The command never runs without
 * it.
 * @throws the reason of `signal`, after all processes have ended. RunCancelledError if the reason
 * is not an error of the framework.
 */
export async function runCommand(options: RunCommandOptions): Promise<CommandResult> {
  const command = resolveCommand(options);
  const { signal } = command;
  throwIfEnded(signal);
  const program = await programOf(command);
  throwIfEnded(signal);
  const startedMs = performance.now();
  const running = await start(program, command);
  try {
    const ending = await firstEnding(running.exited, command);
    const { killGraceMs } = command;
    const leftRunning = await (ending === "aborted"
      ? running.group.end(Math.min(killGraceMs, ABORT_GRACE_MS))
      : running.group.end(killGraceMs, signal));
    const exit = await drainedStream(running);
    if (ending !== "done") throwIfEnded(signal);
    const { stdout, stderr } = running;
    return {
      exitCode: exit?.code ?? undefined,
      signal: exit?.signal ?? undefined,
      stdout: stdout.text(),
      stderr: stderr.text(),
      timedOut: ending === "late",
      truncated: stdout.truncated || stderr.truncated,
      stdoutTruncated: stdout.truncated,
      stderrTruncated: stderr.truncated,
      durationMs: performance.now() - startedMs,
      leftRunning,
    };
  } finally {
    running.release();
  }
}

async function programOf({ command, sandbox, cwd, env }: ResolvedCommand): Promise<string> {
  const [file = ""] = sandbox.length > 0 ? sandbox : command;
  await checkFolder(file, cwd);
  if (sandbox.length === 0) return findProgram(file, cwd, env);
  try {
    return await findProgram(file, cwd, env); // the sandbox looks up its command inside
  } catch (error) {
    throw withoutSandbox(file, error);
  }
}

function withoutSandbox(file: string, cause: unknown): ToolConfigurationError {
  const hint = `Install ${file}, or name another wrapper in \`sandbox\`. Without it the command is not run.`;
  return new ToolConfigurationError(
    `The sandbox '${preview(file)}' cannot be started: ${messageOf(cause)}`,
    { cause, hint },
  );
}

async function start(program: string, command: ResolvedCommand): Promise<Running> {
  const [file = "", ...args] = [...command.sandbox, ...command.command];
  try {
    return await launch(program, args, command);
  } catch (error) {
    const why =
      (error as { readonly code?: unknown }).code === "E2BIG"
        ? "its arguments and environment are too long for the system"
        : messageOf(error);
    throw command.sandbox.length > 0 ? withoutSandbox(file, error) : cannotStart(file, why, error);
  }
}

async function launch(
  program: string,
  args: readonly string[],
  command: ResolvedCommand,
): Promise<Running> {
  const { cwd, env, stdin, maxOutputBytes } = command;
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    detached: process.platform !== "win32", // runs in a separate process group
    windowsHide: true,
  });
  const started = new Promise<void>(
    (resolve, reject) => void child.once("spawn", resolve).on("error", reject),
  );
  const exited = new Promise<Exit>((resolve) =>
    child.once("exit", (code, signal) => resolve({ code, signal })),
  );
  const { pid, stdout, stderr } = child;
  // Without an id, the error event with the reason follows.
  if (pid === undefined || stdout === null || stderr === null)
    return started.then(() => Promise.reject(new Error("the system started no process")));
  const group = new ProcessGroup(pid);
  const forget = killAtExit(group);
  feed(child, stdin);
  const running = {
    group,
    exited,
    stdout: new KeptOutput(stdout, maxOutputBytes),
    stderr: new KeptOutput(stderr, maxOutputBytes),
  };
  await started;
  const release = (): void => {
    forget();
    running.stdout.close();
    running.stderr.close();
    child.stdin?.destroy();
    child.unref(); // a process that could not be ended must not keep this one alive
  };
  return { ...running, release };
}

/** Writes the input. Many programs exit without reading all input, which is not a failure. */
function feed({ stdin }: ChildProcess, text: string | Uint8Array | undefined): void {
  stdin?.on("error", () => undefined);
  stdin?.end(text);
}

/**
 * Waits until the program has exited and its outputs are read. Remaining writers have ended or
 * can't be ended, so the wait is short.
 */
async function drainedStream({ exited, stdout, stderr }: Running): Promise<Exit | undefined> {
  let exit: Exit | undefined;
  const all = Promise.all([exited.then((known) => (exit = known)), stdout.closed, stderr.closed]);
  await firstEnding(all, { timeoutMs: DRAIN_LIMIT_MS });
  return exit;
}

function throwIfEnded(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  const reason: unknown = signal.reason;
  throw AgentEnsembleError.isInstance(reason)
    ? reason
    : new RunCancelledError("The command was ended by its signal", { cause: reason });
}
