import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Context } from "mocha";
import { Client } from "pg";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { until } from "../../../support/time.js";

const run = promisify(execFile);

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return address.port;
}

/**
 * A PostgreSQL server for the tests only, which may be stopped and killed. It runs as another user,
 * since it refuses to run as root.
 */
export class OwnServer {
  readonly url: string;
  readonly #programs: string;
  readonly #folder: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(programs: string, folder: string, port: number) {
    this.#programs = programs;
    this.#folder = folder;
    this.#port = port;
    this.url = `postgres://ana@127.0.0.1:${port}/postgres`;
  }

  /** Skips the tests if no server can be created. */
  static async make(test: Context): Promise<OwnServer> {
    try {
      const { stdout } = await run("pg_config", ["--bindir"]);
      const parent = temporaryFolder();
      await chmod(parent, 0o711);
      const folder = join(parent, "data");
      await mkdir(folder);
      await run("chown", ["nobody", folder]);
      const server = new OwnServer(stdout.trim(), folder, await freePort());
      await run(
        "setpriv",
        server.#asOther("initdb", [
          "-D",
          folder,
          "-U",
          "ana",
          "-A",
          "trust",
          "-E",
          "UTF8",
          "--locale",
          "C",
        ]),
        { cwd: "/" },
      );
      await server.start();
      return server;
    } catch (error) {
      console.log(`      skipped: no PostgreSQL of the tests alone can be made (${String(error)})`);
      return test.skip();
    }
  }

  async start(): Promise<void> {
    const options = [
      "-D",
      this.#folder,
      "-p",
      String(this.#port),
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      "unix_socket_directories=",
    ];
    this.#process = spawn("setpriv", this.#asOther("postgres", options), {
      cwd: "/",
      stdio: "ignore",
    });
    await until(async () => this.#answers(), undefined, 60_000);
  }

  /** `SIGKILL` ends the server without cleanup, `SIGINT` closes all connections first. */
  async stop(signal: "SIGINT" | "SIGKILL"): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const ended = once(running, "close");
    running.kill(signal);
    await ended;
  }

  #asOther(program: string, options: readonly string[]): readonly string[] {
    const user = [
      "--reuid",
      "nobody",
      "--regid",
      "nogroup",
      "--clear-groups",
      "--pdeathsig",
      "KILL",
    ];
    return [...user, join(this.#programs, program), ...options];
  }

  async #answers(): Promise<boolean> {
    if (this.#process?.exitCode !== null) throw new Error("the server ended");
    const client = new Client({ connectionString: this.url });
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end();
    }
  }
}
