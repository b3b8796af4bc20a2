import type { SecretFilter } from "../../../contracts/redaction.js";
import type { McpEndpoint } from "./mcp-client-options.js";
import {
  isSecretName,
  secretReplacer,
  secretWords,
} from "../../../util/redaction/secret-values.js";

/**
 * Minimum length of a path segment that counts as a secret. Some vendors put a key into the path of
 * a URL.
 */
const SHORTEST_SECRET_PART = 16;
/** Maximum number of characters repeated from a server's error text. */
const LONGEST = 2_000;

/**
 * Prepares a server's text for an error: replaces known secrets and cuts the text, by default after
 * 2,000 characters.
 */
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

/**
 * Collects the secrets in a server's options. These are values of headers and of the URL's query,
 * long path segments, and environment variables with names of secrets.
 */
export function errorTextOf(endpoint: McpEndpoint): ErrorText {
  const withoutSecrets = secretReplacer(secretsOf(endpoint));
  return (text, longest = LONGEST) => {
    const clean = withoutSecrets(text.slice(0, 10 * longest));
    return clean.length > longest ? `${clean.slice(0, longest)}...` : clean;
  };
}

/**
 * Shorter values are replaced only in errors of the server itself. In all other output of a run
 * they would match ordinary words.
 */
const SHORTEST_EVERYWHERE = 8;

/**
 * Returns a filter that removes the secrets in a server's options from traces, logs and recordings.
 */
export function secretFilterOf(endpoint: McpEndpoint): SecretFilter {
  const fields =
    endpoint.kind === "stdio"
      ? Object.entries(endpoint.env)
      : [...Object.entries(endpoint.headers), ...endpoint.url.searchParams];
  const values = fields.flatMap(([name, value]) => (isSecretName(name) ? secretWords(value) : []));
  return secretReplacer(values, SHORTEST_EVERYWHERE);
}
