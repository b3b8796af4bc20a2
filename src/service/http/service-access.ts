import { timingSafeEqual } from "node:crypto";
import type { Authenticate, Principal } from "../../contracts/http-route.js";
import type { CallerOptions, StartOptions } from "../../contracts/service.js";
import { loopbackOnly } from "../../plugins/http/loopback-only.js";
import { secretDigest } from "../../plugins/shared/http/http-gate.js";
import { OPERATOR_PATHS } from "./operator-routes.js";

/** A request of this machine without another authentication. */
const LOCAL: Principal = Object.freeze({ name: "local", role: "operator" });

/** Authenticates the requests to a service. */
export function serviceAccess(o: StartOptions, isReachable: boolean): Authenticate {
  if (o.authenticate !== undefined) return o.authenticate;
  const local = loopbackOnly(LOCAL);
  const { callers } = o;
  if (callers === undefined) return local;
  const byToken = callersByToken(callers);
  return (request) => {
    if (request.headers.has("authorization")) return byToken(request);
    // Without a proxy, only this machine has access to the routes of operators.
    const isOperation = !isReachable && OPERATOR_PATHS.test(new URL(request.url).pathname);
    return isOperation ? local(request) : undefined;
  };
}

/** Finds callers by their tokens, in constant time. */
function callersByToken(
  callers: NonNullable<StartOptions["callers"]>,
): (request: Request) => Principal | undefined {
  const known = Object.entries(callers).flatMap(([name, caller]) => {
    const { token, may }: CallerOptions = typeof caller === "string" ? { token: caller } : caller;
    const principal: Principal = { name, role: "caller", ...(may !== undefined && { may }) };
    const tokens = typeof token === "string" ? [token] : token;
    return tokens.map((one) => ({ digest: secretDigest(one), principal }));
  });
  return (request) => {
    const sent = /^Bearer +(.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (sent === undefined) return undefined;
    const digest = secretDigest(sent);
    return known.filter((one) => timingSafeEqual(one.digest, digest)).at(0)?.principal;
  };
}
