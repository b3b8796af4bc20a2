/** The refusal of a request. All its fields are sent to the client. */
export class HttpRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly extra: {
      readonly headers?: Readonly<Record<string, string>>;
      /** Fields of the body next to `error`. */
      readonly fields?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(message);
  }
}

/** Returns the refusal for anything whose existence must be hidden from the principal. */
export function notFoundRefusal(code = "NOT_FOUND", message = "Not found"): HttpRefusal {
  return new HttpRefusal(404, code, message);
}

export function badRequest(message: string): HttpRefusal {
  return new HttpRefusal(400, "BAD_REQUEST", message);
}
