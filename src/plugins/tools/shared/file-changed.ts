import type { ToolContext } from "../../../contracts/tool.js";

/**
 * Emits `file_changed` for a file that was written. Computes no difference without a listener.
 * Emits nothing if the content is unchanged.
 */
export async function emitFileChanged(
  ctx: ToolContext,
  filePath: string,
  before: string | undefined,
  after: string,
): Promise<void> {
  if (!ctx.scope.listens("file_changed") || before === after) return;
  const { countLines, diffLines, linesOf } = await import("./line-diff.js");
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
