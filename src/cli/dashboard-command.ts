import { existsSync } from "node:fs";
import { basename, extname } from "node:path";
import type { RunStore } from "../contracts/run-store.js";
import type { Dashboard, Runnable } from "../dashboard.js";
import type { LoadedEnsemble } from "./load-ensemble.js";
import type { StoreArguments } from "./store.js";
import type { OutputTerminal } from "./terminal.js";
import { ValidationError } from "../contracts/errors.js";
import { counted } from "../util/text.js";
import { portOf } from "./arguments.js";
import { ExitCode } from "./exit-codes.js";
import { interruptible } from "./interruption.js";
import { accessOf, endEnsemble } from "./load-ensemble.js";
import { loadProgram } from "./load-program.js";
import { openInBrowser } from "./open-browser.js";

/** The options of `agentensemble dashboard`. */
export interface ServedRunsArguments extends StoreArguments {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  /** `true` without a value: a random token. */
  readonly token?: string | boolean | undefined;
  readonly allowedHost?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
  /** Opens the page in the browser. */
  readonly open?: boolean | undefined;
}

const DEFAULT_STORE = "file:./.agentensemble";
const TRACES = "./traces";

/**
 * Returns the locations of runs. Default: the store of the environment or its default, and the
 * folder of traces, if it exists.
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

/**
 * Returns the address of the runs. In the common folder, the runs are in `dashboard`. Any other
 * address contains the runs directly.
 */
function runsOfDashboard(url: string): string {
  return /^file:(?:.*\/)?\.agentensemble\/?$/s.test(url)
    ? `${url.replace(/\/$/, "")}/dashboard`
    : url;
}

const PROGRAM = /\.[cm]?[jt]sx?$/;

/** The subject of a command: stored runs, or programs whose ensembles users start. */
interface ShownPlaces {
  readonly store: RunStore | undefined;
  readonly programs: readonly string[];
}

/** Runs of programs are stored in `--store`, otherwise only in memory. @throws ValidationError */
async function shownOf(paths: readonly string[], o: ServedRunsArguments): Promise<ShownPlaces> {
  const { RunStore: Stores } = await import("../dashboard.js"); // other commands do not load it
  const programs = paths.filter((path) => PROGRAM.test(path));
  if (programs.length === 0) return { store: Stores.readOnly(placesOf(paths, o)), programs };
  if (programs.length < paths.length)
    throw new ValidationError("Programs and saved runs can't be shown together", {
      hint: "Name programs only; --store keeps their runs and shows those that it has.",
    });
  if (o.store === undefined) return { store: undefined, programs };
  const [url = ""] = placesOf([], o);
  const store = url.startsWith("file:")
    ? Stores.file(url.slice("file:".length))
    : Stores.sql({ url });
  return { store, programs };
}

/**
 * Registers the ensembles of a program. An ensemble without a name is named by its file.
 * @throws ValidationError
 */
async function registerProgram(board: Dashboard, file: string): Promise<readonly LoadedEnsemble[]> {
  const { ensembles } = await loadProgram(file);
  for (const ensemble of ensembles) {
    const name = basename(file, extname(file))
      .replace(/[^\w-]/g, "-")
      .slice(0, 64);
    if (ensemble.name === undefined) accessOf(ensemble).nameIfNone?.(name);
    // `loadEnsemble` has checked the value.
    board.register(ensemble.name ?? name, ensemble as unknown as Runnable);
  }
  return ensembles;
}

/**
 * `agentensemble dashboard [paths...]`: shows stored or saved runs, or starts ensembles of
 * programs, until it is interrupted.
 */
export async function dashboardCommand(
  paths: readonly string[],
  o: ServedRunsArguments,
  terminal: OutputTerminal,
): Promise<number> {
  terminal.keepOutputForResults();
  const port = portOf(o.port);
  const { store, programs } = await shownOf(paths, o);
  const { dashboard } = await import("../dashboard.js");
  const token = o.token === false ? undefined : o.token;
  const board = dashboard({
    keepAlive: true,
    ...(store !== undefined && { store }),
    ...(port !== undefined && { port }),
    ...(o.host !== undefined && { host: o.host }),
    ...(token !== undefined && { token }),
    ...(o.allowedHost !== undefined && { allowedHosts: o.allowedHost }),
  });
  const ensembles: LoadedEnsemble[] = [];
  try {
    for (const file of programs) ensembles.push(...(await registerProgram(board, file)));
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    await interruptible(
      (async () => {
        // An unreadable store is an error here.
        const runs = (await store?.list({ limit: 1 }))?.total ?? 0;
        const url = await board.listen();
        const more = programs.length > 0 ? { ensembles: ensembles.length } : {};
        if (o.json === true) await terminal.json({ url, runs, ...more });
        else await terminal.text(url);
        const what = programs.length > 0 ? counted(ensembles.length, "ensemble") : `${runs} runs`;
        await terminal.message(`${what}. Ctrl-C ends the dashboard.`);
        if (o.open === true && !(await openInBrowser(url)))
          await terminal.message("No browser could be opened.");
        await ended;
      })(),
      end,
    );
  } finally {
    await Promise.allSettled(ensembles.map((one) => endEnsemble(one)));
    await board.close();
    await store?.dispose?.();
  }
  return ExitCode.OK;
}
