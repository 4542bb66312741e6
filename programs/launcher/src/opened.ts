/** A started process: `stop` ends it cleanly, `kill` at once. */
export type Opened = { stop(): Promise<unknown>; kill(): void }

/** The started processes, the last one on top. */
export type OpenStack = ReturnType<typeof openStack>

export function openStack() {
  const stack: Opened[] = []
  return {
    get size() {
      return stack.length
    },
    push: (opened: Opened): void => void stack.push(opened),
    /** Ends everything in reverse order. */
    async close(): Promise<void> {
      for (let last = stack.at(-1); last; last = stack.at(-1)) {
        await last.stop()
        stack.pop()
      }
    },
    kill(): void {
      for (const opened of stack.splice(0).reverse()) opened.kill()
    },
  }
}
