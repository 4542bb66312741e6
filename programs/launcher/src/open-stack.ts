/** A started process: `stop` ends it cleanly, `kill` at once. */
export type Opened = { stop(): Promise<unknown>; kill(): void }

export type OpenStack = {
  readonly size: number
  push(opened: Opened): void
  /** Ends everything in reverse order. */
  close(): Promise<void>
  /** Ends everything at once. */
  kill(): void
}

/** Returns an empty stack of started processes. */
export function openStack(): OpenStack {
  const stack: Opened[] = []
  return {
    get size() {
      return stack.length
    },
    push: opened => void stack.push(opened),
    async close() {
      for (let last = stack.at(-1); last; last = stack.at(-1)) {
        await last.stop()
        stack.pop()
      }
    },
    kill() {
      for (const opened of stack.splice(0).reverse()) opened.kill()
    },
  }
}
