import type {
  ReviewDecision as Decision,
  ReviewHandler,
  ReviewRequest,
} from "../../../contracts/review.js";
import type { LineSource } from "./line-input.js";
import type { TextSink } from "./terminal.js";
import { ValidationError } from "../../../contracts/errors.js";
import { ReviewDecision } from "../../../contracts/review.js";
import { ReviewError } from "../../../contracts/state-errors.js";
import { checkOptions, preview } from "../../../contracts/validation.js";
import { choicesOf, headerOf, isPartial, wholeInputOf } from "./review-text.js";
import { Terminal } from "./terminal.js";

/** Options of `ReviewHandler.console`. */
export interface ConsoleReviewOptions {
  /** The stream from which answers are read. Default `process.stdin`. */
  readonly input?: LineSource | undefined;
  /** The stream to which questions are written. Default `process.stdout`. */
  readonly output?: TextSink | undefined;
}

/**
 * Asks in the terminal, one question at a time. An empty line or `c` continues. `e` requests a new
 * text. `x` ends the run. `m` adds a comment to the following decision. Any other answer repeats
 * the question. At the end of the input, `onTimeout` applies immediately.
 *
 * @throws ValidationError for an unknown option or a value that is not a stream.
 */
export function consoleHandler(options: ConsoleReviewOptions = {}): ReviewHandler {
  checkOptions("ReviewHandler.console", options, ["input", "output"]);
  const { input, output } = options;
  if (input !== undefined && typeof (input as Partial<LineSource> | null)?.on !== "function")
    throw new ValidationError(
      `ReviewHandler.console input must be a readable stream, got: ${preview(input)}`,
    );
  if (output !== undefined && typeof (output as Partial<TextSink> | null)?.write !== "function")
    throw new ValidationError(
      `ReviewHandler.console output must have write(), got: ${preview(output)}`,
    );
  return (request) => {
    const askedMs = performance.now();
    const terminal = Terminal.at(input ?? process.stdin);
    return terminal.turn(request.signal, () =>
      new ConsoleConversation(request, terminal, output ?? process.stdout, askedMs).decide(),
    );
  };
}

/** One question, until its decision. */
class ConsoleConversation {
  #sawAll = false;
  #comment: string | undefined;

  constructor(
    readonly request: ReviewRequest,
    readonly terminal: Terminal,
    readonly output: TextSink,
    readonly askedMs: number,
  ) {}

  async decide(): Promise<Decision> {
    const { signal } = this.request;
    const onAbort = (): void => void this.output.write("\n(no longer asked)\n");
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await this.terminal.forgetTypedAhead(signal);
      this.output.write(headerOf(this.request));
      const decision = await this.#choose();
      return this.#comment === undefined
        ? decision
        : Object.freeze({ ...decision, comment: this.#comment });
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Whether an empty line approves. It approves only a text that was shown in full. */
  get #isShown(): boolean {
    return this.#sawAll || !isPartial(this.request);
  }

  #showAll(): void {
    this.#sawAll = true;
    this.output.write(wholeInputOf(this.request));
  }

  async #choose(): Promise<Decision> {
    const { signal } = this.request;
    for (;;) {
      this.output.write(choicesOf(this.request, performance.now() - this.askedMs));
      const line = await this.terminal.readLine(signal);
      if (line === undefined) return this.#nobody();
      const choice = line.trim().toLowerCase();
      const decision = this.#decisionOf(choice) ?? (await this.#handleOther(choice));
      if (decision !== undefined) return decision;
    }
  }

  #decisionOf(choice: string): Decision | undefined {
    if (choice === "x" || choice === "exit") return ReviewDecision.exitEarly();
    const isYes = choice === "c" || choice === "continue" || (choice === "" && this.#isShown);
    return isYes ? ReviewDecision.continue() : undefined;
  }

  /** Handles input that is not a decision. */
  async #handleOther(choice: string): Promise<Decision | undefined> {
    if (choice === "e" || choice === "edit") return this.#edit();
    if (choice === "m" || choice === "comment") await this.#readComment();
    else if (choice === "v" && isPartial(this.request)) this.#showAll();
    // discards the rest of a paste that was not an answer
    else await this.terminal.forgetTypedAhead(this.request.signal);
    return undefined;
  }

  async #readComment(): Promise<void> {
    this.output.write("Comment > ");
    const text = await this.terminal.readPaste(this.request.signal);
    this.#comment = text === undefined || text.trim() === "" ? undefined : text;
  }

  /** Returns `undefined` for an empty text, which cancels the edit. */
  async #edit(): Promise<Decision | undefined> {
    this.output.write("New text > ");
    const text = await this.terminal.readPaste(this.request.signal);
    if (text === undefined) return this.#nobody();
    return text.trim() === "" ? undefined : ReviewDecision.edit(text);
  }

  /** Returns the decision of a missing answer. @throws ReviewError if `onTimeout` defines none. */
  #nobody(): Decision {
    const { timeoutMs, onTimeout } = this.request;
    this.output.write("(the input has ended: no answer is possible)\n");
    if (timeoutMs > 0 && onTimeout === "CONTINUE") return ReviewDecision.continue();
    if (timeoutMs > 0 && onTimeout === "EXIT_EARLY")
      return ReviewDecision.exitEarly({ timedOut: true });
    throw new ReviewError("The input of the console has ended, so the review can't be answered", {
      hint: "Run the program in a terminal, or give the review a time limit with onTimeout CONTINUE or EXIT_EARLY.",
    });
  }
}
