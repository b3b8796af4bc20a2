import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import type { Context } from "mocha";
import { temporaryFolder } from "./temporary-folder.js";
import { until } from "./time.js";

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

/** A Redis for the tests only, which may be killed. Its file contains all answered writes. */
export class OwnRedis {
  readonly url: string;
  readonly #port: number;
  readonly #folder = temporaryFolder();
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `redis://127.0.0.1:${port}`;
  }

  /** Skips the tests if there is no program `redis-server`. */
  static async make(test: Context): Promise<OwnRedis> {
    try {
      await run("redis-server", ["--version"]);
    } catch (error) {
      console.log(`      skipped: no redis-server (${String(error)})`);
      return test.skip();
    }
    const server = new OwnRedis(await freePort());
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const options = { bind: "127.0.0.1", port: String(this.#port), dir: this.#folder };
    const durable = { appendonly: "yes", appendfsync: "always", save: "" };
    const args = Object.entries({ ...options, ...durable }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ]);
    this.#process = spawn("redis-server", args, { stdio: "ignore" });
    await until(() => this.#answers(), undefined, 60_000);
  }

  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const ended = once(running, "close");
    running.kill("SIGKILL");
    await ended;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  async #answers(): Promise<boolean> {
    if (this.#process?.exitCode !== null) throw new Error("redis-server ended");
    const redis = new Redis(this.url, { lazyConnect: true, retryStrategy: () => null });
    redis.on("error", () => undefined); // it does not listen yet
    try {
      await redis.connect();
      return (await redis.ping()) === "PONG";
    } catch {
      return false;
    } finally {
      redis.disconnect();
    }
  }
}
