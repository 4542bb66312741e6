import type { Task } from '@belfry/contract/task'

/** A published event and its tasks, one for each target. */
export type RecentEvent = { id: string; topic: string; publishedAt: string; tasks: readonly Task[] }

/** Groups tasks by event, in the order of the first task of each event. Replays join the event of their original. */
export function groupEvents(tasks: readonly Task[]): RecentEvent[] {
  const events = new Map<string, Task[]>()
  for (const task of tasks) {
    const id = task.event_id ?? task.id
    events.set(id, [...(events.get(id) ?? []), task])
  }
  return [...events].map(([id, ofEvent]) => {
    const publishedAt = ofEvent.map(({ created_at }) => created_at).sort()[0] ?? ''
    return { id, topic: ofEvent[0]?.topic ?? '', publishedAt, tasks: ofEvent }
  })
}
