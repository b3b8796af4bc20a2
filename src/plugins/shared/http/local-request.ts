import { peerOf } from "./http-exchange.js";

const LOOPBACK_PEER = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip"];

/** Whether a request comes from this machine without a proxy. */
export function isLocalRequest(request: Request): boolean {
  return (
    LOOPBACK_PEER.test(peerOf(request) ?? "") &&
    !PROXY_HEADERS.some((name) => request.headers.has(name))
  );
}
