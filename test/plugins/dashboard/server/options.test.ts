import { createServer } from "node:net";
import { DashboardError, Ensemble, Task, ValidationError } from "agentensemble";
import { expect } from "chai";
import { dashboard } from "../../../../src/plugins/dashboard/dashboard.js";
import { resolveDashboardOptions } from "../../../../src/plugins/dashboard/dashboard-options.js";
import { rejectionOf } from "../../../support/rejection.js";
import { Boards } from "./boards.js";
import { ask, SocketClient } from "./client.js";

const user = { name: "ada", role: "viewer", token: "t" } as const;

describe("the options of a dashboard", () => {
  it("are this machine alone and port 7329 by default", () => {
    const { port, host, contents, tokens } = resolveDashboardOptions({});
    expect([port, host, contents, tokens]).to.deep.equal([7_329, "127.0.0.1", true, "watched"]);
  });

  const wrong: Readonly<Record<string, readonly [object, RegExp]>> = {
    "an unknown name": [{ prot: 1 }, /Unknown option 'prot' in dashboard\. Did you mean 'port'/],
    "a port out of range": [{ port: 65_536 }, /dashboard port must be .* got: 65536/],
    "an invalid port": [{ port: "80" }, /dashboard port/],
    "a blank host": [{ host: " " }, /dashboard host must not be blank/],
    "a host that other machines can reach": [
      { host: "192.0.2.1" },
      /needs access control to listen on 192/,
    ],
    "a public address without access control": [
      { publicUrl: "https://team.example" },
      /needs access control with publicUrl https:\/\/team\.example/,
    ],
    "all addresses without names": [
      { host: "0.0.0.0", token: "t" },
      /needs allowedHosts .* 0\.0\.0\.0/,
    ],
    "all addresses of IPv6 without names": [
      { host: "[::]", token: "t" },
      /needs allowedHosts .* ::/,
    ],
    "a token and users": [{ token: "t", users: [user] }, /one of token and users/],
    "users and authenticate": [
      { users: [user], authenticate: () => undefined },
      /one of users and authenticate/,
    ],
    "a blank token": [{ token: "" }, /dashboard token/],
    "no users": [{ users: [] }, /users must not be empty/],
    "two users with one name": [
      { users: [user, { ...user, token: "u" }] },
      /users\[1\] has the name/,
    ],
    "two users with one token": [{ users: [user, { ...user, name: "bo" }] }, /has the token/],
    "a user without a role": [
      { users: [{ name: "a", token: "t" }] },
      /users\[0\] role must be one of/,
    ],
    "a user with an unknown field": [{ users: [{ ...user, roles: [] }] }, /Did you mean 'role'/],
    "a blank review role": [{ users: [{ ...user, reviewRoles: [""] }] }, /reviewRoles\[0\]/],
    "an invalid URL": [{ publicUrl: "team.example" }, /publicUrl must be an address/],
    "an invalid origin": [{ allowedOrigins: ["localhost"] }, /allowedOrigins\[0\]/],
    "a host name with its port": [
      { allowedHosts: ["a.example", "b.example:80"] },
      /allowedHosts\[1\] must be a name without port, got: .*b\.example:80/,
    ],
    "a URL as a host name": [{ allowedHosts: ["https://b.example"] }, /allowedHosts\[0\]/],
    "an invalid store": [{ store: {} }, /store must be a run store/],
    "invalid tokens": [{ tokens: "always" }, /dashboard tokens must be one of "watched"/],
    "contents that are not a boolean": [{ contents: 1 }, /contents must be true or false/],
    "an invalid observer": [{ onAudit: 1 }, /onAudit must be a function/],
  };
  for (const [name, [options, message]] of Object.entries(wrong))
    it(`are refused with ${name}`, () => {
      expect(() => dashboard(options)).to.throw(ValidationError, message);
    });
});

