import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { useSignalEffect } from "@preact/signals";
import { faviconOf } from "./lib/favicon.js";
import { hrefOf } from "./lib/route.js";
import { useKeys } from "./hooks/use-keys.js";
import { FileDrop } from "./components/file-drop.js";
import { Header } from "./components/header.js";
import { Empty } from "./components/empty.js";
import { lazyPart } from "./components/lazy.js";
import { useBoard } from "./stores/board.js";
import { KeyHelp } from "./views/key-help.js";
import { RunsView } from "./views/runs.js";
import { ConnectionNotice, SignIn } from "./views/states.js";

const ReviewsView = lazyPart(async () => (await import("./views/reviews.js")).ReviewsView);
const CompareView = lazyPart(async () => (await import("./views/compare.js")).CompareView);
const EnsemblesView = lazyPart(async () => (await import("./views/control.js")).EnsemblesView);
const ThreadsView = lazyPart(async () => (await import("./views/control.js")).ThreadsView);
const ServicesView = lazyPart(async () => (await import("./views/control.js")).ServicesView);
const PanelView = lazyPart(async () => (await import("./views/control.js")).PanelView);
const RunPage = lazyPart(async () => (await import("./views/run.js")).RunPage);

/**
 * Fetches the scripts of views that are not visible yet. The page then continues to work after the
 * end of the program.
 */
export async function loadAhead(): Promise<void> {
  await Promise.all([RunPage.load(), ReviewsView.load(), CompareView.load()]);
  await (await import("./views/run.js")).loadViews();
}

/** The page: the bar on top, problems of the connection, and the view of the address. */
export function App(): JSX.Element {
  const { route, theme, connection, reviews } = useBoard();
  const [isHelp, setHelp] = useState(false);
  useSignalEffect(() => {
    document.documentElement.dataset["theme"] = theme.theme.value;
  });
  useSignalEffect(() => {
    const count = reviews.pending.value.length;
    document.title = count > 0 ? `(${count}) AgentEnsemble` : "AgentEnsemble";
    document.querySelector("link[rel=icon]")?.setAttribute("href", faviconOf(count));
  });
  useKeys({
    "?": () => setHelp(!isHelp),
    "g r": () => route.go(hrefOf(["runs"])),
    "g s": () => route.go(hrefOf(["services"])),
    "g t": () => route.go(hrefOf(["threads"])),
    "g v": () => route.go(hrefOf(["reviews"])),
    t: () => theme.toggle(),
    Escape: isHelp ? () => setHelp(false) : undefined,
  });
  const isRefused = connection.state.value.kind === "refused";
  return (
    <>
      <Header onHelp={() => setHelp(true)} />
      <ConnectionNotice />
      {isRefused ? (
        <main class="page">
          <SignIn />
        </main>
      ) : (
        <View />
      )}
      <FileDrop />
      {isHelp && <KeyHelp onClose={() => setHelp(false)} />}
    </>
  );
}

/** A run. Fetches the run together with the scripts that show it. */
function OpenedRun({ runId }: { readonly runId: string }): JSX.Element {
  const { openRun } = useBoard();
  useLayoutEffect(() => {
    openRun.open(runId);
    return () => openRun.open(undefined);
  }, [runId]);
  return <RunPage runId={runId} />;
}

function View(): JSX.Element {
  const { path, query } = useBoard().route.current.value;
  const [page, id] = path;
  if (page === "runs" && id === undefined) return <RunsView />;
  if (page === "runs" && id !== undefined) return <OpenedRun key={id} runId={id} />;
  if (page === "ensembles") return <EnsemblesView name={id} />;
  if (page === "panels" && id !== undefined) return <PanelView key={id} name={id} />;
  if (page === "services") return <ServicesView />;
  if (page === "threads") {
    const { owner } = query;
    return <ThreadsView name={id} threadId={path[2]} owner={owner} />;
  }
  if (page === "compare") return <CompareView />;
  if (page === "reviews") return <ReviewsView reviewId={id ?? query["review"]} />;
  return (
    <main class="page">
      <Empty icon="search" title="There is no such page">
        <a class="link" href={hrefOf(["runs"])}>
          All runs
        </a>
      </Empty>
    </main>
  );
}
