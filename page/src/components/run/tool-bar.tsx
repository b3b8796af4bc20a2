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

/** Fetches the scripts of the buttons. */
export function loadTools(): Promise<unknown> {
  return ExportMenu.load();
}

type Panel = "save" | "cancel" | "actions";

export interface ToolBarProps {
  readonly run: OpenRun;
  readonly taskId: string | undefined;
}

/** The buttons that play, save, compare, repeat, cancel and control a run. */
export function ToolBar({ run, taskId }: ToolBarProps): JSX.Element {
  const { route, env } = useBoard();
  const { may, reload } = useRunActions(run);
  const [open, setOpen] = useState<Panel>();
  const isPlayed = route.current.value.query["at"] !== undefined;
  const isSaved = env.isSaved === true;
  const play = (): void => route.patch({ at: isPlayed ? undefined : "0" });
  const opens = (panel: Panel): Pick<ToolProps, "isPressed" | "onClick"> => ({
    isPressed: open === panel,
    onClick: () => setOpen(open === panel ? undefined : panel),
  });
  useKeys({ p: play });
  return (
    <div class="row tools">
      <Tool icon="play" word="Play" label="Play in time (p)" isPressed={isPlayed} onClick={play} />
      <Tool icon="down" word="Save" label="Save the run" {...opens("save")} />
      {run.view.summary.state === "failed" && !isSaved && <LastGoodLink run={run} />}
      {may("again") && <AgainButton key={run.runId} run={run} />}
      {may("cancel") && (
        <Tool icon="stop" word="Cancel" label="Cancel the run …" isDanger {...opens("cancel")} />
      )}
      {!isSaved && (
        <Tool icon="control" word="Control" label="Control the run" {...opens("actions")} />
      )}
      {open !== undefined && (
        <div class="popover">
          <OpenPanel
            key={run.runId}
            {...{ run, taskId, panel: open }}
            onClose={() => {
              setOpen(undefined);
              reload();
            }}
          />
        </div>
      )}
    </div>
  );
}

interface ToolProps {
  readonly icon: IconName;
  readonly word: string;
  readonly label: string;
  readonly isPressed: boolean;
  readonly isDanger?: boolean | undefined;
  readonly onClick: () => void;
}

function Tool({ icon, word, label, isPressed, isDanger, onClick }: ToolProps): JSX.Element {
  return (
    <button
      type="button"
      class={isDanger === true ? "btn danger" : "btn"}
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      onClick={onClick}
    >
      <Icon name={icon} />
      <span class="hide-s">{word}</span>
    </button>
  );
}

interface OpenPanelProps extends ToolBarProps {
  readonly panel: Panel;
  readonly onClose: () => void;
}

function OpenPanel({ panel, run, taskId, onClose }: OpenPanelProps): JSX.Element {
  switch (panel) {
    case "save":
      return <ExportMenu run={run} taskId={taskId} />;
    case "cancel":
      return <CancelPanel runId={run.runId} onDone={onClose} />;
    case "actions":
      return <ActionsPanel run={run} taskId={taskId} />;
  }
}
