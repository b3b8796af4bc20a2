/** The rejection of `work`; a separate error if it resolves. */
export async function rejection(work: PromiseLike<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("expected a rejection, but the work succeeded");
}

/** The same for a rejection of this class. */
export async function rejectionOf<E>(
  type: abstract new (...args: never[]) => E,
  work: PromiseLike<unknown>,
): Promise<E> {
  const error = await rejection(work);
  if (error instanceof type) return error;
  throw new Error(`expected a ${type.name}, got: ${String(error)}`, { cause: error });
}
