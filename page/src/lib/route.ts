/** The part of the page's URL after `#`. */
export interface Route {
  /** Decoded path segments. `["runs"]` for an empty address. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** Reads an address such as `#/runs/r-1?view=graph&task=a`. Malformed parts remain unchanged. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const segments = path.split("/").filter((part) => part !== "");
  return {
    path: segments.length === 0 ? ["runs"] : segments.map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Writes an address. Omits parts of the query without a value. */
export function hrefOf(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  const search = parts.length === 0 ? "" : `?${parts.join("&")}`;
  return `#/${path.map(encodeURIComponent).join("/")}${search}`;
}

/** Decodes a part of an address. Returns a malformed part unchanged. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
