import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { hrefOf } from "../lib/route.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import { Notice } from "./notice.js";

/**
 * Opens traces, diagrams and logs that are dropped on the page. The files do not leave the browser.
 */
export function FileDrop(): JSX.Element | null {
  const { localRuns, route } = useBoard();
  const [isOver, setOver] = useState(false);
  const [problems, setProblems] = useState<readonly string[]>([]);
  useDrop(setOver, async (files) => {
    const { readFiles } = await import("../local/read-files.js");
    const read = await readFiles(files);
    const ids = read.runs.map(({ runId, entries }) => {
      const id = `file:${runId}`;
      localRuns.add(id, entries);
      return id;
    });
    setProblems(read.problems);
    const [only, ...others] = ids;
    if (only !== undefined)
      route.go(others.length === 0 ? hrefOf(["runs", only]) : hrefOf(["runs"]));
  });
  if (isOver)
    return (
      <div class="drop-here">Traces, diagrams and logs open here. They stay in this browser.</div>
    );
  if (problems.length === 0) return null;
  return (
    <div class="drop-problems">
      <Notice
        kind="failed"
        isUrgent
        action={
          <button type="button" class="btn" onClick={() => setProblems([])}>
            Close
          </button>
        }
      >
        {problems.map(visibleText).join("; ")}
      </Notice>
    </div>
  );
}

/** Calls `open` with the files that are dropped anywhere on the page. */
function useDrop(
  onOver: (isOver: boolean) => void,
  open: (files: readonly File[]) => Promise<void>,
): void {
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    const take = (event: DragEvent, isOver: boolean): boolean => {
      if (event.dataTransfer?.types.includes("Files") !== true) return false;
      event.preventDefault();
      onOver(isOver);
      return true;
    };
    const over = (event: DragEvent): void => void take(event, true);
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) onOver(false);
    };
    const drop = (event: DragEvent): void => {
      if (take(event, false)) void latest.current([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener("dragover", over);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, []);
}
