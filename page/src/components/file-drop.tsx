import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { hrefOf } from "../lib/route.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import { Notice } from "./notice.js";

/** Opens traces, diagrams and logs that are dropped on the page. They do not leave the browser. */
export function FileDrop(): JSX.Element | null {
  const { localRuns, route } = useBoard();
  const [isOver, setOver] = useState(false);
  const [problems, setProblems] = useState<readonly string[]>([]);
  useEffect(() => {
    const isFiles = (event: DragEvent): boolean =>
      event.dataTransfer?.types.includes("Files") === true;
    const onOver = (event: DragEvent): void => {
      if (!isFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent): void => {
      if (!isFiles(event)) return;
      event.preventDefault();
      setOver(false);
      void open([...(event.dataTransfer?.files ?? [])]);
    };
    const open = async (files: readonly File[]): Promise<void> => {
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
    };
    window.addEventListener("dragover", onOver);
    window.addEventListener("dragleave", onLeave);
    window.addEventListener("drop", onDrop);
    return () => {
      window.removeEventListener("dragover", onOver);
      window.removeEventListener("dragleave", onLeave);
      window.removeEventListener("drop", onDrop);
    };
  }, []);
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
