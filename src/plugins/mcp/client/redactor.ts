import type { SecretFilter } from "../../../contracts/redaction.js";
import type { McpEndpoint } from "./options.js";

/** Shorter values are no secrets, and replacing them would garble every message. */
const SHORTEST_SECRET = 4;
/** Some vendors put a key into the path of an address. */
const SHORTEST_SECRET_PART = 16;
const SECRET_NAME = /auth|key|token|secret|cookie|passw|credential|session/i;
/** What a server says about its failures is repeated up to here. */
const LONGEST = 2_000;

/** Makes the words of a server fit for an error: known secrets replaced, and cut, by default after 2,000 characters. */
export type Redactor = (text: string, longest?: number) => string;

function secretsOf(endpoint: McpEndpoint): readonly string[] {
  if (endpoint.kind === "stdio")
    return Object.entries(endpoint.env).flatMap(([name, value]) =>
      SECRET_NAME.test(name) ? [value] : [],
    );
  const values = Object.values(endpoint.headers).flatMap((value) => [
    value.trim(),
    ...value.trim().split(/\s+/).slice(1),
  ]); // of `Bearer abc` the second word alone too
  const { pathname, searchParams } = endpoint.url;
  return [
    ...values,
    ...searchParams.values(),
    ...pathname.split("/").filter((part) => part.length >= SHORTEST_SECRET_PART),
  ];
}

/** A redactor that knows what the options of a server hold: all values of its headers and of its address's query, long parts of its path, and of its environment those with telling names. */
export function createRedactor(endpoint: McpEndpoint): Redactor {
  const secrets = [
    ...new Set(secretsOf(endpoint).flatMap((secret) => [secret, encodeURIComponent(secret)])),
  ]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text, longest = LONGEST) => {
    const clean = secrets.reduce(
      (result, secret) => result.replaceAll(secret, "[redacted]"),
      text.slice(0, 10 * longest),
    );
    return clean.length > longest ? `${clean.slice(0, longest)}...` : clean;
  };
}

/** Shorter values are replaced in errors of the server itself only: in everything that a run leaves they would garble other words. */
const SHORTEST_EVERYWHERE = 8;

/** Takes what the options of a server hold under telling names out of traces, logs and recordings. */
export function secretFilterOf(endpoint: McpEndpoint): SecretFilter {
  const named =
    endpoint.kind === "stdio"
      ? Object.entries(endpoint.env)
      : [...Object.entries(endpoint.headers), ...endpoint.url.searchParams];
  const values = named.flatMap(([name, value]) =>
    SECRET_NAME.test(name) ? [value.trim(), ...value.trim().split(/\s+/).slice(1)] : [],
  ); // as above
  const secrets = [...new Set(values)]
    .filter((value) => value.length >= SHORTEST_EVERYWHERE)
    .sort((a, b) => b.length - a.length);
  return (text) =>
    secrets.reduce((result, secret) => result.replaceAll(secret, "[redacted]"), text);
}