describe("a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("listens when the first of its kernels starts, and serves all of them", async () => {
    const board = boards.board({ port: 0 });
    expect(board.url).to.equal(undefined);
    const [one, other] = [boards.kernel(board), boards.kernel(board)];
    await boards.ensemble(one).run();
    const { url } = board;
    await boards.ensemble(other).run();
    expect(board.url).to.equal(url);
    expect(JSON.parse((await ask(url ?? "", "/api/runs")).text)).to.include({ total: 2 });
    await one.dispose();
    await other.dispose();
    expect((await ask(url ?? "", "/api/health/live")).status).to.equal(200);
  });

  it("names a free port if its own is in use, and the kernel does not start", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    boards.later(() => new Promise((resolve) => other.close(resolve)));
    const address = other.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const board = boards.board({ port });
    const error = await rejectionOf(DashboardError, boards.ensemble(boards.kernel(board)).run());
    expect(error.code).to.equal("AE_DASHBOARD");
    expect(error.message).to.include(`port ${port}`);
    expect(error.hint).to.match(
      /Port (\d+) is free\. Set `port` \(on the command line --port, or --dashboard=\1 of run\)/,
    );
    await rejectionOf(DashboardError, board.listen());
  });

  it("can't listen without a port, or after it was closed", async () => {
    await rejectionOf(ValidationError, boards.board({ port: false }).listen());
    const { board } = await boards.listening();
    await board.close();
    expect(board.url).to.equal(undefined);
    await rejectionOf(DashboardError, board.listen());
    await board.close();
  });

  it("informs its pages when it is closed, and the kernels continue", async () => {
    const { board, url } = await boards.listening();
    const kernel = boards.kernel(board);
    await boards.ensemble(kernel).run();
    const page = new SocketClient(url);
    await page.frame("hello");
    await board.close();
    expect(await page.frame("closing")).to.have.property("reason");
    expect(await page.code()).to.equal(1001);
    expect((await boards.ensemble(kernel).run()).raw).to.equal("done");
  });

  it("creates a token at each start and shows the link on request", async () => {
    const written: string[] = [];
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (text: string) => written.push(text) > 0;
    let url: string;
    try {
      ({ url } = await boards.listening({ token: true }));
    } finally {
      process.stderr.write = write;
    }
    expect(written.join("")).to.equal(`Dashboard: ${url}\n`);
    const token = /#t=([\w-]{43})$/.exec(url)?.[1] ?? "";
    const statusOf = async (headers: Record<string, string>): Promise<number> =>
      (await ask(url, "/api/status", { headers })).status;
    expect(await statusOf({})).to.equal(401);
    expect(await statusOf({ authorization: `Bearer ${token}` })).to.equal(200);
  });

  it("serves the routes of the plugins of its kernels, by role, until they end", async () => {
    const { Tokens, definePlugin } = await import("agentensemble");
    const { board, url } = await boards.listening();
    const plugin = definePlugin({
      name: "extra",
      bind(bind) {
        bind.many(Tokens.HttpRoute).toConstantValue({
          method: "GET",
          path: "/api/extra/{name}",
          role: "viewer",
          handle: (_request, principal, { name }) => Response.json({ name, by: principal?.name }),
        });
      },
    });
    const kernel = boards.kernel(board, plugin);
    await boards.ensemble(kernel).run();
    const { text } = await ask(url, "/api/extra/a%20b");
    expect(JSON.parse(text)).to.deep.equal({ name: "a b", by: "local" });
    await kernel.dispose();
    expect((await ask(url, "/api/extra/a")).status).to.equal(404);
  });

  it("may be given to an ensemble with its standard plugins", async () => {
    const board = boards.board({ port: 0 });
    const ensemble = new Ensemble({
      plugins: [board],
      tasks: [new Task({ description: "x", handler: () => "x" })],
    });
    await ensemble.run();
    await ensemble.dispose();
    expect(board.url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  });
});
