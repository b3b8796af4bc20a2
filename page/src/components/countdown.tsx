import type { JSX } from "preact";
import { formatRest } from "../lib/format.js";
import { useBoard } from "../stores/board.js";

export interface CountdownProps {
  /** An ISO instant. */
  readonly to: string;
  /** What stands behind the time. Default ` left`. */
  readonly after?: string | undefined;
}

/** The time that is left, renewed each second; `time is up` behind the moment. */
export function Countdown({ to, after = " left" }: CountdownProps): JSX.Element {
  const { clock } = useBoard();
  const restMs = Date.parse(to) - clock.seconds.value;
  return <time dateTime={to}>{restMs <= 0 ? "time is up" : `${formatRest(restMs)}${after}`}</time>;
}
