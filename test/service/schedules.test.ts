import { expect } from "chai";
import type { NetworkBackend as Backend } from "../../src/contracts/network.js";
import type { ScheduleOptions, ServiceEvent } from "../../src/index.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { plannedTimes } from "../../src/service/schedules/planned-times.js";
import { Ensemble, Schedule, ValidationError } from "../../src/index.js";
import { rejection } from "../support/rejection.js";
import { SteppingClock } from "./stepping-clock.js";
import { changedQueue, gate, handlerTask } from "./support.js";

const tick = handlerTask(({ run }) => run.id);

interface Replica {
  readonly clock: SteppingClock;
  readonly backend: Backend;
  readonly schedule: Partial<ScheduleOptions>;
  readonly task?: ReturnType<typeof handlerTask<string>>;
}

/** Starts a replica, and collects the requests of its schedule. */
async function replica({ clock, backend, schedule, task = tick }: Replica) {
  const fired: string[] = [];
  const listener = (event: ServiceEvent): void => {
    if (event.type === "schedule_fired") fired.push(event.planned);
  };
  const ensemble = new Ensemble({
    name: "kitchen",
    shareTasks: { report: task },
    schedules: [
      { name: "hourly", schedule: Schedule.every(3_600_000), task: "report", ...schedule },
    ],
    plugins: [clock.plugin()],
  });
  const service = await ensemble.start({ backend, signals: false, listeners: [listener] });
  return { fired, service, end: () => ensemble.dispose() };
}

async function timesOf(cron: string, timezone: string, from: string, count: number) {
  const times = await plannedTimes("It", Schedule.cron(cron, { timezone }), Date.parse(from));
  const found: string[] = [];
  for (let ms = Date.parse(from); found.length < count;) {
    ms = times.after(ms) ?? Number.NaN;
    found.push(new Date(ms).toISOString());
  }
  return found;
}

