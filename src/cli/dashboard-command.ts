import { existsSync } from "node:fs";
import type { StoreArguments } from "./store.js";
import type { OutputTerminal } from "./terminal.js";
import { ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { ExitCode } from "./exit-codes.js";
import { interruptible } from "./interruption.js";

/** The options of `agentensemble dashboard`. */
export interface ServedRunsArguments extends StoreArguments {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  /** `true` without a value: a random token. */
  readonly token?: string | boolean | undefined;
  readonly allowedHost?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
}

const DEFAULT_STORE = "file:./.agentensemble";
const TRACES = "./traces";

/**
 * The places with runs: those that the user names, else the store of the environment or its default,
 * with the folder of traces where it exists.
 */
export function placesOf(
  paths: readonly string[],
  { store }: StoreArguments,
  environment: NodeJS.ProcessEnv = process.env,
): readonly string[] {
  if (store?.trim() === "") throw new ValidationError("--store must not be blank");
  const named = store === undefined ? [] : [runsOfDashboard(store)];
  if (paths.length > 0 || store !== undefined) return [...paths, ...named];
  const variable = environment["AGENTENSEMBLE_STORE"] ?? "";
  const kept = runsOfDashboard(variable === "" ? DEFAULT_STORE : variable);
  return existsSync(TRACES) ? [TRACES, kept] : [kept];
}

/** The folder of all that is kept has these runs in `dashboard`; any other address is that of the runs themselves. */
function runsOfDashboard(url: string): string {
  return /^file:(?:.*\/)?\.agentensemble\/?$/s.test(url)
    ? `${url.replace(/\/$/, "")}/dashboard`
    : url;
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new ValidationError(`--port must be a number from 0 to 65535, got: ${preview(text)}`);
  return Number(text);
}

/** `agentensemble dashboard [paths...]`: shows runs that were kept or saved, until it is interrupted. */
export async function dashboardCommand(
  paths: readonly string[],
  o: ServedRunsArguments,
  terminal: OutputTerminal,
): Promise<number> {
  terminal.keepOutputForResults();
  const { dashboard, RunStore } = await import("../dashboard.js"); // other commands do not load it
  const port = portOf(o.port);
  const places = placesOf(paths, o);
  const store = RunStore.readOnly(places);
  const token = o.token === false ? undefined : o.token;
  const board = dashboard({
    store,
    keepAlive: true,
    ...(port !== undefined && { port }),
    ...(o.host !== undefined && { host: o.host }),
    ...(token !== undefined && { token }),
    ...(o.allowedHost !== undefined && { allowedHosts: o.allowedHost }),
  });
  try {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    await interruptible(
      (async () => {
        const { total } = await store.list({ limit: 1 }); // a store that can't be read is an error here
        const url = await board.listen();
        if (o.json === true) await terminal.json({ url, runs: total });
        else await terminal.text(url);
        await terminal.message(`${total} runs. Ctrl-C ends the dashboard.`);
        await ended;
      })(),
      end,
    );
  } finally {
    await board.close();
    await store.dispose?.();
  }
  return ExitCode.OK;
}
