import type { ProgressOptions, RequestOptions } from './options.ts'
import { pause } from './time-limit.ts'
import type { Id } from './types/index.ts'

/** Yields each change of the count of an operation until the operation has ended. */
export async function* followOperation<
  Count extends string,
  Operation extends { status: string } & Record<Count, number>,
>(
  read: (id: Id, options: RequestOptions) => Promise<Operation>,
  id: Id,
  count: Count,
  { intervalMs = 1_000, ...options }: ProgressOptions = {},
): AsyncGenerator<Operation> {
  for (let done = -1; ; ) {
    const now = await read(id, options)
    if (now[count] !== done || now.status !== 'running') yield now
    if (now.status !== 'running') return
    done = now[count]
    await pause(intervalMs, options.signal)
  }
}
