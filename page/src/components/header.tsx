import type { JSX } from "preact";
import { hrefOf } from "../lib/route.js";
import { useBoard } from "../stores/board.js";
import type { LinkState } from "../stores/connection-store.js";
import { Chip } from "./chip.js";
import { Icon, type IconName } from "./icon.js";
import { SearchBox } from "./search/search-box.js";
import { visibleText } from "../lib/visible-text.js";

/** The bar on top. */
export function Header({ onHelp }: { readonly onHelp: () => void }): JSX.Element {
  const { route, reviews, runs, session, theme } = useBoard();
  const page = route.current.value.path[0];
  const user = session.user.value;
  const isDark = theme.theme.value === "dark";
  return (
    <header class="top">
      <a class="brand" href={hrefOf(["runs"])} aria-label="AgentEnsemble">
        <Icon name="logo" />
        <span class="hide-s">AgentEnsemble</span>
      </a>
      <nav aria-label="Main">
        <Entry page="runs" icon="clock" title="Runs" isHere={page === "runs"} />
        <Entry
          page="reviews"
          icon="user"
          title="Reviews"
          count={reviews.pending.value.length}
          isHere={page === "reviews"}
        />
        <Entry page="ensembles" icon="team" title="Ensembles" isHere={page === "ensembles"} />
        {runs.conversations.value > 0 && (
          <Entry page="threads" icon="chat" title="Threads" isHere={page === "threads"} />
        )}
        {runs.services.value > 0 && (
          <Entry page="services" icon="loop" title="Services" isHere={page === "services"} />
        )}
        <Entry page="compare" icon="compare" title="Compare" isHere={page === "compare"} />
      </nav>
      <span class="grow" />
      {user !== undefined && <SearchBox />}
      <Link />
      {user !== undefined && (
        <span class="hide-s">
          <Chip kind="line" icon="shield" title="Who you are here, and what you may do">
            {user.role} · {visibleText(user.name)}
          </Chip>
        </span>
      )}
      <button
        type="button"
        class="btn bare icon hide-s"
        aria-label="Keys"
        title="Keys (?)"
        onClick={onHelp}
      >
        <Icon name="help" />
      </button>
      <button
        type="button"
        class="btn bare icon"
        aria-label={isDark ? "Light colours" : "Dark colours"}
        title="Colours (t)"
        onClick={() => theme.toggle()}
      >
        <Icon name={isDark ? "sun" : "moon"} />
      </button>
    </header>
  );
}

interface EntryProps {
  readonly page: string;
  readonly icon: IconName;
  readonly title: string;
  readonly isHere: boolean;
  /** Number of waiting items. Default 0. */
  readonly count?: number | undefined;
}

function Entry({ page, icon, title, isHere, count = 0 }: EntryProps): JSX.Element {
  return (
    <a href={hrefOf([page])} {...(isHere && { "aria-current": "page" as const })}>
      <Icon name={icon} />
      <span>{title}</span>
      {count > 0 && <b class="count hot">{count}</b>}
    </a>
  );
}

const LINKS: Readonly<Record<LinkState["kind"], readonly [string, string, string]>> = {
  live: ["", "Live", "Events arrive as they happen"],
  connecting: ["slow", "Connecting", "The page asks the program for its state"],
  lost: ["off", "Not connected", "The page shows what it had"],
  ended: ["off", "Program ended", "The page shows what it had"],
  refused: ["off", "Not signed in", "This dashboard needs a token"],
  outdated: ["off", "Reload needed", "The program has another version than this page"],
};

const BUSY = ["slow", "Too many requests", "The program takes further ones in a minute"] as const;

const SAVED = ["slow", "Saved run", "This page is a file: nothing changes any more"] as const;

/** Shows whether events arrive. */
function Link(): JSX.Element {
  const { connection, env } = useBoard();
  const state = connection.state.value;
  const isBusy = state.kind === "lost" && state.isBusy;
  const [look, word, title] = env.isSaved === true ? SAVED : isBusy ? BUSY : LINKS[state.kind];
  return (
    <span class={`live ${look}`} title={title} role="status">
      <i />
      <span>{word}</span>
    </span>
  );
}
