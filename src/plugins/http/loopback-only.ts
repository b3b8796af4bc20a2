import type { Authenticate, Principal } from "../../contracts/http-route.js";
import { peerOf } from "../shared/http/http-exchange.js";

const LOOPBACK_PEER = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip"];

/**
 * Takes every request from this machine for one of `principal`, and refuses all others: for trials, without accounts. It admits a request whose connection
 * comes from a loopback address, that asks for a loopback name, and that no proxy passed on. Only `toNodeListener` knows where a connection comes from;
 * behind other servers everything is refused.
 */
export function loopbackOnly(principal: Principal): Authenticate {
  return (request) => {
    const isLocal =
      LOOPBACK_PEER.test(peerOf(request) ?? "") &&
      LOOPBACK_HOST.test(new URL(request.url).hostname) &&
      !PROXY_HEADERS.some((name) => request.headers.has(name));
    return isLocal ? principal : undefined;
  };
}
