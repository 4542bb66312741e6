import { setTimeout as sleep } from 'node:timers/promises'
import { startBelfry } from '../lab/belfry.ts'
import type { Counter } from '../lab/counter.ts'
import { type Lab, processGroups, requireCalls, type Target } from '../lab/lab.ts'
import { goOn, stop } from '../lab/stop-and-go.ts'
import { payload, promote, requireRecorded, type StoredTasks, storeTasks } from '../lab/tasks.ts'
import { type CpuReading, cpuPerOperation, type ProcessGroups, readCpu } from '../measure/cpu-time.ts'
import { timeToEnqueueMs } from './belfry.ts'
import { addFloorJobs, startFloor } from './floor.ts'

/** A side that can be stopped, and goes on later where it was. */
export type SideInTurns = {
  /** Its own processes, which are what is stopped. */
  pids: readonly number[]
  groups: ProcessGroups
  counter: Counter
  /** Gives it so many calls to make and leaves it stopped as it begins. Tells the CPU that bringing them to it took. */
  fill(count: number): Promise<CpuReading>
  /** Lets it make the rest of the calls, and makes sure that it has made and kept every one. */
  finish(count: number): Promise<void>
  close(): Promise<void>
}

/** Belfry with tasks that the scheduler brings to the queue. */
export async function belfryInTurns(lab: Lab, concurrency: number): Promise<SideInTurns> {
  const database = await lab.freshDatabase()
  const belfry = await startBelfry(lab, database, { services: ['scheduler', 'dispatcher'], concurrency })
  const pids = [...belfry.pids('scheduler'), ...belfry.pids('dispatcher')]
  const groups = processGroups(lab, pids)
  let stored: StoredTasks
  return {
    pids,
    groups,
    counter: lab.target.counter,
    async fill(count) {
      lab.target.counter.reset()
      stored = await storeTasks(database, { count, url: lab.target.url(), dueInMs: timeToEnqueueMs(count) })
      const before = readCpu(groups)
      await promote(database, stored)
      const promoting = cpuPerOperation(before, readCpu(groups), count)
      await sleep(stored.firstDueAt.getTime() - Date.now())
      stop(pids)
      return promoting
    },
    async finish(count) {
      goOn(pids)
      await requireCalls(lab, count)
      await requireRecorded(database, stored)
    },
    async close() {
      goOn(pids)
      await belfry.stop()
      await database.close()
    },
  }
}

/** The floor, which calls a target of its own. */
export async function floorInTurns(lab: Lab, target: Target, concurrency: number): Promise<SideInTurns> {
  const worker = await startFloor(lab, { concurrency, client: 'undici' })
  const ofFloor = { ...lab, target }
  const pids = [worker.pid]
  worker.channel.send('go')
  return {
    pids,
    groups: processGroups(ofFloor, pids),
    counter: target.counter,
    async fill(count) {
      stop(pids)
      target.counter.reset()
      const request = { url: target.url(), body: payload }
      await addFloorJobs(
        lab,
        Array.from({ length: count }, () => ({ request })),
      )
      return {}
    },
    async finish(count) {
      goOn(pids)
      await requireCalls(ofFloor, count)
    },
    async close() {
      goOn(pids)
      await worker.stop()
    },
  }
}
