import type * as core from "@a2a-js/sdk";
import type { A2aErrorVendor } from "../shared/a2a/protocol.js";
import type { PushConfig, PushConfigs } from "../shared/a2a/push-configs.js";
import type { PushNotifications } from "../shared/a2a/push-notifications.js";
import { createHash } from "node:crypto";
import { ValidationError } from "../../../contracts/errors.js";
import { AccessDeniedError, FetchError } from "../../../contracts/state-errors.js";
import { messageOf } from "../../../util/errors.js";
import { MOST_PUSH_CONFIGS } from "../shared/a2a/push-configs.js";
import { requireRequestId } from "../shared/work-request.js";

const LONGEST_URL = 2_048;
const LONGEST_SECRET = 4_096;
const LONGEST_ID = 16;
/** The scheme of an Authorization header. */
const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,49}$/;
/** Characters of a header field: visible ASCII characters and spaces. */
const FIELD = /^[\x20-\x7e]*$/;

/** A configuration in the form of the protocol. */
export type WirePushConfig = core.TaskPushNotificationConfig;
export type WirePushName = Pick<WirePushConfig, "taskId" | "id">;

/** The tasks of one caller. */
interface CallerTasks {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  requestIdOf(taskId: string): string;
  /**
   * Returns whether a task has ended.
   * @throws TaskNotFoundError for a task that the caller did not send.
   */
  hasEnded(taskId: string): Promise<boolean>;
}

/** A message that was sent on, or rejected. */
type SentMessage =
  { readonly receipt: "ACCEPTED" | "DUPLICATE" } | { readonly rejected: core.Task };

/**
 * The push notification configurations of the tasks of one caller.
 * @throws PushNotificationNotSupportedError for a service without webhooks; TaskNotFoundError for a
 * task that the caller did not send.
 */
export class PushDesk {
  readonly #push: PushNotifications | undefined;
  readonly #errors: A2aErrorVendor;
  readonly #tasks: CallerTasks;

  constructor(push: PushNotifications | undefined, errors: A2aErrorVendor, tasks: CallerTasks) {
    this.#push = push;
    this.#errors = errors;
    this.#tasks = tasks;
  }

  /**
   * Adds a configuration.
   * @throws UnsupportedOperationError for a task that has ended. RequestMalformedError for an
   * invalid configuration, an address that is not allowed, and too many configurations.
   */
  async create(given: WirePushConfig): Promise<WirePushConfig> {
    const { taskId } = given;
    await this.#requireOpen(taskId);
    const added = await this.#add(given);
    try {
      await this.#requireOpen(taskId); // its end would not have been sent
    } catch (error) {
      await this.#configs.remove(this.#tasks.requestIdOf(taskId), added.id);
      throw error;
    }
    return added;
  }

  async get(taskId: string, id: string): Promise<WirePushConfig> {
    const found = (await this.list(taskId)).find((config) => config.id === id);
    if (found !== undefined) return found;
    throw new this.#errors.TaskNotFoundError(`Task '${taskId}' has no such push configuration`);
  }

