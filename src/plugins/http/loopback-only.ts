import type { Authenticate, Principal } from "../../contracts/http-route.js";
import { isLocalRequest } from "../shared/http/local-request.js";

const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Authenticates every request from this machine as `principal`, and refuses all others. Intended
 * for trials without accounts. Admits a request if its connection comes from a loopback address,
 * its host is a loopback name, and it passed no proxy. Only `toNodeListener` provides the address
 * of a connection; with other servers, every request is refused.
 */
export function loopbackOnly(principal: Principal): Authenticate {
  return (request) => {
    const isLocal = isLocalRequest(request) && LOOPBACK_HOST.test(new URL(request.url).hostname);
    return isLocal ? principal : undefined;
  };
}
