import type { ChatModel, FinishReason, ToolCall, Usage } from "../../contracts/chat-model.js";

/**
 * What the service behind a model under test is to do with the next request, in words no vendor owns.
 * - `answer`: this text and these tool calls; without `usage` the service reports none.
 * - `error`: this HTTP status, or what comes nearest to it.
 * - `hang`: take the request and never answer.
 * - `stall`: stream this text, then fall silent without an end.
 */
export type ChatModelScenario =
  | {
      readonly kind: "answer";
      readonly text: string;
      readonly toolCalls?: readonly ToolCall[] | undefined;
      readonly usage?: Usage | undefined;
      readonly finishReason?: FinishReason | undefined;
    }
  | { readonly kind: "error"; readonly status: number; readonly message: string }
  | { readonly kind: "hang" }
  | { readonly kind: "stall"; readonly text: string };

/** A model set up for one scenario. */
export interface ChatModelUnderTest {
  readonly model: ChatModel;
  /** The last request as the service received it; its JSON is searched for what must have been sent. Absent: not checked. */
  lastRequest?(): unknown;
  close(): Promise<void>;
}

/** What a set-up cannot show; `false` leaves those tests out. All default to true. */
export interface ChatModelContractSupport {
  readonly streaming?: boolean | undefined;
  readonly structuredOutput?: boolean | undefined;
  readonly images?: boolean | undefined;
  /** Answers without usage. */
  readonly missingUsage?: boolean | undefined;
  /** Scenarios of kind `hang`. */
  readonly hang?: boolean | undefined;
  /** Scenarios of kind `stall`. */
  readonly stall?: boolean | undefined;
}

/** How `chatModelContract` gets its models. */
export interface ChatModelContractOptions {
  create(scenario: ChatModelScenario): Promise<ChatModelUnderTest>;
  readonly supports?: ChatModelContractSupport | undefined;
}
