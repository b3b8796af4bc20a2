import { Worker } from "node:worker_threads";

/** An error that was thrown in the thread, with its `code`. */
export class ThreadError extends Error {
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.name = "ThreadError";
    this.code = code;
  }
}

interface PendingReply {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly message: string; readonly code?: string };
}

// Answers each message with the result of the named function. The output of a library is discarded:
// reading it in the main thread would keep the process alive.
const SERVE = `
const { parentPort, workerData } = require("node:worker_threads");
for (const stream of [process.stdout, process.stderr]) stream.write = () => true;
function serve(methods) {
  parentPort.on("message", async ({ id, method, args }) => {
    try {
      parentPort.postMessage({ id, value: await methods[method](...args) });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      parentPort.postMessage({ id, error: { message, ...(typeof error?.code === "string" ? { code: error.code } : {}) } });
    }
  });
}
`;

/**
 * Executes work that would block the event loop in a separate thread. Its program ends with
 * `serve({ name(...args) { ... } })`. The first call starts the thread. An idle thread does not
 * keep the process alive. After a crash the next call starts it again.
 */
export class Thread {
  readonly #program: string;
  readonly #data: Readonly<Record<string, string>>;
  readonly #waiting = new Map<number, PendingReply>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(program: string, data: Readonly<Record<string, string>>) {
    this.#program = program;
    this.#data = data;
  }

  /** Whether the thread is running, with the state of earlier calls. */
  get alive(): boolean {
    return this.#worker !== undefined;
  }

  /** @throws ThreadError with the error of the function, or if the thread died. */
  async call(method: string, ...args: readonly unknown[]): Promise<unknown> {
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    const id = ++this.#lastId;
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        worker.postMessage({ id, method, args });
      });
    } finally {
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
    }
  }

  /** Ends the thread. Calls in progress fail. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#lose(worker, new ThreadError("The thread was closed"));
    await worker?.terminate();
  }

  #start(): Worker {
    // The worker does not inherit flags of the process (--import, --input-type).
    const worker = new Worker(SERVE + this.#program, {
      eval: true,
      workerData: this.#data,
      execArgv: [],
    });
    worker.on("message", (reply: Reply) => this.#settle(reply));
    worker.on("error", (error) =>
      this.#lose(worker, new ThreadError(`The thread failed: ${error.message}`)),
    );
    worker.on("exit", (code) =>
      this.#lose(worker, new ThreadError(`The thread ended with exit code ${code}`)),
    );
    return worker;
  }

  #settle({ id, value, error }: Reply): void {
    const waiting = this.#waiting.get(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new ThreadError(error.message, error.code));
  }

  #lose(worker: Worker | undefined, error: ThreadError): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}
