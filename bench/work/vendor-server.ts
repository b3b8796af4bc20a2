import { fork } from "node:child_process";
import { once } from "node:events";

const SERVER = new URL("../processes/openai-server.js", import.meta.url);

/**
 * Starts a server that simulates OpenAI in another process. The server ends with this process.
 * Returns its address.
 */
export async function vendorAddress(): Promise<string> {
  const child = fork(SERVER);
  const [port] = (await once(child, "message")) as [number]; // the server sends nothing else
  child.unref();
  child.channel?.unref();
  return `http://127.0.0.1:${port}/v1`;
}
