import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { createApi, type Api } from "../api.js";
import { createClockStore, type ClockStore } from "./clock-store.js";
import { createConnectionStore, type ConnectionStore } from "./connection-store.js";
import type { Environment } from "./environment.js";
import { createFoundRunsStore, type FoundRunsStore } from "./found-runs-store.js";
import { createLocalRunsStore, withLocalRuns, type LocalRunsStore } from "./local-runs-store.js";
import { createNotifyStore, type NotifyStore } from "./notify-store.js";
import { createOpenRunStore, type OpenRunStore } from "./open-run-store.js";
import { createReviewsStore, type ReviewsStore } from "./reviews-store.js";
import { createRouteStore, type RouteStore } from "./route-store.js";
import { createRunLogStore, type RunLogStore } from "./run-log-store.js";
import { createRunsStore, type RunsStore } from "./runs-store.js";
import { createSessionStore, type SessionStore } from "./session-store.js";
import { createTaskDetailStore, type TaskDetailStore } from "./task-detail-store.js";
import { createThemeStore, type ThemeStore } from "./theme-store.js";

/** All stores of the page. */
export interface Board {
  readonly env: Environment;
  readonly api: Api;
  readonly clock: ClockStore;
  readonly connection: ConnectionStore;
  readonly session: SessionStore;
  readonly runs: RunsStore;
  readonly foundRuns: FoundRunsStore;
  readonly localRuns: LocalRunsStore;
  readonly reviews: ReviewsStore;
  readonly notify: NotifyStore;
  readonly openRun: OpenRunStore;
  readonly runLog: RunLogStore;
  readonly taskDetail: TaskDetailStore;
  readonly route: RouteStore;
  readonly theme: ThemeStore;
}

export function createBoard(
  environment: Environment,
  window: Window,
  localRuns: LocalRunsStore = createLocalRunsStore(),
): Board {
  const env = withLocalRuns(environment, localRuns);
  const clock = createClockStore(env);
  const session = createSessionStore(env);
  const api = createApi({
    fetch: env.fetch,
    token: () => session.token.value,
    onUnauthorized: () => {
      // The token was revoked while the page was open.
      if (connection.state.value.kind === "live") connection.connect();
    },
  });
  const connection = createConnectionStore({ env, api, session, clock });
  const reviews = createReviewsStore(connection, api);
  const route = createRouteStore(window);
  const openRun = createOpenRunStore({ connection, api, env });
  return {
    env,
    api,
    clock,
    connection,
    session,
    runs: createRunsStore(connection),
    foundRuns: createFoundRunsStore({ connection, api, env }),
    localRuns,
    reviews,
    notify: createNotifyStore({ env, reviews, route }),
    openRun,
    runLog: createRunLogStore({ api, env, openRun }),
    taskDetail: createTaskDetailStore({ connection, openRun, api, env }),
    route,
    theme: createThemeStore(env, window),
  };
}

export const BoardContext = createContext<Board | undefined>(undefined);

/** Returns the stores. @throws Error outside of the page. */
export function useBoard(): Board {
  const board = useContext(BoardContext);
  if (board === undefined) throw new Error("Components are drawn inside BoardContext.Provider");
  return board;
}
