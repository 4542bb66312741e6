/** Ends this process with the one that has started it, whatever it waits for. To be called before anything else. */
export function endWithParent(): void {
  if (!process.connected) process.exit()
  process.once('disconnect', () => process.exit())
}

/** Tells the parent that this process could begin, and waits until it may. */
export async function parentSaysGo(): Promise<void> {
  const go = new Promise<void>(resolve => {
    process.on('message', message => {
      if (message === 'go') resolve()
    })
  })
  process.send?.('ready')
  await go
}
