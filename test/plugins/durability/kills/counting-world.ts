// The services outside of the killed processes. The vendor counts calls by content; the service
// counts its effects.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Outside } from "./killable-team.js";
import type { WireAnswer } from "../../../support/model-server.js";
import { answerDocument } from "../../../support/openai-wire.js";

/** The longest time that the vendor takes for an answer. */
const SLOWEST_MS = 25;

/** A number for each key. */
export type Counts = ReadonlyMap<string, number>;

interface Asked {
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

const hashOfText = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 12);

const MARK = /\bsaid-([0-9a-f]{12})\b/g;

/** The contents of calls whose answers occur in a text. */
export function answeredIn(text: string): readonly string[] {
  return [...text.matchAll(MARK)].flatMap(([, hash]) => hash ?? []);
}

/** Counts one more. */
export function countOf(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The sum of all numbers. */
export function sumOf(counts: Counts): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** The answer of the model: the hash of the request, or first calls of the offered tools. */
function answerTo(body: string, hash: string): WireAnswer {
  const { messages, tools = [] } = JSON.parse(body) as Asked;
  const usage = { prompt_tokens: body.length, completion_tokens: 7, total_tokens: body.length + 7 };
  const isFirst = !messages.some(({ role }) => role === "assistant");
  const names = tools.map((offered) => offered.function.name);
  const calls = (name: string, args: readonly object[]): WireAnswer => ({
    text: `said-${hash}`,
    usage,
    toolCalls: args.map((input, n) => ({
      id: `${name}-${hash}-${n}`,
      name,
      arguments: JSON.stringify(input),
    })),
  });
  if (isFirst && names.includes("delegate"))
    return calls(
      "delegate",
      ["A", "B"].map((role) => ({ agentRole: role, taskDescription: `Help ${role}` })),
    );
  for (const name of ["pay", "mail"])
    if (isFirst && names.includes(name)) return calls(name, [{ input: "1" }, { input: "2" }]);
  return { text: `said-${hash}`, usage };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += String(part);
  return text;
}

export class CountingWorld {
  /** Model calls by content; each is paid. */
  readonly paid = new Map<string, number>();
  /** Tokens that the vendor has billed. */
  readonly tokens = { input: 0, output: 0 };
  /** Payments, by idempotency key: once for each key. */
  readonly payments = new Map<string, string>();
  /** Mails that were sent, by the key of the call. */
  readonly mails = new Map<string, readonly string[]>();
  /** Called at each request. */
  onRequest: () => void = () => undefined;
  readonly #server: Server;
  readonly #latencyMs: number | undefined;

  private constructor(latencyMs: number | undefined) {
    this.#latencyMs = latencyMs;
    this.#server = createServer((request, response) => void this.#take(request, response));
  }

  /** `latencyMs`: of each call; without it the duration varies. */
  static async start(latencyMs?: number): Promise<CountingWorld> {
    const world = new CountingWorld(latencyMs);
    await new Promise<void>((resolve) => world.#server.listen(0, "127.0.0.1", resolve));
    return world;
  }

  outside(memory: string): Outside {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the world is closed");
    const url = `http://127.0.0.1:${address.port}`;
    return { vendor: `${url}/v1`, service: url, memory };
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request).catch(() => undefined); // the process was killed while it sent it
    if (body === undefined) return;
    this.onRequest();
    if (request.url !== "/v1/chat/completions") {
      response.end(this.#serve(request.url, body));
      return;
    }
    const hash = hashOfText(body);
    countOf(this.paid, hash);
    this.tokens.input += body.length;
    this.tokens.output += 7;
    setTimeout(
      () => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(answerDocument(answerTo(body, hash))));
      },
      this.#latencyMs ?? Number.parseInt(hash.slice(0, 4), 16) % SLOWEST_MS,
    );
  }

  #serve(path: string | undefined, body: string): string {
    const { key, input } = JSON.parse(body) as { readonly key: string; readonly input: string };
    if (path === "/mail") this.mails.set(key, [...(this.mails.get(key) ?? []), input]);
    else this.payments.set(key, this.payments.get(key) ?? input);
    return `done ${input}`;
  }
}
