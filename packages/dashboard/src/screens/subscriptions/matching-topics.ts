import { patternsOf } from '@belfry/domain/topic'

/** Those of some topics that a subscription to `pattern` gets. */
export function matchingTopics(pattern: string, topics: readonly string[]): string[] {
  return topics.filter(topic => patternsOf(topic).includes(pattern))
}
