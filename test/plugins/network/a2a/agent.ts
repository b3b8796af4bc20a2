import type { Principal } from "../../../../src/contracts/http-route.js";
import type {
  NetworkBackend,
  SharedCapability,
  WorkRequest,
  WorkResponse,
} from "../../../../src/contracts/network.js";
import type { ReviewStore } from "../../../../src/contracts/review.js";
import { WORK_VERSION } from "../../../../src/contracts/network.js";
import { OpenStreams } from "../../../../src/plugins/network/shared/open-streams.js";
import { a2aRoutes } from "../../../../src/plugins/network/a2a-server/a2a-routes.js";
import { inMemoryBackend } from "../../../../src/plugins/network/shared/in-memory/in-memory-backend.js";
import { serveRoutes } from "../../../../src/plugins/shared/http/serve-routes.js";
import { systemClock } from "../../../../src/util/runtime.js";

export const ECHO: SharedCapability = {
  name: "echo",
  type: "TASK",
  description: "Repeats the context",
  tags: ["text"],
  inputSchema: { type: "object", properties: { context: { type: "string" } } },
};

/** The behaviour of an agent of these tests for a request. */
export type Work = (
  request: WorkRequest,
  report: (progress: unknown) => Promise<void>,
) => Promise<Partial<WorkResponse>>;

export interface AgentSettings {
  readonly work?: Work;
  readonly capabilities?: readonly SharedCapability[];
  /** Callers by their tokens. Default: every request is one of an operator. */
  readonly callers?: Readonly<Record<string, Principal>>;
  readonly reviews?: ReviewStore;
  readonly card?: "public" | "private";
  readonly publicUrl?: string;
  readonly maxQueued?: number;
  readonly maxStreams?: number;
  readonly backend?: NetworkBackend;
  readonly port?: number;
  readonly maxBodyBytes?: number;
}

/**
 * A service with the parts that A2A requires: a queue, a worker and the routes on a loopback port.
 */
export interface TestAgent {
  readonly url: string;
  readonly backend: NetworkBackend;
  /** The requests in the order of their execution. */
  readonly executed: readonly WorkRequest[];
  readonly errors: readonly Error[];
  drain(): void;
  close(): Promise<void>;
}

const echo: Work = async ({ context = "" }) => ({ result: `echo: ${context}` });

/** A worker that never takes a request. */
export const NEVER: Work = () => new Promise(() => undefined);

export async function startAgent(settings: AgentSettings = {}): Promise<TestAgent> {
  const { work = echo, capabilities = [ECHO], backend = inMemoryBackend() } = settings;
  const executed: WorkRequest[] = [];
  const errors: Error[] = [];
  const end = new AbortController();
  let isDraining = false;
  const ensemble = "kitchen";
  const { routes, close } = a2aRoutes({
    ensemble,
    backend,
    clock: systemClock,
    resultTtlMs: 60_000,
    enqueue: (request) =>
      backend.queue.enqueue(ensemble, request, { maxQueued: settings.maxQueued }),
    isDraining: () => isDraining,
    onError: (error) => errors.push(error),
    entry: () => ({ ensemble, instance: "one", capabilities }),
    reviews: settings.reviews,
    push: undefined,
    card: settings.card ?? "public",
    publicUrl: settings.publicUrl,
    needsToken: settings.callers !== undefined,
    streams: new OpenStreams(settings.maxStreams ?? 20),
  });
  const listener = await serveRoutes({
    routes,
    authenticate: ({ headers }) => {
      if (settings.callers === undefined) return { name: "local", role: "operator" };
      return settings.callers[headers.get("authorization")?.slice("Bearer ".length) ?? ""];
    },
    host: "127.0.0.1",
    port: settings.port ?? 0,
    allowedHosts: ["127.0.0.1"],
    allowedOrigins: new Set(),
    maxBodyBytes: settings.maxBodyBytes ?? 1024 * 1024,
    onError: (error) => errors.push(error),
  });
  const stopped = new Promise<undefined>((resolve) =>
    end.signal.addEventListener("abort", () => resolve(undefined), { once: true }),
  );
  const working = Array.from({ length: 4 }, () => workOff());
  async function workOff(): Promise<void> {
    while (!end.signal.aborted) {
      const lease = await backend.queue.dequeue(ensemble, {
        timeoutMs: 60_000,
        leaseMs: 60_000,
        signal: end.signal,
      });
      if (lease === undefined) continue;
      const { request } = lease;
      executed.push(request);
      const report = (progress: unknown): Promise<void> =>
        backend.topics.publish(`progress.${request.requestId}`, progress);
      const done = await Promise.race([work(request, report), stopped]);
      if (done === undefined) return;
      const response: WorkResponse = {
        v: WORK_VERSION,
        requestId: request.requestId,
        status: "COMPLETED",
        durationMs: 1,
        attempt: lease.attempt,
        servedBy: "one",
        ...done,
      };
      await backend.results.store(request.requestId, response, 60_000);
      await backend.queue.acknowledge(lease);
    }
  }
  return {
    url: `http://127.0.0.1:${listener.port}`,
    backend,
    executed,
    errors,
    drain: () => void (isDraining = true),
    async close() {
      end.abort();
      close();
      await listener.close();
      await Promise.all(working);
      if (settings.backend === undefined) await backend.close();
    },
  };
}
