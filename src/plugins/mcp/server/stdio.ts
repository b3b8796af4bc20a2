import { finished, Transform, Writable, type Readable } from "node:stream";
import { toError } from "../../../util/errors.js";
import { MessageGuard } from "../shared/message-guard.js";

/** This process's standard input, limited. */
export interface GuardedStdin {
  readonly stream: Readable;
  release(): void;
}

/** Passes standard input on until `release()`; the stream fails with RefusedMessage at a message that exceeds a limit. */
export function guardStdin(maxBytes: number): GuardedStdin {
  const { stdin } = process;
  const guard = new MessageGuard(maxBytes, "line", Infinity); // the dispatcher limits the depth of arguments
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
  stream.on("error", () => undefined); // the transport listens as long as it is open
  const forget = finished(stdin, { writable: false }, (error) => {
    if (error) stream.destroy(error); // pipe() passes on the end only
  });
  stdin.pipe(stream);
  return {
    stream,
    release() {
      forget();
      stdin.unpipe(stream);
      // Only a change to the paused state ends the reading, which would keep the process running.
      if (stdin.listenerCount("data") === 0) stdin.resume().pause();
      stream.destroy();
    },
  };
}

/** This process's standard output for the protocol alone. */
export interface ReservedStdout {
  readonly stream: Writable;
  release(): void;
}

/** Keeps standard output for the protocol: what anything else writes to it goes to standard error until `release()`. */
export function reserveStdout(): ReservedStdout {
  const { stdout, stderr } = process;
  const own = Object.getOwnPropertyDescriptor(stdout, "write");
  const write = stdout.write.bind(stdout);
  const stream = new Writable({
    write: (chunk: Uint8Array, _encoding, done) =>
      void write(chunk, (error) => done(error ?? null)),
  });
  const ignore = (): void => undefined; // the stream above has been told; without a listener the process would end
  stdout.on("error", ignore);
  const redirect = ((...args: Parameters<typeof stderr.write>) =>
    stderr.write(...args)) as typeof stdout.write; // the same overloads
  Object.defineProperty(stdout, "write", { value: redirect, configurable: true, writable: true });
  return {
    stream,
    release() {
      if (own === undefined) Reflect.deleteProperty(stdout, "write");
      else Object.defineProperty(stdout, "write", own);
      setImmediate(() => stdout.off("error", ignore)); // an answer on its way may still fail
    },
  };
}
