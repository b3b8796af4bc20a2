import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyTool, DynamicToolProvider, ToolContext } from "../../src/contracts/tool.js";
import type { McpCallOptions, McpStdioServer } from "../../src/plugins/mcp/client/index.js";
import { ToolResult } from "../../src/contracts/tool-result.js";
import { fakeScope } from "./fake-scope.js";
import { projectRoot } from "./project.js";
import { temporaryFolder } from "./temporary-folder.js";

const packages = join(projectRoot, "node_modules", "@modelcontextprotocol");

/** Programs of MCP servers: two published ones, and one that breaks the rules. */
export const MCP_PROGRAMS = Object.freeze({
  filesystem: join(packages, "server-filesystem", "dist", "index.js"),
  everything: join(packages, "server-everything", "dist", "index.js"),
  faults: fileURLToPath(new URL("./mcp-fault-server.js", import.meta.url)),
});

/** Options for the server that breaks the rules. */
export function faulty(
  mode = "ok",
  more: McpCallOptions & Partial<McpStdioServer> = {},
  file = "",
): McpStdioServer {
  return {
    name: "faults",
    command: process.execPath,
    args: [MCP_PROGRAMS.faults, mode, ...(file === "" ? [] : [file])],
    prefix: "",
    ...more,
  };
}

/** The context of a tool outside of any run. */
export function toolContext(signal: AbortSignal = new AbortController().signal): ToolContext {
  const requestApproval = (): never => {
    throw new Error("nobody is there to ask");
  };
  const scope = fakeScope();
  return {
    scope,
    signal,
    run: scope.run,
    runId: "run-1",
    taskId: "task-1",
    agentRole: "Tester",
    toolCallId: "call-1",
    idempotencyKey: "run-1/task-1@1/call-1",
    requestApproval,
  }; // as much of it as tools of servers use
}

/** Calls a tool of a provider by its name. */
export async function callTool(
  provider: DynamicToolProvider,
  name: string,
  input: unknown = {},
  signal?: AbortSignal,
): Promise<ToolResult> {
  return execute(
    (await provider.resolve()).find((tool) => tool.name === name),
    input,
    signal,
  );
}

/** Calls an existing tool. */
export async function execute(
  tool: AnyTool | undefined,
  input: unknown = {},
  signal?: AbortSignal,
): Promise<ToolResult> {
  if (tool === undefined) throw new Error("no such tool");
  const result = await tool.execute(input, toolContext(signal));
  if (!ToolResult.isInstance(result)) throw new Error("not a result");
  return result;
}

/**
 * Whether a process exists. A process that ended but was not collected by its parent counts as
 * ended.
 */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch (error) {
    return (error as { readonly code?: unknown }).code === "ENOENT" && process.platform !== "linux"; // no such file without /proc
  }
}

/** A separate directory for each test, and a file in it. */
export function temporaryDirectory(): {
  readonly path: string;
  readonly file: string;
  lines(): readonly string[];
} {
  const path = temporaryFolder();
  const file = join(path, "notes.txt");
  return {
    path,
    file,
    lines: () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []),
  };
}
