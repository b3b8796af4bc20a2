import { CommandError } from "../../../contracts/state-errors.js";
import type { Tool } from "../../../contracts/tool.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { checkOptions, requireText } from "../../../contracts/validation.js";
import { excerpt } from "../../../util/text.js";
import { secretReplacer, secretValues } from "../../../util/redaction/secret-values.js";
import type { CommandResult } from "../shared/run-command.js";
import { runCommand } from "../shared/run-command.js";
import type { RunCommandOptions } from "../shared/run-command-options.js";
import {
  checkCommand,
  checkCommandOptions,
  COMMAND_OPTIONS,
} from "../shared/run-command-options.js";
import { readReply } from "./process-reply.js";

/**
 * Options of {@link processTool}: the description for the model, and the command with its limits.
 */
export interface ProcessToolOptions extends Pick<
  RunCommandOptions,
  | "command"
  | "cwd"
  | "env"
  | "allowedEnv"
  | "timeoutMs"
  | "killGraceMs"
  | "maxOutputBytes"
  | "sandbox"
> {
  /** The tool's name: letters, digits, `_` and `-`; at most 64 characters. */
  readonly name: string;
  /**
   * Describes to the model what the tool does, when to use it and what the input is, with an
   * example.
   */
  readonly description: string;
  /** Whether the review handler must approve each call. Default false. */
  readonly requireApproval?: boolean | undefined;
  /**
   * Effect of a call: "read", "write" or "send". Default: unknown, which policies treat as "send".
   */
  readonly effect?: Tool["effect"];
}

const OPTIONS = [...COMMAND_OPTIONS, "name", "description", "command", "requireApproval", "effect"];
const DEFAULTS = Object.freeze({ timeoutMs: 30_000, maxOutputBytes: 1_048_576 });

function checkProcess(options: ProcessToolOptions): void {
  checkOptions("processTool()", options, OPTIONS);
  const { name, command } = options;
  requireText(name, "processTool() name must not be blank");
  checkCommand("processTool()", command);
  const { cwd, env, allowedEnv, timeoutMs, killGraceMs, maxOutputBytes, sandbox } = options;
  checkCommandOptions("processTool()", {
    cwd,
    env,
    allowedEnv,
    timeoutMs,
    killGraceMs,
    maxOutputBytes,
    sandbox,
  });
}

/**
 * Creates a tool from a program, which may be a script in any language. The program reads
 * `{"input": "..."}` from its standard input and writes its answer.
 *
 * The answer is text, or a JSON object `{ output, success?, error?, structured? }`.
 * `success: false` is a failure with `error`. `structured` is kept for listeners and the trace. An
 * exit code other than 0 is a failure with the error output. The program runs without a shell,
 * within its limits, and ends with its process group. See `runCommand`.
 *
 * @example processTool({ name: "word_count", description: "Counts the words of a text.", command:
 * ["python3", "/opt/tools/word_count.py"] });
 * @throws ValidationError for invalid options.
 */
export function processTool(options: ProcessToolOptions): Tool {
  checkProcess(options);
  const { name, description, requireApproval = false, effect } = options;
  const {
    cwd,
    env,
    allowedEnv,
    killGraceMs,
    sandbox,
    timeoutMs = DEFAULTS.timeoutMs,
    maxOutputBytes = DEFAULTS.maxOutputBytes,
  } = options;
  const command = Object.freeze([...options.command]);
  const limits = {
    cwd,
    env: { ...env },
    allowedEnv,
    killGraceMs,
    sandbox,
    timeoutMs,
    maxOutputBytes,
  };
  const redact = secretReplacer(secretValues(limits.env));
  return tool({
    name,
    description,
    requireApproval,
    untrusted: true,
    effect,
    approvalDescription: (input) =>
      `Execute command: ${command.join(" ")}\nInput: ${excerpt(input)}`,
    approvalRejection: () => `Command execution rejected by reviewer: ${command.join(" ")}`,
    async execute(input, { signal }) {
      try {
        return processResult(
          await runCommand({ ...limits, command, signal, stdin: JSON.stringify({ input }) }),
          command[0] ?? "",
          { ...limits, redact },
        );
      } catch (error) {
        if (CommandError.isInstance(error)) return ToolResult.failure(error.message);
        throw error;
      }
    },
  });
}

function processResult(
  result: CommandResult,
  file: string,
  o: {
    readonly timeoutMs: number;
    readonly maxOutputBytes: number;
    readonly redact: (text: string) => string;
  },
): ToolResult {
  const { exitCode, signal, stdout, stderr, timedOut } = result;
  if (timedOut)
    return ToolResult.failure(`Process timed out after ${o.timeoutMs / 1000} seconds: ${file}`);
  const shown = (output: string, cut: boolean): string =>
    `${o.redact(output.trim())}${cut ? `\n[output truncated at ${o.maxOutputBytes} bytes]` : ""}`;
  if (exitCode !== 0) {
    const ending =
      signal === undefined
        ? `Process exited with code ${exitCode ?? "unknown"}`
        : `Process was ended by ${signal}`;
    return ToolResult.failure(
      stderr.trim() === "" ? ending : shown(stderr, result.stderrTruncated),
    );
  }
  return readReply(shown(stdout, result.stdoutTruncated));
}
