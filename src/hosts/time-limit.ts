/** A promise, or an error when it takes too long: a host must not wait for us. */
export function withTimeLimit<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it took longer than ${ms} ms`)), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** For what only observes: whatever goes wrong there, the agent goes on. */
export async function quietly(act: () => unknown): Promise<void> {
  try {
    await act();
  } catch {
    // Nothing may be printed: the terminal is the program's.
  }
}
