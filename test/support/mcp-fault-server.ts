// An MCP server over standard input and output that breaks the rules on request: `node
// mcp-fault-server.js <mode> [file]`. It uses no library, which would prevent the faults.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly requestId?: number;
    readonly cursor?: string;
  };
}

const [mode = "ok", file = ""] = process.argv.slice(2);
const note = (line: string): void => (file === "" ? undefined : appendFileSync(file, `${line}\n`));
const write = (message: unknown): void =>
  void process.stdout.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
const answer = (id: number | undefined, result: unknown): void =>
  write({ jsonrpc: "2.0", id, result });
const text = (value: string): unknown => ({ content: [{ type: "text", text: value }] });
const announce = (): void => write({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });

note(`start ${process.pid}`);
if (mode === "exit") {
  process.stderr.write(`the licence ${process.env["LICENCE_KEY"] ?? ""} has run out\n`);
  process.exit(7);
}
if (mode === "exit-twice" && readFileSync(file, "utf8").split("start ").length <= 3)
  process.exit(1);
if (mode === "stubborn") {
  process.on("SIGTERM", () => note("SIGTERM"));
  setInterval(() => undefined, 1_000);
}
if (mode === "garbage") write("Listening with vigour...");

/** The changed fields of the tool `echo`. */
let changed: Readonly<Record<string, unknown>> = {};
let held: number | undefined;

const schema = { type: "object", properties: { value: { type: "string" } } };
const names = [
  "echo",
  "crash",
  "hang",
  "garbage",
  "twice",
  "huge",
  "deep",
  "flood",
  "hold",
  "change",
  "offspring",
  "daemon",
  "failed",
  "broken",
  "misshapen",
  "refused",
  "deaf",
  "pings",
];

function listed(cursor: string | undefined): unknown {
  if (mode === "collide")
    return { tools: ["a.b", "a_b"].map((name) => ({ name, inputSchema: schema })) };
  if (mode === "big-schema")
    return {
      tools: [{ name: "big", inputSchema: { ...schema, description: "x".repeat(200_000) } }],
    };
  if (mode === "endless")
    return {
      tools: [{ name: `t${cursor ?? 0}`, inputSchema: schema }],
      nextCursor: String(Number(cursor ?? 0) + 1),
    };
  if (mode === "paged" && cursor === undefined)
    return { tools: [{ name: "first", inputSchema: schema }], nextCursor: "more" };
  if (mode === "paged") return { tools: [{ name: "second", inputSchema: schema }] };
  if (mode === "tasks") {
    return {
      tools: [
        { name: "plain", inputSchema: schema },
        { name: "later", inputSchema: schema, execution: { taskSupport: "required" } },
      ],
    };
  }
  return {
    tools: names.map((name) => ({
      name,
      description: `Does ${name}`,
      inputSchema: schema,
      ...(name === "echo" && changed),
    })),
  };
}

const calls: Readonly<
  Record<string, (id: number | undefined, args: Readonly<Record<string, unknown>>) => void>
> = {
  echo: (id, args) => answer(id, text(JSON.stringify(args))),
  crash: () => process.exit(3),
  hang: () => note("hanging"),
  garbage: (id) => {
    write("<html>oops</html>");
    write('{"jsonrpc": "2.0", "id": ');
    write({ jsonrpc: "1.0", hello: true });
    answer(id, text("after the garbage"));
  },
  twice: (id) => {
    answer(id, text("first"));
    answer(id, text("second"));
  },
  huge: (id) => answer(id, text("x".repeat(6 * 1024 * 1024))),
  deep: (id) =>
    write(
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`,
    ),
  flood: (id) => {
    const progress = JSON.stringify({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: id, progress: 1 },
    });
    const news = JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    write(`${progress}\n${news}\n`.repeat(50_000));
    answer(id, text("after the flood"));
  },
  hold: (id) => {
    if (held === undefined) return void (held = id);
    answer(id, text("second")); // the later one first
    answer(held, text("first"));
    held = undefined;
  },
  change: (id, { value, ...fields }) => {
    changed = { ...changed, ...(value !== undefined && { description: value }), ...fields };
    announce();
    answer(id, text("changed"));
  },
  offspring: (id) => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
      stdio: "ignore",
    });
    answer(id, text(String(child.pid)));
  },
  daemon: (id) => {
    const inner =
      "const c = require('child_process').spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }); c.unref(); console.log(c.pid)"; // forks twice
    const child = spawn(process.execPath, ["-e", inner], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.stdout.once("data", (pid: Buffer) =>
      child.once("exit", () => answer(id, text(pid.toString().trim()))),
    );
  },
  broken: (id) =>
    answer(id, {
      content: [
        {
          type: "text",
          text: `no entry with ${process.env["ACCESS_KEY"] ?? ""}${"!".repeat(5_000)}`,
        },
      ],
      isError: true,
    }),
  misshapen: (id) => answer(id, { content: "no list" }),
  failed: (id) => answer(id, { content: [], isError: true }),
  refused: (id) =>
    write({ jsonrpc: "2.0", id, error: { code: -32602, message: "no such key: swordfish-1234" } }),
  deaf: (id) => {
    process.stdin.pause();
    answer(id, text("not listening any more"));
  },
  pings: (id) => {
    for (let i = 0; i < 1_000; i++) write({ jsonrpc: "2.0", id: i + 1_000_000, method: "ping" });
    answer(id, text("pinged"));
  },
};

function receive({ id, method, params }: Message): void {
  if (method === "initialize" && mode !== "silent") {
    const capabilities = mode === "no-tools" ? {} : { tools: { listChanged: true } };
    answer(id, {
      protocolVersion: "2025-06-18",
      capabilities,
      serverInfo: { name: "faults", version: "1" },
    });
  } else if (method === "tools/list") {
    if (mode === "crash-at-list") process.exit(4);
    answer(id, listed(params?.cursor));
  } else if (method === "tools/call") calls[params?.name ?? ""]?.(id, params?.arguments ?? {});
  else if (method === "notifications/cancelled") note(`cancelled ${params?.requestId}`);
}

createInterface({ input: process.stdin }).on("line", (line) =>
  receive(JSON.parse(line) as Message),
); // our own client's
if (file !== "" && existsSync(file)) process.stdin.on("end", () => note("end of input"));
