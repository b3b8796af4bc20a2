import { Ensemble, Schedule, Task } from "agentensemble";
import { expect } from "chai";
import type { WorkRequest } from "../../../../src/contracts/network.js";
import type { ErrorBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type {
  DeadLettersBody,
  ServiceListBody,
} from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import { inMemoryBackend } from "../../../../src/plugins/network/shared/in-memory/in-memory-backend.js";
import { systemClock } from "../../../../src/util/runtime.js";
import { Boards } from "./boards.js";
import { ask, askJson, fromPage } from "./client.js";

const REQUEST: WorkRequest = {
  v: 1,
  requestId: "dead 1",
  from: "guest",
  to: "kitchen",
  type: "TASK",
  task: "cook",
  context: "soup",
};

describe("the services of a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are listed with queue and schedules, and their dead letters are queued again", async () => {
    const { board, url } = await boards.listening();
    const backend = inMemoryBackend({ idTtlMs: 3_600_000, clock: systemClock });
    await backend.queue.enqueue("kitchen", REQUEST);
    const lease = await backend.queue.dequeue("kitchen", { timeoutMs: 1_000, leaseMs: 60_000 });
    if (lease !== undefined) await backend.queue.deadLetter(lease, "burnt");
    const kitchen = new Ensemble({
      name: "kitchen",
      kernel: boards.kernel(board),
      tasks: [new Task({ description: "x", handler: () => "x" })],
      shareTasks: { cook: new Task({ description: "Cook {context}", handler: () => "soup" }) },
      schedules: [{ name: "daily", schedule: Schedule.every(86_400_000), task: "cook" }],
    });
    const service = await kitchen.start({ backend, signals: false });
    boards.later(() => kitchen.stop());
    const { services } = await askJson<ServiceListBody>(url, "/api/services");
    expect(services).to.have.lengthOf(1);
    expect(services[0]).to.deep.include({ name: "kitchen", state: "READY", backend: backend.name });
    expect(services[0]?.depth).to.include({ dead: 1 });
    expect(services[0]?.shared[0]).to.include({ name: "cook", type: "TASK" });
    expect(services[0]?.schedules[0]).to.include({ name: "daily", task: "cook" });
    expect(services[0]?.schedules[0]?.next).to.match(/Z$/);
    const dead = await askJson<DeadLettersBody>(url, "/api/services/kitchen/dead");
    expect(dead.deadLetters[0]).to.deep.include({ reason: "burnt" });
    const post = async (path: string, body: object): Promise<readonly [number, string]> => {
      const o = { method: "POST", headers: fromPage(url), body: JSON.stringify(body) };
      const { status, text } = await ask(url, path, o);
      const { error, status: word } = JSON.parse(text) as ErrorBody;
      return [status, error ?? word];
    };
    const path = "/api/services/kitchen/redrive";
    expect(await post(path, { requestId: "dead 1" })).to.deep.equal([202, "QUEUED"]);
    expect(await post(path, { requestId: "none" })).to.deep.equal([404, "DEAD_LETTER_NOT_FOUND"]);
    expect(await post(path, { requestId: " " })).to.deep.equal([400, "BAD_REQUEST"]);
    expect(await post("/api/services/none/redrive", { requestId: "x" })).to.deep.equal([
      404,
      "SERVICE_NOT_FOUND",
    ]);
    expect((await ask(url, "/api/services/none/dead")).status).to.equal(404);
    const { entries } = await askJson<{ entries: readonly object[] }>(url, "/api/audit");
    expect(entries[0]).to.include({ action: "redrive", subject: "dead 1", detail: "kitchen" });
    while ((await backend.results.retrieve("dead 1")) === undefined)
      await new Promise((resolve) => setTimeout(resolve, 10));
    await service.stop();
    expect((await askJson<ServiceListBody>(url, "/api/services")).services).to.deep.equal([]);
  });

  it("are listed without their queue, and refused, if the storage fails", async () => {
    const { board, url } = await boards.listening();
    const backend = inMemoryBackend({ idTtlMs: 3_600_000, clock: systemClock });
    let isAway = false;
    const { queue } = backend;
    const fail = (): Promise<never> => Promise.reject(new Error("the disk is away"));
    const failing = new Proxy(queue, {
      get: (target, name) => {
        if (name === "deadLetters" || (name === "depth" && isAway)) return fail;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const broken = { ...backend, queue: failing };
    const kitchen = new Ensemble({
      name: "kitchen",
      kernel: boards.kernel(board),
      tasks: [new Task({ description: "x", handler: () => "x" })],
      shareTasks: { cook: new Task({ description: "Cook", handler: () => "soup" }) },
    });
    await kitchen.start({ backend: broken, signals: false });
    boards.later(() => kitchen.stop());
    isAway = true;
    const { services } = await askJson<ServiceListBody>(url, "/api/services");
    expect(services[0]).to.not.have.property("depth");
    expect(services[0]?.problem).to.include("the disk is away");
    const { status, text } = await ask(url, "/api/services/kitchen/dead");
    expect([status, (JSON.parse(text) as ErrorBody).error]).to.deep.equal([
      503,
      "STORE_UNAVAILABLE",
    ]);
  });

  it("execute the runs that are started on their port as requests", async () => {
    const backend = inMemoryBackend({ idTtlMs: 3_600_000, clock: systemClock });
    const board = boards.board();
    const kitchen = new Ensemble({
      name: "kitchen",
      kernel: boards.kernel(board),
      tasks: [
        new Task({ description: "Cook {dish}", handler: ({ inputs }) => String(inputs["dish"]) }),
      ],
    });
    board.register("kitchen", kitchen);
    const service = await kitchen.start({ backend, port: 0, shareRun: true, signals: false });
    boards.later(() => kitchen.stop());
    const url = `${service.url?.replace(/\/$/, "")}/`;
    const post = async (body: object, key = ""): Promise<readonly [number, ErrorBody]> => {
      const headers = { ...fromPage(url), ...(key !== "" && { "idempotency-key": key }) };
      const o = { method: "POST", headers, body: JSON.stringify(body) };
      const { status, text } = await ask(url, "/api/runs", o);
      return [status, JSON.parse(text) as ErrorBody];
    };
    const [status, accepted] = await post({ inputs: { dish: "soup" }, timeoutMs: 60_000 }, "one");
    expect(status).to.equal(202);
    expect(accepted).to.include({ status: "ACCEPTED", ensemble: "kitchen", tasks: 1 });
    const [, again] = await post({ inputs: { dish: "soup" }, timeoutMs: 60_000 }, "one");
    expect(again["runId"]).to.equal(accepted["runId"]);
    const runId = String(accepted["runId"]);
    for (;;) {
      const response = await backend.results.retrieve(runId);
      if (response !== undefined) {
        expect(response).to.include({ status: "COMPLETED", result: "soup" });
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect((await ask(url, `/api/runs/${runId}`)).status, "the run is on the board").to.equal(200);
    expect((await post({ inputs: {} }))[1]).to.include({ error: "INPUTS_INVALID" });
    expect((await post({ inputs: { dish: "x" }, tags: { a: "b" } }))[0]).to.equal(400);
    expect((await post({ ensemble: "none" }))[0]).to.equal(404);
    backend.queue.enqueue = () => Promise.reject(new Error("the disk is gone"));
    expect((await post({ inputs: { dish: "x" } }))[1]).to.include({ error: "STORE_UNAVAILABLE" });
    backend.queue.enqueue = () => Promise.resolve({ status: "FULL" });
    expect((await post({ inputs: { dish: "x" } }))[1]).to.include({ error: "QUEUE_FULL" });
  });
});
