import { spawn, type ChildProcess } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type {
  McpToolProvider,
  McpStructuredOutput,
} from "../../../../src/plugins/mcp/client/index.js";
import type { AnyTool } from "agentensemble";
import { toolContract } from "agentensemble/testing";
import { mcpTools } from "../../../../src/plugins/mcp/client/index.js";
import { callTool, MCP_PROGRAMS, temporaryDirectory } from "../../../support/mcp.js";

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("tools of a server", () => {
  const provider = mcpTools({
    name: "all",
    command: process.execPath,
    args: [MCP_PROGRAMS.everything],
    tools: ["echo", "trigger-long-running-operation"],
  });
  let tools: readonly AnyTool[] = [];
  before(async () => (tools = await provider.resolve()));
  after(() => provider.close());
  const named = (name: string): AnyTool =>
    tools.find((tool) => tool.name === name) ?? expect.fail(`no tool ${name}`);

  toolContract("tool of a server", {
    create: () => named("all__echo"),
    valid: [{ message: "hi" }, { message: "" }],
    invalid: [{}, "hi", null],
    failing: [{ message: 1 }],
  });
  toolContract("slow tool of a server", {
    create: () => named("all__trigger-long-running-operation"),
    valid: [{ duration: 0.2, steps: 1 }],
    slow: { duration: 20, steps: 20 },
  });
});

describe("server-filesystem, over standard input and output", () => {
  const directory = temporaryDirectory();
  const root = realpathSync(directory.path);
  let files: McpToolProvider;

  before(() => {
    writeFileSync(join(root, "swift.txt"), "The swift sleeps in the air.");
    files = mcpTools({
      name: "files",
      command: process.execPath,
      args: [MCP_PROGRAMS.filesystem, root],
      trustAnnotations: true,
    });
  });
  after(async () => {
    await files.close();
  });

  it("offers tools with their declared effects, if the server is trusted", async () => {
    const effects = Object.fromEntries(
      (await files.resolve()).map((tool) => [
        tool.name,
        (tool as { readonly effect?: string }).effect,
      ]),
    );
    expect(effects).to.include({
      files__read_text_file: "read",
      files__write_file: "write",
      files__list_directory: "read",
    });
  });

  it("reads and writes", async () => {
    expect(
      (await callTool(files, "files__read_text_file", { path: join(root, "swift.txt") })).output,
    ).to.equal("The swift sleeps in the air.");
    await callTool(files, "files__write_file", { path: join(root, "owl.txt"), content: "Hoo" });
    expect(readFileSync(join(root, "owl.txt"), "utf8")).to.equal("Hoo");
  });

  it("returns structured content in addition to the text", async () => {
    const result = await callTool(files, "files__list_directory", { path: root });
    expect(result.output).to.contain("[FILE] swift.txt");
    expect(result.structured).to.deep.equal({ content: result.output });
  });

  it("refuses outside paths, as a failed result", async () => {
    const result = await callTool(files, "files__read_text_file", { path: "/etc/hostname" });
    expect(result.ok).to.equal(false);
    expect(result.errorMessage).to.contain("Access denied");
  });
});

const transports: Readonly<
  Record<
    string,
    () => Promise<{ readonly provider: McpToolProvider; readonly process?: ChildProcess }>
  >
> = {
  "standard input and output": async () => ({
    provider: mcpTools({ name: "all", command: process.execPath, args: [MCP_PROGRAMS.everything] }),
  }),
  "streamable HTTP": async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [MCP_PROGRAMS.everything, "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    await new Promise<void>((resolve, reject) => {
      child.stderr.on(
        "data",
        (chunk: Buffer) => chunk.toString().includes("listening") && resolve(),
      );
      child.once("exit", () => reject(new Error("server-everything did not start")));
    });
    return {
      provider: mcpTools({ name: "all", url: `http://127.0.0.1:${port}/mcp` }),
      process: child,
    };
  },
};

for (const [transport, start] of Object.entries(transports)) {
  describe(`server-everything, over ${transport}`, () => {
    let provider: McpToolProvider;
    let child: ChildProcess | undefined;

    before(async () => ({ provider, process: child } = await start()));
    after(async () => {
      await provider.close();
      child?.kill("SIGKILL");
    });

    it("adds numbers", async () => {
      expect((await callTool(provider, "all__get-sum", { a: 20, b: 22 })).output).to.equal(
        "The sum of 20 and 22 is 42.",
      );
    });

    it("sends an image, which becomes a part of the result", async () => {
      const { output, structured, parts } = await callTool(provider, "all__get-tiny-image");
      expect(output).to.match(/\[image, image\/png, \d+ bytes\]/);
      const [image] = (structured as McpStructuredOutput).attachments;
      expect(image)
        .to.include({ kind: "image", mimeType: "image/png" })
        .and.not.have.property("data");
      const [part] = parts;
      expect(part).to.include({ type: "image", mediaType: "image/png" });
      const data = part?.type === "image" ? String(part.data) : "";
      expect(Buffer.from(data, "base64")).to.have.length(image?.bytes ?? 0);
    });

    it("sends links and resources", async () => {
      const links = await callTool(provider, "all__get-resource-links", { count: 2 });
      expect(links.output).to.contain("[link to resource demo://resource/dynamic/text/2: ");
      expect(
        (links.structured as McpStructuredOutput).attachments.map(({ kind }) => kind),
      ).to.deep.equal(["resource_link", "resource_link"]);
      const resource = await callTool(provider, "all__get-resource-reference", {
        resourceType: "Text",
        resourceId: 1,
      });
      expect(resource.output).to.contain("[resource demo://resource/dynamic/text/1]\nResource 1: ");
    });

    it("sends structured content", async () => {
      const { output, structured } = await callTool(provider, "all__get-structured-content", {
        location: "Chicago",
      });
      expect(structured).to.have.property("temperature");
      expect(JSON.parse(output)).to.deep.equal(structured);
    });

    it("refuses invalid arguments, as a failed result", async () => {
      const result = await callTool(provider, "all__get-sum", { a: "many" });
      expect(result.ok).to.equal(false);
      expect(result.errorMessage).to.contain("Invalid");
    });

    it("can be cancelled during a long operation", async () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new Error("enough")), 100);
      const call = callTool(
        provider,
        "all__trigger-long-running-operation",
        { duration: 20, steps: 20 },
        controller.signal,
      );
      expect(await call.catch((error: unknown) => (error as Error).message)).to.equal("enough");
    });

    it("executes several calls concurrently", async () => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, a) => callTool(provider, "all__get-sum", { a, b: 1 })),
      );
      expect(results.map(({ output }) => output)).to.deep.equal(
        Array.from({ length: 20 }, (_, a) => `The sum of ${a} and 1 is ${a + 1}.`),
      );
    });
  });
}
