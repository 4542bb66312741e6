import type { Task } from '@belfry/contract/task'
import { patternsOf } from '@belfry/domain/topic'

export function matchingTopics(pattern: string, topics: readonly string[]): string[] {
  return topics.filter(topic => patternsOf(topic).includes(pattern))
}

/** Returns the distinct topics of tasks, in the order of the tasks. */
export function topicsOf(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.flatMap(({ topic }) => topic ?? []))]
}
