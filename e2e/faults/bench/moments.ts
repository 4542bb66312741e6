import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningService } from '../../processes.ts'
import { waitFor } from '../../wait-for.ts'
import type { Bench } from './bench.ts'

/** Waits until the bench's target has been called this often in all. */
export async function called(bench: Bench, count: number, timeoutMs = 60_000): Promise<void> {
  await waitFor(
    async () => bench.target.count(),
    calls => calls >= count,
    timeoutMs,
  )
}

/** Creates a number of tasks that are all due at the same instant, unless this machine is too slow for that. */
export async function burst(
  bench: Bench,
  count: number,
  spec: Partial<Parameters<Bench['create']>[0]> = {},
): Promise<void> {
  const dueAt = Date.now() + (spec.inMs ?? 2_500)
  for (let done = 0; done < count; done += 10) {
    const ten = Array.from({ length: Math.min(10, count - done) }, (_, i) => done + i)
    await Promise.all(
      ten.map(i =>
        bench.create({
          path: `/burst-${i}`,
          caller: i % 2 === 0 ? 0 : 1,
          ...spec,
          inMs: Math.max(1_000, dueAt - Date.now()),
        }),
      ),
    )
  }
}

/** Stops a process where it stands, without its knowledge, for a time. */
export async function freeze(service: RunningService, ms: number): Promise<void> {
  process.kill(service.pid, 'SIGSTOP')
  await sleep(ms)
  process.kill(service.pid, 'SIGCONT')
}

/** How long a fault lasts. */
export function lasting(ms: number): Promise<void> {
  return sleep(ms)
}

/** Kills every process of ours. */
export async function killAll(bench: Bench): Promise<void> {
  await Promise.all(bench.services.map(service => service.stop('SIGKILL')))
}

/** True while a process has not ended. */
export async function isAlive(service: RunningService): Promise<boolean> {
  return (await Promise.race([service.ended, sleep(0, 'alive')])) === 'alive'
}
