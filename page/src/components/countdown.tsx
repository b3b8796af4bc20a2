import type { JSX } from "preact";
import { formatRest } from "../lib/format.js";
import { useBoard } from "../stores/board.js";

export interface CountdownProps {
  /** An ISO instant. */
  readonly to: string;
  /** The text after the time. Default ` left`. */
  readonly after?: string | undefined;
}

/** The remaining time, updated each second. `time is up` after the deadline. */
export function Countdown({ to, after = " left" }: CountdownProps): JSX.Element {
  const { clock } = useBoard();
  const restMs = Date.parse(to) - clock.seconds.value;
  return <time dateTime={to}>{restMs <= 0 ? "time is up" : `${formatRest(restMs)}${after}`}</time>;
}
