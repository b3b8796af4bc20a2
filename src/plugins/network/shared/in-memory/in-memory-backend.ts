import type { NetworkBackend, RequestQueue, ResultStore } from "../../../../contracts/network.js";
import type { LocalBackendOptions } from "../local-options.js";
import { uuidGenerator } from "../../../../util/runtime.js";
import { LocalCatalogue } from "../local-catalogue.js";
import { localSettings } from "../local-options.js";
import { LocalQueue } from "../local-queue.js";
import { LocalResults } from "../local-results.js";
import { LocalTopics } from "../local-topics.js";
import { backendOf } from "../backend-of.js";

/** @throws ValidationError for an unknown or invalid option. */
export function inMemoryQueue(options: LocalBackendOptions = {}): RequestQueue {
  const settings = localSettings("RequestQueue.inMemory()", options);
  return new LocalQueue({ ...settings, nextToken: leaseTokens() });
}

/** @throws ValidationError for an unknown option. */
export function inMemoryResults(options: Pick<LocalBackendOptions, "clock"> = {}): ResultStore {
  return new LocalResults(localSettings("ResultStore.inMemory()", options));
}

/** @throws ValidationError for an unknown or invalid option. */
export function inMemoryBackend(options: LocalBackendOptions = {}): NetworkBackend {
  const settings = localSettings("NetworkBackend.inMemory()", options);
  return backendOf({
    name: "memory",
    queue: new LocalQueue({ ...settings, nextToken: leaseTokens() }),
    results: new LocalResults(settings),
    topics: new LocalTopics(),
    catalogue: new LocalCatalogue(settings.clock),
  });
}

/** Returns a function that creates tokens of one queue: a random part, and an increasing number. */
function leaseTokens(): () => string {
  const prefix = uuidGenerator.next();
  let count = 0;
  return () => `${prefix}-${++count}`;
}
