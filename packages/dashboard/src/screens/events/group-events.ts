import type { Task } from '@belfry/contract'

/** An event that was published, with what became of it at each of its targets. */
export type RecentEvent = { id: string; topic: string; publishedAt: string; tasks: readonly Task[] }

/** Puts the tasks of each event together, in the order in which the events come. Replays stand beside their originals. */
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

/** The topics of some tasks, each once, those of the newest first. */
export function topicsOf(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.flatMap(({ topic }) => topic ?? []))]
}
