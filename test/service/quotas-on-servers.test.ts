import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { NetworkBackend, Service } from "../../src/index.js";
import { Ensemble, Task } from "../../src/index.js";
import { nats } from "../../src/network-nats.js";
import { postgres } from "../../src/network-postgres.js";
import { bullmq } from "../../src/network-redis.js";
import { ScriptedModel } from "../../src/plugins/testing/index.js";
import { dropNats, NATS_URL, natsPrefix, needNats } from "../support/nats.js";
import { needPostgres, onServer, POSTGRES_URL } from "../support/postgres.js";
import { needRedis, REDIS_URL, removeKeys } from "../support/redis.js";

const SHOP = "a-token-of-the-shop";
/** A window that does not end during the test. */
const CENTURY_MS = 3_155_760_000_000;

/** A place on a server that only this test uses. */
interface Place {
  readonly need: typeof needRedis;
  readonly name: string;
  readonly open: (name: string) => NetworkBackend;
  readonly drop: (name: string) => Promise<unknown>;
}

const PLACES: Readonly<Record<string, Place>> = {
  PostgreSQL: {
    need: needPostgres,
    name: `ae_quota_${randomUUID().slice(0, 8)}`,
    open: (schema) => postgres({ url: POSTGRES_URL, schema }),
    drop: (schema) => onServer(`drop schema if exists "${schema}" cascade`),
  },
  Redis: {
    need: needRedis,
    name: `test-${randomUUID()}`,
    open: (prefix) => bullmq({ url: REDIS_URL, prefix }),
    drop: removeKeys,
  },
  NATS: {
    need: needNats,
    name: natsPrefix(),
    open: (prefix) => nats({ servers: NATS_URL, prefix }),
    drop: dropNats,
  },
};

/** An ensemble whose runs use 100 tokens. */
function kitchen(): Ensemble {
  const usage = { inputTokens: 60, outputTokens: 40 };
  return new Ensemble({
    name: "kitchen",
    model: new ScriptedModel([{ text: "soup", usage }], { onExhausted: "repeat-last" }),
    shareTasks: { cook: Task.of("Cook {context}") },
  });
}

async function asked(service: Service, path: string, init: RequestInit = {}) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${SHOP}` };
  const answer = await fetch(`${service.url ?? ""}${path}`, {
    ...init,
    headers: { ...headers, ...init.headers },
  });
  const body = (await answer.json()) as Readonly<Record<string, unknown>>;
  return { status: answer.status, body };
}

const post = (service: Service, key: string) =>
  asked(service, "/api/work", {
    method: "POST",
    headers: { "idempotency-key": key },
    body: JSON.stringify({ task: "cook", context: key }),
  });

describe("the quota of a caller of two instances", () => {
  for (const [server, place] of Object.entries(PLACES))
    describe(`with a backend in ${server}`, () => {
      const instances: { readonly ensemble: Ensemble; readonly backend: NetworkBackend }[] = [];

      /** Two instances, each with a separate connection, as in two processes. */
      async function started(quota: object, name: string): Promise<readonly [Service, Service]> {
        const start = async (): Promise<Service> => {
          const [ensemble, backend] = [kitchen(), place.open(name)];
          instances.push({ ensemble, backend });
          const callers = { shop: SHOP };
          return ensemble.start({
            ...{ port: 0, signals: false, backend, callers },
            quota: { windowMs: CENTURY_MS, ...quota },
          });
        };
        return [await start(), await start()];
      }

      before(async function () {
        await place.need(this);
      });
      afterEach(async () => {
        for (const { ensemble, backend } of instances.splice(0)) {
          await ensemble.dispose();
          await backend.close();
        }
        await place.drop(place.name);
      });

      it("limits their accepted requests together, including simultaneous ones", async () => {
        const services = await started({ maxRequests: 3 }, place.name);
        const [one, two] = services;
        const keys = Array.from({ length: 10 }, (_, n) => `order-${n}`);
        const answers = await Promise.all(
          keys.map(async (key, n) => ({ key, ...(await post(n % 2 === 0 ? one : two, key)) })),
        );
        const accepted = answers.filter(({ status }) => status === 202);
        expect(accepted.length, JSON.stringify(answers)).to.equal(3);
        const refused = answers.filter(({ status }) => status !== 202);
        for (const { status, body } of refused)
          expect([status, body["error"]]).to.deep.equal([429, "QUOTA"]);
        for (const service of services) {
          const again = await post(service, accepted[0]?.key ?? "");
          expect(again.body).to.include({ status: "DUPLICATE" });
          const { body } = await asked(service, "/api/usage");
          expect(body["used"]).to.include({ requests: 3 });
        }
      });

      it("limits their tokens together", async () => {
        const [one, two] = await started({ maxTokens: 20_000 }, place.name);
        for (const [n, service] of [one, two, two].entries()) {
          const { body } = await post(service, `order-${n}`);
          const path = `/api/work/${String(body["requestId"])}?waitMs=30000`;
          expect((await asked(service, path)).body).to.include({ status: "COMPLETED" });
        }
        await counted(one, 300);
        await counted(two, 300);
        const small = await started({ maxTokens: 300 }, place.name); // the same window
        for (const service of small)
          expect((await post(service, "order-9")).body).to.include({ error: "QUOTA" });
      });
    });
});

/** Waits until the tokens of a caller are counted: this follows the result. */
async function counted(service: Service, tokens: number): Promise<void> {
  for (;;) {
    const { used } = (await asked(service, "/api/usage")).body as {
      readonly used: { readonly tokens: number };
    };
    if (used.tokens === tokens) return;
    expect(used.tokens).to.be.lessThan(tokens);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
