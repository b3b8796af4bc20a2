import { InMemoryTransport } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createInterface } from "node:readline";
import { ValidationError } from "agentensemble";
import type { McpServer, McpTransport } from "agentensemble/mcp";
import { offeringServer } from "../../../support/mcp-offers.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { stdioProgram } from "./clients.js";
import { pause, until } from "../../../support/time.js";

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  },
} as const;
const callOf = (id: number, name: string, args: object, meta: object = {}): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args, ...meta },
});

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly progress?: number;
    readonly total?: number;
    readonly progressToken?: unknown;
    readonly message?: string;
  };
  readonly result?: { readonly content?: readonly { readonly text: string }[] };
}

describe("serve() of an MCP server", () => {
  let server: McpServer;
  afterEach(() => server.close());

  async function served(note?: (what: string) => void): Promise<{
    readonly far: InMemoryTransport;
    readonly messages: Message[];
    readonly arrived: EventEmitter;
    readonly over: Promise<void>;
  }> {
    server = offeringServer({}, note);
    const [near, far] = InMemoryTransport.createLinkedPair();
    const messages: Message[] = [];
    const arrived = new EventEmitter();
    far.onmessage = (message) => {
      messages.push(message as Message);
      arrived.emit("message");
    };
    const over = server.serve(near);
    await far.start();
    await far.send(initialize);
    while (messages.length < 1) await once(arrived, "message");
    await far.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    messages.length = 0;
    return { far, messages, arrived, over };
  }

  it("sends each step of a run as progress under the client's token, then the result", async () => {
    const { far, messages, arrived } = await served();
    await far.send(
      callOf(
        1,
        "shout",
        { input: "hi" },
        { _meta: { progressToken: "mine" } },
      ) as typeof initialize,
    );
    while (messages.length < 4) await once(arrived, "message");
    expect(messages.map(({ method, id }) => method ?? id)).to.deep.equal([
      ...Array<string>(3).fill("notifications/progress"),
      1,
    ]);
    expect(messages.slice(0, 3).map(({ params }) => params?.progress)).to.deep.equal([1, 2, 3]);
    expect(
      messages
        .slice(0, 3)
        .every(({ params }) => params?.progressToken === "mine" && params.total === undefined),
    ).to.equal(true);
    expect(messages[0]?.params?.message).to.equal("Task 'shout' started by (deterministic)");
    expect(messages[1]?.params?.message).to.match(/^Tool 'shout' answered after \d+ ms$/);
    expect(messages[2]?.params?.message).to.equal("Task 'shout' completed: 1 tool call, 0 tokens");
  });

  it("sends no progress to a client without a token", async () => {
    const { far, messages, arrived } = await served();
    await far.send(callOf(1, "shout", { input: "hi" }) as typeof initialize);
    await once(arrived, "message");
    expect(messages.map(({ id }) => id)).to.deep.equal([1]);
  });

  it("refuses arguments of more than 50,000 parts, at any position", async () => {
    const { far, messages, arrived } = await served();
    const row = Array<number>(200).fill(0);
    for (const parts of [Array<number>(60_000).fill(0), Array<number[]>(300).fill(row)]) {
      messages.length = 0;
      await far.send(callOf(1, "locate", { city: "Husum", parts }) as typeof initialize);
      while (messages.length === 0) await once(arrived, "message");
      expect(messages[0]?.result?.content?.[0]?.text).to.include("have more than 50000 parts");
    }
  });

  it("resolves when the client closes, with its calls ended", async () => {
    const notes: string[] = [];
    const { far, messages, over } = await served((what) => notes.push(what));
    await far.send(callOf(1, "wait", { input: "x" }) as typeof initialize);
    while (notes.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await far.close();
    await over;
    expect(notes).to.deep.equal(["started x", "ended x"]);
    expect(messages).to.deep.equal([]);
  });

  it("resolves when the server closes, after its answers", async () => {
    const notes: string[] = [];
    const { far, messages, over } = await served((what) => notes.push(what));
    await far.send(callOf(1, "wait", { input: "x" }) as typeof initialize);
    while (notes.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await server.close();
    await over;
    expect(messages[0]?.result?.content?.[0]?.text).to.equal("The MCP server is closing");
  });

  it("refuses an invalid transport, and passes on the error of a transport that does not start", async () => {
    server = offeringServer();
    for (const wrong of [undefined, {}, { start() {}, send() {} }]) {
      expect(await rejection(server.serve(wrong as unknown as McpTransport))).to.be.instanceOf(
        ValidationError,
      );
    }
    const broken: McpTransport = {
      start: () => Promise.reject(new Error("no line")),
      send: async () => undefined,
      close: async () => undefined,
    };
    expect((await rejectionOf(Error, server.serve(broken))).message).to.equal("no line");
  });
});

describe("stdio() of an MCP server", () => {
  let child: ChildProcessWithoutNullStreams;
  let stdout: string[];
  let stderr: string;

  const line = async (holds: (text: string) => boolean): Promise<string> => {
    for (;;) {
      const found = stdout.find(holds);
      if (found !== undefined) return found;
      if (child.exitCode !== null) throw new Error(`the program ended: ${stderr}`);
      await pause(5);
    }
  };
  const send = (message: object | string): void =>
    void child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  const answerTo = async (id: number): Promise<Message> =>
    JSON.parse(await line((text) => text.includes(`"id":${id}`))) as Message;
  const exit = async (): Promise<number | null> => {
    if (child.exitCode === null) await once(child, "exit");
    return child.exitCode;
  };

  beforeEach(async () => {
    child = spawn(process.execPath, [stdioProgram]);
    stdout = [];
    stderr = "";
    createInterface(child.stdout).on("line", (text) => stdout.push(text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    send(initialize);
    await answerTo(0);
  });
  afterEach(async () => {
    child.kill("SIGKILL");
    await exit();
  });

  it("reserves standard output for the protocol: tools print to standard error", async () => {
    send(callOf(1, "wait", { input: "x" }));
    await until(() => stderr.includes("started x"));
    child.stdin.end();
    expect(await exit()).to.equal(0);
    expect(stderr).to.include("started x").and.include("ended x"); // the client was gone
    expect(stdout[0]).to.equal("this is not protocol");
    expect(stdout.at(-1)).to.equal("served");
    for (const text of stdout.slice(1, -1))
      expect(JSON.parse(text)).to.have.property("jsonrpc", "2.0");
  });

  it("continues after invalid lines", async () => {
    for (const garbage of [
      "garbage",
      "{",
      "[]",
      "7",
      '{"jsonrpc":"1.0"}',
      '{"jsonrpc":"2.0","id":{}}',
      "",
    ])
      send(garbage);
    send(callOf(1, "shout", { input: "still here" }));
    expect((await answerTo(1)).result?.content?.[0]?.text).to.equal("STILL HERE");
  });

  it("ends with a message that is too large", async () => {
    child.stdin.on("error", () => undefined); // it stops reading
    child.stdin.write("x".repeat(5 * 1024 * 1024));
    expect(await exit()).to.equal(0);
    expect(stdout.at(-1)).to.equal("served");
  });

  it("ends with a message of more than 50,000 parts, and executes no call", async () => {
    child.stdin.on("error", () => undefined); // it stops reading
    const parts = Array<number>(60_000).fill(0);
    send(callOf(1, "locate", { city: "Husum", parts }));
    expect(await exit()).to.equal(0);
    expect(stdout.at(-1)).to.equal("served");
    expect(stdout.join("\n")).to.not.include('"id":1');
  });

  it("ends without an error when the client dies during a call", async () => {
    send(callOf(1, "wait", { input: "x" }));
    await until(() => stderr.includes("started x"));
    child.stdout.destroy();
    child.stdin.destroy();
    expect(await exit()).to.equal(0);
    expect(stderr).to.include("ended x").and.not.include("Error");
  });
});
