import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { TurnQuotaError } from "agentensemble";
import { expect } from "chai";
import { OtherProcess } from "../support/other-process.js";
import { needPostgres, onServer, POSTGRES_URL } from "../support/postgres.js";
import { needRedis, REDIS_URL, removeKeys } from "../support/redis.js";
import { rejectionOf } from "../support/rejection.js";
import { fleetDesk, FLEET_QUOTA, type FleetPlace } from "./fleet.js";

const PROGRAM = fileURLToPath(new URL("./fleet-desk.js", import.meta.url));

describe("the quotas of a fleet", function () {
  this.timeout(60_000);
  const places: FleetPlace[] = [];
  afterEach("no process and no data stay", async () => {
    for (const child of OtherProcess.running) child.kill("SIGKILL");
    for (const { store, name } of places.splice(0))
      if (store === "redis") await removeKeys(name);
      else await onServer(`drop schema if exists "${name}" cascade`);
  });

  for (const [store, need, url] of [
    ["redis", needRedis, REDIS_URL],
    ["postgres", needPostgres, POSTGRES_URL],
  ] as const) {
    it(`are counted by all processes together in ${store}, including calls of a killed process`, async function () {
      await need(this);
      const name = `ae_fleet_${randomUUID().slice(0, 8)}`;
      const place = { store, url, name };
      places.push(place);
      const send = (how: string): OtherProcess => OtherProcess.of(PROGRAM, store, url, name, how);
      const killed = send("die");
      expect(await killed.ended()).to.deep.equal([]);
      expect(killed.child.signalCode).to.equal("SIGKILL");
      const { thread, end } = fleetDesk(place);
      const used = async (): Promise<unknown> => (await thread.usage()).owner?.used;
      try {
        expect(await used()).to.deep.equal({ requests: 1, tokens: 100, cost: 0 });
        const others = [send("send"), send("send")];
        const ends = (await Promise.all(others.map((one) => one.ended()))).flat().sort();
        expect(ends).to.deep.equal(["2 turns", "Yes."]);
        expect(await used()).to.deep.equal({ requests: 2, tokens: 300, cost: 0 });
        const { limit, unit } = await rejectionOf(TurnQuotaError, thread.send("Hello"));
        expect([limit, unit]).to.deep.equal([FLEET_QUOTA.maxRequests, "turns"]);
      } finally {
        await end();
      }
    });
  }
});
