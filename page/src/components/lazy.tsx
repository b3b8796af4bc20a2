import { createElement, type ComponentType, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useBoard } from "../stores/board.js";
import { Empty } from "./empty.js";

/**
 * A component with a separate code file. The file is fetched when the component is first drawn, or
 * earlier.
 */
export interface LazyPart<P> {
  (props: P): JSX.Element;
  /** Fetches the code. Rejects if the file can't be read. A later call tries again. */
  load(): Promise<unknown>;
}

/**
 * Creates a component from an import of its code. `meanwhile` is shown until the code has been
 * loaded.
 */
export function lazyPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
  meanwhile?: ComponentType<P>,
): LazyPart<P> {
  let part: ComponentType<P> | undefined;
  const fetchPart = async (): Promise<ComponentType<P>> => (part = await load());
  const Lazy = (props: P): JSX.Element => {
    const [state, setState] = useState<"loading" | "ready" | "failed">(
      part === undefined ? "loading" : "ready",
    );
    const [attempt, setAttempt] = useState(0);
    const isLive = useBoard().connection.state.value.kind === "live";
    useEffect(() => {
      if (part !== undefined) {
        setState("ready"); // another call may have fetched it
        return undefined;
      }
      let isWanted = true;
      const show = (to: "ready" | "failed") => (): void => {
        if (isWanted) setState(to);
      };
      fetchPart().then(show("ready"), show("failed"));
      return () => {
        isWanted = false;
      };
    }, [attempt, isLive]); // tries again after a reconnection
    const Part = part;
    if (Part !== undefined) return <Part {...props} />;
    if (meanwhile !== undefined) return createElement(meanwhile, props);
    if (state !== "failed") return <p class="pane-head muted">Loading …</p>;
    const again = (): void => {
      setState("loading");
      setAttempt(attempt + 1);
    };
    return (
      <Empty icon="failed" title="This part of the page can’t be loaded">
        <p>The program does not answer, or has another version: then load the page again.</p>
        <button type="button" class="btn" onClick={again}>
          Try again
        </button>
      </Empty>
    );
  };
  return Object.assign(Lazy, { load: fetchPart });
}
