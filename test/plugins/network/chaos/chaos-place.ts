import type { NetworkBackend } from "agentensemble/network";

/** The place that the processes of a chaos test share. */
export interface ChaosPlace {
  /** The address of the engine: its scheme chooses the adapter. */
  readonly url: string;
  /** All names in the engine begin with it. */
  readonly prefix: string;
}

type Opening = (place: ChaosPlace) => Promise<NetworkBackend>;

/** The adapters by scheme. */
const ENGINES: Readonly<Record<string, Opening>> = {
  "nats:": async ({ url, prefix }) => {
    const { nats } = await import("agentensemble/network/nats");
    return nats({ servers: url, prefix });
  },
  "redis:": async ({ url, prefix }) => {
    const { bullmq } = await import("agentensemble/network/redis");
    return bullmq({ url, prefix, leaseCheckMs: 250 });
  },
  "postgres:": async ({ url, prefix }) => {
    const { postgres } = await import("agentensemble/network/postgres");
    return postgres({ url, schema: prefix });
  },
};

/** Opens another client of a place. @throws Error for a scheme without an adapter. */
export function openChaosBackend(place: ChaosPlace): Promise<NetworkBackend> {
  const scheme = new URL(place.url).protocol;
  const open = ENGINES[scheme];
  if (open === undefined) throw new Error(`no engine has the scheme '${scheme}'`);
  return open(place);
}
