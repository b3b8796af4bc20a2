import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useKeys } from "../../hooks/use-keys.js";
import { useRunActions } from "../../hooks/use-run-actions.js";
import { useBoard } from "../../stores/board.js";
import type { OpenRun } from "../../stores/open-run-store.js";
import { Icon, type IconName } from "../icon.js";
import { lazyPart } from "../lazy.js";
import { AgainButton, LastGoodLink } from "./again-button.js";

const ExportMenu = lazyPart(async () => (await import("../../views/run-tools.js")).ExportMenu);
const ActionsPanel = lazyPart(async () => (await import("../../views/control.js")).ActionsPanel);
const CancelPanel = lazyPart(async () => (await import("../../views/control.js")).CancelPanel);
const SearchPanel = lazyPart(async () => (await import("../../views/run-tools.js")).SearchPanel);

/** Fetches what the buttons open. */
export function loadTools(): Promise<unknown> {
  return ExportMenu.load();
}

type Panel = "search" | "save" | "cancel" | "actions";

export interface ToolBarProps {
  readonly run: OpenRun;
  readonly taskId: string | undefined;
}

/** Search, play in time, save, compare, run again, cancel and control. */
export function ToolBar({ run, taskId }: ToolBarProps): JSX.Element {
  const { route, env } = useBoard();
  const { may, reload } = useRunActions(run);
  const [open, setOpen] = useState<Panel>();
  const isPlayed = route.current.value.query["at"] !== undefined;
  const toggle = (panel: Panel): void => setOpen(open === panel ? undefined : panel);
  const play = (): void => route.patch({ at: isPlayed ? undefined : "0" });
  useKeys({ "/": () => setOpen("search"), p: play });
  const button = (
    icon: IconName,
    [word, label]: readonly [word: string, label: string],
    isPressed: boolean,
    onClick: () => void,
    look = "btn",
  ): JSX.Element => (
    <button
      type="button"
      class={look}
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      onClick={onClick}
    >
      <Icon name={icon} />
      <span class="hide-s">{word}</span>
    </button>
  );
  return (
    <div class="row tools">
      {button("search", ["Search", "Search in the run (/)"], open === "search", () =>
        toggle("search"),
      )}
      {button("play", ["Play", "Play in time (p)"], isPlayed, play)}
      {button("down", ["Save", "Save the run"], open === "save", () => toggle("save"))}
      {run.view.summary.state === "failed" && env.isSaved !== true && <LastGoodLink run={run} />}
      {may("again") && <AgainButton key={run.runId} run={run} />}
      {may("cancel") &&
        button(
          "stop",
          ["Cancel", "Cancel the run …"],
          open === "cancel",
          () => toggle("cancel"),
          "btn danger",
        )}
      {env.isSaved !== true &&
        button("control", ["Control", "Control the run"], open === "actions", () =>
          toggle("actions"),
        )}
      {open === "actions" && (
        <div class="popover">
          <ActionsPanel key={run.runId} run={run} taskId={taskId} />
        </div>
      )}
      {open === "cancel" && may("cancel") && (
        <div class="popover">
          <CancelPanel
            key={run.runId}
            runId={run.runId}
            onDone={() => {
              setOpen(undefined);
              reload();
            }}
          />
        </div>
      )}
      {open === "search" && (
        <div class="popover">
          <SearchPanel key={run.runId} runId={run.runId} onClose={() => setOpen(undefined)} />
        </div>
      )}
      {open === "save" && (
        <div class="popover">
          <ExportMenu run={run} taskId={taskId} />
        </div>
      )}
    </div>
  );
}
