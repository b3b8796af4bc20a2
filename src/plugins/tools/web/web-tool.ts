import type { Tool } from "../../../contracts/tool.js";
import type { ToolArguments } from "../shared/arguments.js";
import { ToolConfigurationError } from "../../../contracts/errors.js";
import { FetchError } from "../../../contracts/state-errors.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";

/** The specific parts of a tool that reads from the web with one text argument. */
export interface WebToolParts<T> {
  readonly name: string;
  readonly description: string;
  readonly args: ToolArguments<T>;
  /** Returns the argument that must not be blank. */
  textOf(input: T): string;
  /** Message for a blank argument. */
  readonly blank: string;
  /** First words of other failures. */
  readonly failure: string;
  readonly timeoutMs: number;
  /** Runs with the text of the argument. The signal is also aborted at the time limit. */
  work(text: string, signal: AbortSignal): Promise<ToolResult>;
}

/**
 * Creates a tool that reads from the web within a time limit. Its failures are results for the
 * model.
 */
export function webTool<T>(parts: WebToolParts<T>): Tool<T> {
  const { name, description, args, blank, failure, timeoutMs } = parts;
  const late = (): never => {
    throw new FetchError(`it took longer than ${timeoutMs} ms`, { reason: "timeout" });
  };
  return tool<T>({
    name,
    description,
    input: args.input,
    untrusted: true,
    effect: "read",
    async execute(given, { signal }) {
      const read = await args.read(given);
      if (!read.ok) return ToolResult.failure(read.problem);
      const text = parts.textOf(read.value).trim();
      if (text === "") return ToolResult.failure(blank);
      try {
        return await withTimeout((limited) => parts.work(text, limited), {
          ms: timeoutMs,
          late,
          signal,
        });
      } catch (error) {
        signal.throwIfAborted();
        if (ToolConfigurationError.isInstance(error)) throw error;
        return ToolResult.failure(`${failure}: ${messageOf(error)}`);
      }
    },
  });
}
