import { expect } from "chai";
import type { NetworkBackend } from "../../../../src/index.js";
import { ValidationError } from "../../../../src/index.js";
import {
  MOST_PUSH_CONFIGS,
  PushConfigs,
  type PushConfig,
} from "../../../../src/plugins/network/shared/a2a/push-configs.js";
import { inMemoryBackend } from "../../../../src/plugins/network/shared/in-memory/in-memory-backend.js";
import { rejection } from "../../../support/rejection.js";

const SECRET = "a secret of the tests";

function config(id: string, more: Partial<PushConfig> = {}): PushConfig {
  const url = `https://hooks.example/${id}`;
  return { id, url, token: "", scheme: "", credentials: "", ...more };
}

describe("the store of push notification configurations", () => {
  const kept = ({ results }: NetworkBackend, secret = SECRET): PushConfigs =>
    new PushConfigs({ results, secret, resultTtlMs: 60_000 });

  it("returns them to every instance, separately for each task", async () => {
    const backend = inMemoryBackend();
    const [one, other] = [kept(backend), kept(backend)];
    expect(await one.of("task-1")).to.deep.equal([]);
    const full = config("a", { token: "t", scheme: "Bearer", credentials: "c" });
    expect(await one.save("task-1", full)).to.equal(true);
    expect(await other.of("task-1")).to.deep.equal([full]);
    expect(await other.of("task-2")).to.deep.equal([]);
  });

  it("replaces a configuration with the same id, and removes it permanently", async () => {
    const configs = kept(inMemoryBackend());
    await configs.save("task", config("a"));
    await configs.save("task", config("b"));
    const changed = config("a", { url: "https://hooks.example/new" });
    await configs.save("task", changed);
    expect(await configs.of("task")).to.have.deep.members([changed, config("b")]);
    await configs.remove("task", "a");
    await configs.remove("task", "a");
    expect(await configs.of("task")).to.deep.equal([config("b")]);
  });

  it("limits the configurations of a task, also when they arrive together", async () => {
    const configs = kept(inMemoryBackend());
    const ids = Array.from({ length: 3 * MOST_PUSH_CONFIGS }, (_, i) => `c-${i}`);
    const saved = await Promise.all(ids.map((id) => configs.save("task", config(id))));
    expect(saved.filter(Boolean)).to.have.length(MOST_PUSH_CONFIGS);
    expect(await configs.of("task")).to.have.length(MOST_PUSH_CONFIGS);
    const [first] = await configs.of("task");
    await configs.remove("task", first?.id ?? "");
    expect(await configs.save("task", config("last"))).to.equal(true);
  });

  it("stores nothing readable, and decrypts nothing of another secret or place", async () => {
    const backend = inMemoryBackend();
    const values = new Map<string, Parameters<NetworkBackend["results"]["store"]>[1]>();
    const { results } = backend;
    const recording: NetworkBackend = {
      ...backend,
      results: {
        store: (id, response, ttlMs) => {
          values.set(id, response);
          return results.store(id, response, ttlMs);
        },
        retrieve: (id) => results.retrieve(id),
        forget: (id) => results.forget(id),
        subscribe: (...args) => results.subscribe(...args),
      },
    };
    await kept(recording).save("task", config("a", { credentials: "hunter-2", token: "tok-7" }));
    const text = JSON.stringify([...values]);
    for (const shown of ["hunter-2", "tok-7", "hooks.example", "task"])
      expect(text).to.not.contain(`${shown}`);
    const error = await rejection(kept(backend, "another secret of them").of("task"));
    expect(error).to.be.instanceOf(ValidationError);
    const [slot, value] = [...values].find(([, one]) => "sealed" in one) ?? [];
    await results.store(`${String(slot).slice(0, -1)}1`, { v: 1, ...value } as never, 60_000);
    expect(await rejection(kept(backend).of("task"))).to.be.instanceOf(ValidationError);
  });
});
