import type { AbstractNewable } from "inversify";

/**
 * Identifies a dependency. The type of a token contains the type of the bound value. At run time, a
 * token is `Symbol.for("agentensemble/" + name)`, equal in every copy of the package. The declared
 * type is an abstract class: no other type passes `T` through `get`, `bind` and `@inject` of
 * inversify.
 */
export type Token<T, C extends "single" | "many" = "single"> = AbstractNewable<T> & {
  readonly __cardinality?: C;
};

/**
 * Creates a token. `many`: the token collects contributions. `single` (default): the token has one
 * value.
 */
export function createToken<T>(name: string, cardinality: "many"): Token<T, "many">;
export function createToken<T>(name: string, cardinality?: "single"): Token<T, "single">;
export function createToken<T>(name: string): Token<T, "single" | "many"> {
  // A symbol at run time. See the type.
  return Symbol.for(`agentensemble/${name}`) as unknown as Token<T>;
}

/** Returns the name of a token. */
export function tokenName(token: unknown): string {
  return typeof token === "symbol"
    ? (token.description ?? "").replace(/^agentensemble\//, "")
    : typeof token === "function"
      ? token.name
      : String(token);
}
