import { isTopicPattern } from '@belfry/domain/topic'
import type { ReactNode } from 'react'
import { matchingTopics } from './recent-topics.ts'
import styles from './subscriptions.module.css'

const maxShown = 5

/** Explains a pattern, and lists the recent topics that match it. */
export function TopicHelp({ pattern, topics }: { pattern: string; topics: readonly string[] }): ReactNode {
  const matching = isTopicPattern(pattern) ? matchingTopics(pattern, topics) : []
  return (
    <>
      <span>{meaningOf(pattern)}</span>
      {topics.length > 0 && isTopicPattern(pattern) && (
        <span className={styles.recent}>
          {matching.length === 0 ? 'No recent topic matches.' : 'Matches recent topics '}
          {matching.slice(0, maxShown).map(topic => (
            <code key={topic}>{topic}</code>
          ))}
          {matching.length > maxShown && ` and ${matching.length - maxShown} more`}
        </span>
      )}
    </>
  )
}

function meaningOf(pattern: string): ReactNode {
  if (pattern === '*') return 'Every event in the workspace.'
  if (!isTopicPattern(pattern)) {
    return (
      <>
        A topic such as <code>orders.paid</code>, <code>orders.*</code> for all topics below orders, or <code>*</code>{' '}
        for all.
      </>
    )
  }
  if (!pattern.endsWith('.*')) return 'Events with exactly this topic.'
  const parent = pattern.slice(0, -2)
  return (
    <>
      Every topic below <code>{parent}</code> at any depth, such as <code>{parent}.a</code> and{' '}
      <code>{parent}.a.b</code>, but not <code>{parent}</code> itself.
    </>
  )
}
