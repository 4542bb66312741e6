/** How old the check of a caller may be once its body has arrived, and while its response is sent. */
export const recheckMs = 2_000

/** Returns a function for the sender of a long response: it repeats the check of the caller if the last one is too old. */
export function repeatCheck(check: () => Promise<unknown>): () => Promise<void> {
  let checkedAt = performance.now()
  return async () => {
    if (performance.now() - checkedAt < recheckMs) return
    await check()
    checkedAt = performance.now()
  }
}
