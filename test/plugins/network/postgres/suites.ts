import assert from "node:assert/strict";
import type { FleetLimits, NetworkBackend } from "../../../../src/contracts/network.js";
import {
  budgetAccountContract,
  catalogueContract,
  rateWindowContract,
  requestQueueContract,
  resultStoreContract,
  topicsContract,
} from "../../../../src/testing.js";
import type { OpenBackends } from "./backends.js";

/** The suites of all parts. `clients` adds a second client, and opens stored data again. */
export function backendSuites(name: string, backends: () => OpenBackends, clients: boolean): void {
  const dispose = (): Promise<void> => backends().closeAll();
  const part = <T>(take: (backend: NetworkBackend) => T) => {
    const open = (): T => take(backends().open());
    return clients ? { another: open, reopen: open } : {};
  };
  requestQueueContract(name, {
    create: ({ agingMs }) => {
      const open = (): NetworkBackend["queue"] => backends().open({ agingMs }).queue;
      return { queue: open(), ...(clients && { another: open, reopen: open }), dispose };
    },
    reopens: clients,
    leaseMs: 300,
  });
  resultStoreContract(name, {
    create: () => ({
      store: backends().open().results,
      ...part(({ results }) => results),
      dispose,
    }),
    reopens: clients,
    ttlMs: 300,
  });
  topicsContract(name, {
    create: () => ({
      topics: backends().open().topics,
      ...part(({ topics }) => topics),
      dispose,
    }),
  });
  catalogueContract(name, {
    create: () => ({
      catalogue: backends().open().catalogue,
      ...part(({ catalogue }) => catalogue),
      dispose,
    }),
  });
  const limits = (): FleetLimits => backends().open().limits ?? assert.fail("no limits");
  rateWindowContract(name, {
    create: () => ({
      window: limits().rateWindow,
      ...(clients && { other: limits().rateWindow }),
      dispose,
    }),
    shares: clients,
  });
  budgetAccountContract(name, {
    create: () => ({
      accounts: limits().budgetAccounts,
      ...(clients && { other: limits().budgetAccounts }),
      dispose,
    }),
    shares: clients,
  });
}
