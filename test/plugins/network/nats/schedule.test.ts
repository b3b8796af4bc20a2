import { expect } from "chai";
import { Ensemble, Schedule } from "../../../../src/index.js";
import { nats } from "../../../../src/network-nats.js";
import { SteppingClock } from "../../../service/stepping-clock.js";
import { handlerTask } from "../../../service/support.js";
import { dropNats, NATS_URL, natsPrefix, needNats } from "../../../support/nats.js";
import { until } from "../../../support/time.js";

const START = Date.parse("2026-01-01T00:00:00.500Z");
const TIMES = 4;

describe("a schedule of services on NATS", function () {
  this.timeout(60_000);
  const prefix = natsPrefix();
  before(function () {
    return needNats(this);
  });
  after(() => dropNats(prefix));

  it("fires once at each planned time, with three replicas", async () => {
    const clock = new SteppingClock(new Date(START).toISOString());
    const fired: string[] = [];
    const finished = new Set<string>();
    const report = handlerTask(({ run }) => run.id);
    const replicas = Array.from({ length: 3 }, () => {
      const backend = nats({ servers: NATS_URL, prefix });
      const ensemble = new Ensemble({
        name: "kitchen",
        shareTasks: { report },
        schedules: [
          {
            name: "each-second",
            schedule: Schedule.cron("* * * * * *", { timezone: "UTC" }),
            task: "report",
          },
        ],
        plugins: [clock.plugin()],
      });
      return { backend, ensemble };
    });
    try {
      for (const { backend, ensemble } of replicas)
        await ensemble.start({
          backend,
          signals: false,
          listeners: [
            (event) => {
              if (event.type === "schedule_fired") fired.push(event.planned);
              if (event.type === "request_finished") finished.add(event.requestId);
            },
          ],
        });
      for (let n = 1; n <= TIMES; n++) {
        await clock.advance(1_000);
        await until(() => fired.length >= n && finished.size >= n);
      }
    } finally {
      for (const { backend, ensemble } of replicas) {
        await ensemble.dispose();
        await backend.close();
      }
    }
    const planned = Array.from({ length: TIMES }, (_, n) =>
      new Date(START + 500 + n * 1_000).toISOString(),
    );
    expect(fired).to.deep.equal(planned);
    expect(finished.size).to.equal(TIMES);
  });
});
