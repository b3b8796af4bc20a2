import { createHmac } from "node:crypto";
import { Ensemble, Review, Task, ValidationError } from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import type { AlertOptions } from "../../../../src/plugins/dashboard/alerts.js";
import { AlertServer, SECRET, type Received } from "./alert-server.js";
import { Boards } from "./boards.js";
import { warningsOf } from "../../../support/warnings.js";

const fail = (): never => {
  throw new Error("the printer burns");
};

describe("the alerts of a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("report a failed run, signed, with a link", async () => {
    const server = await AlertServer.open(boards);
    const { board, url } = await boards.listening({ alerts: [server.options()] });
    const team = boards.ensemble(boards.kernel(board), fail);
    await team.run({}, { runId: "r 1", tags: { customer: "acme" } }).catch(() => undefined);
    const [alert] = await server.arrived(1);
    expect(alert?.body).to.deep.include({
      type: "failed",
      runId: "r 1",
      ensemble: "team",
      state: "failed",
      tags: { customer: "acme" },
      link: `${url}#/runs/r%201`,
    });
    expect(alert?.body["error"]).to.have.property("code", "AE_AGENT_EXECUTION");
    const { headers, text }: Pick<Received, "headers" | "text"> = alert ?? {
      headers: {},
      text: "",
    };
    const timestamp = String(headers["x-agentensemble-timestamp"]);
    expect(timestamp).to.match(/^\d{10}$/);
    const hex = createHmac("sha256", SECRET).update(`${timestamp}.${text}`).digest("hex");
    expect(headers["x-agentensemble-signature"]).to.equal(`sha256=${hex}`);
    expect(headers["x-agentensemble-delivery"]).to.match(/./);
  });

  it("report a waiting run and a run that exceeds its budget to subscribers", async () => {
    const [all, waits, others] = [
      await AlertServer.open(boards),
      await AlertServer.open(boards),
      await AlertServer.open(boards),
    ];
    const { board } = await boards.listening({
      alerts: [
        all.options(),
        waits.options({ on: ["waiting"] }),
        others.options({ ensembles: ["other"] }),
      ],
    });
    const team = new Ensemble({
      name: "team",
      kernel: boards.kernel(board, budget({ maxTokens: 10 })),
      model: new ScriptedModel([
        { text: "one", usage: { inputTokens: 9, outputTokens: 9 } },
        "two",
      ]),
      tasks: [
        new Task({
          name: "ask",
          description: "Ask",
          handler: () => "x",
          review: Review.of({ prompt: "Well?", timeoutMs: 1, onTimeout: "CONTINUE" }),
        }),
        Task.of("Spend"),
        Task.of("Spend more"),
      ],
    });
    await team.run().catch(() => undefined);
    const types = (await all.arrived(3)).map(({ body }) => body["type"]);
    expect(types).to.have.members(["waiting", "over-budget", "failed"]);
    const [waiting] = await waits.arrived(1);
    expect(waiting?.body).to.have.property("reviewId").that.matches(/./);
    expect(waiting?.body["link"]).to.match(/#\/reviews\//);
    expect(waits.received).to.have.lengthOf(1);
    expect(others.received).to.have.lengthOf(0);
  });

  it("are repeated with the same id, and a failing receiver does not affect the run", async () => {
    const server = await AlertServer.open(boards, 503, 500, 204);
    const { board } = await boards.listening(
      { alerts: [server.options()] },
      {
        clock: {
          now: () => new Date(),
          monotonicMs: () => performance.now(),
          sleep: () => Promise.resolve(),
        },
      },
    );
    await boards
      .ensemble(boards.kernel(board), fail)
      .run()
      .catch(() => undefined);
    const ids = (await server.arrived(3)).map(({ headers }) => headers["x-agentensemble-delivery"]);
    expect(new Set(ids).size).to.equal(1);
  });

  it("are not sent to private addresses, with a warning that omits the path", async () => {
    const server = await AlertServer.open(boards);
    const { board } = await boards.listening({ alerts: [{ url: server.url, secret: SECRET }] });
    const warned = new Promise<void>((resolve) => {
      const onWarning = ({ message }: Error): void => {
        if (!message.includes("was not delivered")) return;
        process.off("warning", onWarning);
        resolve();
      };
      process.on("warning", onWarning);
    });
    const warnings = await warningsOf(async () => {
      await boards
        .ensemble(boards.kernel(board), fail)
        .run()
        .catch(() => undefined);
      await warned;
    });
    expect(warnings.join()).to.include("was not delivered").and.not.include("/hook");
    expect(server.received).to.have.lengthOf(0);
  });

  it("are checked when the dashboard is created", () => {
    const good = { url: "https://hooks.example.com/x", secret: SECRET };
    for (const [alert, pattern] of [
      [{ ...good, url: "ftp://x" }, /url/],
      [{ ...good, url: "https://user:x@example.com/" }, /url/],
      [{ ...good, url: undefined }, /url/],
      [{ ...good, secret: "short" }, /secret/],
      [{ ...good, on: ["burning"] }, /on\[0\]/],
      [{ ...good, on: "failed" }, /on/],
      [{ ...good, ensembles: "all" }, /ensembles/],
      [{ ...good, maxAttempts: 0 }, /maxAttempts/],
      [{ ...good, colour: 1 }, /colour/],
    ] as const)
      expect(
        () => boards.board({ port: false, alerts: [alert as AlertOptions] }),
        JSON.stringify(alert),
      ).to.throw(ValidationError, pattern);
    boards.board({ port: false, alerts: [good] });
  });
});
