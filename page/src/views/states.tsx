import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { EnsembleListBody } from "../../../src/plugins/dashboard/protocol/control-bodies.js";
import { Empty } from "../components/empty.js";
import { Icon } from "../components/icon.js";
import { Notice } from "../components/notice.js";
import { counted, formatRest, formatTime } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { useFetched } from "../hooks/use-fetched.js";
import { useBoard } from "../stores/board.js";

/** Problems of the connection, below the bar on top. Draws nothing while events arrive. */
export function ConnectionNotice(): JSX.Element | null {
  const { connection, clock, runs } = useBoard();
  const state = connection.state.value;
  const now = (
    <button type="button" class="btn danger" onClick={() => connection.connect()}>
      Now
    </button>
  );
  if (state.kind === "lost")
    return (
      <div class="banner">
        <Notice kind="failed" action={now}>
          <b>{state.isBusy ? "Too many requests of this user." : "Not connected."}</b> What you see
          is as of {formatTime(new Date(state.sinceMs).toISOString())}. Trying again in{" "}
          {formatRest(state.retryAtMs - clock.seconds.value)}.
        </Notice>
      </div>
    );
  if (state.kind === "ended")
    return (
      <div class="banner">
        <Notice kind="waiting" icon="stopped">
          <b>The program has ended.</b> The page keeps {counted(runs.list.value.length, "run")}{" "}
          until it is closed.
        </Notice>
      </div>
    );
  if (state.kind === "outdated")
    return (
      <div class="banner">
        <Notice kind="waiting">
          <b>The program has another version than this page.</b> Load the page again.
        </Notice>
      </div>
    );
  return null;
}

/** The form that requests the token. */
export function SignIn(): JSX.Element {
  const { session, connection } = useBoard();
  const [token, setToken] = useState("");
  const state = connection.state.value;
  const isWrong = state.kind === "refused" && state.wrongToken;
  return (
    <Empty icon="shield" title="This dashboard needs a token">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          session.setToken(token.trim());
          connection.connect();
        }}
      >
        <label class={isWrong ? "field bad" : "field"}>
          <span class="sr-only">Token</span>
          <input
            type="password"
            value={token}
            placeholder="token"
            autocomplete="off"
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="btn main" disabled={token.trim() === ""}>
          Open
        </button>
      </form>
      {isWrong && <p role="alert">The program does not know this token.</p>}
      <p>It stands in the program’s output, and is kept in this tab only.</p>
    </Empty>
  );
}

/** The page before the first run. */
export function NoRuns(): JSX.Element {
  const { session } = useBoard();
  const state = useFetched<EnsembleListBody>(["/api/ensembles"]);
  const ensembles = state.kind === "ready" ? state.bodies.flatMap((body) => body.ensembles) : [];
  return (
    <main class="page">
      <h1>Runs</h1>
      <Empty icon="clock" title="No runs yet">
        <p>This page shows every run of the ensembles that use this dashboard.</p>
        {ensembles.length > 0 && session.may("operator") ? (
          <a class="btn main" href={hrefOf(["ensembles"])}>
            <Icon name="play" /> Start a run
          </a>
        ) : (
          <pre>{"new Ensemble({ model, tasks, plugins: [dashboard()] })"}</pre>
        )}
      </Empty>
    </main>
  );
}
