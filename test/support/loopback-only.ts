/**
 * Refuses every connection of this process and its Node.js child processes to an address that is
 * not loopback. Names are refused before they are resolved. Loaded with `--require`, before any
 * test.
 */
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net, { type LookupFunction, type TcpSocketConnectOpts } from "node:net";

/** The system itself immediately refuses the broadcast address. */
const UNREACHABLE = "255.255.255.255";
const LOCALHOST = /^(?:[\w-]+\.)*localhost\.?$/i;

const refused: string[] = [];

/** Returns the targets refused since the last call. */
export function takeRefused(): readonly string[] {
  return refused.splice(0);
}

function mayConnect(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:/, "");
  if (!net.isIPv4(plain)) return plain === "::1";
  return plain.startsWith("127.") || plain === UNREACHABLE;
}

function refusal(target: string): NodeJS.ErrnoException {
  refused.push(target);
  const message = `Tests connect to loopback only, and ${target} is not`;
  return Object.assign(new Error(message), { code: "ERR_TEST_NETWORK" });
}

/** Returns a resolver whose addresses are all loopback, or which fails. */
function checked(lookup: LookupFunction): LookupFunction {
  return (host, options, callback) =>
    lookup(host, options, (error, found, family) => {
      const addresses = typeof found === "string" ? [found] : found.map(({ address }) => address);
      const wrong = error === null ? addresses.find((one) => !mayConnect(one)) : undefined;
      if (wrong === undefined) callback(error, found, family);
      else callback(refusal(`${host} (${wrong})`), "", 0);
    });
}

/** Returns the options of a connection, changed to fail if it leads beyond loopback. */
function restricted(options: TcpSocketConnectOpts): TcpSocketConnectOpts {
  const host = options.host ?? "localhost";
  const { lookup } = options;
  if (net.isIP(host) === 0 && lookup !== undefined) return { ...options, lookup: checked(lookup) };
  if (LOCALHOST.test(host) || mayConnect(host)) return options;
  const fail: LookupFunction = (_host, _options, callback) =>
    callback(refusal(`${host}:${options.port}`), "", 0);
  return { ...options, host: "refused.invalid", lookup: fail }; // a number would not be looked up
}

function restrictSockets(): void {
  const connect = net.Socket.prototype.connect as (...args: unknown[]) => net.Socket;
  function isTcp(options: unknown): options is TcpSocketConnectOpts {
    return typeof options === "object" && options !== null && "port" in options;
  }
  net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]): net.Socket {
    const [first, second, ...rest] = args;
    if (Array.isArray(first)) {
      const list: unknown[] = first; // arguments that Node.js has put in order: options, callback
      if (isTcp(list[0])) list[0] = restricted(list[0]);
    } else if (isTcp(first)) {
      return connect.call(this, restricted(first), second, ...rest);
    } else if (Number.isInteger(Number(first)) && typeof second === "string") {
      return connect.call(this, restricted({ port: Number(first), host: second }), ...rest);
    }
    return connect.apply(this, args);
  };
}

function restrictNames(): void {
  const { lookup } = dns.promises;
  const allowed = (host: string): boolean => LOCALHOST.test(host) || net.isIP(host) !== 0;
  dns.promises.lookup = ((host: string, ...rest: []) =>
    allowed(host) ? lookup(host, ...rest) : Promise.reject(refusal(host))) as typeof lookup;
  syncBuiltinESMExports();
}

restrictSockets();
restrictNames();
const options = process.env["NODE_OPTIONS"] ?? "";
if (!options.includes(import.meta.url))
  process.env["NODE_OPTIONS"] = `${options} --import=${import.meta.url}`.trim();
