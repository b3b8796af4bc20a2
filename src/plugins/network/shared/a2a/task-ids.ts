/** The beginning of the id of a task whose first message had a context. */
const WITH_CONTEXT = "ctx~";

/** The parts of the id of a task. */
export interface TaskName {
  readonly messageId: string;
  readonly contextId: string;
}

/**
 * Returns the id of the task that a message starts. This is the id of the message, preceded by the
 * context if the message names one. No instance has to store the context of a task.
 */
export function taskIdOf({ messageId, contextId }: TaskName): string {
  const isNamed = contextId !== "" && contextId !== messageId;
  if (!isNamed && !messageId.startsWith(WITH_CONTEXT)) return messageId;
  return `${WITH_CONTEXT}${Buffer.from(contextId).toString("base64url")}~${messageId}`;
}

/**
 * Returns the parts of an id of {@link taskIdOf}. If the id has no context, the id of the message
 * is the context.
 */
export function taskNameOf(taskId: string): TaskName {
  if (!taskId.startsWith(WITH_CONTEXT)) return { messageId: taskId, contextId: taskId };
  const end = taskId.indexOf("~", WITH_CONTEXT.length);
  if (end === -1) return { messageId: taskId, contextId: taskId };
  const messageId = taskId.slice(end + 1);
  const contextId = Buffer.from(taskId.slice(WITH_CONTEXT.length, end), "base64url").toString();
  return { messageId, contextId: contextId === "" ? messageId : contextId };
}
