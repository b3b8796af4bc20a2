import { timingSafeEqual } from "node:crypto";
import type { Principal } from "../../../contracts/http-route.js";
import type { Clock } from "../../../contracts/runtime.js";
import type { RequestRefusal } from "../../shared/http/http-gate.js";
import type { AuditLog } from "../audit.js";
import type { DashboardSettings } from "../dashboard-options.js";
import type { BoardLimits } from "./limits.js";
import { secretDigest } from "../../shared/http/http-gate.js";
import { peerOf } from "../../shared/http/http-exchange.js";
import { isLocalRequest } from "../../shared/http/local-request.js";
import { MinuteLimit } from "./minute-limit.js";

const TOO_MANY_FAILURES: RequestRefusal = Object.freeze({
  status: 429,
  error: "TOO_MANY_SIGN_INS",
  message: "Too many failed sign-ins from this address; try again in a minute",
  headers: { "Retry-After": "60" },
});
const TOO_MANY_REQUESTS: RequestRefusal = Object.freeze({
  status: 429,
  message: "Too many requests in a minute",
  headers: { "Retry-After": "60" },
});

/** Determines the principal of a request. */
export class BoardAccess {
  readonly #settings: DashboardSettings;
  readonly #audit: AuditLog;
  readonly #failures: MinuteLimit;
  readonly #requests: MinuteLimit;
  readonly #known: readonly { readonly digest: Buffer; readonly principal: Principal }[];

  /** `token` is the token of `settings`, or the token generated for this start. */
  constructor(
    settings: DashboardSettings,
    token: string | undefined,
    o: { readonly audit: AuditLog; readonly clock: Clock; readonly limits: BoardLimits },
  ) {
    this.#settings = settings;
    this.#audit = o.audit;
    this.#failures = new MinuteLimit(o.clock, o.limits.failedSignInsPerMinute);
    this.#requests = new MinuteLimit(o.clock, o.limits.requestsPerMinute);
    const operator = { name: "operator", role: "operator", reviewRoles: ["*"], token } as const;
    const users = settings.users ?? (token === undefined ? [] : [{ ...operator, token }]);
    this.#known = users.map(({ token: secret, ...principal }) => ({
      digest: secretDigest(secret),
      principal: Object.freeze(principal),
    }));
  }

  /** Whether users sign in with a token in the first frame of a socket, or in a header. */
  get takesTokens(): boolean {
    return this.#known.length > 0;
  }

  /**
   * Returns the principal of a request. Returns `undefined` to refuse the request.
   * @throws the errors of `authenticate` of the options
   */
  async principalOf(request: Request): Promise<Principal | undefined> {
    if (this.#settings.authenticate !== undefined) return this.#settings.authenticate(request);
    if (this.takesTokens) return this.#knownAs(bearerOf(request));
    return isLocalRequest(request)
      ? { name: "local", role: "operator", reviewRoles: ["*"] }
      : undefined;
  }

  /** Returns the owner of a token. A wrong token counts as a failed sign-in of the address. */
  signIn(token: string, address: string): Principal | undefined {
    const principal = this.#knownAs(token);
    if (principal === undefined) this.#failed(address, "/ws");
    return principal;
  }

  /** Returns the refusal that an unknown client receives instead of 401. */
  refusalOf(request: Request): RequestRefusal | undefined {
    // A request without a token does not count.
    if (bearerOf(request) === undefined) return undefined;
    const isTooMany = this.#failed(peerOf(request) ?? "", new URL(request.url).pathname);
    return isTooMany ? TOO_MANY_FAILURES : undefined;
  }

  /** Counts a request of a user. */
  limitOf({ name }: Principal): RequestRefusal | undefined {
    return this.#requests.excessOf(name) > 0 ? TOO_MANY_REQUESTS : undefined;
  }

  /**
   * Counts a wrong token. The audit log gets only the first ones of a minute, so that an attack
   * does not fill it.
   */
  #failed(address: string, subject: string): boolean {
    const excess = this.#failures.excessOf(address);
    const detail = excess === 0 ? undefined : "further ones of this minute are left out";
    if (excess <= 1)
      this.#audit.add({
        user: address,
        action: "sign-in-failed",
        subject,
        ...(detail && { detail }),
      });
    return excess > 0;
  }

  /** Returns the principal of a token. Takes the same time for every token. */
  #knownAs(token: string | undefined): Principal | undefined {
    const sent = secretDigest(token ?? "");
    let found: Principal | undefined;
    for (const { digest, principal } of this.#known)
      if (timingSafeEqual(digest, sent)) found = principal;
    return token === undefined ? undefined : found;
  }
}

function bearerOf(request: Request): string | undefined {
  return /^Bearer +(.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
}
