import { finished, Transform, Writable, type Readable } from "node:stream";
import { toError } from "../../../util/errors.js";
import { MessageGuard } from "../shared/message-guard.js";

/** This process's standard input with a size limit. */
export interface GuardedStdin {
  readonly stream: Readable;
  release(): void;
}

/**
 * Forwards standard input until `release()`. The stream fails with RefusedMessage when a message
 * exceeds a limit.
 */
export function guardStdin(maxBytes: number): GuardedStdin {
  const { stdin } = process;
  // the dispatcher limits the depth of arguments
  const guard = new MessageGuard(maxBytes, "line", Infinity);
  const stream = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      try {
        guard.scan(chunk);
        done(null, chunk);
      } catch (error) {
        done(toError(error));
      }
    },
  });
  stream.on("error", () => undefined); // the transport listens while it is open
  const forget = finished(stdin, { writable: false }, (error) => {
    if (error) stream.destroy(error); // `pipe()` forwards only the end
  });
  stdin.pipe(stream);
  return {
    stream,
    release() {
      forget();
      stdin.unpipe(stream);
      // Only a change to the paused state stops reading, which would keep the process alive.
      if (stdin.listenerCount("data") === 0) stdin.resume().pause();
      stream.destroy();
    },
  };
}

/** This process's standard output, reserved for the protocol. */
export interface ReservedStdout {
  readonly stream: Writable;
  release(): void;
}

/**
 * Reserves standard output for the protocol. Until `release()`, all other output is written to
 * standard error.
 */
export function reserveStdout(): ReservedStdout {
  const { stdout, stderr } = process;
  const own = Object.getOwnPropertyDescriptor(stdout, "write");
  const write = stdout.write.bind(stdout);
  const stream = new Writable({
    write: (chunk: Uint8Array, _encoding, done) =>
      void write(chunk, (error) => done(error ?? null)),
  });
  // the stream above has reported the error, and without a listener the process would end
  const ignore = (): void => undefined;
  stdout.on("error", ignore);
  const redirect = ((...args: Parameters<typeof stderr.write>) =>
    stderr.write(...args)) as typeof stdout.write; // the same overloads
  Object.defineProperty(stdout, "write", { value: redirect, configurable: true, writable: true });
  return {
    stream,
    release() {
      if (own === undefined) Reflect.deleteProperty(stdout, "write");
      else Object.defineProperty(stdout, "write", own);
      setImmediate(() => stdout.off("error", ignore)); // a response in progress may still fail
    },
  };
}
