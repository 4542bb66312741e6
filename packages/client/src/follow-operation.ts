import type { ProgressOptions, RequestOptions } from './options.ts'
import { pause } from './time-limit.ts'

/** Yields each change of an operation's progress until it has ended. */
export async function* followOperation<Operation extends { status: string }>(
  read: (options: RequestOptions) => Promise<Operation>,
  countOf: (operation: Operation) => number,
  { intervalMs = 1_000, ...options }: ProgressOptions = {},
): AsyncGenerator<Operation> {
  for (let count = -1; ; ) {
    const now = await read(options)
    if (countOf(now) !== count || now.status !== 'running') yield now
    if (now.status !== 'running') return
    count = countOf(now)
    await pause(intervalMs, options.signal)
  }
}