describe("a schedule", () => {
  it("fires once at each planned time, with any number of replicas", async () => {
    const clock = new SteppingClock("2026-01-01T00:00:00.500Z");
    const backend = NetworkBackend.inMemory({ clock });
    const schedule = { schedule: Schedule.cron("* * * * * *", { timezone: "UTC" }) };
    const replicas = [];
    for (let i = 0; i < 3; i++) replicas.push(await replica({ clock, backend, schedule }));
    await clock.advance(10_000);
    const fired = replicas.flatMap((one) => one.fired).sort();
    expect(fired).to.deep.equal(
      Array.from({ length: 10 }, (_, i) =>
        new Date(Date.UTC(2026, 0, 1, 0, 0, i + 1)).toISOString(),
      ),
    );
    const id = "schedule:kitchen:hourly:2026-01-01T00:00:10.000Z";
    expect(await backend.results.retrieve(id)).to.include({ status: "COMPLETED", result: id });
    for (const one of replicas) await one.end();
    await clock.advance(5_000);
    expect((await backend.queue.depth("kitchen")).queued).to.equal(0);
  });

  it("keeps its hour when the clocks change, and omits or repeats no day", async () => {
    const zone = "Europe/Berlin";
    expect(await timesOf("0 6 * * *", zone, "2026-03-28T00:00:00Z", 3)).to.deep.equal([
      "2026-03-28T05:00:00.000Z",
      "2026-03-29T04:00:00.000Z",
      "2026-03-30T04:00:00.000Z",
    ]);
    expect(await timesOf("30 2 * * *", zone, "2026-03-28T12:00:00Z", 2)).to.deep.equal([
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
    expect(await timesOf("30 2 * * *", zone, "2026-10-24T12:00:00Z", 2)).to.deep.equal([
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
  });

  it("fires at the latest time after a suspension of the machine", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const { fired, end } = await replica({ clock, backend, schedule: {} });
    await clock.jump(3.5 * 3_600_000);
    await clock.advance(60_000);
    expect(fired).to.deep.equal(["2026-01-01T03:00:00.000Z"]);
    await end();
  });

  it("is skipped while the previous request has no result, unless it may overlap", async () => {
    for (const [overlap, expected] of [
      ["skip", ["01", "04"]],
      ["allow", ["01", "02", "03", "04"]],
    ] as const) {
      const clock = new SteppingClock();
      const backend = NetworkBackend.inMemory({ clock });
      const done = gate<string>();
      const task = handlerTask(() => done.opened);
      const { fired, end } = await replica({ clock, backend, schedule: { overlap }, task });
      await clock.advance(3 * 3_600_000);
      done.open("done");
      await clock.advance(3_600_000);
      expect(fired.map((at) => at.slice(11, 13))).to.deep.equal(expected);
      await end();
    }
  });

  it("runs the last missed time with the option, once for all replicas", async () => {
    const clock = new SteppingClock("2026-01-01T05:30:00Z");
    const backend = NetworkBackend.inMemory({ clock });
    const first = await replica({ clock, backend, schedule: { catchUp: "last" } });
    await clock.advance(1_000);
    const second = await replica({ clock, backend, schedule: { catchUp: "last" } });
    const none = await replica({ clock, backend, schedule: { name: "other" } });
    await clock.advance(1_000);
    expect(first.fired).to.deep.equal(["2026-01-01T05:00:00.000Z"]);
    expect([...second.fired, ...none.fired]).to.deep.equal([]);
    for (const one of [first, second, none]) await one.end();
  });

  it("broadcasts the output of its task", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const messages: unknown[] = [];
    await backend.topics.subscribe("inventory", (message) => messages.push(message));
    let hour = 0;
    const task = handlerTask(() => (++hour === 2 ? "x".repeat(5_000) : JSON.stringify({ hour })));
    const schedule = { broadcastTo: "inventory" };
    const { end } = await replica({ clock, backend, schedule, task });
    await clock.advance(2 * 3_600_000);
    expect(messages).to.deep.equal([
      { schedule: "hourly", at: "2026-01-01T01:00:00.000Z", text: '{"hour":1}' },
      { schedule: "hourly", at: "2026-01-01T02:00:00.000Z", truncated: true },
    ]);
    await end();
  });

  it("tries again while the queue is unavailable, until the next planned time", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    let isAway = true;
    const queue = changedQueue(backend.queue, {
      enqueue: (name, request, o) =>
        isAway ? Promise.reject(new Error("away")) : backend.queue.enqueue(name, request, o),
    });
    const { fired, end } = await replica({ clock, backend: { ...backend, queue }, schedule: {} });
    await clock.advance(3_600_000 + 10_000);
    expect(fired).to.deep.equal([]);
    isAway = false;
    await clock.advance(30_000);
    expect(fired).to.deep.equal(["2026-01-01T01:00:00.000Z"]);
    await end();
  });

  it("is refused if it can't be read, before the service starts", async () => {
    const shareTasks = { report: tick };
    const base = { name: "s", schedule: Schedule.every(1_000), task: "report" };
    for (const wrong of [
      [{ ...base, task: "repot" }],
      [{ ...base, name: "two words" }],
      [base, base],
      [{ ...base, schedule: 5 }],
      [{ ...base, catchup: "last" }],
      [{ ...base, overlap: "always" }],
    ])
      expect(
        () => new Ensemble({ name: "kitchen", shareTasks, schedules: wrong as never }),
        JSON.stringify(wrong),
      ).to.throw(ValidationError);
    for (const schedule of [
      Schedule.cron("61 * * * *"),
      Schedule.cron("0 0 30 2 *"),
      Schedule.cron("0 6 * * *", { timezone: "Mars/Olympus" }),
    ]) {
      await using kitchen = new Ensemble({
        name: "kitchen",
        shareTasks,
        schedules: [{ ...base, schedule }],
      });
      expect(await rejection(kitchen.start())).to.be.instanceOf(ValidationError);
      expect(kitchen.state).to.equal("NEW");
    }
    expect(() => Schedule.every(10)).to.throw(ValidationError);
    expect(() => Schedule.cron(" ")).to.throw(ValidationError);
  });
});
