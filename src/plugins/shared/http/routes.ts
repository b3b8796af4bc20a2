import type { HttpRoute, Principal } from "../../../contracts/http-route.js";

const RANKS = Object.freeze({ viewer: 1, reviewer: 2, operator: 3 });

/** Whether a principal may use a route of this role. */
export function isAdmitted({ role }: Principal, needed: HttpRoute["role"]): boolean {
  if (needed === "public" || needed === "any" || role === "operator") return true;
  if (needed === "caller" || role === "caller") return role === needed;
  return RANKS[role] >= RANKS[needed];
}

/** Whether a route serves a path: its own, or for one that ends with a star everything below it. */
function serves({ path }: HttpRoute, asked: string): boolean {
  return path.endsWith("/*") ? asked.startsWith(path.slice(0, -1)) : path === asked;
}

/** The routes of a path, the most exact ones. */
export function routesOf(routes: readonly HttpRoute[], path: string): readonly HttpRoute[] {
  const found = routes.filter((route) => serves(route, path));
  const longest = Math.max(...found.map((route) => route.path.length));
  return found.filter((route) => route.path.length === longest);
}
