import { Writable } from "node:stream";

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
