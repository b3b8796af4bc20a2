import type { Authenticate, Principal } from "../../contracts/http-route.js";
import { isLocalRequest } from "../shared/http/local-request.js";

const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Takes every request from this machine for one of `principal`, and refuses all others: for trials, without accounts. It admits a request whose connection
 * comes from a loopback address, that asks for a loopback name, and that no proxy passed on. Only `toNodeListener` knows where a connection comes from;
 * behind other servers everything is refused.
 */
export function loopbackOnly(principal: Principal): Authenticate {
  return (request) => {
    const isLocal = isLocalRequest(request) && LOOPBACK_HOST.test(new URL(request.url).hostname);
    return isLocal ? principal : undefined;
  };
}
