/** A started process: `stop` ends it cleanly, `kill` at once. */
export type Opened = { stop(): Promise<unknown>; kill(): void }

/** Stops everything that was started, the last one first. */
export async function stopAll(opened: Opened[]): Promise<void> {
  for (let last = opened.at(-1); last; last = opened.at(-1)) {
    await last.stop()
    opened.pop()
  }
}

export function killAll(opened: Opened[]): void {
  for (const last of opened.splice(0).reverse()) last.kill()
}
