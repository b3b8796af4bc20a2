import type { AttachmentLimits, ContentPart } from "../../contracts/content.js";
import type {
  ThreadHead,
  ThreadMessage,
  ThreadPage,
  ThreadQuery,
} from "../../contracts/conversation.js";
import type { QuotaState } from "../../contracts/queue-options.js";
import type { RunHandle, RunOptions } from "../../contracts/run.js";
import type { RunValue } from "../../contracts/run-info.js";
import type { RunHandlerOptions, StreamSettings } from "./run-handler-options.js";
import type { Question } from "./page-turns.js";
import type { HttpOptions, HttpSettings } from "./http-options.js";
import { partLimits } from "../../contracts/attachment.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkOptions, preview } from "../../contracts/validation.js";
import { isObject } from "../../util/objects.js";
import { StreamStore } from "../shared/ui-stream/in-memory-streams.js";
import { HTTP_OPTIONS, httpSettingsOf } from "./http-options.js";
import { streamSettingsOf } from "./run-handler-options.js";

/** Options of a turn that a handler starts. */
type ChatTurnOptions = RunOptions & { readonly messageId?: string | undefined };

/** The methods of a thread that the handler uses. */
export interface ChatThread {
  readonly id: string;
  stream(input: string | readonly ContentPart[], options?: ChatTurnOptions): RunHandle;
  edit(at: string, input?: string | readonly ContentPart[], options?: ChatTurnOptions): RunHandle;
  head(): Promise<ThreadHead | undefined>;
  messages(query?: {
    readonly limit?: number | undefined;
    readonly before?: string | undefined;
  }): Promise<readonly ThreadMessage[]>;
  usage(): Promise<{
    readonly owner?: QuotaState | undefined;
    readonly thread?: QuotaState | undefined;
  }>;
  /**
   * Continues the turn that was in progress when its process ended. Returns `undefined` if there is
   * none.
   */
  resume(): Promise<(RunHandle & { readonly question: Question }) | undefined>;
  delete(): Promise<boolean>;
}

/** The methods of a conversation that the handler uses. */
export interface ChatConversation {
  /** The name that the list `may` of a principal contains to allow the conversation. */
  readonly name?: string | undefined;
  thread(
    id: string,
    options?: {
      readonly owner?: string | undefined;
      readonly values?: readonly RunValue[] | undefined;
    },
  ): ChatThread;
  threads(query?: ThreadQuery): Promise<ThreadPage>;
}

/** Options of `chatHandler`. */
export interface ChatHandlerOptions
  extends HttpOptions, Pick<RunHandlerOptions, "ui" | "streams" | "log" | "reviews"> {
  /** Limits of the files of a message. Default: the defaults of `AttachmentLimits`. */
  readonly limits?: AttachmentLimits | undefined;
}

/** The complete options. */
export interface ChatSettings extends HttpSettings, StreamSettings {
  readonly limits: AttachmentLimits;
}

/** @throws ValidationError */
export function resolveChatOptions(conversation: unknown, o: ChatHandlerOptions): ChatSettings {
  if (!isObject(conversation) || typeof conversation["thread"] !== "function")
    throw new ValidationError(`chatHandler needs a conversation, got: ${preview(conversation)}`);
  checkOptions("chatHandler", o, [...HTTP_OPTIONS, "ui", "streams", "log", "reviews", "limits"]);
  const { limits = {} } = o;
  partLimits("chatHandler limits", limits);
  return {
    ...httpSettingsOf("chatHandler", o, "/api/chat"),
    ...streamSettingsOf("chatHandler", o),
    // With a stream store, a pending approval is still shown after the page is reloaded.
    streams: o.streams ?? (o.reviews === undefined ? undefined : StreamStore.inMemory()),
    limits,
  };
}
