import type { HttpRoute } from "../../contracts/http-route.js";
import type { Fields } from "../../util/objects.js";
import type { RunningService } from "../running-service.js";
import { privateAnswer, route } from "./routes.js";

/**
 * Returns the routes of the health and the state of a service. `more`: further fields of the
 * status.
 */
export function statusRoutes(
  service: RunningService,
  more: () => Fields = () => ({}),
): readonly HttpRoute[] {
  return [
    route("GET", "/api/health/live", "public", () => {
      const isAlive = service.state !== "READY" || service.intake.isHealthy;
      return privateAnswer(isAlive ? 200 : 503, { status: isAlive ? "UP" : "DOWN" });
    }),
    route("GET", "/api/health/ready", "public", () => {
      const isReady = service.state === "READY";
      return privateAnswer(isReady ? 200 : 503, {
        status: isReady ? "UP" : "DOWN",
        state: service.state,
      });
    }),
    route("GET", "/api/status", "public", () => {
      const { name: ensemble, instance, state, intake } = service;
      const shared = service.entry().capabilities.map(({ name, type }) => ({ name, type }));
      const { running } = intake;
      return privateAnswer(200, { ...more(), ensemble, instance, state, running, shared });
    }),
  ];
}
