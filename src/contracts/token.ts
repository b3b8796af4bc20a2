import type { AbstractNewable } from "inversify";

/**
 * Identifies a dependency. Its type contains the type of the bound value. At run time it is
 * `Symbol.for("agentensemble/" + name)`, equal in every copy of the package. The declared type is
 * an abstract class, because only that passes `T` through inversify's `get`, `bind` and `@inject`.
 */
export type Token<T, C extends "single" | "many" = "single"> = AbstractNewable<T> & {
  readonly __cardinality?: C;
};

/** Creates a token. `many` collects contributions; `single` (default) has one value. */
export function createToken<T>(name: string, cardinality: "many"): Token<T, "many">;
export function createToken<T>(name: string, cardinality?: "single"): Token<T, "single">;
export function createToken<T>(name: string): Token<T, "single" | "many"> {
  return Symbol.for(`agentensemble/${name}`) as unknown as Token<T>; // a symbol at run time, see the type
}

/** Returns the name of a token. */
export function tokenName(token: unknown): string {
  return typeof token === "symbol"
    ? (token.description ?? "").replace(/^agentensemble\//, "")
    : typeof token === "function"
      ? token.name
      : String(token);
}
