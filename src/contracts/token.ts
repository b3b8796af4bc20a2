import type { AbstractNewable } from "inversify";

/**
 * The name of a dependency, typed by what is bound to it. At run time it is `Symbol.for("agentensemble/" + name)`, the same in every copy of the package;
 * the declared type is an abstract class because only that carries `T` through inversify's `get`, `bind` and `@inject`.
 */
export type Token<T, C extends "single" | "many" = "single"> = AbstractNewable<T> & {
  readonly __cardinality?: C;
};

/** Makes a token of your own. `many` collects contributions; `single` (default) has one value. */
export function createToken<T>(name: string, cardinality: "many"): Token<T, "many">;
export function createToken<T>(name: string, cardinality?: "single"): Token<T, "single">;
export function createToken<T>(name: string): Token<T, "single" | "many"> {
  return Symbol.for(`agentensemble/${name}`) as unknown as Token<T>; // see the type: a symbol at run time
}

/** The name a token was made with. */
export function tokenName(token: unknown): string {
  return typeof token === "symbol"
    ? (token.description ?? "").replace(/^agentensemble\//, "")
    : typeof token === "function"
      ? token.name
      : String(token);
}
