import type { Paint } from "../plugins/observability/console/terminal-text.js";
import { painter } from "../plugins/observability/console/terminal-text.js";
import { printableJson, printableText } from "../util/printable.js";

type Write = (text: string) => Promise<void>;

/** Error codes of a stream whose reader has ended, for instance `| head`. */
const NOBODY_READS = new Set<unknown>(["EPIPE", "ERR_STREAM_DESTROYED"]);

type StreamWrite = (text: string, done: (error?: Error | null) => void) => unknown;

function writerOf(stream: NodeJS.WriteStream, write: StreamWrite): Write {
  stream.on("error", () => undefined); // the writer of the text also receives the error
  return (text) =>
    new Promise((resolve, reject) => {
      write(text, (error?: (Error & { readonly code?: string }) | null) => {
        if (error === undefined || error === null || NOBODY_READS.has(error.code)) resolve();
        else reject(error);
      });
    });
}

function coloursOn(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && (process.env["NO_COLOR"] ?? "") === "";
}

/**
 * The output of a command. Standard output contains only the result. All other output goes to
 * standard error, including the output of the user's program.
 */
export class OutputTerminal {
  readonly #out: Write = writerOf(process.stdout, process.stdout.write.bind(process.stdout));
  /** Uses the current `write`. While tasks are shown in place, this function writes above them. */
  readonly #err: Write = writerOf(process.stderr, (text, done) => process.stderr.write(text, done));
  readonly #isTerminal = process.stdout.isTTY === true;
  /** The colours of results. */
  readonly paint: Paint = painter(coloursOn(process.stdout));
  /** The colours of messages. */
  readonly paintMessage: Paint = painter(coloursOn(process.stderr));

  constructor(
    /** Whether errors are shown with stack traces. */
    readonly verbose: boolean,
  ) {}

  /** Redirects `process.stdout.write`, and therefore `console.log`, to standard error. */
  keepOutputForResults(): void {
    process.stdout.write = process.stderr.write.bind(process.stderr);
  }

  /**
   * Writes a result as text. On a terminal, removes control characters. Otherwise the text is
   * unchanged.
   */
  text(text: string): Promise<void> {
    return this.#out(text.endsWith("\n") ? text : `${text}\n`);
  }

  /** Writes text of a model as a result, in the same way as `text`. */
  modelText(text: string): Promise<void> {
    return this.text(this.#isTerminal ? printableText(text) : text);
  }

  json(value: unknown): Promise<void> {
    return this.text(printableJson(JSON.stringify(value, null, 2)));
  }

  message(text: string): Promise<void> {
    return this.#err(`${text}\n`);
  }

  /** Resolves when all output has left the process. */
  async flush(): Promise<void> {
    await this.#out("");
    await this.#err("");
  }
}
