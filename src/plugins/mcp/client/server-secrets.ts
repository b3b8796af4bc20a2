import type { SecretFilter } from "../../../contracts/redaction.js";
import type { McpEndpoint } from "./mcp-client-options.js";
import {
  isSecretName,
  secretReplacer,
  secretWords,
} from "../../../util/redaction/secret-values.js";

/** Some vendors put a key into the path of an address. */
const SHORTEST_SECRET_PART = 16;
/** What a server reports of its failures is repeated up to here. */
const LONGEST = 2_000;

/** Makes a text of a server fit for an error: known secrets replaced, and cut, by default after 2,000 characters. */
export type ErrorText = (text: string, longest?: number) => string;

function secretsOf(endpoint: McpEndpoint): readonly string[] {
  if (endpoint.kind === "stdio")
    return Object.entries(endpoint.env).flatMap(([name, value]) =>
      isSecretName(name) ? [value] : [],
    );
  const { pathname, searchParams } = endpoint.url;
  return [
    ...Object.values(endpoint.headers).flatMap(secretWords),
    ...searchParams.values(),
    ...pathname.split("/").filter((part) => part.length >= SHORTEST_SECRET_PART),
  ];
}

/** Knows what the options of a server hold: all values of its headers and of its address's query, long parts of its path, and of its environment those named like secrets. */
export function errorTextOf(endpoint: McpEndpoint): ErrorText {
  const withoutSecrets = secretReplacer(secretsOf(endpoint));
  return (text, longest = LONGEST) => {
    const clean = withoutSecrets(text.slice(0, 10 * longest));
    return clean.length > longest ? `${clean.slice(0, longest)}...` : clean;
  };
}

/** Shorter values are replaced in errors of the server itself only: in everything that a run leaves they would garble other words. */
const SHORTEST_EVERYWHERE = 8;

/** Takes what the options of a server hold under names of secrets out of traces, logs and recordings. */
export function secretFilterOf(endpoint: McpEndpoint): SecretFilter {
  const fields =
    endpoint.kind === "stdio"
      ? Object.entries(endpoint.env)
      : [...Object.entries(endpoint.headers), ...endpoint.url.searchParams];
  const values = fields.flatMap(([name, value]) => (isSecretName(name) ? secretWords(value) : []));
  return secretReplacer(values, SHORTEST_EVERYWHERE);
}
