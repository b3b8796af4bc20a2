import type { EnsembleOptions, RunInfo } from "agentensemble";
import type { RunHandlerOptions } from "agentensemble/http";
import { createToken, Ensemble, runValue, Task, ValidationError } from "agentensemble";
import { loopbackOnly, runHandler } from "agentensemble/http";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { pause, until } from "../../support/time.js";
import { authenticate, PEOPLE, serve, type Ask, type Service } from "./service.js";

const greet = new Task({
  description: "Greet",
  handler: ({ inputs }) => `Hi ${String(inputs["who"])}`,
});

/** A task that ends when it is let go, or with its signal. */
function gate(): {
  readonly task: Task;
  readonly open: () => void;
  readonly state: { waiting: number; aborted: number };
} {
  const state = { waiting: 0, aborted: 0 };
  const doors: (() => void)[] = [];
  const task = new Task({
    description: "Wait",
    handler: ({ signal }) =>
      new Promise<string>((resolve, reject) => {
        state.waiting++;
        doors.push(() => resolve("let go"));
        signal.addEventListener("abort", () => {
          state.aborted++;
          reject(new Error("aborted"));
        });
      }),
  });
  return { task, open: () => doors.splice(0).forEach((open) => open()), state };
}

describe("a handler of runs", () => {
  const made: AsyncDisposable[] = [];
  const run = async (
    ensemble: EnsembleOptions & { readonly inputType?: z.ZodType<object> },
    o: Partial<RunHandlerOptions> = {},
  ): Promise<Service> => {
    const team = new Ensemble(ensemble);
    const service = await serve(runHandler(team, { authenticate, ...o }));
    made.push(service, team);
    return service;
  };
  afterEach(async () => {
    for (const one of made.splice(0)) await one[Symbol.asyncDispose]();
  });
  const post = (service: Service, body: unknown, o: Ask = {}): ReturnType<Service["ask"]> =>
    service.ask("/api/run", { body, ...o });

  it("returns the id and the output of a run", async () => {
    const service = await run({ tasks: [greet] });
    const answer = await service.fetch("/api/run", { body: { who: "Ada" } });
    const body = (await answer.json()) as { readonly runId: string };
    expect(body).to.deep.equal({
      runId: body.runId,
      output: { raw: "Hi Ada", exitReason: "COMPLETED" },
    });
    expect(answer.headers.get("x-agentensemble-run-id")).to.equal(body.runId);
    expect(answer.headers.get("cache-control")).to.equal("no-store");
  });

  it("returns the result of the option `output`, under another path", async () => {
    const service = await run(
      { tasks: [greet] },
      { path: "/v1/greetings", output: ({ raw }) => raw.length },
    );
    const { body } = await service.ask("/v1/greetings", { body: { who: "Ada" } });
    expect(body).to.have.property("output", 6);
    expect((await post(service, {})).status).to.equal(404);
  });

  it("passes the values of the principal to runs, with a tag that does not reveal the principal", async () => {
    const User = createToken<{ readonly id: string }>("user");
    const seen: RunInfo[] = [];
    const task = new Task({
      description: "x",
      handler: ({ run: info }) => {
        seen.push(info);
        return info.get(User).id;
      },
    });
    const service = await run(
      { tasks: [task] },
      {
        authenticate: () => ({
          name: "ada",
          role: "caller",
          values: [runValue(User, { id: "u-1" })],
        }),
      },
    );
    const { body } = await post(service, {});
    expect(body).to.have.nested.property("output.raw", "u-1");
    expect(seen[0]?.tags["owner"]).to.match(/^[0-9a-f]{32}$/);
  });

  it("refuses invalid inputs with the reason before any cost arises", async () => {
    const model = new ScriptedModel(() => "text");
    const typed = await run({
      model,
      tasks: [Task.of("Write on {topic}")],
      inputType: z.object({ topic: z.string() }),
    });
    const wrong = await post(typed, { topic: 7 });
    expect(wrong.status).to.equal(400);
    expect(wrong.body).to.have.nested.property("error.code", "AE_VALIDATION");
    expect(wrong.body).to.have.nested.property("error.message").that.includes("topic: ");
    const untyped = await run({ model, tasks: [Task.of("Secret words on {topic} and {size}")] });
    expect(await post(untyped, { size: 1 })).to.deep.equal({
      status: 400,
      body: { error: { code: "AE_PROMPT_TEMPLATE", message: "Missing inputs: topic" } },
    });
    expect(model.requests).to.deep.equal([]);
  });

  it("masks every other error, unless onError returns a message for the client", async () => {
    const task = new Task({
      description: "x",
      handler: (): string => {
        throw new Error("sk-secret at /home/x");
      },
    });
    const masked = await run({ tasks: [task] });
    expect(await post(masked, {})).to.deep.equal({
      status: 500,
      body: { error: { code: "AE_TASK_EXECUTION", message: "An error occurred." } },
    });
    const shown = await run({ tasks: [task] }, { onError: ({ message }) => message.slice(0, 4) });
    expect((await post(shown, {})).body).to.have.nested.property("error.message", "Task");
    const setUp = await run({ tasks: [Task.of("needs a model")], model: "nosuch:model" });
    expect((await post(setUp, {})).body).to.deep.equal({
      error: { code: "AE_VALIDATION", message: "An error occurred." },
    });
  });

  it("allows callers and operators to start their permitted runs", async () => {
    const service = await run({ tasks: [greet] });
    const statusOf = async (by: string | null): Promise<number> =>
      (await post(service, {}, { by })).status;
    expect(await Promise.all([null, "vic", "rev", "ada", "root"].map(statusOf))).to.deep.equal([
      401, 403, 403, 200, 200,
    ]);
    const allowed = { name: "bot", role: "caller", may: ["greeter"] } as const;
    const named = await run({ name: "greeter", tasks: [greet] }, { authenticate: () => allowed });
    expect((await post(named, {})).status).to.equal(200);
    const other = await run({ name: "payer", tasks: [greet] }, { authenticate: () => allowed });
    expect((await post(other, {})).status).to.equal(403);
  });

  it("rejects the request if authentication fails", async () => {
    const seen: string[] = [];
    const service = await run(
      { tasks: [greet] },
      {
        authenticate: () => {
          throw new Error("the directory is away");
        },
        onError: ({ message }) => {
          seen.push(message);
          return message;
        },
      },
    );
    expect(await post(service, {})).to.deep.equal({
      status: 401,
      body: { error: { code: "UNAUTHORIZED", message: "Sign in first" } },
    });
    expect(seen).to.deep.equal(["the directory is away"]);
  });

  it("cancels a run when its client disconnects, or continues it with the option", async () => {
    for (const onDisconnect of ["cancel", "finish"] as const) {
      const { task, open, state } = gate();
      let isOver = false;
      const service = await run(
        { tasks: [task], on: (e) => void (isOver ||= e.type === "ensemble_completed") },
        { ui: { onDisconnect } },
      );
      const leaving = new AbortController();
      const sent = post(service, {}, { signal: leaving.signal }).catch(() => "left");
      await until(() => state.waiting === 1);
      leaving.abort();
      expect(await sent).to.equal("left");
      if (onDisconnect === "finish") {
        await pause(20);
        open();
      }
      await until(() => isOver);
      expect(state.aborted, onDisconnect).to.equal(onDisconnect === "cancel" ? 1 : 0);
    }
  });

  it("cancels a run for the principal that started it only", async () => {
    const { task, state } = gate();
    const ids: string[] = [];
    const service = await run({
      tasks: [task],
      on: (e) => void (e.type === "ensemble_started" && ids.push(e.runId)),
    });
    const sent = post(service, {});
    await until(() => state.waiting === 1);
    const cancel = (by: string, id = ids[0]): ReturnType<Service["ask"]> =>
      service.ask(`/api/run/${id ?? ""}`, { by, method: "DELETE" });
    const missing = { error: { code: "RUN_NOT_FOUND", message: "There is no such run" } };
    expect(await cancel("bob")).to.deep.equal({ status: 404, body: missing });
    expect(await cancel("root")).to.deep.equal({ status: 404, body: missing });
    expect(await cancel("ada", "no-such-run")).to.deep.equal({ status: 404, body: missing });
    expect(await cancel("ada")).to.deep.equal({
      status: 202,
      body: { runId: ids[0], status: "CANCELLING" },
    });
    expect(await sent).to.deep.equal({
      status: 409,
      body: { error: { code: "AE_RUN_CANCELLED", message: "The run was cancelled" } },
    });
    expect((await cancel("ada")).status).to.equal(409);
    expect(state.aborted).to.equal(1);
  });

  it("identifies principals by their owner, if they have one", async () => {
    const team = new Ensemble({ tasks: [greet] });
    const handler = runHandler(team, {
      authenticate: (request) => ({
        name: request.headers.get("x-user") ?? "",
        role: "caller",
        owner: "acme",
      }),
    });
    const service = await serve(handler);
    made.push(service, team);
    const { body } = await post(service, {});
    const { runId } = body as { readonly runId: string };
    const acme = { name: "other", role: "caller", owner: "acme" } as const;
    expect(handler.startedBy(runId, acme)).to.equal(true);
    expect(handler.startedBy(runId, { ...acme, owner: "ada" })).to.equal(false);
    expect(handler.startedBy(runId, { name: "acme", role: "caller" })).to.equal(false);
  });

  it("serves a hundred concurrent runs, each to its own client", async () => {
    const { task, open, state } = gate();
    const answer = new Task({
      description: "y",
      context: [task],
      handler: ({ inputs }) => `for ${String(inputs["n"])}`,
    });
    const service = await run({ tasks: [task, answer] });
    const sent = Array.from({ length: 100 }, (_, n) => post(service, { n }));
    await until(() => state.waiting === 100);
    open();
    const raws = (await Promise.all(sent)).map(
      ({ body }) => (body as { output: { raw: string } }).output.raw,
    );
    expect(raws).to.deep.equal(raws.map((_, n) => `for ${n}`));
  });

  it("refuses invalid options", () => {
    const team = new Ensemble({ tasks: [greet] });
    const refused = (o: object): ValidationError => {
      try {
        runHandler(team, o as RunHandlerOptions);
      } catch (error) {
        if (error instanceof ValidationError) return error;
      }
      throw new Error(`accepted: ${JSON.stringify(o)}`);
    };
    expect(refused({}).hint).to.include("loopbackOnly(");
    for (const o of [
      { path: "api/run" },
      { path: "/api/run/" },
      { path: "/api/:id" },
      { maxBodyBytes: 0 },
      { bodyTimeoutMs: -1 },
      { allowedOrigins: ["https://a.example/path"] },
      { allowedOrigins: ["*"] },
      { protocol: "sse" },
      { ui: { endAtApproval: true } },
      { ui: { onDisconnect: "stay" } },
      { ui: { tools: "some" } },
      { streams: {} },
      { log: 7 },
      { reviews: [] },
      { output: "raw" },
      { onError: "text" },
      { tasks: [] },
    ])
      expect(refused({ authenticate, ...o }).code, JSON.stringify(o)).to.equal("AE_VALIDATION");
    expect(() => runHandler({} as Ensemble, { authenticate })).to.throw(ValidationError);
    const store = { resolve: () => undefined, pending: () => [], onRequest: () => undefined };
    expect(refused({ authenticate, protocol: "ag-ui", reviews: store }).message).to.include("ui");
  });

  it("accepts loopbackOnly, which admits this machine and refuses requests through a proxy", async () => {
    const service = await run(
      { tasks: [greet] },
      { authenticate: loopbackOnly(PEOPLE["root"] ?? { name: "", role: "viewer" }) },
    );
    expect((await post(service, {}, { by: null })).status).to.equal(200);
    const proxied = { headers: { "x-forwarded-for": "10.0.0.1" } };
    expect((await post(service, {}, proxied)).status).to.equal(401);
    const team = new Ensemble({ tasks: [greet] });
    made.push(team);
    const handler = runHandler(team, {
      authenticate: loopbackOnly({ name: "me", role: "operator" }),
    });
    const elsewhere = new Request("http://127.0.0.1/api/run", {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect((await handler(elsewhere)).status).to.equal(401);
  });
});
