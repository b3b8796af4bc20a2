import type { ToolContext } from "../../../contracts/tool.js";
import { countLines, diffLines, linesOf } from "./line-diff.js";

/** Tells whoever listens of a file that was written. Nothing is compared when nobody does, and nothing told when nothing changed. */
export function tellFileChanged(
  ctx: ToolContext,
  filePath: string,
  before: string | undefined,
  after: string,
): void {
  if (!ctx.scope.listens("file_changed") || before === after) return;
  const { parentTaskId } = ctx.scope;
  ctx.scope.emit({
    type: "file_changed",
    taskId: ctx.taskId,
    ...(parentTaskId === undefined ? {} : { parentTaskId }),
    agentRole: ctx.agentRole,
    filePath,
    changeType: before === undefined ? "CREATED" : "MODIFIED",
    ...countLines(diffLines(linesOf(before ?? ""), linesOf(after))),
  });
}
