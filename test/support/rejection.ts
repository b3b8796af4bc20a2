/** What `work` rejects with; an error of its own when it does not. */
export async function rejection(work: PromiseLike<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("expected a rejection, but the work succeeded");
}

/** The same, when it must be of this class. */
export async function rejectionOf<E>(
  type: abstract new (...args: never[]) => E,
  work: PromiseLike<unknown>,
): Promise<E> {
  const error = await rejection(work);
  if (error instanceof type) return error;
  throw new Error(`expected a ${type.name}, got: ${String(error)}`, { cause: error });
}
