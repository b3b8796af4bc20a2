import type { Authenticate, Principal } from "../../contracts/http-route.js";
import { isLocalRequest } from "../shared/http/local-request.js";

const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Authenticates every request from this machine as `principal`, and refuses all others. Intended
 * for trials without accounts. A request is admitted if its connection comes from a loopback
 * address and its host is a loopback name. A request that passed a proxy is refused. Only
 * `toNodeListener` provides the address of a connection. With other servers, every request is
 * refused.
 */
export function loopbackOnly(principal: Principal): Authenticate {
  return (request) => {
    const isLocal = isLocalRequest(request) && LOOPBACK_HOST.test(new URL(request.url).hostname);
    return isLocal ? principal : undefined;
  };
}
