import type { HttpRoute } from "../../contracts/http-route.js";
import type { RunningService } from "../running-service.js";
import { notFoundRefusal } from "../../plugins/shared/http/http-refusal.js";
import { privateAnswer, route } from "./routes.js";

/** The paths of these routes. */
export const OPERATOR_PATHS = /^\/api\/(lifecycle|queue)\//;
const REDRIVE = "/api/queue/redrive/";

/** The routes of operators: stop the service, and handle dead letters. */
export function operatorRoutes(service: RunningService): readonly HttpRoute[] {
  return [
    route("POST", "/api/lifecycle/drain", "operator", () => {
      void service.stop();
      return privateAnswer(202, { state: service.state });
    }),
    route("GET", "/api/queue/depth", "operator", async () => {
      const { running, depth } = await service.stats();
      return privateAnswer(200, { ensemble: service.name, running, ...depth });
    }),
    route("GET", "/api/queue/dead", "operator", async () =>
      privateAnswer(200, { ensemble: service.name, deadLetters: await service.deadLetters() }),
    ),
    route("POST", `${REDRIVE}*`, "operator", async (request) => {
      const requestId = idBehind(request, REDRIVE);
      if (!(await service.redrive(requestId)))
        throw notFoundRefusal("UNKNOWN", `There is no dead letter '${requestId}'`);
      return privateAnswer(202, { requestId, status: "QUEUED" });
    }),
  ];
}

/** Returns the id in the path of a route. @throws HttpRefusal for an invalid encoding. */
export function idBehind(request: Request, path: string): string {
  try {
    return decodeURIComponent(new URL(request.url).pathname.slice(path.length));
  } catch {
    throw notFoundRefusal();
  }
}
