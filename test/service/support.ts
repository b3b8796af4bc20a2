import type {
  NetworkBackend,
  RequestQueue,
  WorkRequest,
  WorkResponse,
} from "../../src/contracts/network.js";
import type { ServiceEvent } from "../../src/contracts/service.js";
import type { TaskHandler } from "../../src/index.js";
import { Task } from "../../src/index.js";

/** A task whose handler receives the inputs of its run. */
export function handlerTask<T>(handler: TaskHandler<T>): Task<T> {
  return new Task<T>({ description: "Handle it", handler });
}

/** A request to `kitchen`, with a new id each time. */
export function requests(
  defaults: Partial<WorkRequest> = {},
): (task: string, more?: Partial<WorkRequest>) => WorkRequest {
  let count = 0;
  return (task, more = {}) => ({
    v: 1,
    requestId: `request-${++count}`,
    from: "tests",
    to: "kitchen",
    type: "TASK",
    task,
    ...defaults,
    ...more,
  });
}

/** Sends a request and waits for its result. */
export async function ask(backend: NetworkBackend, request: WorkRequest): Promise<WorkResponse> {
  const receipt = await backend.queue.enqueue(request.to, request);
  if (receipt.status === "FULL") throw new Error("The queue is full");
  return resultOf(backend, request.requestId);
}

/** Waits for a result. */
export function resultOf(backend: NetworkBackend, requestId: string): Promise<WorkResponse> {
  return new Promise((resolve, reject) => {
    backend.results.subscribe(requestId, resolve).catch(reject);
  });
}

/** Collects events. */
export function eventLog(): {
  readonly events: ServiceEvent[];
  readonly listener: (event: ServiceEvent) => void;
  /** Events as `type` with their distinguishing field. */
  shown(): readonly string[];
} {
  const events: ServiceEvent[] = [];
  return {
    events,
    listener: (event) => void events.push(event),
    shown: () => events.map(shownEvent),
  };
}

function shownEvent(event: ServiceEvent): string {
  if (event.type === "service_state") return event.state;
  if (event.type === "request_finished") return `finished ${event.requestId} ${event.status}`;
  if (event.type === "service_warning") return `warning ${event.message}`;
  return `${event.type} ${event.requestId}`;
}

/** A promise and the function that resolves it. */
export function gate<T = void>(): {
  readonly opened: Promise<T>;
  readonly open: (value: T) => void;
} {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { opened, open };
}

/** Rejects when the signal aborts, with its reason. */
export function aborted(signal: AbortSignal): Promise<string> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/** A queue with some of its methods replaced. */
export function changedQueue(queue: RequestQueue, changes: Partial<RequestQueue>): RequestQueue {
  return new Proxy(queue, {
    get: (target, name) => {
      const change = changes[name as keyof RequestQueue];
      return change ?? (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target);
    },
  });
}
