import type { HttpRoute, Principal } from "../../../contracts/http-route.js";

const RANKS = Object.freeze({ viewer: 1, reviewer: 2, operator: 3 });

/** Whether a principal may use a route of this role. */
export function isAdmitted({ role }: Principal, needed: HttpRoute["role"]): boolean {
  if (needed === "public" || role === "operator") return true;
  if (needed === "reporter" || role === "reporter") return role === needed;
  if (needed === "any") return true;
  if (needed === "caller" || role === "caller") return role === needed;
  return RANKS[role] >= RANKS[needed];
}

/** A route that matches a path, with the values of its parameters. */
export interface FoundRoute<R extends Pick<HttpRoute, "path"> = HttpRoute> {
  readonly route: R;
  readonly parameters: Readonly<Record<string, string>>;
}

const NO_PARAMETERS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Returns the rank of a route: exact paths first, then parameters, then wildcards. Longer paths
 * precede shorter ones.
 */
function rankOf({ path }: Pick<HttpRoute, "path">): number {
  if (path.endsWith("/*")) return path.length;
  return path.includes("/{") ? 10_000 + literalLength(path) : Number.POSITIVE_INFINITY;
}

function literalLength(path: string): number {
  return path.replace(/\{[^}]*\}/g, "").length;
}

/**
 * Returns the parameters of a route in a path. `undefined` if the route does not match the path.
 */
function parametersOf(
  { path }: Pick<HttpRoute, "path">,
  asked: string,
): Readonly<Record<string, string>> | undefined {
  if (path === asked) return NO_PARAMETERS;
  if (path.endsWith("/*")) return asked.startsWith(path.slice(0, -1)) ? NO_PARAMETERS : undefined;
  if (!path.includes("/{")) return undefined;
  const [names, steps] = [path.split("/"), asked.split("/")];
  if (names.length !== steps.length) return undefined;
  const found: Record<string, string> = {};
  for (const [i, name] of names.entries()) {
    const step = steps[i] ?? "";
    const parameter = /^\{(\w+)\}$/.exec(name)?.[1];
    if (parameter === undefined) {
      if (name !== step) return undefined;
    } else {
      const value = decodedSegment(step);
      if (value === undefined) return undefined;
      found[parameter] = value;
    }
  }
  return found;
}

/**
 * Decodes a part of a path. `undefined` for a part that is empty, badly encoded, longer than 1,000
 * characters, or has control characters.
 */
function decodedSegment(step: string): string | undefined {
  try {
    const text = decodeURIComponent(step);
    return /^[^\u0000-\u001f\u007f-\u009f]{1,1000}$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the most specific of the routes that match a path. */
export function routesOf<R extends Pick<HttpRoute, "path">>(
  routes: readonly R[],
  path: string,
): readonly FoundRoute<R>[] {
  const found = routes.flatMap((route) => {
    const parameters = parametersOf(route, path);
    return parameters === undefined ? [] : [{ route, parameters, rank: rankOf(route) }];
  });
  const best = Math.max(...found.map(({ rank }) => rank));
  return found.filter(({ rank }) => rank === best);
}
