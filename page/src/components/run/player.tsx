import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { formatDuration } from "../../lib/format.js";
import { runMs } from "../../lib/run-words.js";
import { BoardContext, useBoard } from "../../stores/board.js";
import type { OpenRun } from "../../stores/open-run-store.js";
import { Icon } from "../icon.js";

export interface PlayerProps {
  /** The run in its current state. */
  readonly run: OpenRun;
  /** Milliseconds since its start. */
  readonly atMs: number;
  /** Number of the last entry up to this time. */
  readonly n: number;
  readonly isCut: boolean;
  readonly onAt: (atMs: number | undefined) => void;
}

/** Number of steps in which a run is played, one for each pause. */
const STEPS = 120;
const PAUSE_MS = 80;

/** Selects the instant at which a run is shown, and plays it. */
export function Player({ run, atMs, n, isCut, onAt }: PlayerProps): JSX.Element {
  const { env, clock } = useBoard();
  const [isPlaying, setPlaying] = useState(false);
  const lengthMs = Math.max(1, runMs(run.view.summary, clock.now()));
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (atMs >= lengthMs) {
      setPlaying(false);
      return undefined;
    }
    const next = Math.min(lengthMs, atMs + Math.max(1, lengthMs / STEPS));
    return env.later(() => onAt(Math.round(next)), PAUSE_MS);
  }, [isPlaying, atMs]);
  const toggle = (): void => {
    if (!isPlaying && atMs >= lengthMs) onAt(0);
    setPlaying(!isPlaying);
  };
  const words = `${formatDuration(Math.min(atMs, lengthMs))} of ${formatDuration(lengthMs)}`;
  return (
    <div class="row player" role="group" aria-label="Play in time">
      <button
        type="button"
        class="btn icon"
        aria-label={isPlaying ? "Stop" : "Play"}
        title={isPlaying ? "Stop" : "Play"}
        onClick={toggle}
      >
        <Icon name={isPlaying ? "stop" : "play"} />
      </button>
      <input
        type="range"
        class="grow"
        min={0}
        max={lengthMs}
        step={1}
        value={Math.min(atMs, lengthMs)}
        aria-label="Moment of the run"
        aria-valuetext={words}
        onInput={(event) => {
          setPlaying(false);
          onAt(Number(event.currentTarget.value));
        }}
      />
      <span class="nowrap">{words}</span>
      <span class="faint nowrap hide-s">{`event ${n.toLocaleString("en")}${isCut ? ", the log is cut" : ""}`}</span>
      <button type="button" class="btn" onClick={() => onAt(undefined)}>
        Now
      </button>
    </div>
  );
}

export interface StoppedClockProps {
  /** Milliseconds since 1970. `undefined`: the clock continues. */
  readonly atMs: number | undefined;
  readonly children: ComponentChildren;
}

/** Stops the clock of the page for its children. */
export function StoppedClock({ atMs, children }: StoppedClockProps): JSX.Element {
  const board = useBoard();
  const stopped = useMemo(() => {
    if (atMs === undefined) return board;
    const clock = { ...board.clock, now: () => atMs, seconds: signal(atMs) };
    return { ...board, clock };
  }, [atMs, board]);
  return <BoardContext.Provider value={stopped}>{children}</BoardContext.Provider>;
}
