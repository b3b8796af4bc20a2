import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../../hooks/use-keys.js";
import { isTyping } from "../../lib/keys.js";
import { useBoard } from "../../stores/board.js";
import { Icon } from "../icon.js";
import { lazyPart } from "../lazy.js";

const SearchResults = lazyPart(
  async () => (await import("../../views/run-tools.js")).SearchResults,
);

/** Delay between the last key and a search in a run. */
const PAUSE_MS = 250;

/** The search in the bar on top: in the open run, otherwise in all runs. */
export function SearchBox(): JSX.Element | null {
  const { route, env } = useBoard();
  const [page, id] = route.current.value.path;
  const runId = page === "runs" ? id : undefined;
  if (runId === undefined && env.isSaved === true) return null;
  return <Box key={runId} runId={runId} />;
}

/** Searches a run while the user types, and all runs after Enter. */
function Box({ runId }: { readonly runId: string | undefined }): JSX.Element {
  const { env } = useBoard();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [wanted, setWanted] = useState("");
  const isOpen = wanted !== "";
  const search = (): void => setWanted(text.trim());
  const close = (): void => setWanted("");
  const box = useClosing(isOpen, close);
  useKeys({
    "/": () => {
      input.current?.focus();
      input.current?.select();
    },
  });
  useEffect(() => (runId === undefined ? undefined : env.later(search, PAUSE_MS)), [text]);
  return (
    <div ref={box} class={isOpen ? "search open" : "search"}>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          search();
        }}
      >
        <label class="find">
          <Icon name="search" />
          <input
            ref={input}
            value={text}
            placeholder={runId === undefined ? "Search runs, tasks, texts" : "Search in this run"}
            aria-label="Search"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
      </form>
      {isOpen && (
        <section class="search-results" aria-label="Found">
          <SearchResults key={wanted} text={wanted} runId={runId} onOpened={close} />
        </section>
      )}
    </div>
  );
}

/**
 * Closes the open element after Escape, on another page, and when the user continues outside of the
 * element.
 */
function useClosing(isOpen: boolean, close: () => void): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const page = useBoard().route.current.value.path.join("/");
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || isTyping(event.target)) return;
      event.preventDefault(); // the Escape of the page closes something else
      close();
    };
    const options = { capture: true }; // before all keys of the page
    window.addEventListener("keydown", onKeyDown, options);
    return () => window.removeEventListener("keydown", onKeyDown, options);
  }, [isOpen]);
  useEffect(close, [page]);
  useEffect(() => {
    const end = new AbortController();
    const { signal } = end;
    const ifOutside = (target: EventTarget | null): void => {
      if (target instanceof Node && box.current?.contains(target) === false) close();
    };
    document.addEventListener("pointerdown", ({ target }) => ifOutside(target), { signal });
    document.addEventListener("focusin", ({ target }) => ifOutside(target), { signal });
    box.current?.addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      },
      { signal },
    );
    return () => end.abort();
  }, []);
  return box;
}
