import { render } from "preact";
import "./board.css";
import "./views/compare.css";
import "./views/cost.css";
import "./views/ensembles.css";
import "./views/errors.css";
import "./views/events.css";
import "./views/key-help.css";
import "./views/reviews.css";
import "./views/run-tools.css";
import "./views/services.css";
import "./views/threads.css";
import "./views/timeline.css";
import { App, loadAhead } from "./app.js";
import { BoardContext, createBoard } from "./stores/board.js";
import { hrefOf } from "./lib/route.js";
import { savedEnvironment, savedRunIn } from "./local/saved-page.js";
import type { Environment, Keep, Socket } from "./stores/environment.js";
import { createLocalRunsStore } from "./stores/local-runs-store.js";
import { tokenInAddress } from "./stores/session-store.js";

/** Returns a storage. If the browser forbids it, values are kept in memory. */
function keepIn(storageOf: () => Storage): Keep {
  const texts = new Map<string, string>();
  const attempt = <T,>(use: (storage: Storage) => T): T | undefined => {
    try {
      return use(storageOf());
    } catch {
      return undefined;
    }
  };
  return {
    read: (name) => texts.get(name) ?? attempt((storage) => storage.getItem(name)) ?? undefined,
    write: (name, text) => {
      if (text === undefined) texts.delete(name);
      else texts.set(name, text);
      attempt((storage) =>
        text === undefined ? storage.removeItem(name) : storage.setItem(name, text),
      );
    },
  };
}

/** Hidden tabs draw no frames. They show new data at intervals. */
function nextFrame(fn: () => void): void {
  if (document.visibilityState === "visible") requestAnimationFrame(fn);
  else setTimeout(fn, 250);
}

function notificationsOf(): Environment["notifications"] {
  if (!("Notification" in window) || !window.isSecureContext) return undefined;
  return {
    permission: () => Notification.permission,
    request: () => Notification.requestPermission(),
    isSeen: () => document.visibilityState === "visible" && document.hasFocus(),
    show: ({ id, title, text }, onClick) => {
      const shown = new Notification(title, { body: text, tag: id });
      shown.onclick = () => {
        window.focus();
        onClick();
      };
    },
  };
}

const environment: Environment = {
  now: () => Date.now(),
  random: () => Math.random(),
  later: (fn, ms) => {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
  nextFrame,
  fetch: (path, init) => fetch(serverPath(path), init),
  openSocket: (path, protocol) => {
    const url = new URL(serverPath(path), window.location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return new WebSocket(url, protocol) as Socket; // its events have more fields
  },
  notifications: notificationsOf(),
  session: keepIn(() => window.sessionStorage),
  local: keepIn(() => window.localStorage),
};

/**
 * Returns a path of the server. A proxy may serve the page below a path. All other files are then
 * below the same path.
 */
function serverPath(path: string): string {
  return new URL(`.${path}`, window.location.href.split("#")[0]).href;
}

/** Removes the token from the address and returns it. */
function takeToken(): string | undefined {
  const signIn = tokenInAddress(window.location.hash);
  if (signIn !== undefined) window.history.replaceState(null, "", signIn.rest);
  return signIn?.token;
}

const token = takeToken();
// A link that signs in may be opened in a tab that already has the page. This listener is added
// before the listener of the route. The route then reads the address without the token.
window.addEventListener("hashchange", () => {
  const other = takeToken();
  if (other === undefined) return;
  board.session.setToken(other);
  board.connection.connect();
});
// A page that was saved with a run contains the run.
const localRuns = createLocalRunsStore();
const saved = savedRunIn(document);
if (saved !== undefined) {
  localRuns.add(saved.runId, saved.entries);
  if (window.location.hash === "")
    window.history.replaceState(null, "", hrefOf(["runs", saved.runId]));
}
const board = createBoard(
  saved === undefined ? environment : savedEnvironment(environment, localRuns),
  window,
  localRuns,
);
if (token !== undefined) board.session.setToken(token);
document.addEventListener("visibilitychange", () => {
  const isHere = document.visibilityState === "visible";
  if (isHere && ["lost", "ended"].includes(board.connection.state.value.kind))
    board.connection.connect();
});
// After the first list: without an answer of the program, nothing can be fetched.
const cancelAhead = board.connection.onFrame(() => {
  cancelAhead();
  environment.later(() => void loadAhead().catch(() => undefined), 500);
});
board.connection.connect();
render(
  <BoardContext.Provider value={board}>
    <App />
  </BoardContext.Provider>,
  document.body,
);
