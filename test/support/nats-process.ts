import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder.js";
import { until } from "./time.js";

/** A server of a test that may be killed and started again. */
export class NatsProcess {
  readonly #folder = temporaryFolder();
  #port = -1; // the server chooses one at its first start
  #child: ChildProcess | undefined;

  /** The folder in which the server keeps its streams. */
  get store(): string {
    return join(this.#folder, "store");
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  /** Resolves when the server answers. It has the data from before its kill. */
  async start(): Promise<void> {
    const child = spawn(
      "nats-server",
      ["-a", "127.0.0.1", "-p", String(this.#port), "-js"].concat(
        ["-sd", this.store],
        ["--ports_file_dir", this.#folder],
      ),
      { stdio: "ignore" },
    );
    this.#child = child;
    await once(child, "spawn");
    const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
    await until(
      async () => ended() || (this.#findPort(child.pid) && (await this.#answers())),
      () => "nats-server does not answer",
    );
    if (ended()) throw new Error(`nats-server ended with ${String(child.exitCode)}`);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  }

  readonly restart = async (): Promise<void> => {
    await this.kill();
    await this.start();
  };

  #findPort(pid: number | undefined): boolean {
    if (this.#port !== -1) return true;
    const name = readdirSync(this.#folder).find((file) => file.endsWith(`${String(pid)}.ports`));
    const text = name === undefined ? "" : readFileSync(join(this.#folder, name), "utf8");
    const port = /"nats:\/\/127\.0\.0\.1:(\d+)"/.exec(text)?.[1];
    if (port !== undefined) this.#port = Number(port);
    return port !== undefined;
  }

  #answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, "127.0.0.1");
      socket.on("error", () => resolve(false));
      socket.on("data", () => {
        socket.destroy();
        resolve(true); // the server greets
      });
    });
  }
}
