import assert from "node:assert/strict";
import type { Catalogue, CatalogueEntry } from "../../contracts/network.js";
import type { Awaitable } from "../../contracts/types.js";
import { checkOptions } from "../../contracts/validation.js";
import { asData, LONG_MS, delay } from "./request-queue-scenario.js";

/** A catalogue for a test of `catalogueContract`. */
export interface CatalogueUnderTest {
  /** Empty. */
  readonly catalogue: Catalogue;
  /** Another client of the same storage, as in another process. The suite closes it. */
  readonly another?: (() => Awaitable<Catalogue>) | undefined;
  /** Closes everything, and removes data on disks and servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `catalogueContract`. */
export interface CatalogueContractOptions {
  /** Called once per test. */
  create(): Awaitable<CatalogueUnderTest>;
  /** The shortest time in milliseconds for which entries are kept. Default 50. */
  readonly ttlMs?: number | undefined;
}

type UseCatalogue = (
  body: (scenario: { readonly catalogue: Catalogue; readonly other: Catalogue }) => Promise<void>,
) => Promise<void>;

function announcedEntry(ensemble: string, instance: string, o: Partial<CatalogueEntry> = {}) {
  const capabilities = [
    {
      name: "prepare-meal",
      type: "TASK",
      description: "Prepares a meal",
      tags: ["food"],
      inputSchema: { type: "object", properties: { dish: { type: "string" } } },
    } as const,
  ];
  return { ensemble, instance, capabilities, ...o };
}

async function instancesIn(catalogue: Catalogue): Promise<readonly string[]> {
  const entries = await catalogue.entries();
  return entries.map(({ ensemble, instance }) => `${ensemble}/${instance}`).sort();
}

function catalogueSuite(use: UseCatalogue, ttlMs: number): void {
  it("returns each announced instance completely to each client", () =>
    use(async ({ catalogue, other }) => {
      assert.deepEqual(await instancesIn(other), []);
      const entry = announcedEntry("kitchen", "a", {
        url: "http://127.0.0.1:1",
        description: "Cooks",
      });
      await catalogue.announce(entry, LONG_MS);
      assert.deepEqual((await other.entries()).map(asData), [asData(entry)]);
      await catalogue.announce(announcedEntry("kitchen", "b"), LONG_MS);
      await other.announce(announcedEntry("laundry", "a"), LONG_MS);
      assert.deepEqual(await instancesIn(other), ["kitchen/a", "kitchen/b", "laundry/a"]);
    }));
  it("replaces an entry that is announced again", () =>
    use(async ({ catalogue, other }) => {
      await catalogue.announce(announcedEntry("kitchen", "a"), LONG_MS);
      await other.announce(announcedEntry("kitchen", "a", { capabilities: [] }), LONG_MS);
      const entries = await catalogue.entries();
      assert.deepEqual(
        entries.map(({ capabilities }) => capabilities.length),
        [0],
      );
    }));
  it("removes only the instance that is withdrawn", () =>
    use(async ({ catalogue, other }) => {
      await catalogue.announce(announcedEntry("kitchen", "a"), LONG_MS);
      await catalogue.announce(announcedEntry("kitchen", "b"), LONG_MS);
      await other.withdraw("kitchen", "a");
      await other.withdraw("kitchen", "unknown");
      assert.deepEqual(await instancesIn(catalogue), ["kitchen/b"]);
    }));
  it("removes an expired entry", () =>
    use(async ({ catalogue, other }) => {
      await catalogue.announce(announcedEntry("kitchen", "short"), ttlMs);
      await catalogue.announce(announcedEntry("kitchen", "long"), LONG_MS);
      await delay(2 * ttlMs);
      assert.deepEqual(await instancesIn(other), ["kitchen/long"]);
    }));
  it("distinguishes names that are equal when joined", () =>
    use(async ({ catalogue, other }) => {
      for (const [ensemble, instance] of [
        ["a", "b.c"],
        ["a.b", "c"],
        ["__proto__", "x"],
      ] as const)
        await catalogue.announce(announcedEntry(ensemble, instance), LONG_MS);
      await catalogue.withdraw("a", "b.c");
      assert.deepEqual(await instancesIn(other), ["__proto__/x", "a.b/c"]);
    }));
}

const TTL_MS = 50;

/**
 * Registers tests with the global `describe` and `it` of any runner that every catalogue should
 * pass.
 *
 * @example
 * catalogueContract("mine", { create: async () => ({ catalogue: await openMine() }) });
 * @throws ValidationError for an unknown option.
 */
export function catalogueContract(name: string, options: CatalogueContractOptions): void {
  checkOptions("catalogueContract()", options, ["create", "ttlMs"]);
  const use: UseCatalogue = async (body) => {
    const subject = await options.create();
    let other: Catalogue | undefined;
    try {
      other = await subject.another?.();
      await body({ catalogue: subject.catalogue, other: other ?? subject.catalogue });
    } finally {
      if (other !== subject.catalogue) await other?.close?.();
      await subject.catalogue.close?.();
      await subject.dispose?.();
    }
  };
  describe(`catalogue contract: ${name}`, () => catalogueSuite(use, options.ttlMs ?? TTL_MS));
}
