import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { ChildProcess } from "node:child_process";
import type { McpEndpoint } from "./mcp-client-options.js";
import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

import { firstEnding } from "../../../util/abort/timeouts.js";
import { ProcessGroup } from "../../shared/processes/process-group.js";
import { childEnvironment } from "./child-environment.js";
import { MessageGuard, RefusedMessage } from "../shared/message-guard.js";
import { toError } from "../../../util/errors.js";

const NEWLINE = 10;
/** Number of messages read before yielding to the event loop. */
const MESSAGES_PER_TURN = 50;
/** Time limit in milliseconds for reading the output of a child that has exited. */
const REST_OF_OUTPUT_MS = 200;
const KEPT_NOISE = 2_000;
/** Time limit in milliseconds of each step of the shutdown before the next, stronger step. */
const PATIENCE_MS = 500;

/** Validates that a parsed line is a protocol message. */
export type MessageParser = (value: unknown) => JSONRPCMessage;

/**
 * Returns whether a message is processed. Only one notification has a listener. Others are dropped
 * before any processing.
 */
function isWanted(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("method" in value) || "id" in value)
    return true;
  return value.method === "notifications/tools/list_changed";
}

/**
 * Communicates with a child process over its standard input and output, with one JSON document per
 * line. Ends the child's process group on close. The child does not keep this process alive.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  readonly #endpoint: Extract<McpEndpoint, { kind: "stdio" }>;
  readonly #maxBytes: number;
  readonly #parse: MessageParser;
  #child: ChildProcess | undefined;
  #group: ProcessGroup | undefined;
  #ending: Promise<void> | undefined;
  #isOver = false;
  #errorOutput = "";
  #noise = "";
  #failure: Error | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(
    endpoint: Extract<McpEndpoint, { kind: "stdio" }>,
    maxBytes: number,
    parse: MessageParser,
  ) {
    this.#endpoint = endpoint;
    this.#maxBytes = maxBytes;
    this.#parse = parse;
  }

  /**
   * Describes why the communication ended: a rejected message, the child's exit, and the end of its
   * error output.
   */
  get account(): string {
    const { exitCode = null, signalCode = null } = this.#child ?? {};
    const end =
      exitCode !== null && exitCode >= 0
        ? `it exited with code ${exitCode}`
        : signalCode !== null
          ? `it was ended by ${signalCode}`
          : undefined;
    const noise =
      this.#noise === ""
        ? undefined
        : `it wrote text that is not a message to standard output: ${this.#noise}`;
    const errors =
      this.#errorOutput.trim() === ""
        ? undefined
        : `it wrote to standard error: ${this.#errorOutput.trim()}`;
    return [this.#failure?.message, end, noise, errors]
      .filter((part) => part !== undefined)
      .join("; ");
  }

  /** Process id of the child while it runs. */
  get pid(): number | undefined {
    return this.#isOver ? undefined : this.#child?.pid;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#endpoint;
    const child = spawn(command, args, {
      env: childEnvironment(env),
      cwd,
      stdio: ["pipe", "pipe", "pipe"],
      shell: false,
      windowsHide: true,
      detached: process.platform !== "win32", // the leader of a process group
    });
    this.#child = child;
    if (child.pid !== undefined) this.#group = new ProcessGroup(child.pid);
    child.on("error", (error) => this.onerror?.(error));
    await new Promise<void>((resolve, reject) =>
      child.once("spawn", resolve).once("error", reject),
    );
    child.once("exit", () => void this.#exited());
    for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
    child.unref();
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stderr.on(
      "data",
      (chunk: Buffer) =>
        (this.#errorOutput = (this.#errorOutput + chunk.toString("utf8")).slice(-KEPT_NOISE)),
    );
    child.stderr.on("error", (error) => this.onerror?.(error));
    this.#reading = this.#read(child.stdout).catch((error: unknown) => this.#fail(toError(error)));
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || stdin === null || !stdin.writable)
      return Promise.reject(new Error("the process does not take input any more"));
    if (stdin.writableLength > this.#maxBytes) {
      this.#fail(new RefusedMessage(`it has left more than ${this.#maxBytes} bytes unread`));
      return Promise.reject(new Error("the process does not read its input"));
    }
    return new Promise((resolve, reject) =>
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve())),
    );
  }

  /** Ends the child and its process group. Never rejects. May be called repeatedly. */
  close(): Promise<void> {
    this.#ending ??= this.#end(true);
    return this.#ending;
  }

  /**
   * @param isSpoken whether the communication works, so that the child may exit when its input ends
   */
  async #end(isSpoken: boolean): Promise<void> {
    const child = this.#child;
    child?.stdin?.end();
    if (child?.pid !== undefined && isSpoken) await exits(child);
    await this.#group?.end(PATIENCE_MS);
    // Otherwise the child would still count as running.
    if (child?.pid !== undefined) await exits(child);
    child?.stdout?.destroy();
    child?.stderr?.destroy();
    this.#over();
  }

  async #exited(): Promise<void> {
    await firstEnding(this.#reading, { timeoutMs: REST_OF_OUTPUT_MS });
    this.#ending ??= this.#end(false); // processes that it started are no longer needed
    await this.#ending;
  }

  #fail(error: Error): void {
    if (this.#isOver || this.#ending !== undefined) return;
    this.#failure = error;
    this.onerror?.(error);
    this.#ending = this.#end(false);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onclose?.();
  }

  async #read(stdout: AsyncIterable<Buffer>): Promise<void> {
    const guard = new MessageGuard(this.#maxBytes, "line");
    let begun: Buffer[] = [];
    let count = 0;
    for await (const chunk of stdout) {
      guard.scan(chunk);
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const line = Buffer.concat([...begun, chunk.subarray(start, end)]).toString("utf8");
        begun = [];
        start = end + 1;
        this.#receive(line);
        if (++count % MESSAGES_PER_TURN === 0) await nextTurn();
        if (this.#isOver) return;
      }
      if (start < chunk.length) begun.push(chunk.subarray(start));
    }
  }

  #receive(line: string): void {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      const value: unknown = JSON.parse(line);
      if (!isWanted(value)) return;
      message = this.#parse(value);
    } catch {
      // the first line is the most informative
      if (this.#noise === "") this.#noise = line.slice(0, 200);
      return;
    }
    this.onmessage?.(message);
  }
}

/** Waits until a child exits, with a short time limit. */
async function exits(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  let end: (() => void) | undefined;
  const exit = new Promise<void>((resolve) => child.once("exit", (end = resolve)));
  await firstEnding(exit, { timeoutMs: PATIENCE_MS });
  if (end !== undefined) child.off("exit", end);
}
