import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";

/** A connection between a browser and a server, which tests interrupt and restore. */
export class CutLine {
  readonly #server = createServer((client) => this.#join(client));
  readonly #sockets = new Set<Socket>();
  #target = 0;
  #isCut = false;
  #isStalled = false;

  /** Listens on a free port, and returns the origin for browsers. */
  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = this.#server.address() as AddressInfo; // of a TCP server
    return `http://127.0.0.1:${port}`;
  }

  /** Leads to a port of this machine. */
  to(port: number): void {
    this.#target = port;
  }

  /** Ends all connections and accepts no new ones. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Stops forwarding without ending connections, like an unplugged machine. */
  stall(): void {
    this.#isStalled = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Accepts new connections, and ends the stalled ones. */
  mend(): void {
    if (this.#isStalled) for (const socket of this.#sockets) socket.destroy();
    this.#isCut = false;
    this.#isStalled = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(client: Socket): void {
    if (this.#isCut) {
      client.destroy();
      return;
    }
    if (this.#isStalled) {
      this.#sockets.add(client);
      client.on("error", () => undefined);
      client.on("close", () => this.#sockets.delete(client));
      return;
    }
    const server = connect(this.#target, "127.0.0.1");
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
