import { hostname } from "node:os";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireText } from "../../../contracts/validation.js";

/** The dashboard to which a process reports its runs. */
export interface ReportTarget {
  /** The URL of the dashboard: `http:` or `https:`, with the path of its `publicUrl`. */
  readonly url: string;
  /** A token of the dashboard with the role `reporter` or `operator`. */
  readonly token: string;
  /**
   * The name of this process on the dashboard: 1 to 64 letters, digits, `-`, `_` and `.`. Default:
   * the name of the machine and the process id.
   */
  readonly process?: string | undefined;
}

const NAME = /^[\w.-]{1,64}$/;

/** @throws ValidationError */
export function checkReportTarget(target: ReportTarget | undefined): void {
  if (target === undefined) return;
  const what = "dashboard reportTo";
  checkOptions(what, target, ["url", "token", "process"]);
  const { url, token, process: name } = target;
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  const { protocol, search, hash, username } = parsed ?? {};
  if (!/^https?:$/.test(protocol ?? "") || `${search}${hash}${username}` !== "")
    throw new ValidationError(
      `${what} url must be an address like https://example.com/board, got: ${preview(url)}`,
    );
  requireText(token, `${what} token must be a text that is not blank`);
  if (name !== undefined && (typeof name !== "string" || !NAME.test(name)))
    throw new ValidationError(
      `${what} process must be 1 to 64 letters, digits, -, _ and ., got: ${preview(name)}`,
    );
}

/** Returns the name under which this process reports. */
export function processNameOf({ process: name }: ReportTarget): string {
  const machine =
    hostname()
      .replace(/[^\w.-]/g, "-")
      .slice(0, 40) || "process";
  return name ?? `${machine}-${process.pid}`;
}
