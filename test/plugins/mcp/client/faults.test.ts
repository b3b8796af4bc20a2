import { expect } from "chai";
import type { McpToolProvider } from "../../../../src/plugins/mcp/client/index.js";
import { McpError } from "../../../../src/contracts/state-errors.js";
import { mcpTools } from "../../../../src/plugins/mcp/client/index.js";
import { fakeScope } from "../../../support/fake-scope.js";
import { callTool, faulty, isRunning, temporaryDirectory } from "../../../support/mcp.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { until } from "../../../support/time.js";

describe("an MCP server that misbehaves", () => {
  const opened: McpToolProvider[] = [];
  let directory = temporaryDirectory();

  function open(...args: Parameters<typeof faulty>): McpToolProvider {
    const provider = mcpTools(faulty(...args));
    opened.push(provider);
    return provider;
  }

  beforeEach(() => {
    directory = temporaryDirectory();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((provider) => provider.close()));
  });

  const works = async (provider: McpToolProvider): Promise<boolean> =>
    (await callTool(provider, "echo", { value: "b" })).output === '{"value":"b"}';

  describe("at the start", () => {
    it("fails immediately: the error has its code, no given secrets, after at most three attempts", async () => {
      const provider = open("exit", { env: { LICENCE_KEY: "swordfish-1234" } }, directory.file);
      const error = await rejectionOf(McpError, provider.resolve());
      expect(error.message)
        .to.contain("exited with code 7")
        .and.contain("the licence [redacted] has run out")
        .and.not.contain("swordfish");
      expect(directory.lines()).to.have.length(3);
    });

    it("ends twice and then works", async () => {
      const provider = open("exit-twice", {}, directory.file);
      expect(await works(provider)).to.equal(true);
    });

    it("never answers the handshake: the task fails after connectTimeoutMs, and the process is gone", async () => {
      const provider = open("silent", { connectTimeoutMs: 500 }, directory.file);
      const error = await rejectionOf(McpError, provider.resolve());
      expect(error.message).to.contain("not ready within 500 ms");
      expect(error.hint).to.contain("connectTimeoutMs");
      await until(() =>
        directory
          .lines()
          .every((line) => !line.startsWith("start") || !isRunning(Number(line.split(" ")[1]))),
      );
    });

    it("releases a cancelled task immediately, while others continue to wait", async () => {
      const provider = open("silent", { connectTimeoutMs: 1500 });
      const controller = new AbortController();
      const cancelled = rejection(provider.resolve(fakeScope({ signal: controller.signal })));
      const waiting = rejection(provider.resolve());
      const reason = new Error("enough");
      setTimeout(() => controller.abort(reason), 50);
      expect(await cancelled).to.equal(reason);
      expect(McpError.isInstance(await waiting)).to.equal(true);
    });

    it("writes a greeting to standard output, which is reserved for messages", async () => {
      expect(await works(open("garbage"))).to.equal(true);
    });

    it("ends when its tools are requested", async () => {
      const error = await rejectionOf(McpError, open("crash-at-list").resolve());
      expect(error.message).to.contain("exited with code 4");
    });

    it("is not started again for a while after all attempts have failed, unless start() is called", async () => {
      const provider = open("exit", {}, directory.file);
      const error = await rejection(provider.resolve());
      expect(await rejection(provider.resolve())).to.equal(error);
      expect(directory.lines()).to.have.length(3);
      await rejection(provider.start());
      expect(directory.lines()).to.have.length(6);
    });

    it("is omitted with a warning with onUnavailable, once for each run", async () => {
      const provider = open("exit", { onUnavailable: "skip" });
      const scope = fakeScope();
      expect(await provider.resolve(scope)).to.deep.equal([]);
      expect(await provider.resolve(scope)).to.deep.equal([]);
      expect(scope.events.map(({ type }) => type)).to.deep.equal(["run_warning"]);
    });
  });

  describe("during a call", () => {
    it("dies: the call fails with the known reason, and the next call starts the server again", async () => {
      const provider = open("ok", {}, directory.file);
      const error = await rejectionOf(McpError, callTool(provider, "crash"));
      expect(error.message).to.contain("exited with code 3");
      expect(error.hint).to.contain("took effect");
      expect(await works(provider)).to.equal(true);
      expect(directory.lines().filter((line) => line.startsWith("start"))).to.have.length(2);
    });

    it("dies repeatedly: every call fails separately, and the server is restarted", async () => {
      const provider = open();
      for (let i = 0; i < 3; i++)
        expect(McpError.isInstance(await rejection(callTool(provider, "crash")))).to.equal(true);
      expect(await works(provider)).to.equal(true);
    });

    it("is killed from outside while idle: the next call succeeds", async () => {
      const provider = open();
      await provider.resolve();
      const pid = provider.pid ?? 0;
      process.kill(pid, "SIGKILL");
      await until(() => provider.pid === undefined);
      expect(await works(provider)).to.equal(true);
      expect(provider.pid).to.not.equal(pid);
    });

    it("never answers: a cancellation releases the call immediately and notifies the server", async () => {
      const provider = open("ok", {}, directory.file);
      const controller = new AbortController();
      const call = rejection(callTool(provider, "hang", {}, controller.signal));
      await until(() => directory.lines().includes("hanging"));
      const reason = new Error("enough");
      controller.abort(reason);
      expect(await call).to.equal(reason);
      await until(() => directory.lines().some((line) => line.startsWith("cancelled")));
      expect(await works(provider)).to.equal(true);
    });

    it("never answers: outside of a run the call ends by its own time limit", async () => {
      const provider = open("ok", { timeoutMs: 100 });
      const error = await rejectionOf(McpError, callTool(provider, "hang"));
      expect(error.message).to.contain("did not answer within 100 ms");
      expect(await works(provider)).to.equal(true);
    });

    it("answers out of order", async () => {
      const provider = open();
      await provider.resolve();
      const outputs = await Promise.all([callTool(provider, "hold"), callTool(provider, "hold")]);
      expect(outputs.map(({ output }) => output)).to.deep.equal(["first", "second"]);
    });

    it("answers twice: only the first answer counts", async () => {
      const provider = open();
      expect((await callTool(provider, "twice")).output).to.equal("first");
      expect(await works(provider)).to.equal(true);
    });

    it("writes invalid text before its answer", async () => {
      expect((await callTool(open(), "garbage")).output).to.equal("after the garbage");
    });

    it("sends a message that is too large: the connection ends, and the next call starts the server", async () => {
      const provider = open();
      const error = await rejectionOf(McpError, callTool(provider, "huge"));
      expect(error.message).to.contain("larger than 4194304 bytes");
      expect(await works(provider)).to.equal(true);
    });

    it("may send as much as maxMessageBytes allows, of which the model receives maxOutputLength", async () => {
      const provider = open("ok", { maxMessageBytes: 8 * 1024 * 1024, maxOutputLength: 10 });
      expect((await callTool(provider, "huge")).output).to.equal(
        "xxxxxxxxxx... [truncated, full length: 6291456 chars]",
      );
    });

    it("sends a very deeply nested message", async () => {
      const provider = open();
      expect((await rejectionOf(McpError, callTool(provider, "deep"))).message).to.contain(
        "nested",
      );
      expect(await works(provider)).to.equal(true);
    });

    it("sends many notifications: the answer arrives, the program continues, and the list is requested once", async () => {
      const provider = open();
      await provider.resolve();
      let turns = 0;
      const clock = setInterval(() => turns++, 1);
      expect((await callTool(provider, "flood")).output).to.equal("after the flood");
      clearInterval(clock);
      expect(turns).to.be.greaterThan(5);
      expect(await works(provider)).to.equal(true);
    });

    it("sends many requests to the client", async () => {
      const provider = open();
      expect((await callTool(provider, "pings")).output).to.equal("pinged");
      expect(await works(provider)).to.equal(true);
    });

    it("stops reading: calls end at their time limit, and buffered data are limited", async () => {
      const provider = open("ok", { timeoutMs: 200, maxMessageBytes: 100_000 });
      await callTool(provider, "deaf");
      const errors = await Promise.all(
        Array.from({ length: 8 }, () =>
          rejection(callTool(provider, "echo", { value: "x".repeat(90_000) })),
        ),
      );
      expect(errors.every((error) => McpError.isInstance(error))).to.equal(true);
      expect(
        errors.some(
          (error) =>
            McpError.isInstance(error) &&
            /unread|does not read|Connection closed/.test(error.message),
        ),
      ).to.equal(true);
    });
  });

  it("fails without a message: the model receives a default message", async () => {
    expect((await callTool(open(), "failed")).errorMessage).to.equal("MCP tool returned an error");
  });

  it("fails with a message that contains a secret: the model receives the cut message without the secret", async () => {
    const { errorMessage } = await callTool(
      open("ok", { env: { ACCESS_KEY: "swordfish-1234" } }),
      "broken",
    );
    expect(errorMessage).to.equal(`no entry with [redacted]${"!".repeat(5_000)}`);
  });

  it("answers in an invalid form: one line describes the error", async () => {
    const error = await rejectionOf(McpError, callTool(open(), "misshapen"));
    expect(error.message).to.match(
      /^MCP server 'faults' failed: Invalid result for tools\/call: Invalid input: expected array, received string$/,
    );
  });

  it("refuses a request: the model receives the refusal without secrets", async () => {
    const result = await callTool(open("ok", { env: { ACCESS_KEY: "swordfish-1234" } }), "refused");
    expect(result.ok).to.equal(false);
    expect(result.errorMessage).to.contain("no such key: [redacted]");
  });

  describe("that does not end on request", () => {
    it("is ended by force", async () => {
      const provider = open("stubborn", {}, directory.file);
      await provider.start();
      const pid = provider.pid ?? 0;
      await provider.close();
      expect(isRunning(pid)).to.equal(false);
      expect(directory.lines()).to.include.members(["end of input", "SIGTERM"]);
    });

    it("leaves a process running that has left its process group", async function () {
      if (process.platform !== "linux") this.skip();
      const provider = open();
      const pid = Number((await callTool(provider, "daemon")).output);
      expect(isRunning(pid)).to.equal(true);
      await provider.close();
      expect(isRunning(pid)).to.equal(true);
      process.kill(pid, "SIGKILL");
    });

    it("is killed together with the processes that it has started", async function () {
      if (process.platform === "win32") this.skip();
      const provider = open();
      const child = Number((await callTool(provider, "offspring")).output);
      expect(isRunning(child)).to.equal(true);
      await provider.close();
      await until(() => !isRunning(child));
    });

    it("ends its child processes also when it crashes", async function () {
      if (process.platform === "win32") this.skip();
      const provider = open();
      const child = Number((await callTool(provider, "offspring")).output);
      await rejection(callTool(provider, "crash"));
      await until(() => !isRunning(child));
    });
  });
});
