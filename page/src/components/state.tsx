import type { JSX } from "preact";
import type { RunSummary, WorkState } from "../../../src/contracts/run-store.js";
import { Icon, type IconName } from "./icon.js";

export type ShownState = WorkState | RunSummary["state"];

const ICONS: Readonly<Record<ShownState, IconName>> = {
  idle: "idle",
  running: "running",
  waiting: "waiting",
  done: "done",
  failed: "failed",
  stopped: "stopped",
  interrupted: "stopped",
};

/** The words of states for views without more specific words. */
const WORDS: Readonly<Record<ShownState, string>> = {
  idle: "not started",
  running: "running",
  waiting: "waiting for review",
  done: "completed",
  failed: "failed",
  stopped: "stopped",
  interrupted: "interrupted",
};

export interface StateProps {
  readonly state: ShownState;
  /** Default: the state's usual word. */
  readonly word?: string | undefined;
  /** Whether only the icon is shown, with the word as its label. */
  readonly isIcon?: boolean | undefined;
}

/** A state: icon, word and colour. */
export function State({ state, word = WORDS[state], isIcon = false }: StateProps): JSX.Element {
  return (
    <span class={`st ${state}`}>
      {isIcon ? <Icon name={ICONS[state]} label={word} /> : <Icon name={ICONS[state]} />}
      {!isIcon && <span>{word}</span>}
    </span>
  );
}
