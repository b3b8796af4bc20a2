import { expect } from "chai";
import type { HttpRoute, Principal } from "../../../../src/contracts/http-route.js";
import { answerBoard } from "../../../../src/plugins/dashboard/reporting/board-requests.js";
import {
  checkReportTarget,
  processNameOf,
  type ReportTarget,
} from "../../../../src/plugins/dashboard/reporting/report-target.js";

const USER = { name: "anna", role: "operator", reviewRoles: ["lead", 7], owner: "ada" };

/** The requests to routes. */
interface Asked {
  readonly request: Request;
  readonly principal: Principal | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}

describe("requests of a board to a process", () => {
  const asked: Asked[] = [];
  const route = (
    method: HttpRoute["method"],
    path: string,
    role: "viewer" | "operator" = "operator",
    answer = (): Response => Response.json({ ok: true }),
  ): HttpRoute => ({
    method,
    path,
    role,
    handle(request, principal, parameters) {
      asked.push({ request, principal, parameters });
      return answer();
    },
  });
  const routes = [
    route("POST", "/api/runs/{runId}/cancel"),
    route("GET", "/api/panels/{name}", "viewer"),
    route("DELETE", "/api/runs/{runId}"),
    route("POST", "/api/runs/{runId}/fork", "operator", () => {
      throw new Error("a bug");
    }),
  ];
  beforeEach(() => void asked.splice(0));

  it("is sent to the same route, with the user, the body and the key", async () => {
    const frame = await answerBoard(routes, {
      id: 7,
      method: "POST",
      path: "/api/runs/r%201/cancel",
      body: { reason: "enough" },
      key: "once",
      user: USER,
    });
    expect(frame).to.deep.equal({ type: "answer", id: 7, status: 200, body: '{"ok":true}' });
    const [{ request, principal, parameters } = expect.fail("no route was asked")] = asked;
    expect(parameters).to.deep.equal({ runId: "r 1" });
    expect(principal).to.deep.equal({ ...USER, reviewRoles: ["lead"] });
    expect(request.headers.get("idempotency-key")).to.equal("once");
    expect(await request.json()).to.deep.equal({ reason: "enough" });
  });

  it("may have a query, and no body", async () => {
    const path = "/api/panels/ratings?run=r1";
    await answerBoard(routes, { id: 1, method: "GET", path, user: { ...USER, role: "viewer" } });
    expect(new URL(asked[0]?.request.url ?? "").search).to.equal("?run=r1");
    await answerBoard(routes, { method: "POST", path: "/api/runs/r/cancel", user: USER });
    expect(await asked[1]?.request.json()).to.deep.equal({});
  });

  it("is refused for other routes, roles and users", async () => {
    for (const [more, status] of [
      [{ method: "DELETE", path: "/api/runs/r" }, 404], // is not passed on
      [{ method: "GET", path: "/api/runs/r/cancel" }, 404],
      [{ method: "POST", path: "/api/none" }, 404],
      [{ method: "POST" }, 404],
      [{ user: undefined }, 404],
      [{ user: { ...USER, role: "caller" } }, 404],
      [{ user: { role: "operator" } }, 404],
      [{ user: { ...USER, role: "viewer" } }, 403],
    ] as const) {
      const request = { id: 1, method: "POST", path: "/api/runs/r/cancel", user: USER };
      const given = "path" in more || !("method" in more) ? { ...request, ...more } : more;
      expect((await answerBoard(routes, given)).status, JSON.stringify(more)).to.equal(status);
    }
    expect(asked).to.deep.equal([]);
  });

  it("is answered if the route throws", async () => {
    const path = "/api/runs/r/fork";
    const { status, body } = await answerBoard(routes, { id: 1, method: "POST", path, user: USER });
    expect([status, body.includes("a bug")]).to.deep.equal([500, false]);
  });
});

describe("the target of reports", () => {
  const whole: ReportTarget = { url: "https://board.example/path", token: "t", process: "w-1" };

  it("is a URL without a longer path, a token and a name", () => {
    expect(() => checkReportTarget(undefined)).not.to.throw();
    expect(() => checkReportTarget(whole)).not.to.throw();
    for (const [wrong, words] of [
      [{ url: "board.example" }, /url must be an address/],
      [{ url: "ftp://board.example" }, /url/],
      [{ url: "https://board.example?x=1" }, /url/],
      [{ url: "https://board.example#t=1" }, /url/],
      [{ url: "https://ada@board.example" }, /url/],
      [{ url: 7 }, /url/],
      [{ token: " " }, /token/],
      [{ process: "a/b" }, /process/],
      [{ process: 7 }, /process/],
      [{ colour: "red" }, /colour/],
    ] as const)
      expect(() => checkReportTarget({ ...whole, ...wrong } as ReportTarget)).to.throw(words);
  });

  it("has the name of the machine and the process if none is given", () => {
    expect(processNameOf(whole)).to.equal("w-1");
    const { process: _, ...unnamed } = whole;
    expect(processNameOf(unnamed)).to.match(new RegExp(`^[\\w.-]{1,41}-${process.pid}$`));
  });
});
