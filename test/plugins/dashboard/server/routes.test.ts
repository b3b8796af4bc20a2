import { expect } from "chai";
import { Board } from "../../../../src/plugins/dashboard/board.js";
import { resolveDashboardOptions } from "../../../../src/plugins/dashboard/dashboard-options.js";
import { boardRoutes } from "../../../../src/plugins/dashboard/server/board-routes.js";
import { LIMITS } from "../../../../src/plugins/dashboard/server/limits.js";
import { systemClock, uuidGenerator } from "../../../../src/util/runtime.js";
import { Boards } from "./boards.js";
import { ask, fromPage } from "./client.js";
import { EVERY_ROUTE } from "./every-route.js";

/** Ids without a target: other paths, other types, other names. */
const HOSTILE = [
  "..%2F..%2Fetc%2Fpasswd",
  "..%5C..%5Cwindows",
  "%2e%2e",
  "__proto__",
  "constructor",
  "%00",
  "a%0Ab",
  "%F0%9F%A6%80",
  "x".repeat(900),
  "%zz",
  "'%3Bdrop%20table%20runs--",
];

describe("the routes of a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are all in the list that the tests of access use, with their roles", () => {
    const board = new Board(resolveDashboardOptions({}), {
      clock: systemClock,
      ids: uuidGenerator,
      limits: LIMITS,
      plugin: { name: "none" },
      link: (page) => page,
    });
    const openStream = () => () => undefined;
    const routes = boardRoutes(board, { clients: 0, isDraining: false, openStream });
    const served = routes.map(
      ({ method, path, role }) => `${role} ${method} ${path.replace(/\{(\w)\w*\}/g, "$1")}`,
    );
    const listed = EVERY_ROUTE.filter(({ path }) => path !== "/").map(
      ({ method, path, role }) => `${role} ${method} ${path}`,
    );
    expect(served.sort()).to.deep.equal(listed.sort());
  });

  it("answer ids of any form with a refusal in JSON, never with a failure", async () => {
    const { url } = await boards.listening();
    for (const { method, path } of EVERY_ROUTE) {
      if (!/\/[a-z]($|\/)/.test(path)) continue;
      for (const id of HOSTILE) {
        const asked = path.replace(/\/[a-z](?=$|\/)/g, `/${id}`);
        const body = method === "POST" || method === "PUT" ? "{}" : "";
        const { status, text } = await ask(url, asked, { method, headers: fromPage(url), body });
        expect(status, `${method} ${asked}`).to.be.within(400, 499);
        expect(JSON.parse(text), asked)
          .to.have.property("error")
          .that.matches(/^[A-Z_]+$/);
      }
    }
  });

  it("refuse bodies that are too large, not JSON, or not an object", async () => {
    const { url } = await boards.listening();
    const large = JSON.stringify({ text: "x".repeat(LIMITS.bodyBytes) });
    for (const { method, path } of EVERY_ROUTE.filter(({ method: m }) => m === "POST"))
      for (const [body, expected] of [
        [large, 413],
        ["{", 400],
        ["[]", 400],
        ['{"__proto__":{}}', 400],
        ["[".repeat(100_000), 400],
      ] as const) {
        const { status } = await ask(url, path, { method, headers: fromPage(url), body });
        expect(status, `${path} ${body.slice(0, 20)}`).to.equal(expected);
      }
  });
});
