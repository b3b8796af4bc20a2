import type { Artifact, StreamResponse } from "@a2a-js/sdk";
import type { WorkResponse } from "../../../../contracts/network.js";
import type { RemoteReview } from "../a2a/review-message.js";
import type { SeenTask } from "../a2a/work-response.js";
import { extensionFields } from "../a2a/parts.js";
import { STATE } from "../a2a/protocol.js";
import { reviewOf } from "../a2a/review-message.js";
import { responseOfMessage, responseOfTask, textOfWireMessage } from "../a2a/work-response.js";

/** The content of an event of a stream. */
export interface SeenEvent {
  readonly taskId?: string | undefined;
  readonly receipt?: unknown;
  readonly response?: WorkResponse | undefined;
  readonly progress?: unknown;
  readonly review?: RemoteReview | undefined;
  /** The text of a question that is not a review of this framework, or of a request to log in. */
  readonly question?: string | undefined;
  /** Whether the result must be fetched, because a part of it is too long for a stream. */
  readonly isIncomplete?: boolean;
}

/** Assembles the events of one stream. */
export class StreamReader {
  readonly #requestId: string;
  readonly #elapsedMs: () => number;
  readonly #artifacts = new Map<string, Artifact>();

  constructor(requestId: string, elapsedMs: () => number) {
    this.#requestId = requestId;
    this.#elapsedMs = elapsedMs;
  }

  read({ payload }: StreamResponse): SeenEvent {
    switch (payload?.$case) {
      case "message":
        return { response: responseOfMessage(this.#requestId, payload.value, this.#elapsedMs()) };
      case "task":
        return { taskId: payload.value.id, ...this.#seen(payload.value) };
      case "artifactUpdate":
        this.#keep(payload.value.artifact, payload.value.append);
        return { taskId: payload.value.taskId };
      case "statusUpdate": {
        const { taskId, status, metadata } = payload.value;
        return {
          taskId,
          ...this.#seen({ status, metadata, artifacts: [...this.#artifacts.values()] }),
        };
      }
      default:
        return {};
    }
  }

  /** Handles a fetched snapshot. */
  seen(task: SeenTask): SeenEvent {
    return this.#seen(task);
  }

  #keep(artifact: Artifact | undefined, append: boolean): void {
    if (artifact === undefined) return;
    const before = append ? this.#artifacts.get(artifact.artifactId) : undefined;
    const parts = before === undefined ? artifact.parts : [...before.parts, ...artifact.parts];
    this.#artifacts.set(artifact.artifactId, { ...artifact, parts });
  }

  #seen(task: SeenTask): SeenEvent {
    const fields = extensionFields(task.metadata);
    const { state, message } = task.status ?? {};
    const review = state === STATE.INPUT_REQUIRED ? reviewOf(message) : undefined;
    const isAsked = state === STATE.INPUT_REQUIRED || state === STATE.AUTH_REQUIRED;
    return {
      response: responseOfTask(this.#requestId, task, this.#elapsedMs()),
      receipt: fields?.["receipt"],
      isIncomplete: fields?.["incomplete"] === true,
      ...(fields !== undefined && "progress" in fields && { progress: fields["progress"] }),
      review,
      ...(isAsked && review === undefined && { question: textOfWireMessage(message) }),
    };
  }
}
