import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Ensemble, Task } from "agentensemble";
import { NetworkBackend } from "agentensemble/network";

/** Calls of one round. */
const CALLS = 2_000;
const AT_ONCE = 4;
const TEXT = "x".repeat(400);

/**
 * Returns the CPU time of this process for one blocking call, client and server together, in
 * microseconds.
 */
async function cpuOfCalls(call: (n: number) => Promise<void>): Promise<number> {
  for (let n = 0; n < CALLS / 4; n++) await call(-1 - n);
  const before = process.cpuUsage();
  for (let n = 0; n < CALLS; n += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => call(n + i)));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

/** Posts a message of A2A and reads the answer, as a minimal client. */
async function posted(url: string, id: string): Promise<string> {
  const parts = [{ text: "x" }];
  const message = { messageId: id, role: "ROLE_USER", parts };
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
  });
  const text = await response.text();
  if (!text.includes(TEXT)) throw new Error(`no result: ${text.slice(0, 300)}`);
  return text;
}

/** Returns the CPU time of a complete request to a service with one shared task, in memory. */
export async function a2aServiceCpu(): Promise<number> {
  const cook = new Task({ description: "Cook {context}", handler: () => TEXT });
  await using kitchen = new Ensemble({ name: "kitchen", shareTasks: { cook } });
  const service = await kitchen.start({
    backend: NetworkBackend.inMemory(),
    port: 0,
    signals: false,
  });
  const round = Math.random();
  return await cpuOfCalls(async (n) => {
    await posted(`${service.url ?? ""}/a2a`, `m-${round}-${n}`);
  });
}

/** Returns the CPU time of a server that answers immediately: the minimum cost of HTTP and JSON. */
export async function bareHttpCpu(): Promise<number> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const { id } = JSON.parse(body) as { readonly id: number };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { text: TEXT } }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  try {
    return await cpuOfCalls(async (n) => {
      await posted(`http://127.0.0.1:${port}/`, `m-${n}`);
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