  async list(taskId: string): Promise<WirePushConfig[]> {
    const configs = await (await this.#configsOf(taskId)).of(this.#tasks.requestIdOf(taskId));
    return configs.map((config) => withoutSecrets(config, taskId));
  }

  async remove(taskId: string, id: string): Promise<void> {
    await (await this.#configsOf(taskId)).remove(this.#tasks.requestIdOf(taskId), id);
  }

  /**
   * Stores the configuration of a message before `send` sends the message, because its task may end
   * at once. Removes the configuration if there is no open task. Keeps it if a message to an open
   * task is refused.
   */
  async sending<T extends SentMessage>(given: WirePushConfig, send: () => Promise<T>): Promise<T> {
    const { taskId } = given;
    const { id } = await this.#add(given);
    let isAccepted = false;
    try {
      const sent = await send();
      isAccepted = "receipt" in sent && sent.receipt === "ACCEPTED";
      return sent;
    } finally {
      if (!isAccepted && !(await this.#isOpen(taskId)))
        await this.#configs.remove(this.#tasks.requestIdOf(taskId), id);
    }
  }

  async #isOpen(taskId: string): Promise<boolean> {
    try {
      return !(await this.#tasks.hasEnded(taskId));
    } catch (error) {
      if (error instanceof this.#errors.TaskNotFoundError) return false;
      throw error;
    }
  }

  get #configs(): PushConfigs {
    return this.#available.configs;
  }

  get #available(): PushNotifications {
    if (this.#push === undefined) throw new this.#errors.PushNotificationNotSupportedError();
    return this.#push;
  }

  async #configsOf(taskId: string): Promise<PushConfigs> {
    const configs = this.#configs;
    await this.#tasks.hasEnded(taskId); // throws the error for an unknown task
    return configs;
  }

  async #requireOpen(taskId: string): Promise<void> {
    void this.#available; // throws first if the service has no notifications
    if (await this.#tasks.hasEnded(taskId))
      throw new this.#errors.UnsupportedOperationError("The task has ended: read it with GetTask");
  }

  /** Returns the stored configuration without its secrets. */
  async #add(given: WirePushConfig): Promise<WirePushConfig> {
    const push = this.#available;
    const config = pushConfigOf(given);
    const problem = pushConfigProblem(config) ?? (await this.#refusal(push, config.url));
    if (problem !== undefined) throw new this.#errors.RequestMalformedError(problem);
    if (!(await push.configs.save(this.#tasks.requestIdOf(given.taskId), config)))
      throw new this.#errors.RequestMalformedError(
        `A task has at most ${MOST_PUSH_CONFIGS} push configurations`,
      );
    return withoutSecrets(config, given.taskId);
  }

  async #refusal(push: PushNotifications, url: string): Promise<string | undefined> {
    try {
      await push.check(url, this.#tasks.signal);
      return undefined;
    } catch (error) {
      const kinds = [AccessDeniedError, FetchError, ValidationError];
      if (kinds.some((kind) => kind.isInstance(error))) return messageOf(error);
      throw error;
    }
  }
}

/**
 * Returns the configuration. Without an id, the address identifies it, so that a repeated message
 * adds no second configuration.
 */
function pushConfigOf({ id, url, token, authentication }: WirePushConfig): PushConfig {
  const ownId = createHash("sha256").update(url).digest("hex").slice(0, LONGEST_ID);
  const { scheme = "", credentials = "" } = authentication ?? {};
  return { id: id === "" ? ownId : id, url, token, scheme, credentials };
}

/** Returns the problem with a configuration. The message contains no secret. */
function pushConfigProblem({
  id,
  url,
  token,
  scheme,
  credentials,
}: PushConfig): string | undefined {
  try {
    requireRequestId(id);
  } catch {
    return "id of a push configuration must have 1 to 200 characters and no control characters";
  }
  if (url.length > LONGEST_URL) return `url has more than ${LONGEST_URL} characters`;
  for (const [name, value] of Object.entries({ token, credentials }))
    if (value.length > LONGEST_SECRET || !FIELD.test(value))
      return `${name} must have at most ${LONGEST_SECRET} characters, all visible ASCII`;
  if ((scheme === "") !== (credentials === ""))
    return "authentication must have both scheme and credentials";
  if (scheme !== "" && !SCHEME.test(scheme))
    return "authentication.scheme must be the scheme of an Authorization header, such as Bearer";
  return undefined;
}

/** Returns the configuration without the token and the credentials, which only the server keeps. */
function withoutSecrets({ id, url, scheme }: PushConfig, taskId: string): WirePushConfig {
  const authentication = scheme === "" ? undefined : { scheme, credentials: "" };
  return { tenant: "", id, taskId, url, token: "", authentication };
}
