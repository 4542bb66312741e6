/** A placeholder in what a load program sends, for a number that is different in each request. */
export const numberMark = '<number>'

/** Ends this process when its parent ends. To be called first. */
export function endWithParent(): void {
  if (!process.connected) process.exit()
  process.once('disconnect', () => process.exit())
}

/** Reports that this process is ready, and waits until the parent sends `go`. */
export async function parentSaysGo(): Promise<void> {
  const go = new Promise<void>(resolve => {
    process.on('message', message => {
      if (message === 'go') resolve()
    })
  })
  process.send?.('ready')
  await go
}
