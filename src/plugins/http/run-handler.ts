import type { Principal } from "../../contracts/http-route.js";
import type { RunOwnership } from "./review-access.js";
import type { RunHandlerOptions, StreamingEnsemble } from "./run-handler-options.js";
import type { RoutedHandler } from "./serve-endpoints.js";
import { RunDesk } from "./run-desk.js";
import { resolveRunOptions } from "./run-handler-options.js";
import { serveEndpoints } from "./serve-endpoints.js";

/**
 * A handler of runs. Records the owner of each run. With `reviews`, subscribes to their store,
 * so that runs may wait for answers there.
 */
export interface RunHandler extends RoutedHandler, RunOwnership {
  /** Ends the subscription to the review store. Requests are still answered. */
  close(): void;
}

/**
 * Creates a handler that runs an ensemble. Callers and operators may use it. The endpoints, with
 * the default path `/api/run`:
 *
 * - `POST {path}` takes the inputs as a JSON object. Returns `{ runId, output }`, or a stream if
 *   the request accepts `text/event-stream`.
 * - `GET {path}/:id/stream` returns a stream from its beginning.
 * - `DELETE {path}/:id` cancels a run.
 *
 * A run belongs to the `owner` of the principal that started it, otherwise to its `name`. Other
 * principals have no access to the run.
 * @throws ValidationError
 */
export function runHandler(ensemble: StreamingEnsemble, o: RunHandlerOptions): RunHandler {
  const settings = resolveRunOptions(ensemble, o);
  const desk = new RunDesk(ensemble, settings);
  return Object.assign(serveEndpoints(settings, desk.endpoints()), {
    startedBy: (runId: string, principal: Principal) => desk.startedBy(runId, principal),
    close: () => desk.close(),
  });
}
