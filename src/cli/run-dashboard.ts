import type { Dashboard } from "../dashboard.js";
import type { OutputTerminal } from "./terminal.js";
import { ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { sleep } from "../util/abort/timeouts.js";
import { interruptible } from "./interruption.js";

/** Options of commands that show their run on a dashboard. */
export interface DashboardArguments {
  /** The port. `true`: the default port. */
  readonly dashboard?: string | true | undefined;
  readonly stay?: boolean | undefined;
}

const LOOK_MS = 250;
/** Time in ms for which a page may be disconnected, for example by a reload. */
const AWAY_MS = 3_000;

/** @throws ValidationError for an invalid port, and for `--stay` without `--dashboard` */
export function checkDashboardArguments({ dashboard: port, stay }: DashboardArguments): void {
  if (port === undefined) {
    if (stay === true) throw new ValidationError("--stay needs --dashboard");
    return;
  }
  if (port === true || (/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) return;
  throw new ValidationError(`--dashboard must be a port from 0 to 65535, got: ${preview(port)}`, {
    hint: "Write the file before --dashboard, or --dashboard=7329.",
  });
}

/** Creates the dashboard that the arguments request. */
export async function dashboardOf({
  dashboard: port,
}: DashboardArguments): Promise<Dashboard | undefined> {
  if (port === undefined) return undefined;
  const { dashboard } = await import("../dashboard.js");
  return dashboard(port === true ? {} : { port: Number(port) });
}

/** Waits for the first page, then until the last page has been closed, or until an interruption. */
export async function untilLeft(board: Dashboard, terminal: OutputTerminal): Promise<void> {
  await terminal.message("The dashboard runs until its page is closed. Ctrl+C ends it.");
  const interruption = new AbortController();
  const leaving = async (): Promise<void> => {
    let hasBeenOpen = false;
    for (let awayMs = 0; !hasBeenOpen || awayMs < AWAY_MS;) {
      await sleep(LOOK_MS, interruption.signal);
      hasBeenOpen ||= board.pages > 0;
      awayMs = board.pages > 0 ? 0 : awayMs + LOOK_MS;
    }
  };
  const left = leaving().catch(() => undefined); // interrupted
  await interruptible(left, () => interruption.abort());
}
