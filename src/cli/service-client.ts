import { ValidationError } from "../contracts/errors.js";
import { NetworkError } from "../contracts/network-errors.js";
import { preview } from "../contracts/validation.js";
import { messageOf } from "../util/errors.js";
import { asFields, asText, type Fields } from "../util/objects.js";

/** The variable with the token of a caller or an operator. */
const TOKEN = "AGENTENSEMBLE_TOKEN";

/** An answer of a service. */
export interface ServiceAnswer {
  readonly status: number;
  readonly body: Fields;
}

/** A request to a service. */
interface ServiceRequest {
  /** JSON of a POST. Default: a GET. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests to a service over HTTP. The token is sent to the given address only. */
export class ServiceClient {
  readonly #url: URL;
  readonly #token: string | undefined;

  /** @throws ValidationError for an invalid address of a service. */
  constructor(url: string, environment: NodeJS.ProcessEnv = process.env) {
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
      throw new ValidationError(`The address must be an http or https URL, got: ${preview(url)}`, {
        hint: "For instance http://127.0.0.1:7329.",
      });
    this.#url = new URL(url.endsWith("/") ? url : `${url}/`);
    const token = environment[TOKEN] ?? "";
    this.#token = token === "" ? undefined : token;
  }

  /** @throws NetworkError if the service can't be reached; the reason of the signal. */
  async ask(path: string, { body, headers, signal }: ServiceRequest = {}): Promise<ServiceAnswer> {
    const token = this.#token;
    let response: Response;
    let text: string;
    try {
      response = await fetch(new URL(path.replace(/^\//, ""), this.#url), {
        method: body === undefined ? "GET" : "POST",
        redirect: "error",
        headers: {
          accept: "application/json",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      });
      text = await response.text();
    } catch (cause) {
      signal?.throwIfAborted();
      const reason = cause instanceof Error ? (cause.cause ?? cause) : cause;
      throw new NetworkError(`${this.#url.origin} can't be reached: ${messageOf(reason)}`, {
        cause,
        hint: "Check the address, and whether the service runs.",
      });
    }
    return { status: response.status, body: jsonFields(text) };
  }

  /**
   * @throws ValidationError for a request that the service refuses; NetworkError if the request may
   * succeed later.
   */
  require({ status, body }: ServiceAnswer): Fields {
    if (status < 400) return body;
    const reason = asText(body["message"]) || `status ${status}`;
    const message = `${this.#url.origin} refuses the request: ${reason}`;
    if (status === 401 || status === 403)
      throw new ValidationError(message, { hint: `Set the variable ${TOKEN} to your token.` });
    if (status === 429 || status >= 500)
      throw new NetworkError(message, { hint: "Send the request again later." });
    if (body["error"] === "NOT_FOUND")
      throw new ValidationError(message, {
        hint: `There is no such route. Give the address of a service, such as ${this.#url.origin}.`,
      });
    throw new ValidationError(message);
  }
}

/** Returns the fields of a JSON object. Returns no fields for any other text. */
function jsonFields(text: string): Fields {
  try {
    return asFields(JSON.parse(text)) ?? {};
  } catch {
    return {};
  }
}
