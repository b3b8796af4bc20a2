import { join } from "node:path";
import type { NetworkBackend } from "../contracts/network.js";
import { ValidationError } from "../contracts/errors.js";

/** The storage of requests and results of services. */
export interface NetworkStore {
  /** Whether several processes can use it concurrently. */
  readonly isShared: boolean;
  /** The address of the runs in the same storage. `undefined` if the storage keeps no runs. */
  readonly journal: string | undefined;
  open(): Promise<NetworkBackend>;
}

type StoreOf = (url: string) => NetworkStore;

/** The stores by scheme. Their modules are loaded when they are opened. */
const STORES: Readonly<Record<string, StoreOf>> = {
  file: fileStore,
  pglite: (url) => sqlStore(url, false),
  postgres: (url) => sqlStore(url, true),
  postgresql: (url) => sqlStore(url, true),
  redis: redisStore,
  rediss: redisStore,
  nats: natsStore,
};

const FORMS =
  "Use file:<folder>, pglite:<folder>, postgres://host:5432/database, redis://host:6379 or nats://host:4222.";

/**
 * Returns the store of an address. The address may contain a password.
 * @throws ValidationError for an invalid address.
 */
export function networkStoreAt(url: string): NetworkStore {
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  const storeOf = scheme === undefined ? undefined : STORES[scheme];
  if (storeOf !== undefined) return storeOf(url);
  const found = scheme === undefined ? "an address without a scheme" : `${scheme}:`;
  throw new ValidationError(`--store names no store for requests, got: ${found}`, { hint: FORMS });
}

function fileStore(url: string): NetworkStore {
  const folder = url.slice("file:".length);
  if (folder.trim() === "")
    throw new ValidationError("--store file: must be followed by a folder", { hint: FORMS });
  const whole = isWhole(folder);
  return {
    isShared: false,
    journal: whole ? `file:${join(folder, "runs")}` : `file:${folder}`,
    open: async () => {
      const { NetworkBackend: backends } = await import("../network.js");
      return backends.file(whole ? join(folder, "network") : folder);
    },
  };
}

/**
 * Returns whether a folder is the common folder, with the requests in `network` and the runs in
 * `runs`.
 */
function isWhole(folder: string): boolean {
  return /(?:^|\/)\.agentensemble\/?$/s.test(folder);
}

function sqlStore(url: string, isShared: boolean): NetworkStore {
  return {
    isShared,
    journal: url,
    open: async () => {
      const { postgres } = await import("../network-postgres.js");
      return postgres({ url });
    },
  };
}

function redisStore(url: string): NetworkStore {
  return {
    isShared: true,
    journal: undefined,
    open: async () => {
      const { bullmq } = await import("../network-redis.js");
      return bullmq({ url });
    },
  };
}

function natsStore(url: string): NetworkStore {
  return {
    isShared: true,
    journal: undefined,
    open: async () => {
      const { nats } = await import("../network-nats.js");
      return nats({ servers: url });
    },
  };
}
