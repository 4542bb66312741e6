import { once } from 'node:events'

/** Tells the bench that this process could begin, and waits until it may. It ends with the bench. */
export async function parentSaysGo(): Promise<void> {
  process.once('disconnect', () => process.exit())
  process.send?.('ready')
  await once(process, 'message')
}
