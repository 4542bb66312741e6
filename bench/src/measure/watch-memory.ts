import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const sampleMs = 250

/** The resident memory of a process in megabytes, four times a second until `ended` is aborted. */
export async function watchMemory(pid: number | undefined, ended: AbortSignal): Promise<number[]> {
  const megabytes: number[] = []
  while (!ended.aborted) {
    const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    megabytes.push(kilobytes / 1024)
    await sleep(sampleMs)
  }
  return megabytes
}
