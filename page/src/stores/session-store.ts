import { signal, type ReadonlySignal } from "@preact/signals";
import type { BoardUser } from "../../../src/plugins/dashboard/protocol/messages.js";
import { decoded } from "../lib/route.js";
import type { Environment } from "./environment.js";

const TOKEN = "agentensemble.token";
/** The token in an address that the program printed. */
const IN_ADDRESS = /^#t=([^&]*)(?:&(.*))?$/;

/** The user of the page. */
export interface SessionStore {
  readonly user: ReadonlySignal<BoardUser | undefined>;
  readonly token: ReadonlySignal<string | undefined>;
  setUser(user: BoardUser | undefined): void;
  /** Keeps a token in this tab. `undefined` removes the token. */
  setToken(token: string | undefined): void;
  /** Returns whether the user has the permissions of this role. */
  may(role: "viewer" | "reviewer" | "operator"): boolean;
}

const RANKS = ["viewer", "reviewer", "operator"];

export function createSessionStore({ session }: Pick<Environment, "session">): SessionStore {
  const user = signal<BoardUser | undefined>(undefined);
  const token = signal(session.read(TOKEN));
  return {
    user,
    token,
    setUser: (value) => {
      user.value = value;
    },
    setToken: (value) => {
      session.write(TOKEN, value);
      token.value = value;
    },
    may: (role) => RANKS.indexOf(user.value?.role ?? "") >= RANKS.indexOf(role),
  };
}

/** Returns the token of an address such as `#t=secret`, and the address without the token. */
export function tokenInAddress(
  hash: string,
): { readonly token: string; readonly rest: string } | undefined {
  const [, token, rest = ""] = IN_ADDRESS.exec(hash) ?? [];
  if (token === undefined || token === "") return undefined;
  return { token: decoded(token), rest: rest === "" ? "#/runs" : `#${rest}` };
}
