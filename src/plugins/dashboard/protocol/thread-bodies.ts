/** A conversation whose threads can be read. */
export interface ConversationInfo {
  /** The name. For another process: `{process}/{name}`. */
  readonly name: string;
  /** The process that executes the conversation. Absent for this process. */
  readonly process?: string | undefined;
  readonly title?: string | undefined;
}

/** `GET /api/conversations`. */
export interface ConversationListBody {
  readonly conversations: readonly ConversationInfo[];
}

/** A thread without its messages. */
export interface ThreadInfo {
  readonly id: string;
  readonly owner?: string | undefined;
  readonly title?: string | undefined;
  readonly turns: number;
  /** The agent of the last turn. */
  readonly agentRole?: string | undefined;
  /** ISO instants. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** `GET /api/conversations/{name}/threads`. */
export interface ThreadListBody {
  /** Most recently changed first. */
  readonly threads: readonly ThreadInfo[];
  /** The `after` of the next page. */
  readonly next?: string | undefined;
}

/** A message of a thread. Without contents, its texts are empty. */
export interface ThreadMessageInfo {
  readonly id: string;
  /** The run that added the message. */
  readonly runId: string;
  /** An ISO instant. */
  readonly at: string;
  readonly role: "user" | "assistant" | "tool";
  readonly agentRole?: string | undefined;
  readonly text: string;
  /** The types of the files in a message of the user. */
  readonly files?: readonly string[] | undefined;
  /** Tools that the agent called. */
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[] | undefined;
}

/** `GET /api/conversations/{name}/threads/{threadId}`. */
export interface ThreadBody {
  readonly thread: ThreadInfo;
  /**
   * The messages, oldest first. They are those of the last turns, or of the turns before `before`.
   */
  readonly messages: readonly ThreadMessageInfo[];
  /** The `before` of earlier messages. */
  readonly previous?: string | undefined;
}
