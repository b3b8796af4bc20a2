import type { ChatModel, FinishReason, ToolCall, Usage } from "../../contracts/chat-model.js";

/**
 * The behaviour of the service behind a model under test for the next request, independent of
 * vendors.
 * - `answer`: this text and these tool calls. Without `usage` the service reports none.
 * - `error`: this HTTP status, or the nearest equivalent.
 * - `hang`: accepts the request and never answers.
 * - `stall`: streams this text, then sends nothing more.
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
  /**
   * Returns the last request that the service received. Its JSON is searched for the expected
   * content. If absent, requests are not checked.
   */
  lastRequest?(): unknown;
  close(): Promise<void>;
}

/** Features of a set-up. `false` omits their tests. All default to true. */
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

/** Options of `chatModelContract`. */
export interface ChatModelContractOptions {
  create(scenario: ChatModelScenario): Promise<ChatModelUnderTest>;
  readonly supports?: ChatModelContractSupport | undefined;
}
